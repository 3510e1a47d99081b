"""Liar's Dice with one die each, as another package would add it: hidden rolls and rising bids.

>>> game = LiarsDice(faces=3)
>>> state = game.play(game.play(game.start(), "1"), "3")
>>> state = game.play(game.play(state, "bid 2 1"), "liar")
>>> game.turn(game.play(state, "1 and 3"))  # the 3 is wild
Over(winner=0, reason='The bid was true.', payoff=1)
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from duels.core.game import HIDDEN, Chance, Decide, Event, Game, History, Outcome, Over
from duels.core.options import Number
from duels.core.presentation import (
    Die,
    Lines,
    Part,
    Step,
    does,
    heading,
    listed,
    on_table,
    question,
)

DICE = 2  # one for each player
LIAR = "liar"

RULES = """\
Each player rolls a die with the faces 1 to {faces} in secret. The face {faces} is wild: it counts
as any face.

In turn, players bid how many of the two dice show a face: "bid 2 1" says that both show a 1. A bid
must say more than the last one: more dice, or as many of a higher face. Instead of bidding, a
player may call the last bidder a liar. Then both dice are shown. If the bid is true, the bidder
wins, else the caller.
"""


class State(NamedTuple):
    dice: tuple[int, ...] = ()
    bids: tuple[str, ...] = ()
    shown: bool = False


class Seen(NamedTuple):
    """A state as one viewer may know it: the viewer's die, and both once they are shown."""

    die: int  # 0 if it is not known
    bids: tuple[str, ...]
    shown: tuple[int, ...]


class LiarsDice(Game[State, Seen]):
    slug = "liars-dice"
    title = "Liar's Dice"
    summary = "Bid on two hidden dice, or call the other player a liar."
    rules = RULES
    private = True

    faces = Number(6, 2, 20, "faces of a die; the highest is wild")

    # Setup and turns

    def start(self) -> State:
        return State()

    def turn(self, state: State) -> Decide | Chance | Over:
        if len(state.dice) < DICE:
            odd = Fraction(1, self.faces)
            return Chance({str(face): odd for face in self._faces()}, by=len(state.dice))
        if state.bids[-1:] != (LIAR,):
            return Decide({self._chooser(len(state.bids)): self._options(state.bids)})
        if not state.shown:  # a reveal is an event that all may see
            return Chance({listed(state.dice, " and "): Fraction(1)})
        count, face = parts(state.bids[-2])
        bidder = self._chooser(len(state.bids) - 2)
        true = sum(die in (face, self.faces) for die in state.dice) >= count
        return Over(bidder if true else 1 - bidder, f"The bid was {'true' if true else 'a lie'}.")

    def _faces(self) -> range:
        return range(1, self.faces + 1)

    def _chooser(self, number: int) -> int:
        """The player who makes a bid, counted from 0."""
        return (self.first + number) % 2

    def _options(self, bids: tuple[str, ...]) -> tuple[str, ...]:
        """All higher bids, and calling the last one a lie."""
        every = self.moves()
        return every[every.index(bids[-1]) + 1 :] if bids else every[:-1]

    # Rules

    def play(self, state: State, *picks: str) -> State:
        (pick,) = picks
        if len(state.dice) < DICE:
            return state._replace(dice=(*state.dice, int(pick)))
        if state.bids[-1:] == (LIAR,):
            return state._replace(shown=True)
        return state._replace(bids=(*state.bids, pick))

    # What is secret

    def observe(self, state: State, viewer: int | None) -> Seen:
        rolled = viewer is not None and viewer < len(state.dice)
        die = state.dice[viewer] if viewer is not None and rolled else 0
        return Seen(die, state.bids, state.dice if state.shown else ())

    def redact(self, state: State, event: Event, viewer: int | None) -> Event:
        """A die that is rolled is its player's alone."""
        rolling = len(state.dice) < DICE
        if isinstance(event, Outcome) and rolling and viewer != event.by:
            return event._replace(outcome=HIDDEN)
        return event

    # For programs

    def moves(self) -> tuple[str, ...]:
        """Bids from low to high, and the call."""
        bids = (f"bid {n} {face}" for n in range(1, DICE + 1) for face in self._faces())
        return (*bids, LIAR)

    def features(self) -> tuple[str, ...]:
        return ("own die", "own turn", *(f"made {bid}" for bid in self.moves()))

    def encode(self, seen: Seen, player: int) -> tuple[int, ...]:
        made = (int(bid in seen.bids) for bid in self.moves())
        return (seen.die, int(self._chooser(len(seen.bids)) == player), *made)

    def bounds(self) -> tuple[int, ...]:
        return (self.faces, 1, *(1 for _ in self.moves()))

    def longest(self) -> int:
        return len(self.moves())

    # Display

    def opening(self, seen: Seen, viewer: int | None = None) -> Lines:
        return [heading("Both players roll.")]

    def status(self, seen: Seen, viewer: int | None, history: History = ()) -> Lines:
        return ["", on_table(f"Your die: {seen.die}")] if seen.die else [""]

    def ask(self, seen: Seen, player: int, so_far: str) -> Step | None:
        words = so_far.split()
        if LIAR in words or len(words) == 3:
            return None
        options = [move.split() for move in self._options(seen.bids)]
        fitting = [move for move in options if move[: len(words)] == words]
        choices = tuple(dict.fromkeys(move[len(words)] for move in fitting))
        if not words:
            refused = {} if seen.bids else {LIAR: "There is no bid to doubt."}
            refused |= {} if "bid" in choices else {"bid": "There is no higher bid."}
            text = listed(choices, " or ").capitalize()
            return question(text, choices, kind="action", player=player, refused=refused)
        if len(words) == 1:
            return question("How many dice", choices, kind="count")
        return question("Which face", choices, kind="face")

    def tell(self, before: Seen, event: Event, after: Seen, viewer: int | None) -> Lines:
        if isinstance(event, Outcome):
            if not after.shown:
                return []
            return [f"{does(player, viewer, 'shows')} {after.shown[player]}." for player in (0, 1)]
        ((player, move),) = event.moves
        if move == LIAR:
            return [f"{does(player, viewer, 'doubts')} it: liar!"]
        count, face = parts(move)
        what = "one die shows" if count == 1 else "both dice show"
        return [f"{does(player, viewer, 'bids')} that {what} {face}."]

    def table(self, seen: Seen, viewer: int | None, history: History = ()) -> list[Part]:
        dice: list[Part] = []
        for player in (0, 1):
            own = str(seen.die) if player == viewer and seen.die else "?"
            dice.append(Die("Die", str(seen.shown[player]) if seen.shown else own, player))
        return dice


class GreatLiarsDice(LiarsDice):
    """Has far more information states than can be solved."""

    slug = "great-liars-dice"
    title = "Great Liar's Dice"

    faces = Number(20, 2, 20, "faces of a die; the highest is wild")


def parts(bid: str) -> tuple[int, int]:
    """How many dice, and of which face."""
    _, count, face = bid.split()
    return int(count), int(face)
