"""Puzzles: positions in which one move is clearly best, or one mixed strategy is correct.

A puzzle is a function of its label, the date or number under which it is published, and of the
rules: the same on every server and in every version that has the game. Values are those of
`duels value`.

>>> from duels.games import load
>>> puzzle = find_puzzle(load("firewall-breach"), "2026-11-18")
>>> puzzle.kind, len(puzzle.answer), puzzle == find_puzzle(puzzle.game, "2026-11-18")
('best', 1, True)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from fractions import Fraction
from hashlib import sha256
from math import comb
from typing import Any, NamedTuple, TypeVar

from duels.algorithms.matrix_game import solve_matrix
from duels.algorithms.solution import Assessment, Solution, Unsolved
from duels.algorithms.solutions import ready, solve
from duels.analysis.exploration import explore
from duels.analysis.grade import VERDICTS
from duels.core.chance import draw
from duels.core.errors import DuelsError
from duels.core.game import AnyGame, Chance, Decide, Move, Over

PER_DAY = 5
PER_PAGE = 5  # of practice
BEST, MIX = "best", "mix"
# Every other move is at least a mistake (`duels.analysis.grade`), as a part of the whole range.
CLEAR = next(most for most, name in VERDICTS if name == "slip")
MOST_MIXED = 4  # moves of a mixed strategy that is asked for
LEAST_CHANCE = 0.05  # of each of them, so that none is negligible
NEVER = 0.005  # at least this is lost by a move that the strategy never plays
MOST_OPTIONS = 10
GAMES = 40  # random games that are searched for a position
FAR = 8.0  # choices to the end; more do not make a puzzle harder
HARDEST = 5
T = TypeVar("T")


class Puzzle(NamedTuple):
    """A position, the player who solves it, and the moves to find, the most frequent first."""

    game: AnyGame
    after: tuple[str, ...]  # as `duels value --after` takes it
    player: int
    kind: str  # BEST: one move; MIX: the moves of the only optimal mixed strategy
    answer: tuple[Move, ...]
    difficulty: float  # from 0 to 1

    @property
    def stars(self) -> int:
        """The difficulty from 1 to `HARDEST`."""
        return min(HARDEST, 1 + int(HARDEST * self.difficulty))


def has_puzzles(game: AnyGame) -> bool:
    """Whether positions of a game make puzzles: its values are exact, and no hand is hidden."""
    try:
        return not game.private and ready(game) and not solve(game).approximate
    except DuelsError:
        return False


def puzzles_of_day(day: date, games: Sequence[AnyGame]) -> list[Puzzle]:
    """The puzzles of a day, the easiest first; each day begins with another game."""
    order = [games[(day.toordinal() + n) % len(games)] for n in range(len(games))] if games else []
    return sorted(_puzzles(order, day.isoformat(), PER_DAY), key=lambda one: one.difficulty)


def practice(page: int, games: Sequence[AnyGame]) -> list[Puzzle]:
    """A page of puzzles for practice; there is no last one."""
    return _puzzles(games, f"practice {page}", PER_PAGE)


def _puzzles(games: Sequence[AnyGame], label: str, count: int) -> list[Puzzle]:
    """So many puzzles, of each game in turn; none of games without a suitable position."""
    found: list[Puzzle] = []
    able = list(games)
    while able and len(found) < count:
        game = able[len(found) % len(able)]
        try:
            found.append(find_puzzle(game, f"{label} {len(found)}"))
        except Unsolved:
            able.remove(game)
    return found


def find_puzzle(game: AnyGame, label: str) -> Puzzle:
    """The puzzle with a label; `Unsolved` if the game has no position that makes one."""
    solution, draws = solve(game), _Draws(f"{game.slug} {label}")
    for _ in range(GAMES):
        if found := list(_candidates(solution, draws)):
            return draws.pick(found)
    raise Unsolved(f"{game.title} has no position with one clearly best move")


class _Draws:
    """Random draws that are a function of a label, the same in every version of Python."""

    def __init__(self, label: str) -> None:
        self._seed = int.from_bytes(sha256(f"duels puzzle {label}".encode()).digest(), "big")
        self._number = 0

    def pick(self, items: Sequence[T]) -> T:
        """One of the items, all equally likely."""
        return items[int(self.of({str(n): Fraction(1, len(items)) for n in range(len(items))}))]

    def of(self, odds: dict[str, Fraction]) -> str:
        self._number += 1
        return draw(self._seed, self._number, odds)


def _candidates(solution: Solution, draws: _Draws) -> Iterable[Puzzle]:
    """The puzzles on the way of one game, in which half of the moves are those of perfect play."""
    game, after = solution.game, list[str]()
    state = game.start()
    while not isinstance(turn := game.turn(state), Over):
        if isinstance(turn, Chance):
            after.append(draws.of(dict(turn.odds)))
            state = game.play(state, after[-1])
            continue
        picks = []
        for player in sorted(turn.options):
            choice = solution.assess_state(state, player)
            if (answer := _answer(solution, state, turn, choice)) is not None:
                kind = MIX if len(answer) > 1 else BEST
                hard = _difficulty(solution, state, choice, answer)
                yield Puzzle(game, tuple(after), player, kind, answer, hard)
            perfect = draws.pick((True, False))
            picks.append(draws.pick(list(choice.mixed_strategy if perfect else choice.options)))
        after.append("/".join(picks))
        state = game.play(state, *picks)


def _answer(
    solution: Solution, state: Any, turn: Decide, choice: Assessment
) -> tuple[Move, ...] | None:
    """The moves to find in a position; None if it makes no puzzle."""
    if not 2 <= len(choice.options) <= MOST_OPTIONS:
        return None
    mix = choice.mixed_strategy
    if len(mix) == 1:
        worst = min(_lost(choice, move) for move in choice.options if move not in mix)
        return tuple(mix) if worst >= CLEAR * solution.unit.span else None
    if len(turn.options) == 1 or min(mix.values()) < LEAST_CHANCE:
        return None
    if not len(mix) <= min(MOST_MIXED, len(choice.options) - 1):
        return None
    if not _unique(solution.payoffs(state, turn)):
        return None
    return tuple(sorted(mix, key=lambda move: -mix[move]))


def _lost(choice: Assessment, move: Move) -> float:
    """What a move gives away."""
    lost = choice.regret(move)
    assert lost is not None, "the values are exact"
    return float(lost)


def _unique(payoffs: list[list[float]]) -> bool:
    """Whether a matrix game has only one optimal pair of strategies.

    Sufficient: no move outside the strategies is as good as those inside, the strategies have as
    many moves, and the payoffs between these, all made positive, are not singular.
    """
    found = solve_matrix(payoffs)
    rows = [n for n, chance in enumerate(found.row_strategy) if chance > 0]
    columns = [n for n, chance in enumerate(found.column_strategy) if chance > 0]
    if len(rows) != len(columns):
        return False
    against = found.column_strategy
    for n, row in enumerate(payoffs):
        worth = sum(p * value for p, value in zip(against, row, strict=True))
        if n not in rows and worth > found.value - NEVER:
            return False
    for n, column in enumerate(zip(*payoffs, strict=True)):
        worth = sum(p * value for p, value in zip(found.row_strategy, column, strict=True))
        if n not in columns and worth < found.value + NEVER:
            return False
    least = min(map(min, payoffs))
    return abs(_determinant([[payoffs[i][j] - least + 1 for j in columns] for i in rows])) > 1e-6


def _determinant(matrix: list[list[float]]) -> float:
    if not matrix:
        return 1.0
    first, *others = matrix
    return sum(
        float((-1) ** n) * value * _determinant([row[:n] + row[n + 1 :] for row in others])
        for n, value in enumerate(first)
    )


def _difficulty(
    solution: Solution, state: Any, choice: Assessment, answer: tuple[Move, ...]
) -> float:
    """How hard a position is, from 0 to 1: the mean of four parts.

    The part of the moves that are wrong (of the sets of as many moves, where a mixed strategy is
    asked for); how close the best wrong move comes, as a part of the whole range; whether the move
    with the highest immediate gain is wrong; how far the end is under perfect play or, where that
    is not defined, how many of the moves differ in value.
    """
    lost = {move: _lost(choice, move) for move in choice.options}
    if len(answer) == 1:
        least = min(loss for move, loss in lost.items() if move not in answer)
        many, close = 1 - 1 / len(lost), 1 - least / float(solution.unit.span)
    else:
        many, close = 1 - 1 / comb(len(lost), len(answer)), 1.0
    seen = solution.game.observe(state, choice.player)
    gains = {move: solution.game.gain(seen, choice.player, move) for move in lost}
    tempting = max(gains, key=lambda move: gains[move]) not in answer
    steps = solution.distance(state)
    values = {round(loss, 9) for loss in lost.values()}
    deep = len(values) / len(lost) if steps is None else min(1.0, steps / FAR)
    return (many + close + tempting + deep) / 4


def to_json(puzzle: Puzzle) -> dict[str, Any]:
    """A puzzle as JSON: the position as the explorer has it, and what is asked."""
    return {
        **explore(puzzle.game, list(puzzle.after)),
        "puzzle": {
            "player": puzzle.player + 1, "kind": puzzle.kind, "answer": list(puzzle.answer),
            "stars": puzzle.stars, "difficulty": round(puzzle.difficulty, 3),
        },
    }  # fmt: skip
