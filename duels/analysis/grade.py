"""Where did I go wrong? Every move of a match against the truth, with luck and skill apart.

A move's regret is the expected score it gave away. Whatever else moved the expected score was
luck: dice, deals, and in sealed choices how two picks happened to meet. The two add up: the final
score less the starting value is the luck plus the opponent's regret less one's own.

>>> from duels.core import Match
>>> from duels.games import load
>>> match = Match(load("number-wars", lp=10), seed=1)
>>> match.submit(0, "1"); match.submit(1, "10")
>>> [(move.move, move.verdict, float(move.regret)) for move in grade(match).moves]
[('1', 'blunder', 1.0), ('10', 'best', 0.0)]
"""

from __future__ import annotations

from typing import NamedTuple

from duels.core.game import Move, Pick
from duels.core.match import Match, Timeout
from duels.solve.catalogue import solve
from duels.solve.solution import Assessment, Solution, Value

# A verdict is a name for a range of regret and nothing else.
VERDICTS = ((1e-9, "best"), (0.02, "good"), (0.05, "slip"), (0.15, "mistake"), (2.0, "blunder"))


class Graded(NamedTuple):
    """One move. Values are Player 1's expected score."""

    entry: int  # its number in the record, counted from 1
    player: int
    move: Move
    before: Value
    after: Value
    regret: Value
    best: Move

    @property
    def verdict(self) -> str:
        return next(name for most, name in VERDICTS if self.regret <= most)


class Analysis(NamedTuple):
    """A graded match. `curve` is Player 1's expected score before each choice and at the end."""

    match: Match
    moves: tuple[Graded, ...]
    start: Value
    curve: tuple[Value, ...]
    final: Value
    solution: Solution

    def of(self, player: int) -> list[Graded]:
        return [move for move in self.moves if move.player == player]

    def regret(self, player: int) -> Value:
        return sum((move.regret for move in self.of(player)), 0)

    def accuracy(self, player: int) -> float | None:
        """The part of the expected score that a player's average move kept, in percent."""
        count = len(self.of(player))
        return 100 * (1 - float(self.regret(player)) / count) if count else None

    def luck(self, player: int) -> Value:
        """What chance gave a player beyond what both players' moves explain."""
        gained = self.final - self.start + self.regret(0) - self.regret(1)
        return gained if player == 0 else -gained


def grade(match: Match) -> Analysis:
    """Grade the moves that were not taken back."""
    solution = solve(match.game)
    moves: list[Graded] = []
    curve: list[Value] = []
    for number in match.line:
        entry = match.events[number]
        if isinstance(entry, Pick):
            picks = entry.moves
        elif isinstance(entry, Timeout) and match.game.timeout_move is not None:
            picks = ((entry.players[0], match.game.timeout_move),)
        else:
            continue
        for player, move in picks:
            choice = solution.assess(match.view_before(number, player))
            if move == match.game.timeout_move:
                lost = match.game.play(match.state_before(number), move)
                choice = choice._replace(options={**choice.options, move: solution.value(lost)})
            moves.append(_graded(number + 1, choice, move))
        curve.append(moves[-1].before)
    start = solution.start_value()
    # A resignation is neither luck nor a move: the score is what the position was worth.
    ended = match.result is not None and match.result.by == "rules"
    final = solution.value(match.state) if ended else solution.value_now(match)
    return Analysis(match, tuple(moves), start, (*curve, final), final, solution)


def _graded(entry: int, choice: Assessment, move: Move) -> Graded:
    best = max(choice.mix, key=lambda option: (choice.mix[option], option == move))
    regret = choice.regret(move)
    return Graded(
        entry, choice.player, move, choice.value, choice.options[move],
        regret if regret > 1e-12 else 0, best,
    )  # fmt: skip
