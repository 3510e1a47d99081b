"""Kuhn poker, as another package would add it: hidden cards, and no solution of its own.

>>> game = KuhnPoker()
>>> state = game.play(game.play(game.start(), "jack"), "king")
>>> game.observe(state, 0).card, game.observe(state, 1).card, game.observe(state, None).card
('jack', 'king', None)
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from duels.core.game import HIDDEN, Chance, Decide, Event, Game, Outcome, Over
from duels.core.presentation import Lines, Step, player_name, question

CARDS = ("jack", "queen", "king")
RULES = """\
Each player gets one of three cards: jack, queen, king. The first player passes or bets. After a
pass the second player passes or bets; a bet is answered with another bet or with a pass, which
loses. Otherwise the higher card wins.
"""


class State(NamedTuple):
    cards: tuple[str, ...] = ()
    bets: tuple[str, ...] = ()


class Seen(NamedTuple):
    card: str | None
    bets: tuple[str, ...]


class KuhnPoker(Game[State, Seen]):
    slug = "kuhn-poker"
    title = "Kuhn Poker"
    summary = "Bet on one of three cards."
    rules = RULES
    private = True

    def start(self) -> State:
        return State()

    def turn(self, state: State) -> Decide | Chance | Over:
        if len(state.cards) < 2:
            left = [card for card in CARDS if card not in state.cards]
            return Chance({card: Fraction(1, len(left)) for card in left}, by=len(state.cards))
        if state.bets[-2:] == ("bet", "pass"):
            return Over(len(state.bets) % 2, "A bet was not answered.")
        if state.bets[-2:] in (("pass", "pass"), ("bet", "bet")):
            one, two = map(CARDS.index, state.cards)
            return Over(int(two > one), "The higher card wins.")
        return Decide({len(state.bets) % 2: ("pass", "bet")})

    def play(self, state: State, *picks: str) -> State:
        if len(state.cards) < 2:
            return state._replace(cards=(*state.cards, *picks))
        return state._replace(bets=(*state.bets, *picks))

    def observe(self, state: State, viewer: int | None) -> Seen:
        dealt = viewer is not None and viewer < len(state.cards)
        return Seen(state.cards[viewer] if viewer is not None and dealt else None, state.bets)

    def redact(self, state: State, event: Event, viewer: int | None) -> Event:
        if isinstance(event, Outcome) and viewer != len(state.cards):
            return event._replace(outcome=HIDDEN)
        return event

    # Display

    def status(self, seen: Seen, viewer: int | None, history: object = ()) -> Lines:
        return [f"Your card: {seen.card}"] if seen.card else []

    def ask(self, seen: Seen, player: int, so_far: str) -> Step | None:
        return None if so_far else question("Enter your bet", ("pass", "bet"), player=player)

    def tell(self, before: Seen, event: Event, after: Seen, viewer: int | None) -> Lines:
        if isinstance(event, Outcome):
            return []
        return [f"{player_name(player)}: {move}." for player, move in event.moves]


class MisleadingKuhnPoker(KuhnPoker):
    """Shows a hidden card as one that it may not be: no course of events fits what is seen."""

    slug = "misleading-kuhn-poker"
    title = "Misleading Kuhn Poker"

    def redact(self, state: State, event: Event, viewer: int | None) -> Event:
        if isinstance(event, Outcome) and viewer != len(state.cards):
            return event._replace(outcome="queen" if event.outcome == "king" else "king")
        return event
