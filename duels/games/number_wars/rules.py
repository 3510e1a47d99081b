"""Number Wars: a race of 100 life points, attacking with 1 to 10 and never twice with the same.

>>> game = NumberWars()
>>> state = game.play(game.play(game.start(), "7"), "5")
>>> state.lp, state.used
((95, 93), ((7,), (5,)))
>>> game.play(state, "7").lp             # 7 is on the record: the attack fails
(95, 93)
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which slows start-up.

from functools import lru_cache
from math import inf
from typing import NamedTuple, cast

from duels.core.game import (
    Chance,
    Decide,
    Event,
    Game,
    History,
    Outcome,
    Over,
    Pick,
    Result,
    Seat,
    verdict,
)
from duels.core.options import Flag, Number, Pair
from duels.core.pieces import replace_one
from duels.core.presentation import (
    BAD,
    Caption,
    Line,
    Lines,
    Meter,
    Names,
    Part,
    Step,
    Tokens,
    does,
    fortune,
    heading,
    label,
    listed,
    on_table,
    player_name,
    question,
    tokens,
)

TIMEOUT = "timeout"

RULES = """\
Each player has life points (LP): {lp}. Bring the opponent's LP to zero or below.

Players take turns. Attack with a number from 1 to {numbers} that is not on your record:
  - The opponent's LP fall by that number.
  - The number goes on your record.
If the number is on your record already, the attack fails: no LP are lost, nothing is recorded,
and the turn passes. The game ends at once when a player's LP are at zero or below.{draws}
A time limit of 30 seconds a turn is a good one, if you want one.

Rulings
  W1. The numbers 1 to {numbers} once each deal {sum}, which may be too little. So by default,
      when you have used all of them, your record clears and all are free again. With the option
      refresh=no it does not: when both players have used all numbers, more LP win and equal LP
      are a draw. Now: refresh={refresh}.
  W2. A number on your record may be played, and fails. Screens that show records mark such
      numbers. A number outside 1 to {numbers} is refused and asked again.
  W3. LP may go below zero and are shown as they are.
  W4. The records are open to all and shown by default. With the option memory=yes they are not
      shown: you must remember. Now: memory={memory}.
  W5. It is a pure race: with the default options and perfect play the player who starts wins at
      turn 31, and one lost turn hands the win over.
