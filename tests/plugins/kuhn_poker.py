"""Kuhn poker, as another package would add it: hidden cards, and wins that pay 1 or 2.

>>> game = KuhnPoker()
>>> state = game.play(game.play(game.start(), "jack"), "king")
>>> game.observe(state, 0).card, game.observe(state, 1).card, game.observe(state, None).card
('jack', 'king', None)
>>> for move in ("pass", "bet", "bet", "jack and king"):
...     state = game.play(state, move)
>>> game.turn(state)
Over(winner=1, reason='Player 2 has the higher card.', payoff=2)
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from duels.core.game import HIDDEN, Chance, Decide, Event, Game, History, Outcome, Over
from duels.core.presentation import (
    Hand,
    Item,
    Lines,
    Part,
    Points,
    Step,
    does,
    heading,
    listed,
    on_table,
    player_name,
    question,
)

CARDS = ("jack", "queen", "king")
MOVES = ("pass", "bet")
DEALT = 2  # cards, one to each player

RULES = """\
Each player pays 1 and gets one of three cards in secret: jack, queen, king.

The player who starts passes or bets 1 more. After a pass the other player passes or bets. A bet is
answered with another bet, or with a pass, which gives up.

Who gives up loses 1. Otherwise both cards are shown and the higher one wins: 1 where both players
passed, 2 where both bet.
"""


class State(NamedTuple):
    cards: tuple[str, ...] = ()
    bets: tuple[str, ...] = ()
    shown: bool = False


class Seen(NamedTuple):
    """A state as one viewer may know it: the viewer's card, and both once they are shown."""

    card: str | None
    bets: tuple[str, ...]
    shown: tuple[str, ...]


class KuhnPoker(Game[State, Seen]):
    slug = "kuhn-poker"
    title = "Kuhn Poker"
    summary = "Bet on one of three cards."
    rules = RULES
    private = True

    # Setup and turns

    def start(self) -> State:
        return State()

    def turn(self, state: State) -> Decide | Chance | Over:
        if len(state.cards) < DEALT:
            left = [card for card in CARDS if card not in state.cards]
            return Chance({card: Fraction(1, len(left)) for card in left}, by=len(state.cards))
        last = state.bets[-2:]
        if last == ("bet", "pass"):
            gave_up = self._chooser(len(state.bets) - 1)
            return Over(1 - gave_up, f"{player_name(gave_up)} has given up.")
        if len(last) == 2 and last[0] == last[1]:
            if not state.shown:  # a reveal is an event that all may see
                return Chance({listed(state.cards, " and "): Fraction(1)})
            one, two = map(CARDS.index, state.cards)
            winner = int(two > one)
            reason = f"{player_name(winner)} has the higher card."
            return Over(winner, reason, payoff=2 if last[0] == "bet" else 1)
        return Decide({self._chooser(len(state.bets)): MOVES})

    def _chooser(self, number: int) -> int:
        """The player who makes a bet, counted from 0."""
        return (self.first + number) % 2

    def highest_payoff(self) -> int:
        return 2

    # Rules

    def play(self, state: State, *picks: str) -> State:
        if len(state.cards) < DEALT:
            return state._replace(cards=(*state.cards, *picks))
        if picks[0] not in MOVES:
            return state._replace(shown=True)
        return state._replace(bets=(*state.bets, *picks))

    # What is secret

    def observe(self, state: State, viewer: int | None) -> Seen:
        dealt = viewer is not None and viewer < len(state.cards)
        card = state.cards[viewer] if viewer is not None and dealt else None
        return Seen(card, state.bets, state.cards if state.shown else ())

    def redact(self, state: State, event: Event, viewer: int | None) -> Event:
        """A card that is dealt is its player's alone."""
        dealing = len(state.cards) < DEALT
        if isinstance(event, Outcome) and dealing and viewer != event.by:
            return event._replace(outcome=HIDDEN)
        return event

    # For programs

    def moves(self) -> tuple[str, ...]:
        return MOVES

    def features(self) -> tuple[str, ...]:
        return ("own card", "passes", "bets", "own turn")

    def encode(self, seen: Seen, player: int) -> tuple[int, ...]:
        card = 0 if seen.card is None else CARDS.index(seen.card) + 1
        own = int(self._chooser(len(seen.bets)) == player)
        return (card, seen.bets.count("pass"), seen.bets.count("bet"), own)

    def bounds(self) -> tuple[int, ...]:
        return (len(CARDS), 2, 2, 1)

    def longest(self) -> int:
        return 3

    # Display

    def opening(self, seen: Seen, viewer: int | None = None) -> Lines:
        return [heading("Each player pays 1 and gets a card.")]

    def status(self, seen: Seen, viewer: int | None, history: History = ()) -> Lines:
        return ["", on_table(f"Your card: {seen.card}")] if seen.card else [""]

    def ask(self, seen: Seen, player: int, so_far: str) -> Step | None:
        return None if so_far else question("Pass or bet", MOVES, player=player, kind="bet")

    def tell(self, before: Seen, event: Event, after: Seen, viewer: int | None) -> Lines:
        if isinstance(event, Outcome):
            if not after.shown:
                return []
            return [
                f"{does(player, viewer, 'shows')} the {after.shown[player]}." for player in (0, 1)
            ]
        verbs = {"pass": "passes", "bet": "bets"}
        return [
            "You pass."
            if (player, move) == (viewer, "pass")
            else f"{does(player, viewer, verbs[move])}."
            for player, move in event.moves
        ]

    def table(self, seen: Seen, viewer: int | None, history: History = ()) -> list[Part]:
        parts: list[Part] = []
        for player in (0, 1):
            card = seen.card if player == viewer else None
            known = seen.shown[player] if seen.shown else card
            cards = () if known is None else (Item(known),)
            parts.append(Hand("Card", cards, hidden=1 - len(cards), owner=player))
            bet = any(
                move == "bet" and self._chooser(number) == player
                for number, move in enumerate(seen.bets)
            )
            parts.append(Points("Paid", 1 + bet, 2, player))
        return parts


class MisleadingKuhnPoker(KuhnPoker):
    """Shows a hidden card as one that it may not be: no course of events fits what is seen."""

    slug = "misleading-kuhn-poker"
    title = "Misleading Kuhn Poker"

    def redact(self, state: State, event: Event, viewer: int | None) -> Event:
        if isinstance(event, Outcome) and len(state.cards) < DEALT and viewer != event.by:
            return event._replace(outcome="queen" if event.outcome == "king" else "king")
        return event
