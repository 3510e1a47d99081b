"""The game that docs/guides/add-a-game.md makes step by step, run as it stands there."""

from __future__ import annotations

import importlib.util
import itertools
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from duels.algorithms.matrix_game import solve_matrix
from duels.algorithms.solutions import solve
from duels.core.conformance import check
from duels.core.game import AnyGame, Chance, Decide, Over
from duels.core.payoffs import payoffs

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "add-a-game.md"


@pytest.fixture
def tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, str]:
    """The module that the blocks make, and the section."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    section = PAGE.read_text(encoding="utf-8").partition("## A game with hidden information")[2]
    section = section.partition("\n## ")[0]
    file = tmp_path / "showdown.py"
    file.write_text("\n".join(re.findall(r"```python\n(.*?)```", section, re.DOTALL)))
    spec = importlib.util.spec_from_file_location("showdown", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "showdown", module)
    spec.loader.exec_module(module)
    return module, section


def test_the_game_conforms_and_its_examples_run(tutorial: tuple[Any, str]) -> None:
    module, section = tutorial
    (checks,) = re.findall(r"```py\n(.*?)```", section, re.DOTALL)
    exec(checks, vars(module))
    assert check(module.Showdown(first=1)).doubles


def expected(game: AnyGame, state: Any, plans: tuple[dict[str, str], dict[str, str]]) -> float:
    """Player 1's payoff if each player has a move for each card."""
    turn = game.turn(state)
    if isinstance(turn, Over):
        return payoffs(turn)[0]
    if isinstance(turn, Chance):
        return sum(
            float(odd) * expected(game, game.play(state, outcome), plans)
            for outcome, odd in turn.odds.items()
        )
    assert isinstance(turn, Decide)
    (player,) = turn.options
    move = plans[player][game.observe(state, player).card]
    return expected(game, game.play(state, move), plans)


def test_the_solution_is_that_of_the_matrix_of_all_plans(tutorial: tuple[Any, str]) -> None:
    """Each player chooses once: the game is a matrix of 8 by 8 plans, solved by another method."""
    game = tutorial[0].Showdown()
    rows, columns = (
        [dict(zip("123", moves, strict=True)) for moves in itertools.product(pair, repeat=3)]
        for pair in (("check", "bet"), ("fold", "call"))
    )
    matrix = [[expected(game, game.start(), (one, two)) for two in columns] for one in rows]
    solution = solve(game)
    assert float(solution.start_value()) == pytest.approx(solve_matrix(matrix).value, abs=1e-4)
    assert solve_matrix(matrix).value == pytest.approx(1 / 18)
    assert solution.at_most is not None
    assert solution.at_most < 1e-4
