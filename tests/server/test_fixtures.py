"""Stores written by an earlier state of the project: their matches are read and played on."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.server.app import store_of
from duels.server.settings import Settings
from tests.server.server import QUICK, play_out, run, served

STORES = Path(__file__).parents[1] / "fixtures" / "stores"


@pytest.fixture(params=("sqlite", "postgres"))
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Any]:
    """The address of a copy of the store, and what is expected of it."""
    expected = json.loads((STORES / f"{request.param}.json").read_text("utf-8"))
    if request.param == "postgres":
        sql = gzip.decompress((STORES / "postgres.sql.gz").read_bytes())
        return request.getfixturevalue("postgres").restored(sql), expected
    path = tmp_path / "duels.sqlite"
    path.write_bytes(gzip.decompress((STORES / "sqlite.db.gz").read_bytes()))
    return str(path), expected


def at(expected: Any) -> Settings:
    """Settings whose clock stands where the store was written: deadlines are not yet over."""
    began = time.monotonic()
    return replace(QUICK, now=lambda: expected["made"] + time.monotonic() - began)


def test_stored_matches_are_shown_and_played_on(stored: tuple[str, Any]) -> None:
    database, expected = stored
    choice = Random(1).choice

    async def test() -> None:
        async with served(at(expected), store_of(database)) as site:
            one, two = site.person(expected["keys"]["one"]), site.person(expected["keys"]["two"])
            for id, told in expected["matches"].items():
                match = await one.get(f"/api/matches/{id}")
                assert match["state"] == told["kind"], told
                if told["kind"] == "over":
                    record = await one.get(f"/api/matches/{id}/record")
                    assert record["result"] is not None
                    assert "result" not in told or record["result"] == told["result"]
                    assert (await one.get(f"/api/matches/{id}/replay"))["steps"]
                elif told["kind"] == "playing":
                    seats = [await one.sit(id, nonce=False)]
                    if told["opponent"] == "friend":
                        seats.append(await two.sit(id, nonce=False))
                    for seat in seats:
                        await seat.started()
                        assert seat.moment >= told["moment"]
                    await asyncio.gather(*(play_out(seat, choice) for seat in seats))
                    for seat in seats:
                        await seat.close()
                    record = await one.get(f"/api/matches/{id}/record")
                    assert record["result"] is not None

    run(test)


def test_a_match_that_was_starting_can_be_started(stored: tuple[str, Any]) -> None:
    database, expected = stored
    (id,) = (id for id, told in expected["matches"].items() if told["kind"] == "starting")

    async def test() -> None:
        async with served(at(expected), store_of(database)) as site:
            one, two = site.person(expected["keys"]["one"]), site.person(expected["keys"]["two"])
            seats = await asyncio.gather(one.sit(id), two.sit(id))
            for seat in seats:
                await seat.started()
                assert seat.view["options"]

    run(test)


def test_an_open_match_can_be_joined(stored: tuple[str, Any]) -> None:
    database, expected = stored
    (id,) = (id for id, told in expected["matches"].items() if told["kind"] == "waiting")
    choice = Random(1).choice

    async def test() -> None:
        async with served(at(expected), store_of(database)) as site:
            one, two = site.person(expected["keys"]["one"]), site.person(expected["keys"]["two"])
            await two.join(id)
            seats = await asyncio.gather(one.sit(id), two.sit(id))
            await asyncio.gather(*(play_out(seat, choice) for seat in seats))

    run(test)
