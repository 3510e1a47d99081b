"""Values of positions over HTTP: equal to `duels value`, limited, and never those of a match."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.algorithms import solutions
from duels.analysis.exploration import explore
from duels.analysis.position import match_after, position_value, to_json
from duels.cli import main
from duels.core.game import AnyGame, Chance
from duels.core.match import Match
from duels.games import BUILT_IN, load
from duels.server import explored as exploring
from duels.server import routes
from duels.server.explored import LONGEST_LINE, explored
from tests.server.server import FREELY, Served, run, served

ADDED = {"after", "result", "distance", "chance", "table"}


def lines(game: AnyGame, count: int, seed: int = 1) -> list[list[str]]:
    """What has happened at so many positions of random games, the start and ends included."""
    randomness = Random(seed)
    found: list[list[str]] = []
    while len(found) < count:
        match, after = Match(game), list[str]()
        found.append(after)
        while match.result is None and len(found) < count:
            turn = match.turn
            if isinstance(turn, Chance):
                word = randomness.choice(list(turn.odds))
            else:
                picks = [randomness.choice(match.view(one).options) for one in match.deciders]
                word = "/".join(picks)
            after = [*after, word]
            match = match_after(game, after)
            found.append(after)
    return found


def check(game: AnyGame, after: list[str]) -> None:
    """A position has the JSON of `duels value`, and its value follows from what can happen."""
    data = json.loads(explored(game.slug, game.settings(), after))
    assert data["after"] == after
    match = match_after(game, after)
    common = {name: value for name, value in data.items() if name not in ADDED}
    for choice in common["choices"]:
        for about in choice["moves"].values():
            about.pop("distance", None)
    assert common == json.loads(json.dumps(to_json(position_value(match))))
    if "approximate" in data:
        return
    value = data["value"]
    if data["chance"]:
        outcomes = data["chance"]["outcomes"].values()
        mean = sum(Fraction(about["probability"]) * about["value"] for about in outcomes)
        assert float(mean) == pytest.approx(value, abs=1e-9)
    elif data["result"]:
        assert value == {1: 1, 2: 0, None: 0.5}[data["result"]["winner"]]
    for choice in data["choices"]:
        best = max if choice["player"] == 1 else min
        assert best(m["value"] for m in choice["moves"].values()) == pytest.approx(value, abs=1e-9)
        played = sum(p * choice["moves"][move]["value"] for move, p in choice["mix"].items())
        assert played == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("slug", BUILT_IN)
def test_a_position_has_the_numbers_of_duels_value(slug: str) -> None:
    game = load(slug)
    for after in lines(game, 9 if game.private else 60):
        check(game, after)


@pytest.mark.long
@pytest.mark.parametrize("slug", BUILT_IN)
def test_thousands_of_positions_have_the_numbers_of_duels_value(slug: str) -> None:
    game = load(slug)
    for after in lines(game, 200 if game.private else 2000, seed=2):
        check(game, after)


def test_the_terminal_prints_the_same_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    after = ["attack", "5"]
    assert main.main(["value", "firewall-breach", "--json", "--after", *after]) == 0
    printed = json.loads(capsys.readouterr().out)
    data = explore(load("firewall-breach"), after)
    assert {name: data[name] for name in printed} == printed


async def ask(site: Served, path: str) -> tuple[int, Any]:
    answer = await site.http.get(f"/api/value/{path}")
    return answer.status_code, answer.json()


def test_what_is_not_a_position_is_refused_with_a_reason() -> None:
    run(_refusals)


async def _refusals() -> None:
    async with served() as site:
        cases = {
            "none-such": (404, "there is no game"),
            "fire": (404, "expected 'firewall-breach'"),
            "firewall-breach?after=x": (400, "pick 1"),
            "firewall-breach?after=attack&after=7": (400, "pick 2"),
            "firewall-breach?strength=0": (400, "strength"),
            "firewall-breach?match=AAAAAAAAAAAAAAAAAAAAAA": (400, "no option 'match'"),
            "number-clash?after=7": (400, "7/8"),
            "number-clash?numbers=12": (422, "takes too long"),
            "firewall-breach?" + (LONGEST_LINE + 1) * "after=bypass&": (400, "at most"),
        }
        for path, (status, reason) in cases.items():
            found, data = await ask(site, path)
            assert (found, data["type"]) == (status, "refusal"), path
            assert reason in data["reason"], path
        status, data = await ask(site, "firewall-breach?after=attack")
        assert (status, data["exact"]) == (200, "277/486")
        answer = await site.http.get("/api/value/firewall-breach?after=attack")
        assert answer.json() == data
        assert answer.headers["cache-control"] == "public, max-age=3600"
        page = await site.http.get("/explore/none-such")
        assert (page.status_code, "<html" in page.text) == (404, True)
        assert (await site.http.get("/explore/number-wars")).status_code == 200


def test_values_have_a_rate_and_those_in_memory_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(routes, "CACHED_VALUES", 1)

    async def limited() -> None:
        async with served(limits=replace(FREELY, requests=(0.001, 8))) as site:
            paths = ["firewall-breach", "firewall-breach?after=bypass"] * 2
            found = [await ask(site, path) for path in paths]
            assert [status for status, _ in found] == [200] * 4
            assert found[:2] == found[2:]
            assert (await ask(site, "firewall-breach"))[0] == 429

    run(limited)


def test_a_process_keeps_few_solutions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(solutions, "_solved", {})
    monkeypatch.setattr(exploring, "SOLUTIONS", 2)
    for strength in ("3", "4", "5"):
        explored("firewall-breach", {"strength": strength}, [])
    kept = [game.settings()["strength"] for game in solutions._solved]
    assert kept == ["4", "5"]
