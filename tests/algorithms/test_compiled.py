"""Number Clash and Digit Duel: kernels and tables against the pure rules."""

from __future__ import annotations

import random
import re
from functools import cache
from typing import Any

import pytest

from duels.algorithms import compiled
from duels.algorithms.matrix_game import solve_matrix
from duels.algorithms.tables import TableError
from duels.core.errors import DuelsError
from duels.core.extras import install_command
from duels.core.game import AnyGame, Decide, Over
from duels.games import load
from duels.games.digit_duel import solver as digit_duel
from duels.games.digit_duel.rules import State as DuelState
from duels.games.digit_duel.solver import DigitDuelTable
from duels.games.number_clash import solver as number_clash

pytestmark = pytest.mark.slow

needs_numba = pytest.mark.extra("solve")


def final(over: Over) -> float:
    return 0.5 if over.winner is None else 1.0 - over.winner


def sealed(game: AnyGame, state: Any, turn: Decide, value: Any) -> float:
    """The value of a sealed choice from the values of what follows."""
    rows = [
        [value(game.play(state, one, two)) for two in turn.options[1]] for one in turn.options[0]
    ]
    return solve_matrix(rows).value


def pure_values(game: AnyGame) -> dict[Any, float]:
    """Every decision state of a sealed game, by the rules alone."""
    found: dict[Any, float] = {}

    def value(state: Any) -> float:
        turn = game.turn(state)
        if isinstance(turn, Over):
            return final(turn)
        assert isinstance(turn, Decide)
        if state not in found:
            found[state] = sealed(game, state, turn, value)
        return found[state]

    value(game.start())
    return found


def pure_results(game: AnyGame) -> dict[DuelState, tuple[int, int]]:
    """(winner, turns to the end) of every state of the open Digit Duel, by the rules alone."""
    found: dict[DuelState, tuple[int, int]] = {}

    def result(state: DuelState) -> tuple[int, int]:
        turn = game.turn(state)
        if isinstance(turn, Over):
            assert turn.winner is not None
            return turn.winner, 0
        if state not in found:
            found[state] = best(game, state, result)
        return found[state]

    result(game.start())
    return found


def best(game: AnyGame, state: DuelState, result: Any) -> tuple[int, int]:
    """One step of best play: win soonest, else lose latest; a turn ends with its defence."""
    turn = game.turn(state)
    assert isinstance(turn, Decide)
    ((player, moves),) = turn.options.items()
    step = int(state.attack is not None)
    after = [result(game.play(state, move)) for move in moves]
    winning = [step + turns for winner, turns in after if winner == player]
    if winning:
        return player, min(winning)
    return 1 - player, max(step + turns for _, turns in after)


def random_states(game: AnyGame, games: int, seed: int) -> list[Any]:
    """The different states of random games in which a player chooses."""
    chooser, states = random.Random(seed), set()
    for _ in range(games):
        state = game.start()
        while isinstance(turn := game.turn(state), Decide):
            states.add(state)
            state = game.play(state, *(chooser.choice(moves) for moves in turn.options.values()))
    return sorted(states)


# Small variants, every state


SMALL_CLASHES = [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (4, 1), (4, 2), (4, 4), (5, 2), (5, 3)]


@needs_numba
@pytest.mark.parametrize(("numbers", "points"), SMALL_CLASHES)
def test_number_clash_equals_the_rules(numbers: int, points: int) -> None:
    game = load("number-clash", numbers=numbers, points=points)
    expected = pure_values(game)
    solved = number_clash.solve(game)
    table = number_clash.NumberClashTable(game, solved.payload)
    assert solved.states == len(expected)
    assert solved.gap < 1e-12
    for state, value in expected.items():
        assert abs(table.value(state) - value) < 1e-12, state


SMALL_DUELS: list[dict[str, object]] = [
    {"digits": 1, "life": 1},
    {"digits": 2, "life": 1},
    {"digits": 3, "life": 2},
    {"digits": 3, "life": "1/3", "first": 1},
    {"digits": 4, "life": 3},
    {"digits": 4, "life": "4/3"},
    {"digits": 4, "life": "2/4", "first": 1},
    # Lives that are solved as smaller ones: no player can lose more than two or four here.
    {"digits": 3, "life": 50},
    {"digits": 3, "life": "2/40"},
    {"digits": 4, "life": "60/9", "first": 1},
    {"digits": 4, "life": "999/997"},
]


@needs_numba
@pytest.mark.parametrize("options", SMALL_DUELS, ids=str)
def test_digit_duel_equals_the_rules(options: dict[str, object]) -> None:
    game = load("digit-duel", **options)
    table = DigitDuelTable(game, digit_duel.solve(game).payload)
    for state, result in pure_results(game).items():
        assert table.result(state) == result, state
        assert table.value(state) == 1 - result[0]
        assert table.distance(state) == result[1]


@needs_numba
@pytest.mark.parametrize("options", SMALL_DUELS, ids=str)
def test_hidden_digit_duel_equals_the_rules(options: dict[str, object]) -> None:
    game = load("digit-duel", hidden=True, **options)
    solved = digit_duel.solve(game)
    table = digit_duel.HiddenDuelTable(game, solved.payload)
    assert solved.gap < 1e-12
    for state, value in pure_values(game).items():
        assert abs(table.value(state) - value) < 1e-12, state


# The full games


@cache
def clash() -> tuple[AnyGame, number_clash.NumberClashTable]:
    game = load("number-clash")
    table = number_clash.stored_values(game)
    assert table is not None, "the table of the default rules ships with the package"
    return game, table


