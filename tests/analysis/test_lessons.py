"""Lessons of all games: three moves that can be played, charts and facts from the solution."""

from __future__ import annotations

import json

import pytest

from duels.analysis.lessons import facts, learn, lesson_of
from duels.analysis.position import match_after
from duels.core.game import AnyGame
from duels.core.lesson import MOVES
from duels.games import BUILT_IN, charts, load, solve
from duels.plotting.drawing import Bars
from tests.plugins.goofspiel import BareGoofspiel

OTHERS = [
    load("number-clash", numbers=4),
    load("firewall-breach", strength=4),
    BareGoofspiel(cards=3),
]


@pytest.mark.parametrize("game", [*map(load, BUILT_IN), *OTHERS], ids=str)
def test_a_lesson_has_three_moves_of_one_player_in_one_game(game: AnyGame) -> None:
    lesson = lesson_of(game)
    assert len(lesson.moves) == MOVES
    following = [*(one.after for one in lesson.moves[1:]), lesson.after]
    players = set()
    for guided, then in zip(lesson.moves, following, strict=True):
        match = match_after(game, list(guided.after))
        (player, *_) = match.deciders
        players.add(player)
        assert guided.move in match.view(player).options
        played = then[len(guided.after)].split("/")
        assert then[: len(guided.after)] == guided.after
        assert played[player if len(played) == 2 else 0] == guided.move
        assert guided.text
    match_after(game, list(lesson.after))
    assert len(players) == 1


@pytest.mark.parametrize("slug", BUILT_IN)
def test_charts_are_the_data_of_the_charts_that_are_drawn(slug: str) -> None:
    game = load(slug)
    found = json.loads(json.dumps(learn(game)))
    drawn = charts(game)
    assert [one["title"] for one in found["charts"]] == [chart.title for chart in drawn]
    for one, chart in zip(found["charts"], drawn, strict=True):
        data = one["values"] if one["kind"] == "bars" else one["cells"]
        own = chart.values if isinstance(chart, Bars) else [list(row) for row in chart.cells]
        assert data == own
    assert len(found["facts"]) >= 2


def test_facts_follow_the_solution() -> None:
    assert facts(load("firewall-breach"))[:2] == [
        "The player who starts wins 277/486 of games (57.0 %).",
        "In 42 of 100 positions both actions are exactly equal.",
    ]
    small = load("firewall-breach", strength=3)
    value = solve(small).start_value()
    assert facts(small)[0].startswith(f"The player who starts wins {value} of games")
    second = facts(load("firewall-breach", first="2"))[0]
    assert second == "The player who starts wins 277/486 of games (57.0 %)."
    assert facts(load("digit-duel"))[0] == "With perfect play the player who starts wins."
    lost = facts(load("digit-duel", life="9/10"))[0]
    assert lost == "With perfect play the player who starts loses."
    assert facts(BareGoofspiel(cards=3))
