"""Leduc poker, as another package would add it: hidden cards, two rounds, wins that pay up to 13.

>>> game = LeducPoker()
>>> state = game.start()
>>> for pick in ("king", "jack", "raise", "call", "jack", "raise", "fold"):
...     state = game.play(state, pick)
>>> game.turn(state), game.paid(state.rounds)
(Over(winner=0, reason='Player 2 has folded.', payoff=3), (7, 3))
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from duels.core.game import HIDDEN, Chance, Decide, Event, Game, History, Outcome, Over
from duels.core.pieces import replace_one
from duels.core.presentation import (
    Hand,
    Item,
    Lines,
    Part,
    Pile,
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
COPIES = 2  # of each card
ANTE = 1
RAISES = (2, 4)  # what a raise adds, by round
MOST_RAISES = 2  # in a round
HIGHEST = ANTE + MOST_RAISES * sum(RAISES)
MOVES = ("fold", "call", "raise")
NOTHING_TO_FOLD = "There is no raise to fold to; call to go on for free."

Bets = tuple[str, ...]

RULES = """\
The pack has two jacks, two queens and two kings. Each player pays 1 and gets one card in secret.

There are two rounds of betting, each begun by the player who starts. In turn:
  fold    Give up, and lose what you have paid. Only after a raise.
  call    Pay as much as the other player has; without a raise this costs nothing.
  raise   Pay as much, and 2 more in the first round, 4 more in the second. A round has two raises
          at most.
A round ends when a raise is called, or when both players have called without one. After the first
round a card is turned up for both.

After the second round both cards are shown. A card that pairs the open one wins, else the higher
card; equal cards are a draw. The loser pays what each player has paid in.
"""


class State(NamedTuple):
    cards: tuple[str, ...] = ()
    board: str = ""  # the open card
    rounds: tuple[Bets, Bets] = ((), ())
    shown: bool = False


class Seen(NamedTuple):
    """A state as one viewer may know it: the viewer's card, and both once they are shown."""

    card: str | None
    board: str
    rounds: tuple[Bets, Bets]
    shown: tuple[str, ...]


def ended(bets: Bets) -> bool:
    """Whether a round of betting is over without a fold."""
    return len(bets) > 1 and bets[-1] == "call"


