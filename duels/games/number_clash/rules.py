"""Number Clash: both choose a number in secret; the higher wins, unless it is higher by one.

>>> game = NumberClash()
>>> game.play(game.start(), "7", "8").scores       # the underdog
(1, 0)
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which slows start-up.

from typing import NamedTuple

from duels.core.errors import OptionError
from duels.core.game import Chance, Decide, Event, Game, History, Outcome, Over, Result, verdict
from duels.core.options import Number
from duels.core.pieces import without
from duels.core.presentation import (
    RESULT,
    Caption,
    Line,
    Lines,
    Names,
    Part,
    Points,
    Sealed,
    Step,
    Tokens,
    called,
    does,
    fortune,
    heading,
    listed,
    on_table,
    player_name,
    question,
    tokens,
)

RULES = """\
Each player has the numbers 1 to {numbers}, each to be used once. The first to reach {goal} wins.

The game goes in rounds. In a round both players choose one of their own remaining numbers in
secret, then both are revealed:
  - The higher number wins the round.
  - Underdog: a number exactly one below the other beats it.
  - Equal numbers: no winner.
The winner of the round gets a point. Both numbers are gone in any case.

Rulings
  N1. A choice stays sealed until both are in. At a shared keyboard what is typed is not shown,
      nor anything else until both have chosen.
  N2. {underdog}
  N3. Each number serves once per player. What both players have left is open to all.
  N4. When all numbers are used and neither player has {goal}, more points win; equal points are
      a draw. The game does not stop early because {goal} can no longer be reached.
  N5. The rulebook's sample plays a 6 twice. That is a slip: a used number is refused.
  N6. The game is even. With the default options, after 7 against 8 in round 1 Player 1's expected
      score is 0.877595.