@cache
def duel(life: str = "10", first: int = 0) -> tuple[AnyGame, DigitDuelTable]:
    game = load("digit-duel", life=life, first=first)
    table = digit_duel.stored_values(game)
    assert isinstance(table, DigitDuelTable)
    return game, table


def test_number_clash_holds_together() -> None:
    game, table = clash()

    def value(state: Any) -> float:
        turn = game.turn(state)
        return final(turn) if isinstance(turn, Over) else table.value(state)

    states = random_states(game, 1200, seed=1)
    assert len(states) > 2000
    for state in states:
        turn = game.turn(state)
        assert isinstance(turn, Decide)
        assert abs(sealed(game, state, turn, value) - table.value(state)) < 1e-11, state


def test_number_clash_facts() -> None:
    game, table = clash()
    assert table.value(game.start()) == 0.5
    assert round(table.value(game.play(game.start(), "7", "8")), 6) == 0.877595
    assert round(table.value(game.play(game.start(), "8", "7")), 6) == round(1 - 0.877595, 6)


def test_a_position_that_cannot_come_about_is_refused() -> None:
    game, table = clash()
    state = game.play(game.start(), "7", "8")
    with pytest.raises(TableError, match="not reachable"):
        table.value(state._replace(scores=(0, 2)))
    with pytest.raises(TableError, match="not reachable"):
        duel()[1].value(duel()[0].start()._replace(life=(10, 11)))


@pytest.mark.parametrize("life", ["10", "9/10", "2/7"])
@pytest.mark.parametrize("first", [0, 1])
def test_digit_duel_holds_together(life: str, first: int) -> None:
    game, table = duel(life, first)
    states = random_states(game, 120, seed=2)
    assert len(states) > 700
    for state in states:
        assert best(game, state, table.result) == table.result(state), state


def test_digit_duel_holds_together_anywhere() -> None:
    """Attacker states of any digits and lives, those included that no game comes to."""
    game, table = duel()
    chooser = random.Random(3)
    for _ in range(2000):
        size = chooser.randint(1, 9)
        one, two = (tuple(sorted(chooser.sample(range(1, 10), size))) for _ in (0, 1))
        life = (chooser.randint(1, 10), chooser.randint(1, 10))
        state = DuelState(life, (one, two), chooser.randint(0, 1))
        assert best(game, state, table.result) == table.result(state), state


def test_digit_duel_facts() -> None:
    """D6: the first attacker wins whatever digit opens; one life less turns that around."""
    for life, first, winner in [("10", 0, 0), ("10", 1, 1), ("9/10", 0, 1), ("10/9", 1, 0)]:
        game, table = duel(life, first)
        turn = game.turn(game.start())
        assert isinstance(turn, Decide)
        results = {
            digit: table.result(game.play(game.start(), digit)) for digit in turn.options[first]
        }
        assert {found for found, _ in results.values()} == {winner}
        assert len(results) == 9


@pytest.mark.long
@needs_numba
def test_state_counts_and_gaps() -> None:
    solved = number_clash.solve(load("number-clash"))
    assert solved.states == 639_536
    assert solved.gap < 1e-9
    assert digit_duel.solve(load("digit-duel")).states == 4_861_900


@pytest.mark.long
@needs_numba
def test_hidden_digit_duel_holds_together() -> None:
    game = load("digit-duel", hidden=True)
    solved = digit_duel.solve(game)
    assert solved.gap < 1e-9
    assert len(solved.payload) == 8 * 4_861_900
    table = digit_duel.HiddenDuelTable(game, solved.payload)

    def value(state: Any) -> float:
        turn = game.turn(state)
        return final(turn) if isinstance(turn, Over) else table.value(state)

    for state in random_states(game, 200, seed=4):
        turn = game.turn(state)
        assert isinstance(turn, Decide)
        assert abs(sealed(game, state, turn, value) - table.value(state)) < 1e-11, state


# Progress, limits, and what is missing


@needs_numba
@pytest.mark.parametrize(
    ("module", "options"),
    [
        (number_clash, {"numbers": 4, "points": 2}),
        (digit_duel, {"digits": 4, "life": 3}),
        (digit_duel, {"digits": 4, "life": 3, "hidden": True}),
    ],
    ids=["number-clash", "digit-duel", "hidden"],
)
def test_progress_is_told_round_by_round(module: Any, options: dict[str, object]) -> None:
    slug = module.__name__.split(".")[-2].replace("_", "-")
    told: list[float] = []
    module.solve(load(slug, **options), lambda part, what: told.append(part))
    assert len(told) == 4
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)


@pytest.mark.parametrize(
    "game",
    [
        load("number-clash", numbers=20, points=20),
        load("number-clash", numbers=14),
        load("digit-duel", digits=13),
        load("digit-duel", digits=11, hidden=True),
    ],
    ids=repr,
)
def test_what_is_too_large_is_refused_at_once(game: AnyGame) -> None:
    module: Any = number_clash if game.slug == "number-clash" else digit_duel
    with pytest.raises(TableError, match="can be solved here"):
        module.solve(game)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_numba", None)
    with pytest.raises(DuelsError, match=re.escape(install_command("solve"))):
        number_clash.solve(load("number-clash", numbers=3))

    @compiled.compiled
    def nothing() -> None: ...

    with pytest.raises(DuelsError, match=re.escape(install_command("solve"))):
        nothing()