class LeducPoker(Game[State, Seen]):
    slug = "leduc-poker"
    title = "Leduc Poker"
    summary = "Bet on a secret card, before and after an open one."
    rules = RULES
    private = True

    # Setup and turns

    def start(self) -> State:
        return State()

    def turn(self, state: State) -> Decide | Chance | Over:
        if len(state.cards) < 2:
            return self._draw(state.cards, by=len(state.cards))
        one, two = state.rounds
        bets = two if state.board else one
        if bets and bets[-1] == "fold":
            loser = self.chooser(len(bets) - 1)
            lost = self.paid(state.rounds)[loser]
            return Over(1 - loser, f"{player_name(loser)} has folded.", payoff=lost)
        if not ended(bets):
            options: tuple[str, ...] = MOVES if "raise" in bets else MOVES[1:]
            options = options if bets.count("raise") < MOST_RAISES else options[:-1]
            return Decide({self.chooser(len(bets)): options})
        if not state.board:
            return self._draw(state.cards)
        if not state.shown:  # a reveal is an event that all may see
            return Chance({listed(state.cards, " and "): Fraction(1)})
        return self._showdown(state)

    def chooser(self, number: int) -> int:
        """The player who makes a bet of a round, counted from 0."""
        return (self.first + number) % 2

    def _draw(self, gone: tuple[str, ...], by: int | None = None) -> Chance:
        left = {card: COPIES - gone.count(card) for card in CARDS}
        total = sum(left.values())
        return Chance({card: Fraction(n, total) for card, n in left.items() if n}, by)

    def _showdown(self, state: State) -> Over:
        one, two = ((card == state.board, CARDS.index(card)) for card in state.cards)
        if one == two:
            return Over(None, "Both have the same card.")
        winner = int(two > one)
        what = "a pair" if state.cards[winner] == state.board else "the higher card"
        return Over(winner, f"{player_name(winner)} has {what}.", self.paid(state.rounds)[0])

    def paid(self, rounds: tuple[Bets, Bets]) -> tuple[int, int]:
        """What each player has paid in."""
        return paid(rounds, self.first)

    def highest_payoff(self) -> int:
        return HIGHEST

    # Rules

    def play(self, state: State, *picks: str) -> State:
        (pick,) = picks
        if len(state.cards) < 2:
            return state._replace(cards=(*state.cards, pick))
        one, two = state.rounds
        if pick in MOVES:
            rounds = (one, (*two, pick)) if state.board else ((*one, pick), two)
            return state._replace(rounds=rounds)
        return state._replace(shown=True) if state.board else state._replace(board=pick)

    # What is secret

    def observe(self, state: State, viewer: int | None) -> Seen:
        dealt = viewer is not None and viewer < len(state.cards)
        card = state.cards[viewer] if viewer is not None and dealt else None
        return Seen(card, state.board, state.rounds, state.cards if state.shown else ())

    def redact(self, state: State, event: Event, viewer: int | None) -> Event:
        """A card that is dealt is its player's alone."""
        dealing = len(state.cards) < 2
        if isinstance(event, Outcome) and dealing and viewer != event.by:
            return event._replace(outcome=HIDDEN)
        return event

    # For programs

    def moves(self) -> tuple[str, ...]:
        return MOVES

    def features(self) -> tuple[str, ...]:
        return ("own card", "open card", "own payment", "other payment", "own turn")

    def encode(self, seen: Seen, player: int) -> tuple[int, ...]:
        card = 0 if seen.card is None else CARDS.index(seen.card) + 1
        board = CARDS.index(seen.board) + 1 if seen.board else 0
        paid = self.paid(seen.rounds)
        bets = seen.rounds[1 if seen.board else 0]
        return (card, board, paid[player], paid[1 - player], int(self.chooser(len(bets)) == player))

    def bounds(self) -> tuple[int, ...]:
        return (len(CARDS), len(CARDS), HIGHEST, HIGHEST, 1)

    def recalled(self) -> dict[str, int]:
        return {"raises before the open card": MOST_RAISES, "raises after it": MOST_RAISES}

    def recall(self, history: History, player: int) -> tuple[int, ...]:
        raises, board = [0, 0], 0
        for event in history[2:]:
            if isinstance(event, Outcome):
                board = 1
            else:
                raises[board] += event.moves[0][1] == "raise"
        return tuple(raises)

    def longest(self) -> int:
        return 8

    # Display

    def opening(self, seen: Seen, viewer: int | None = None) -> Lines:
        return [heading("Each player pays 1 and gets a card.")]

    def status(self, seen: Seen, viewer: int | None, history: History = ()) -> Lines:
        lines: Lines = [""]
        if seen.card:
            lines.append(on_table(f"Your card: {seen.card}"))
        if seen.board:
            lines.append(on_table(f"Open card: {seen.board}"))
        one, two = self.paid(seen.rounds)
        return [*lines, on_table(f"Paid: Player 1 {one}, Player 2 {two}")]

    def ask(self, seen: Seen, player: int, so_far: str) -> Step | None:
        if so_far:
            return None
        bets = seen.rounds[1 if seen.board else 0]
        refused = {}
        if "raise" not in bets:
            refused["fold"] = NOTHING_TO_FOLD
        if bets.count("raise") == MOST_RAISES:
            refused["raise"] = f"A round has {MOST_RAISES} raises at most."
        choices = tuple(move for move in MOVES if move not in refused)
        text = listed(choices, " or ").capitalize()
        return question(text, choices, kind="bet", player=player, refused=refused)

    def tell(self, before: Seen, event: Event, after: Seen, viewer: int | None) -> Lines:
        if not isinstance(event, Outcome):
            return [f"{does(player, viewer, move + 's')}." for player, move in event.moves]
        if after.shown:
            return [
                f"{does(player, viewer, 'shows')} the {after.shown[player]}." for player in (0, 1)
            ]
        return ["", heading(f"The open card is the {after.board}.")] if after.board else []

    def table(self, seen: Seen, viewer: int | None, history: History = ()) -> list[Part]:
        parts: list[Part] = []
        for player in (0, 1):
            card = seen.card if player == viewer else None
            known = seen.shown[player] if seen.shown else card
            cards = () if known is None else (Item(known),)
            parts.append(Hand("Card", cards, hidden=1 - len(cards), owner=player))
            parts.append(Points("Paid", self.paid(seen.rounds)[player], HIGHEST, player))
        board = (Item(seen.board),) if seen.board else ()
        return [*parts, Pile("Open card", len(board), board)]


@lru_cache(maxsize=4096)
def paid(rounds: tuple[Bets, Bets], first: int) -> tuple[int, int]:
    """What each player has paid in."""
    total = (ANTE, ANTE)
    for bets, more in zip(rounds, RAISES, strict=True):
        for number, move in enumerate(bets):
            player = (first + number) % 2
            if move != "fold":
                matched = max(total) + (more if move == "raise" else 0)
                total = replace_one(total, player, matched)
    return total