"""


class State(NamedTuple):
    numbers: tuple[tuple[int, ...], tuple[int, ...]]
    scores: tuple[int, int] = (0, 0)


def round_winner(mine: int, theirs: int) -> int | None:
    """0 if the first number wins the round, 1 if the second does, None for equal numbers."""
    if mine == theirs:
        return None
    if abs(mine - theirs) == 1:
        return 0 if mine < theirs else 1
    return 0 if mine > theirs else 1


class NumberClash(Game[State, State]):
    slug = "number-clash"
    title = "Number Clash"
    summary = "Choose in secret: the higher number wins, unless the other is exactly one less."
    rules = RULES

    numbers = Number(10, 1, 20, "how many numbers each player has")
    points = Number(3, 1, 20, "points that win the game")

    about_fields = {
        "numbers": "the numbers that each player has not used",
        "scores": "the points of each player",
    }
    about_moves = {
        "NUMBER": "play one of your unused numbers; both players choose at the same time"
    }

    def check(self) -> None:
        if self.points > self.numbers:
            raise OptionError(f"points={self.points} is more than {self.numbers} numbers can earn")

    def words(self) -> dict[str, str]:
        most = self.numbers
        if most > 2:
            underdog = (
                f"Exactly one less wins, at both ends: 1 beats 2, and {most - 1} beats {most}.\n"
                f"      There is no wrap-around: {most} beats 1."
            )
        else:
            cases = "1 beats 2." if most == 2 else "with one number each that cannot happen."
            underdog = f"Exactly one less wins: {cases}"
        return {"goal": self._goal(), "underdog": underdog}

    # Setup and turns

    def start(self) -> State:
        numbers = tuple(range(1, self.numbers + 1))
        return State((numbers, numbers))

    def turn(self, state: State) -> Decide | Chance | Over:
        one, two = state.scores
        for player in (0, 1):
            if state.scores[player] >= self.points:
                return Over(player, f"{player_name(player)} has reached {self._goal()}")
        if not state.numbers[0]:
            winner = None if one == two else 0 if one > two else 1
            return Over(winner, "All numbers are used.")
        return Decide({player: tuple(map(str, state.numbers[player])) for player in (0, 1)})

    def _goal(self) -> str:
        return f"{self.points} point{'' if self.points == 1 else 's'}"

    # Rules

    def play(self, state: State, *picks: str) -> State:
        chosen = [int(pick) for pick in picks]
        winner = round_winner(*chosen)
        one, two = (without(state.numbers[player], (chosen[player],)) for player in (0, 1))
        return State((one, two), (state.scores[0] + (winner == 0), state.scores[1] + (winner == 1)))

    # Nothing in a state is hidden: the match keeps the sealed picks.

    def observe(self, state: State, viewer: int | None) -> State:
        return state

    def gain(self, seen: State, player: int, move: str) -> float:
        """Rounds won less rounds lost, against each number the opponent has left."""
        theirs = seen.numbers[1 - player]
        worth = {0: 1, 1: -1, None: 0}
        return sum(worth[round_winner(int(move), number)] for number in theirs) / len(theirs)

    def moves(self) -> tuple[str, ...]:
        return tuple(str(number) for number in range(1, self.numbers + 1))

    def features(self) -> tuple[str, ...]:
        numbers = self.moves()
        sides = [f"{side} {number}" for side in ("own", "other") for number in numbers]
        return (*sides, "own score", "other score", "round")

    def encode(self, seen: State, player: int) -> tuple[int, ...]:
        sides = (seen.numbers[player], seen.numbers[1 - player])
        held = [int(n in side) for side in sides for n in range(1, self.numbers + 1)]
        round_now = self.numbers - len(seen.numbers[0]) + 1
        return (*held, seen.scores[player], seen.scores[1 - player], round_now)

    def bounds(self) -> tuple[int, ...]:
        return (*(1,) * 2 * self.numbers, self.points, self.points, self.numbers + 1)

    def longest(self) -> int:
        return self.numbers

    # Display

    def status(self, seen: State, viewer: int | None, history: History = ()) -> Lines:
        return ["", heading(f"Round {self.numbers - len(seen.numbers[0]) + 1}")]

    def ask(self, seen: State, player: int, so_far: str) -> Step | None:
        if so_far:
            return None
        left = seen.numbers[player]
        used = [number for number in range(1, self.numbers + 1) if number not in left]
        refused = {str(number): "You have used that number already." for number in used}
        return question(
            "Enter your chosen number from your available numbers", tuple(map(str, left)),
            kind="number", player=player, listing=f"[{listed(left, ',')}]", refused=refused,
            brief="Choose a number in secret",
        )  # fmt: skip

    def tell(self, before: State, event: Event, after: State, viewer: int | None) -> Lines:
        assert not isinstance(event, Outcome)
        chosen = [int(move) for _, move in event.moves]
        winner = round_winner(*chosen)
        if winner is None:
            result = "Round Result: Neither player wins the round!"
        else:
            underdog = chosen[winner] < chosen[1 - winner]
            head = "Underdog Rule Activated!" if underdog else "Round Result:"
            wins = does(winner, viewer, "wins")
            result = fortune(f"{head} {wins} the round!", winner, viewer)
        return [
            *(f"{called(player, viewer)} chose: {number}" for player, number in enumerate(chosen)),
            result,
            on_table("Current Scores:"),
            *(on_table(f"{called(player, viewer)}: {after.scores[player]}") for player in (0, 1)),
        ]

    def ending(self, seen: State, result: Result, viewer: int | None = None) -> Lines:
        if result.by == "rules" and result.winner is not None and max(seen.scores) >= self.points:
            reached = f"{does(result.winner, viewer, 'has reached')} {self._goal()}"
            wins = "win" if reached.startswith("You") else "wins"
            lines: Lines = [Line(f"{reached} and {wins} the game!", RESULT)]
        else:
            lines = verdict(result, viewer, "wins the game!")
        return ["", *lines, "Thank you for playing Number Clash."]

    def caption(self, before: State, event: Event, after: State, names: Names) -> Caption:
        assert not isinstance(event, Outcome)
        chosen = [int(move) for _, move in event.moves]
        winner = round_winner(*chosen)
        if winner is None:
            return Caption(f"{chosen[0]} against {chosen[1]}: no point", "Neither wins the round")
        won, lost = chosen[winner], chosen[1 - winner]
        underdog = "underdog, " if won < lost else ""
        return Caption(
            f"{won} beats {lost}: {underdog}+1", names.does(winner, "wins the round"), winner
        )

    def table(self, seen: State, viewer: int | None, history: History = ()) -> list[Part]:
        parts: list[Part] = []
        for player, left in enumerate(seen.numbers):
            spent = (n for n in range(1, self.numbers + 1) if n not in left)
            parts.append(Tokens("Numbers", tokens(left, spent, player == viewer), player))
            parts.append(Points("Points", seen.scores[player], self.points, player))
        choosing = bool(seen.numbers[0]) and max(seen.scores) < self.points
        return [*parts, *(Sealed("Choice", owner=player) for player in (0, 1) if choosing)]
