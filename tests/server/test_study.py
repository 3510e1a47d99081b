"""Lessons and puzzles over HTTP: the data of the analysis, dates, refusals, hidden hands."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.analysis import puzzles
from duels.games import BUILT_IN, load
from duels.server import study
from tests.server.server import QUICK, Served, run, served

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
SETTINGS = replace(QUICK, now=NOON.timestamp)


async def ask(site: Served, path: str) -> tuple[int, Any]:
    answer = await site.http.get(f"/api/{path}")
    return answer.status_code, answer.json()


def test_lessons_and_puzzles_are_served_and_refused_with_a_reason() -> None:
    async def test() -> None:
        async with served(SETTINGS) as site:
            status, data = await ask(site, "puzzles/day/2026-11-18")
            assert status == 200
            games = [game for game in map(load, BUILT_IN) if puzzles.has_puzzles(game)]
            own = puzzles.puzzles_of_day(date(2026, 11, 18), games)
            assert [one["puzzle"]["answer"] for one in data["puzzles"]] == [
                list(one.answer) for one in own
            ]
            assert all(one["table"] and one["title"] for one in data["puzzles"])
            one, two = [(await ask(site, f"puzzles/practice/{n}"))[1] for n in (0, 1)]
            assert one["puzzles"] != two["puzzles"]
            only = (await ask(site, "puzzles/practice/0?game=digit-duel"))[1]
            assert {one["game"] for one in only["puzzles"]} == {"digit-duel"}
            for slug in ("number-clash", "cipher-siege"):
                status, lesson = await ask(site, f"learn/{slug}")
                assert status == 200
                for move in lesson["lesson"]["moves"]:
                    assert move["move"] in move["options"]
                    assert move["table"]
            cases = {
                "puzzles/day/2026-11-19": 200,  # has begun in the first time zone
                "puzzles/day/2026-11-20": 404,
                "puzzles/day/2025-12-31": 404,
                "puzzles/day/20261118": 400,
                "puzzles/day/x": 400,
                "puzzles/practice/x": 400,
                "puzzles/practice/-1": 400,
                f"puzzles/practice/{study.LAST_PAGE + 1}": 400,
                "puzzles/practice/0?game=none-such": 404,
                "puzzles/practice/0?game=cipher-siege": 422,
                "learn/none-such": 404,
            }
            for path, expected in cases.items():
                status, data = await ask(site, path)
                assert status == expected, (path, data)
                assert status == 200 or data["reason"]
            for page, expected in {"/learn/none-such": 404, "/learn/digit-duel": 200}.items():
                assert (await site.http.get(page)).status_code == expected
            assert (await site.http.get("/puzzles")).status_code == 200

    run(test)


def test_hidden_hands_are_shown_from_the_side_of_the_learner() -> None:
    import json

    lesson = json.loads(study.lesson("cipher-siege"))["lesson"]
    for table in [*(move["table"] for move in lesson["moves"]), lesson["table"]]:
        hands = {part["owner"]: part for part in table if part["type"] == "hand"}
        assert hands[1]["hidden"] == 0
        assert hands[2]["hidden"]
        assert hands[2]["cards"] == []
