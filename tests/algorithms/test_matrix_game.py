"""Matrix games: known values, the duality gap, and a second opinion from scipy."""

from __future__ import annotations

import importlib
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duels.algorithms import matrix_game
from duels.algorithms.matrix_game import MatrixSolution, solve_matrix

Rows = list[list[float]]


def matrices(entries: st.SearchStrategy[float], most: int = 20) -> st.SearchStrategy[Rows]:
    def of_size(size: tuple[int, int]) -> st.SearchStrategy[Rows]:
        row = st.lists(entries, min_size=size[1], max_size=size[1])
        return st.lists(row, min_size=size[0], max_size=size[0])

    return st.tuples(st.integers(1, most), st.integers(1, most)).flatmap(of_size)


SCORES = st.floats(0, 1, allow_subnormal=False)
# Ties and entries that differ by rounding only: what solved games are full of.
NASTY = st.sampled_from([0.0, 0.5, 1.0, 0.32, 0.31999999999999995, 0.32000000000000006, 1e-9])


def check(rows: Rows, found: MatrixSolution, most: float = 1e-9) -> None:
    """The mixes are mixes, and neither side can do better than the value says."""
    assert len(found.row_strategy) == len(rows)
    assert len(found.column_strategy) == len(rows[0])
    for mix in (found.row_strategy, found.column_strategy):
        assert min(mix) >= 0
        assert abs(sum(mix) - 1) < 1e-12
    exact = [[Fraction(payoff) for payoff in row] for row in rows]
    ours, theirs = (list(map(Fraction, mix)) for mix in (found.row_strategy, found.column_strategy))
    earned = min(
        sum((p * v for p, v in zip(ours, column, strict=True)), Fraction())
        for column in zip(*exact, strict=True)
    )
    yielded = max(
        sum((p * v for p, v in zip(theirs, row, strict=True)), Fraction()) for row in exact
    )
    assert float(yielded - earned) <= most
    assert float(earned) - most <= found.value <= float(yielded) + most
    assert 0 <= found.gap <= most


@pytest.mark.slow
@given(matrices(SCORES))
@settings(max_examples=150, deadline=None)
def test_no_side_can_improve(rows: Rows) -> None:
    check(rows, solve_matrix(rows))


@pytest.mark.slow
@given(matrices(NASTY, 10))
@settings(max_examples=300, deadline=None)
def test_ties_and_rounding_do_no_harm(rows: Rows) -> None:
    check(rows, solve_matrix(rows))


@given(matrices(SCORES, 8))
@settings(max_examples=100, deadline=None)
def test_the_other_side_sees_the_same_game(rows: Rows) -> None:
    mirrored = [[1 - payoff for payoff in column] for column in zip(*rows, strict=True)]
    assert abs(solve_matrix(rows).value + solve_matrix(mirrored).value - 1) < 1e-9


@given(matrices(SCORES, 6))
@settings(max_examples=50, deadline=None)
def test_the_exact_fallback_agrees(rows: Rows) -> None:
    if len({payoff for row in rows for payoff in row}) > 1:
        found = matrix_game._checked(rows, *matrix_game._exactly(rows))
        check(rows, found)
        assert abs(found.value - solve_matrix(rows).value) < 1e-9


@given(matrices(SCORES, 8))
@settings(max_examples=50, deadline=None)
def test_the_same_matrix_has_the_same_answer(rows: Rows) -> None:
    assert solve_matrix(rows) == solve_matrix([list(row) for row in rows])


@given(matrices(st.sampled_from([0.0, 0.25, 0.5, 1.0]), 2))
@settings(max_examples=100, deadline=None)
def test_two_by_two_by_hand(rows: Rows) -> None:
    """Best mix on a fine grid: a bound from below that the value must meet."""
    grid = [step / 420 for step in range(421)] if len(rows) == 2 else [1.0]
    best = max(
        min(p * column[0] + (1 - p) * column[-1] for column in zip(*rows, strict=True))
        for p in grid
    )
    assert best - 1e-12 <= solve_matrix(rows).value <= best + 1 / 420


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        ([[0.7]], 0.7),
        ([[1, 0], [0, 1]], 0.5),
        ([[3, 1], [0, 2]], 1.5),
        ([[0.5, 0, 1], [1, 0.5, 0], [0, 1, 0.5]], 0.5),
        ([[2, 3, 1], [4, 5, 3]], 3),  # a saddle point
        ([[-2, 3], [3, -4]], 1 / 12),  # Morra with two fingers
        ([[0, 0, 0]], 0),
        ([[float(row == column) for column in range(20)] for row in range(20)], 1 / 20),
    ],
)
def test_known_games(rows: Rows, value: float) -> None:
    found = solve_matrix(rows)
    check(rows, found)
    assert abs(found.value - value) < 1e-12


def test_every_small_game_of_wins_and_losses() -> None:
    """All 3x3 games of zeros and ones, against the best response written out above."""
    for bits in product((0.0, 1.0), repeat=9):
        rows = [list(bits[at : at + 3]) for at in (0, 3, 6)]
        check(rows, solve_matrix(rows), 1e-12)


@pytest.mark.parametrize("shift", [0, 1e6, -1e6])
def test_any_scale(shift: float) -> None:
    rows = [[shift + payoff for payoff in row] for row in ([3.0, 1.0], [0.0, 2.0])]
    assert solve_matrix(rows).value == pytest.approx(shift + 1.5, rel=1e-12)


@pytest.mark.parametrize("rows", [[], [[]], [[1, 2], [3]], [[float("nan")]], [[float("inf"), 0]]])
def test_what_is_no_matrix_game_is_refused(rows: Rows) -> None:
    with pytest.raises(ValueError, match="matrix game"):
        solve_matrix(rows)


@given(matrices(SCORES, 10))
@settings(max_examples=60, deadline=None)
def test_scipy_agrees(rows: Rows) -> None:
    optimize: Any = pytest.importorskip("scipy.optimize", reason="scipy is not installed")
    np: Any = importlib.import_module("numpy")
    height, width = len(rows), len(rows[0])
    # Maximise v with x at least v against every column; x is a mix.
    found = optimize.linprog(
        [0.0] * height + [-1.0],
        A_ub=np.hstack([-np.array(rows).T, np.ones((width, 1))]),
        b_ub=[0.0] * width,
        A_eq=[[1.0] * height + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * height + [(None, None)],
    )
    assert abs(-found.fun - solve_matrix(rows).value) < 1e-7  # what HiGHS itself promises
