"""Solved values of small variants against a brute force over the rules alone.

The brute force knows `Game.start`, `turn` and `play` and nothing of the solvers. It enumerates
every reachable state and applies value iteration to all of them, starting from a draw everywhere.
After n sweeps a value is at least as accurate as that of the game stopped as a draw after n
choices; the limit values endless play as a draw, as the solutions do (they ignore the turn limit).
Sealed choices are matrix games, solved in exact fractions by trying every square submatrix
(Shapley and Snow, 1950), and so is everything else but the chance cycles of Firewall Breach, which
only converge and are checked by their optimality equations as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import pytest

from duels.algorithms import solve
from duels.algorithms.table_solution import TableSolution
from duels.core.game import AnyGame, Chance, Decide, Over
from duels.games import load
from duels.games.digit_duel.solver import DigitDuelSolution
from duels.games.number_clash.solver import NumberClashSolution

Matrix = Sequence[Sequence[Fraction]]
Backup = Callable[[Sequence[Any]], Any]  # a state's value from the values of all states
HALF = Fraction(1, 2)
CONVERGED = 1e-15
TOLERANCE = 1e-12  # of values that are floats


def linear_solution(matrix: Matrix) -> list[Fraction] | None:
    """Solve a system of equations, each row ending with its right-hand side; None: singular."""
    rows = [list(row) for row in matrix]
    for at in range(len(rows)):
        pivot = next((row for row in range(at, len(rows)) if rows[row][at]), None)
        if pivot is None:
            return None
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [entry / rows[at][at] for entry in rows[at]]
        for other in range(len(rows)):
            if other != at:
                factor = rows[other][at]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[at], strict=True)]
    return [row[-1] for row in rows]


def equalizing(matrix: Matrix) -> tuple[list[Fraction], Fraction] | None:
    """The row mix that earns the same against every column, and what it earns."""
    size = len(matrix)
    one, zero = Fraction(1), Fraction(0)
    equations = [[matrix[i][j] for i in range(size)] + [-one, zero] for j in range(size)]
    found = linear_solution([*equations, [one] * size + [zero, one]])
    return None if found is None else (found[:-1], found[-1])


def matrix_value(matrix: Matrix) -> Fraction:
    """The value of a matrix game to the row player, who maximizes."""
    height, width = len(matrix), len(matrix[0])
    for size in range(1, min(height, width) + 1):
        for rows, columns in product(
            combinations(range(height), size), combinations(range(width), size)
        ):
            part = [[matrix[i][j] for j in columns] for i in rows]
            mine, theirs = equalizing(part), equalizing(list(zip(*part, strict=True)))
            if mine is None or theirs is None or min(*mine[0], *theirs[0]) < 0:
                continue
            earned = min(
                sum(p * matrix[i][j] for p, i in zip(mine[0], rows, strict=True))
                for j in range(width)
            )
            yielded = max(
                sum(p * matrix[i][j] for p, j in zip(theirs[0], columns, strict=True))
                for i in range(height)
            )
            if earned == yielded:
                return Fraction(earned)
    raise AssertionError("every matrix game has such a submatrix")


def backups(game: Any) -> tuple[list[Any], list[Backup], bool]:
    """Every reachable state, later ones first as far as play goes one way; is there chance?"""
    numbers: dict[Any, int] = {}
    order: list[Any] = []
    chance = False

    def children(state: Any) -> list[Any]:
        turn = game.turn(state)
        if isinstance(turn, Over):
            return []
        if isinstance(turn, Chance):
            return [game.play(state, outcome) for outcome in turn.odds]
        return [game.play(state, *picks) for picks in product(*picks_of(turn))]

    seen, path = {game.start()}, [(game.start(), iter(children(game.start())))]
    while path:  # depth first, each state after those that it leads to
        state, rest = path[-1]
        for child in rest:
            if child not in seen:
                seen.add(child)
                path.append((child, iter(children(child))))
                break
        else:
            path.pop()
            numbers[state] = len(order)
            order.append(state)
    made: list[Backup] = []
    for state in order:
        turn = game.turn(state)
        chance |= isinstance(turn, Chance)
        made.append(backup(turn, [numbers[child] for child in children(state)]))
    return order, made, chance


def picks_of(turn: Decide) -> list[tuple[str, ...]]:
    return [turn.options[player] for player in sorted(turn.options)]


def backup(turn: Decide | Chance | Over, children: list[int]) -> Backup:
    if isinstance(turn, Over):
        score = HALF if turn.winner is None else Fraction(1 - turn.winner)
        return lambda values: score
    if isinstance(turn, Chance):
        odds = list(turn.odds.values())
        return lambda values: sum(
            odd * values[child] for odd, child in zip(odds, children, strict=True)
        )
    if len(turn.options) == 1:
        best: Any = max if 0 in turn.options else min
        return lambda values: best(values[child] for child in children)
    width = len(turn.options[1])
    return lambda values: matrix_value(
        [
            [values[child] for child in children[at : at + width]]
            for at in range(0, len(children), width)
        ]
    )


def brute_force(game: Any) -> tuple[list[Any], list[Backup], list[Any]]:
    """All states, how each follows from the others, and Player 1's expected score in each."""
    states, made, chance = backups(game)
    values: list[Any] = [0.5 if chance else HALF] * len(states)
    change: Any = 1
    while change > (CONVERGED if chance else 0):
        change = 0
        for number, value_of in enumerate(made):
            value = value_of(values)
            value = float(value) if chance else value
            change = max(change, abs(value - values[number]))
            values[number] = value
    return states, made, values