"""


class State(NamedTuple):
    lp: tuple[int, int]
    used: tuple[
        tuple[int, ...], tuple[int, ...]
    ]  # each player's record, ascending: order does not matter
    mover: Seat


@lru_cache
def up_to(last: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(1, last + 1))


class NumberWars(Game[State, State]):
    slug = "number-wars"
    title = "Number Wars"
    summary = "Take your opponent from 100 life points to zero, attacking with each number once."
    rules = RULES
    timeout_move = TIMEOUT
    status_on_table = True

    lp = Pair(100, 1, 999, "starting life points")
    numbers = Number(10, 1, 20, "attack numbers, from 1 up")
    refresh = Flag(True, "a full record clears")
    memory = Flag(False, "records are not shown")

    about_fields = {
        "lp": "the life points of each player",
        "used": "the numbers on each player's record, in ascending order",
        "mover": "the player whose turn it is",
    }
    about_moves = {
        "NUMBER": "attack with this number. A number on your own record is an option too, but its "
        "attack fails. In the history, `timeout` is a turn lost by running out of time"
    }

    def words(self) -> dict[str, str]:
        return {
            "sum": str(sum(range(1, self.numbers + 1))),
            "draws": " There are no draws." if self.refresh else "",
        }

    # Setup and turns

    def start(self) -> State:
        return State(self.lp, ((), ()), self.first)

    def turn(self, state: State) -> Decide | Chance | Over:
        one, two = state.lp
        for player in (0, 1):
            if state.lp[player] <= 0:
                return Over(1 - player, f"{player_name(player)} has no LP left.")
        if not self.refresh and all(len(used) == self.numbers for used in state.used):
            winner = None if one == two else 0 if one > two else 1
            return Over(winner, "All numbers are used.")
        return Decide({state.mover: self._numbers()})

    def _numbers(self) -> tuple[str, ...]:
        return up_to(self.numbers)

    # Rules

    def play(self, state: State, *picks: str) -> State:
        (pick,) = picks
        mover, target = state.mover, 1 - state.mover
        if pick == TIMEOUT or int(pick) in state.used[mover]:
            return state._replace(mover=target)
        record = tuple(sorted((*state.used[mover], int(pick))))
        if self.refresh and len(record) == self.numbers:
            record = ()
        left = state.lp[target] - int(pick)
        lp, used = replace_one(state.lp, target, left), replace_one(state.used, mover, record)
        return State(lp, used, mover=target)

    # Records are public, even where the screen does not show them.

    def observe(self, state: State, viewer: int | None) -> State:
        return state

    def gain(self, seen: State, player: int, move: str) -> float:
        if int(move) in seen.used[player]:
            return 0
        return inf if int(move) >= seen.lp[1 - player] else int(move)

    def moves(self) -> tuple[str, ...]:
        return self._numbers()

    def features(self) -> tuple[str, ...]:
        used = [f"{side} used {n}" for side in ("own", "other") for n in self._numbers()]
        return ("own LP", "other LP", *used, "own turn")

    def encode(self, seen: State, player: int) -> tuple[int, ...]:
        lp = (max(0, seen.lp[player]), max(0, seen.lp[1 - player]))
        sides = (seen.used[player], seen.used[1 - player])
        used = [int(n in side) for side in sides for n in range(1, self.numbers + 1)]
        return (*lp, *used, int(seen.mover == player))

    def bounds(self) -> tuple[int, ...]:
        return (max(self.lp), max(self.lp), *(1,) * 2 * self.numbers, 1)

    # Display

    def opening(self, seen: State, viewer: int | None = None) -> Lines:
        lp = (on_table(f"{label(player, viewer)} LP: {seen.lp[player]}") for player in (0, 1))
        return [heading(f"--- {self.title} Game Start ---"), "", *lp]

    def status(self, seen: State, viewer: int | None, history: History = ()) -> Lines:
        if self.memory:
            return [""]
        records = enumerate(self._as_used(seen, history))
        used = (f"{label(p, viewer)} Used Numbers: {listed(r) or 'none'}" for p, r in records)
        return ["", *map(on_table, used)]

    def _as_used(self, seen: State, history: History) -> list[list[int]]:
        """Both records in the order of use, as the book writes them; the state has them sorted."""
        records: tuple[dict[str, None], dict[str, None]] = ({}, {})  # in the order of first use
        full = self.numbers if self.refresh else -1
        for (((player, move),),) in cast("tuple[Pick, ...]", history):  # nothing is left to chance
            if move != TIMEOUT:
                record = records[player]
                record[move] = None
                if len(record) == full:
                    record.clear()
        found = [[int(move) for move in record] for record in records]
        known = all(sorted(f) == list(used) for f, used in zip(found, seen.used, strict=True))
        return found if known else [list(used) for used in seen.used]

    def ask(self, seen: State, player: int, so_far: str) -> Step | None:
        if so_far:
            return None
        text = f"Enter your attack number (1-{self.numbers})"
        effects = {}
        if not self.memory:  # else they would tell which numbers are used
            used = seen.used[player]
            lethal = range(max(1, seen.lp[1 - player]), self.numbers + 1)
            effects = {str(n): "wins" for n in lethal if n not in used}
        return question(
            text, self._numbers(), kind="attack", player=player, brief="Attack with a number",
            effects=effects,
        )  # fmt: skip

    def tell(self, before: State, event: Event, after: State, viewer: int | None) -> Lines:
        assert not isinstance(event, Outcome)
        ((mover, move),) = event.moves
        target = 1 - mover
        lost_turn = f"{player_name(mover)} loses the turn."
        if viewer == mover:
            lost_turn = "You lose your turn."
        if move == TIMEOUT:
            return [Line("Time is up!", BAD), lost_turn]
        if int(move) in before.used[mover]:
            subject = "You have" if viewer == mover else f"{player_name(mover)} has"
            reused = f"Invalid move! {subject} already used the number {move}."
            return [fortune(reused, mover, viewer, lucky=False), lost_turn]
        lines = [
            f"{does(mover, viewer, 'attacks')} with {move}!",
            f"{label(target, viewer)} LP is now {after.lp[target]}.",
        ]
        # A record that filled up has cleared; with `memory` remembering that is the game.
        if before.used[mover] and not after.used[mover] and not self.memory:
            used = does(mover, viewer, "has used")
            lines.append(f"{used} all numbers: the record is clear again.")
        return lines

    def ending(self, seen: State, result: Result, viewer: int | None = None) -> Lines:
        lines = verdict(result, viewer, "wins the game!")
        breached = result.by == "rules" and min(seen.lp) <= 0
        return ["", *(lines[1:] if breached else lines), "", heading("--- Game Over ---")]

    def caption(self, before: State, event: Event, after: State, names: Names) -> Caption:
        assert not isinstance(event, Outcome)
        ((mover, move),) = event.moves
        target, turn_lost = 1 - mover, names.does(mover, "loses the turn")
        if move == TIMEOUT:
            return Caption("Time is up", turn_lost, target)
        if int(move) in before.used[mover]:
            return Caption(f"{move} was used before", turn_lost, target)
        lp = f"{names.whose(target)} LP: {before.lp[target]} → {after.lp[target]}"
        if before.used[mover] and not after.used[mover] and not self.memory:
            lp = f"{lp}. {names.whose(mover)} numbers are free again"
        return Caption(f"{names.does(mover, 'attacks')}: {move}", lp, mover)

    def table(self, seen: State, viewer: int | None, history: History = ()) -> list[Part]:
        parts: list[Part] = []
        for player, used in enumerate(seen.used):
            shown = () if self.memory else used
            numbers = range(1, self.numbers + 1)
            parts.append(Meter("LP", seen.lp[player], self.lp[player], player))
            if player == viewer or not self.memory:
                name = "Choices" if self.memory else "Numbers"  # which are left, is not told
                parts.append(Tokens(name, tokens(numbers, shown, player == viewer), player))
        return parts
