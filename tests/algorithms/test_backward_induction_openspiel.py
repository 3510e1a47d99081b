"""Goofspiel solved from its states, beside OpenSpiel: its rules with linear programs, its solver.

The value of the whole game is a draw by symmetry, so positions in the middle of games are compared.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pyspiel: Any = pytest.importorskip(
    "pyspiel", reason="needs the extra: pip install 'duels[openspiel]'"
)
pytest.importorskip("scipy", reason="needs the extra: pip install 'duels[dev]'")
optimize: Any = import_module("scipy.optimize")

from duels.algorithms.backward_induction import BackwardInduction  # noqa: E402
from duels.algorithms.solutions import solve  # noqa: E402
from duels.core.game import Chance  # noqa: E402
from tests.plugins.goofspiel import Goofspiel, State  # noqa: E402

LONG = pytest.mark.long


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Solutions are stored in a directory of the test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


SLOW = pytest.mark.slow
Actions = tuple[int, ...]  # numbers of OpenSpiel's: outcomes of chance, and bids two by two


def name(cards: int, order: str) -> str:
    return f"goofspiel(num_cards={cards},points_order={order},returns_type=win_loss)"


class Position:
    """A position of Goofspiel after some actions, in their rules and in ours."""

    def __init__(self, cards: int, order: str, actions: Actions) -> None:
        self.game = Goofspiel(cards=cards, prizes=order)
        self.ours = self.turned_up(self.game.start())
        self.theirs = pyspiel.load_game(name(cards, order)).new_initial_state()
        left = [*actions]
        while left:
            count = 1 if self.theirs.is_chance_node() else 2
            self.ours = self.after(self.ours, *left[:count])
            self.theirs = child(self.theirs, *left[:count])
            del left[:count]

    def after(self, state: State, *actions: int) -> State:
        """Our state after actions of theirs."""
        return self.turned_up(self.game.play(state, *(str(action + 1) for action in actions)))

    def turned_up(self, state: State) -> State:
        """A chance event with one outcome is none of theirs."""
        turn = self.game.turn(state)
        if isinstance(turn, Chance) and len(turn.odds) == 1:
            return self.game.play(state, *turn.odds)
        return state


def child(state: Any, *actions: int) -> Any:
    after = state.clone()
    if len(actions) == 2:
        after.apply_actions(actions)
    else:
        after.apply_action(*actions)
    return after


class Reference:
    """The values of their states by linear programs: Player 1's expected return, from -1 to 1."""

    def __init__(self, position: Position) -> None:
        self.after = position.after
        self.values: dict[State, float] = {}
        self.find(position.theirs, position.ours)

    def find(self, theirs: Any, ours: State) -> float:
        if ours not in self.values:
            self.values[ours] = self._computed(theirs, ours)
        return self.values[ours]

    def _computed(self, theirs: Any, ours: State) -> float:
        if theirs.is_terminal():
            return float(theirs.returns()[0])
        if theirs.is_chance_node():
            return sum(
                float(p) * self.find(child(theirs, action), self.after(ours, action))
                for action, p in theirs.chance_outcomes()
            )
        return matrix_value(tuple(
            tuple(
                self.find(child(theirs, one, two), self.after(ours, one, two))
                for two in theirs.legal_actions(1)
            )
            for one in theirs.legal_actions(0)
        ))  # fmt: skip


@cache
def matrix_value(rows: tuple[tuple[float, ...], ...]) -> float:
    """The most that a mixed strategy of the row player guarantees, by scipy."""
    height, width = len(rows), len(rows[0])
    found = optimize.linprog(
        [0.0] * height + [-1.0],
        A_ub=[[-row[j] for row in rows] + [1.0] for j in range(width)],
        b_ub=[0.0] * width,
        A_eq=[[1.0] * height + [0.0]],
        b_eq=[1.0],
        bounds=[(0.0, 1.0)] * height + [(-1.0, 1.0)],
    )
    assert found.success
    return float(-found.fun)


@pytest.mark.parametrize(
    ("cards", "order", "actions"),
    [
        pytest.param(4, "descending", (), id="4-descending"),
        pytest.param(4, "random", (), id="4-random", marks=SLOW),
        pytest.param(5, "descending", (), id="5-descending", marks=SLOW),
        pytest.param(5, "random", (3, 1, 4), id="5-random-after-1", marks=SLOW),
        pytest.param(6, "descending", (2, 4), id="6-descending-after-1", marks=LONG),
        pytest.param(6, "random", (2, 1, 3, 0, 5, 4), id="6-random-after-2", marks=LONG),
    ],
)
def test_every_value_from_a_position_on_is_theirs(cards: int, order: str, actions: Actions) -> None:
    position = Position(cards, order, actions)
    solution = solve(position.game)
    assert isinstance(solution, BackwardInduction)
    reference = Reference(position)
    assert len(set(reference.values.values())) > 6
    for state, value in reference.values.items():
        assert 2 * float(solution.value(state)) - 1 == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    ("cards", "order", "actions"),
    [
        pytest.param(4, "descending", (0, 3), id="4-descending"),
        pytest.param(4, "random", (1, 2, 0), id="4-random", marks=SLOW),
        pytest.param(5, "descending", (2, 4), id="5-descending", marks=SLOW),
        pytest.param(5, "random", (1, 3, 1, 0, 1, 2), id="5-random", marks=SLOW),
        pytest.param(6, "descending", (1, 4, 4, 0), id="6-descending", marks=SLOW),
        pytest.param(6, "random", (2, 1, 3, 0, 5, 4, 1), id="6-random", marks=LONG),
    ],
)
def test_the_value_of_a_position_is_that_of_their_solver(
    cards: int, order: str, actions: Actions
) -> None:
    """Of their CFR+ that begins at the position, within what best responses to it gain."""
    position = Position(cards, order, actions)
    begin = f"history={';'.join(map(str, actions))}"
    rules = f"turn_based_simultaneous_game(game={name(cards, order)})"
    theirs = pyspiel.load_game(f"start_at({begin},game={rules})")
    solver = pyspiel.CFRPlusSolver(theirs)
    for _ in range(300):
        solver.evaluate_and_update_policy()
    found = solver.tabular_average_policy()
    error = 2 * pyspiel.exploitability(theirs, found)
    assert error < 0.01
    value = pyspiel.expected_returns(theirs.new_initial_state(), found, -1, False)[0]
    assert 0.01 < abs(value) < 0.99
    ours = solve(position.game).value(position.ours)
    assert 2 * float(ours) - 1 == pytest.approx(value, abs=error)