def grid(**options: Sequence[object]) -> Iterator[dict[str, object]]:
    for values in product(*options.values()):
        yield dict(zip(options, values, strict=True))


def pairs(values: Sequence[int]) -> list[str]:
    return [f"{one}/{two}" for one in values for two in values]


FIRST = (0, 1)
TABLES: dict[str, type[TableSolution]] = {
    "number-clash": NumberClashSolution,
    "digit-duel": DigitDuelSolution,
}
GRIDS: dict[str, list[dict[str, object]]] = {
    "firewall-breach": list(
        grid(strength=pairs((1, 2, 3, 4)), hit=(1, 2, 3, 4), bypass=(1, 2, 3, 4), first=FIRST)
    ),
    "number-clash": [
        {"numbers": numbers, "points": points, "first": first}
        for numbers in (1, 2, 3, 4)
        for points in range(1, numbers + 1)
        for first in FIRST
    ],
    "digit-duel": [
        *grid(digits=(1, 2, 3), life=pairs((1, 2, 3, 4, 9)), hidden=(False, True), first=FIRST),
        *grid(digits=(4,), life=("1/2", "3/3", "5/4"), hidden=(False, True), first=FIRST),
    ],
    "number-wars": [
        *grid(numbers=(1, 2, 3), lp=pairs(range(1, 8)), refresh=(True, False), first=FIRST),
        *grid(numbers=(4,), lp=pairs((5, 10, 11, 13)), refresh=(True, False), first=FIRST),
        *grid(numbers=(1, 3), lp=("9/7", "8/8"), refresh=(True, False), memory=(True,)),
    ],
}


def groups(*slugs: str) -> list[Any]:
    """The grids of these games, each cut by one option so that a failure names a part of it."""
    found: dict[str, list[tuple[str, dict[str, object]]]] = {}
    for slug in slugs:
        for options in GRIDS[slug]:
            option = "hit" if "hit" in options else next(iter(options))
            found.setdefault(f"{slug} {option}={options[option]}", []).append((slug, options))
    return [pytest.param(variants, id=name) for name, variants in found.items()]


class Answering:
    """The game of one player against perfect play, whose mixes are chance outcomes."""

    def __init__(self, game: AnyGame, perfect: int) -> None:
        self.game, self.perfect, self.solution = game, perfect, solve(game)

    def start(self) -> tuple[Any, str]:
        return self.game.start(), ""  # and the other player's pick, while perfect play picks

    def turn(self, at: tuple[Any, str]) -> Decide | Chance | Over:
        state, pick = at
        turn = self.game.turn(state)
        if not isinstance(turn, Decide) or self.perfect not in turn.options:
            return turn
        if len(turn.options) == 2 and not pick:
            return Decide({1 - self.perfect: turn.options[1 - self.perfect]})
        mix = self.solution.assess_state(state, self.perfect).mixed_strategy
        return Chance({move: Fraction(part) for move, part in mix.items()})

    def play(self, at: tuple[Any, str], chosen: str) -> tuple[Any, str]:
        state, pick = at
        turn = self.game.turn(state)
        if not isinstance(turn, Decide) or len(turn.options) == 1:
            return self.game.play(state, chosen), ""
        if not pick:
            return state, chosen
        picks = (chosen, pick) if self.perfect == 0 else (pick, chosen)
        return self.game.play(state, *picks), ""


def check(told: object, claimed: Any, value: Any, tolerance: float = TOLERANCE) -> None:
    if isinstance(claimed, Fraction) and isinstance(value, Fraction):
        assert claimed == value, (told, str(claimed), str(value))
    else:
        assert abs(float(claimed) - float(value)) <= tolerance, (told, claimed, value)


@pytest.mark.slow
@pytest.mark.parametrize("variants", groups(*GRIDS))
def test_every_value_is_that_of_the_rules(variants: list[tuple[str, dict[str, object]]]) -> None:
    for slug, options in variants:
        game = load(slug, **options)
        solution = solve(game)
        states, made, values = brute_force(game)
        claimed = [solution.value(state) for state in states]
        for state, claim, value in zip(states, claimed, values, strict=True):
            check((slug, options, state), claim, value)
        if all(isinstance(claim, Fraction) for claim in claimed):
            for state, claim, value_of in zip(states, claimed, made, strict=True):
                assert value_of(claimed) == claim, (slug, options, state, str(claim))


@pytest.mark.cases(6)
@pytest.mark.slow
@pytest.mark.parametrize("variants", groups(*GRIDS))
def test_perfect_play_earns_its_value_against_every_opponent(
    variants: list[tuple[str, dict[str, object]]],
) -> None:
    """Where play may go round for ever it must also reach the end that it is worth."""
    for slug, options in variants:
        game = load(slug, **options)
        value = solve(game).start_value()
        for perfect in FIRST:
            earned = brute_force(Answering(game, perfect))[2][-1]  # the start comes last
            check((slug, options, f"Player {perfect + 1}"), earned, value, 1e-9)


@pytest.mark.cases(4)
@pytest.mark.extra("solve")
@pytest.mark.parametrize("variants", groups(*TABLES))
def test_tables_of_the_kernels_hold_the_values_of_the_rules(
    variants: list[tuple[str, dict[str, object]]],
) -> None:
    """`solve` works small variants out from the rules; large ones come from such a table."""
    for slug, options in variants:
        game = load(slug, **options)
        solution = TABLES[slug].unopened(game)
        solution.reader = solution.read(memoryview(solution.solve(None).payload))
        states, _, values = brute_force(game)
        for state, value in zip(states, values, strict=True):
            check((slug, options, state), solution.value(state), value)
