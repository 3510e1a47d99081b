"""Puzzles: deterministic, with one answer, and values equal to `duels value`."""

from __future__ import annotations

import json
from datetime import date, timedelta

import pytest

from duels.analysis import puzzles
from duels.analysis.grade import VERDICTS
from duels.analysis.position import match_after, position_value
from duels.analysis.position import to_json as value_json
from duels.analysis.puzzles import Puzzle, find_puzzle, has_puzzles, puzzles_of_day
from duels.core.game import AnyGame
from duels.games import BUILT_IN, load, solve
from tests.plugins.goofspiel import BareGoofspiel

GAMES = [game for game in map(load, BUILT_IN) if has_puzzles(game)]
DAY = date(2026, 11, 18)


def check(puzzle: Puzzle) -> None:
    """The answer is the only one by the values of `duels value`, which the JSON contains."""
    match = match_after(puzzle.game, list(puzzle.after))
    data = json.loads(json.dumps(puzzles.to_json(puzzle)))
    told = value_json(position_value(match))
    choice = next(one for one in data["choices"] if one["player"] == puzzle.player + 1)
    (value,) = (one for one in told["choices"] if one["player"] == puzzle.player + 1)
    for move, about in value["moves"].items():
        assert {name: choice["moves"][move][name] for name in about} == about
    assert choice["mix"] == value["mix"]
    assert data["value"] == told["value"]
    assert set(puzzle.answer) == set(value["mix"])
    sign = 1 if puzzle.player == 0 else -1
    worth = {move: sign * about["value"] for move, about in value["moves"].items()}
    others = [worth[move] for move in worth if move not in puzzle.answer]
    assert others, "a puzzle has a wrong move"
    best = max(worth.values())
    if puzzle.kind == "best":
        slip = next(most for most, name in VERDICTS if name == "slip")
        assert len(puzzle.answer) == 1
        assert all(best - other >= slip - 1e-9 for other in others)
    else:
        assert len(puzzle.answer) > 1
        assert all(worth[move] == pytest.approx(best, abs=1e-9) for move in puzzle.answer)
        assert all(best - other > 1e-3 for other in others)
    assert 1 <= puzzle.stars <= puzzles.HARDEST
    assert 0 <= puzzle.difficulty <= 1


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.slug)
def test_a_puzzle_has_one_answer_and_the_numbers_of_duels_value(game: AnyGame) -> None:
    for n in range(5):
        check(find_puzzle(game, f"test {n}"))


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.slug)
def test_hundreds_of_puzzles_have_one_answer(game: AnyGame) -> None:
    for n in range(500):
        check(find_puzzle(game, f"long {n}"))


def test_a_day_has_the_same_puzzles_everywhere_the_easiest_first() -> None:
    found = puzzles_of_day(DAY, GAMES)
    assert len(found) == puzzles.PER_DAY
    assert {one.game.slug for one in found} == {game.slug for game in GAMES}
    hard = [one.difficulty for one in found]
    assert hard == sorted(hard)
    assert found == puzzles_of_day(DAY, GAMES)
    assert found != puzzles_of_day(DAY + timedelta(1), GAMES)
    # Fixed: another version with the same rules must publish the same puzzles.
    first = found[0]
    assert (first.game.slug, first.player, first.answer) == ("digit-duel", 1, ("3",))


def test_a_mixed_strategy_that_is_asked_for_is_the_only_one() -> None:
    pennies = [[1.0, 0.0], [0.0, 1.0]]
    assert puzzles._unique(pennies)
    assert not puzzles._unique([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])  # a column twice
    assert not puzzles._unique([[0.5, 0.5], [0.5, 0.5]])  # anything is optimal


def test_games_with_hidden_hands_or_without_puzzles_are_left_out() -> None:
    assert not has_puzzles(load("cipher-siege"))
    alike = load("digit-duel", digits=1)  # a player has one digit: there is no choice
    found = puzzles.practice(0, [alike, load("firewall-breach")])
    assert {one.game.slug for one in found} == {"firewall-breach"}
    assert puzzles.practice(0, [alike]) == []


def test_a_game_of_another_package_has_puzzles() -> None:
    game = BareGoofspiel(cards=4)
    solve(game)
    assert has_puzzles(game)
    check(find_puzzle(game, "test"))
