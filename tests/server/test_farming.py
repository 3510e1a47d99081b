"""Ratings resist farming: wins against keys that the same person has made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.client.identity import digest, new_room_id, public_id
from duels.games import load
from duels.server.app import store_of
from duels.server.glicko2 import Strength, after
from duels.server.matchmaking import origin
from duels.server.ratings import ESTABLISHED, rate_all, rebuild
from duels.server.storage.base import HUMAN, OVER, RoomStore, Row, Save, StoredSeat
from tests.server.server import QUICK, run, served

GAME = "digit-duel"
KINDS = ("sqlite", "postgres")
HOUR = 3600.0


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        url: str = request.getfixturevalue("postgres").restored(b"")
        return url
    return str(tmp_path / "duels.sqlite")


def seat(key: str) -> StoredSeat:
    return StoredSeat(HUMAN, key, public_id(digest(key)), digest(key))


async def won(store: RoomStore, winner: str, loser: str, ended: float, near: bool = False) -> None:
    """Store and rate a match."""
    row = Row(
        new_room_id(), GAME, load(GAME).settings(), ended, "1", [seat(winner), seat(loser)],
        state=OVER, ended=ended, result={"winner": 1, "by": "rule"}, near=near,
    )  # fmt: skip
    await store.save(Save(row))
    await rate_all(store, load)


async def rating(store: RoomStore, key: str) -> float:
    found = await store.rating(GAME, public_id(digest(key)))
    return Strength().rating if found is None else found.rating


def without_limits(matches: list[tuple[str, str]], key: str) -> float:
    """The rating after matches, each won by the first of two keys, if all counted fully."""
    known: dict[str, Strength] = {}
    for winner, loser in matches:
        one, two = known.get(winner, Strength()), known.get(loser, Strength())
        known[winner], known[loser] = after(one, two, 1.0), after(two, one, 0.0)
    return known[key].rating


def with_store(database: str, test: Callable[[RoomStore], Any]) -> None:
    async def opened() -> None:
        store = store_of(database)
        await store.open()
        try:
            await test(store)
        finally:
            await store.close()

    run(opened)


def test_wins_against_new_keys_of_the_same_address_count_nothing(database: str) -> None:
    """30 free keys lose one match each: a rating of 2,162 without the rule, 1,500 with it."""

    async def test(store: RoomStore) -> None:
        matches = [("main", f"free {n}") for n in range(30)]
        for n, (winner, loser) in enumerate(matches):
            await won(store, winner, loser, n * HOUR, near=True)
        assert round(without_limits(matches, "main")) == 2162
        assert await rating(store, "main") == 1500.0

    with_store(database, test)


def test_wins_against_new_keys_of_many_addresses_are_bounded(database: str) -> None:
    """60 free keys at 60 addresses lose one match each: 2,274 without the rule, 1,914 with it."""

    async def test(store: RoomStore) -> None:
        matches = [("main", f"free {n}") for n in range(60)]
        for n, (winner, loser) in enumerate(matches):
            await won(store, winner, loser, n * HOUR)
        assert round(without_limits(matches, "main")) == 2274
        assert round(await rating(store, "main")) == 1914

    with_store(database, test)


def test_established_players_of_one_address_are_rated(database: str) -> None:
    async def test(store: RoomStore) -> None:
        for n in range(ESTABLISHED):
            await won(store, "ada", f"one {n}", n * HOUR)
            await won(store, f"two {n}", "eve", n * HOUR)
        await won(store, "new", "ada", 50 * HOUR, near=True)
        assert await rating(store, "new") == 1500.0
        before = await rating(store, "eve")
        await won(store, "eve", "ada", 100 * HOUR, near=True)
        assert await rating(store, "eve") > before

    with_store(database, test)


def test_a_pair_that_plays_all_day_gains_a_bounded_amount(database: str) -> None:
    """80 matches of a pair on a day, of which one wins three of four."""

    async def test(store: RoomStore) -> None:
        main, other = ("main", "other"), ("other", "main")
        matches = [other if n % 4 == 3 else main for n in range(80)]
        reached = {}
        for n, (winner, loser) in enumerate(matches, 1):
            await won(store, winner, loser, n * 60.0)
            reached[n] = await rating(store, "main")
        assert reached[2] == pytest.approx(without_limits(matches[:2], "main"))
        assert abs(reached[80] - reached[50]) < 0.5
        spread = [abs(reached[n] - reached[80]) for n in range(40, 80)]
        assert max(spread) < 2.0  # though Glicko-2 alone goes on changing it by more
        assert abs(without_limits(matches[:79], "main") - without_limits(matches, "main")) > 5.0
        # A match on the next day counts fully again.
        await won(store, "other", "main", 2 * 86400.0)
        assert reached[80] - await rating(store, "main") > 5.0
        kept = await rating(store, "main")
        await rebuild(store, load)
        assert await rating(store, "main") == pytest.approx(kept)

    with_store(database, test)


def test_addresses_are_compared_and_not_stored() -> None:
    async def test() -> None:
        async with served(QUICK, proxy=True) as server:
            ada, eve = server.person(), server.person()

            async def near(one: str, two: str) -> bool:
                made = await server.http.post(
                    "/api/matches", headers={**ada.headers, "X-Forwarded-For": one},
                    json={"game": GAME},
                )  # fmt: skip
                id = made.json()["id"]
                row = await server.manager.store.row(id)
                assert row is not None
                assert one not in str(row)
                await server.http.post(
                    f"/api/matches/{id}/join", headers={**eve.headers, "X-Forwarded-For": two}
                )
                row = await server.manager.store.row(id)
                assert row is not None
                assert row.origin is None
                return row.near

            assert await near("203.0.113.5", "203.0.113.5")
            assert not await near("203.0.113.5", "203.0.113.6")
            assert await near("2001:db8:1:2::1", "2001:db8:1:2:ffff::9")
            assert not await near("2001:db8:1:2::1", "2001:db8:1:3::1")
            assert await near("::ffff:203.0.113.5", "203.0.113.5")
            assert not await near("127.0.0.1", "127.0.0.1")  # players at one machine
            assert not await near("unknown", "unknown")

    run(test)


def test_the_stored_digest_of_an_address_differs_by_room() -> None:
    def row(secret: str) -> Row:
        return Row(new_room_id(), GAME, {}, 0.0, secret, [None, None])

    assert origin(row("1"), "203.0.113.5") == origin(row("1"), "203.0.113.5")
    assert origin(row("1"), "203.0.113.5") != origin(row("2"), "203.0.113.5")
