"""Moderation on both stores: `duels admin` beside a running server, reports, deletion, export."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

import msgspec
from websockets.exceptions import ConnectionClosed

from duels.cli.main import main
from duels.client.identity import digest, new_room_id, public_id
from duels.core import record
from duels.games import load
from duels.server.app import store_of
from duels.server.glicko2 import Strength, after
from duels.server.moderation import Moderation
from duels.server.notices import BANS, KEPT
from duels.server.storage import schema
from duels.server.storage.base import HUMAN, Ban, Notice, Report, StoredRating, Unavailable
from tests.server.server import FREELY, QUICK, Person, Seated, Served, play_out, run, served

KINDS = ("sqlite", "postgres")
GAME = "digit-duel"


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        postgres = request.getfixturevalue("postgres")
        url: str = postgres.restored(b"")  # an empty database of its own
        return url
    return str(tmp_path / "duels.sqlite")


@asynccontextmanager
async def serving(database: str, **changes: Any) -> AsyncIterator[Served]:
    async with served(QUICK, store_of(database), database=database, **changes) as server:
        yield server
        await server.manager.close()  # so that the next server can open the store


async def admin(
    capsys: pytest.CaptureFixture[str], database: str, *words: str, status: int = 0
) -> Any:
    """Run `duels admin` beside the server of this process; its JSON, or its error."""
    given = ["admin", *words, "--json", "--database", database]
    found = await asyncio.to_thread(main, given)
    captured = capsys.readouterr()
    assert found == status, captured.err
    return json.loads(captured.out) if status == 0 else captured.err


def test_the_id_of_a_match_is_never_taken_for_an_option() -> None:
    assert not any(new_room_id().startswith("-") for _ in range(2000))


def id_of(person: Person) -> str:
    return public_id(digest(person.key))


async def refused(person: Person, method: str, path: str, body: Any = None) -> tuple[int, str]:
    found = await person.http.request(method, path, headers=person.headers, json=body)
    return found.status_code, found.json().get("reason", "")


async def playing(one: Person, two: Person) -> tuple[str, Seated, Seated]:
    """A match that both players have started."""
    id = (await one.create(GAME, seat=1))["id"]
    await two.join(id)
    first, second = await one.sit(id), await two.sit(id)
    await first.started()
    await second.started()
    return id, first, second


async def finished(one: Person, two: Person) -> str:
    id, first, second = await playing(one, two)
    await asyncio.gather(play_out(first, min), play_out(second, max))
    await first.close()
    await second.close()
    return id


async def ended(seated: Seated) -> str:
    """The reason of the refusal with which the server closes a connection."""
    reason = ""
    with suppress(ConnectionClosed):
        while True:
            message = await seated.receive()
            reason = message["reason"] if message["type"] == "refusal" else reason
    return reason


def test_a_banned_player_is_disconnected_and_refused(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def test() -> None:
        async with serving(database) as server:
            ada, eve = server.person(), server.person()
            id, first, second = await playing(ada, eve)
            waiting = (await eve.create(GAME, open=True))["id"]
            other = (await ada.create(GAME))["id"]
            banned = await admin(
                capsys, database, "ban", id_of(eve), "--reason", "insults", "--days", "2"
            )
            assert banned["until"] - banned["since"] == pytest.approx(2 * 86400)
            reason = await ended(second)
            assert reason.startswith("this key is banned until ")
            assert reason.endswith(" UTC: insults")
            result = (await first.until("update", to_move=[]))["view"]["result"]
            assert (result["winner"], result["by"]) == (1, "resignation")
            assert (await ada.get(f"/api/matches/{waiting}"))["state"] == "closed"

            for method, path, body in (
                ("POST", "/api/matches", {"game": GAME}),
                ("POST", f"/api/matches/{other}/join", {}),
                ("POST", f"/api/matches/{id}/report", {"reason": "x"}),
                ("PUT", "/api/me", {"name": "Eve"}),
            ):
                assert await refused(eve, method, path, body) == (403, reason)
            again = await eve.sit_quietly(id)
            assert await ended(again) == reason
            assert (await eve.get("/api/me"))["ratings"] is not None  # one's own data stays visible

            await admin(capsys, database, "unban", id_of(eve))
            assert "is banned" in await admin(capsys, database, "unban", id_of(eve), status=2)
            await server.manager.apply_notices()
            assert (await eve.join(other))["state"] == "starting"

    run(test)


def test_a_ban_ends_by_itself_and_survives_a_restart(database: str) -> None:
    async def test() -> None:
        now = 1_800_000_000.0
        eve = ""
        async with serving(database, now=lambda: now) as server:
            eve = server.person().key
            ban = Ban(public_id(digest(eve)), "", now, now + 60)
            await server.manager.store.ban(ban)
        async with serving(database, now=lambda: now) as server:
            person = server.person(eve)
            status, reason = await refused(person, "POST", "/api/matches", {"game": GAME})
            assert (status, reason) == (403, "this key is banned until 2027-01-15 08:01 UTC")
            now += 60
            await person.create(GAME)

    run(test)


def test_a_running_match_is_closed_or_deleted(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def test() -> None:
        async with serving(database) as server:
            ada, eve = server.person(), server.person()
            id, first, second = await playing(ada, eve)
            closed = await admin(capsys, database, "close", id, "--reason", "A test.")
            assert closed == {"id": id, "state": "closed"}
            for seated in (first, second):
                assert await ended(seated) == "the match was closed. A test."
            found = await ada.get(f"/api/matches/{id}")
            assert (found["state"], found["reason"], found["to_move"]) == ("closed", "A test.", [])
            assert "already closed" in await admin(capsys, database, "close", id, status=1)
            welcome = await ada.sit_quietly(id)
            await welcome.until("welcome")
            assert not (await welcome.command("move", at=0, move="1"))["ok"]
            await welcome.close()

            id, first, second = await playing(ada, eve)
            assert await admin(capsys, database, "delete", id) == {"match": id}
            for seated in (first, second):
                assert await ended(seated) == "there is no such match"
            assert (await refused(ada, "GET", f"/api/matches/{id}"))[0] == 404
            assert (await ada.get("/api/matches"))["mine"] == []
            for path in ("entries", "answers"):
                store: Any = server.manager.store
                rows = await store._all(f"SELECT count(*) FROM {path} WHERE room = ?", id)
                assert rows[0][0] == 0

    run(test)


def test_a_move_at_the_same_time_does_not_bring_a_closed_match_back(database: str) -> None:
    async def test() -> None:
        async with serving(database) as server:
            ada, eve = server.person(), server.person()
            id, first, second = await playing(ada, eve)
            await Moderation(server.manager.store).close(id)
            seated = first if first.view["options"] else second
            answer = await seated.move(seated.view["options"][0])  # the server has not noticed yet
            assert (answer["ok"], answer["reason"]) == (False, "the match has not started")
            row = await server.manager.store.row(id)
            assert row is not None
            assert row.state == "closed"

    run(test)


def test_players_are_found_and_renamed_everywhere(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def test() -> None:
        async with serving(database) as server:
            ada, eve = server.person(), server.person()
            await eve.http.put("/api/me", headers=eve.headers, json={"name": "Rude Word"})
            id = await finished(ada, eve)
            while not (await eve.get("/api/me"))["ratings"]:
                await asyncio.sleep(0.01)
            running, first, second = await playing(ada, eve)
            found = await admin(capsys, database, "search", "ruđe w0rd")
            assert found == [{"id": id_of(eve), "name": "Rude Word", "ban": None}]
            guest = (await ada.get("/api/me"))["name"]
            by_id = await admin(capsys, database, "search", id_of(ada)[:8])
            assert [one["name"] for one in by_id] == [guest]
            assert "reserved" in await admin(
                capsys, database, "rename", id_of(eve), "admin", status=2
            )
            await admin(capsys, database, "rename", id_of(eve), "Eve")
            renamed = await first.until("match")
            assert "Eve" in [seat["name"] for seat in renamed["match"]["seats"]]
            await asyncio.gather(play_out(first, min), play_out(second, max))
            for match in (id, running):
                text = (await ada.http.get(f"/api/matches/{match}/record")).text
                assert "Rude" not in text
                assert "Eve" in record.loads(text, load).players
            assert (await eve.get("/api/me"))["name"] == "Eve"
            listed = (await ada.get(f"/api/ratings/{GAME}"))["ratings"]
            assert {one["player"]["name"] for one in listed} == {"Eve", guest}
            matches = await admin(capsys, database, "list", "--state", "over", "-n", "1")
            assert [one["id"] for one in matches] == [running]

    run(test)


def test_a_match_is_reported_once_by_its_players(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def test() -> None:
        limits = replace(FREELY, reports=(1e-6, 2))
        async with serving(database, limits=limits) as server:
            ada, eve, other = server.person(), server.person(), server.person()
            matches = [await finished(ada, eve) for _ in range(3)]
            report = f"/api/matches/{matches[0]}/report"
            for body in ({}, {"reason": ""}, {"reason": "  "}, {"reason": "x" * 501}):
                assert (await refused(ada, "POST", report, body))[0] == 400
            assert (await refused(other, "POST", report, {"reason": "x"}))[0] == 403
            alone = (await ada.create(GAME, opponent="random"))["id"]
            assert (await refused(ada, "POST", f"/api/matches/{alone}/report", {"reason": "x"}))[
                0
            ] == 409
            await ada.post(report, reason=" he <b>cheats</b> ")
            assert await refused(ada, "POST", report, {"reason": "again"}) == (
                409,
                "you have reported this match already",
            )
            status, _ = await refused(
                ada, "POST", f"/api/matches/{matches[1]}/report", {"reason": "x"}
            )
            assert status == 429  # two reports of a key at once
            await eve.post(report, reason="no")
            listed = await admin(capsys, database, "reports")
            assert [(one["reason"], one["by"]["id"], one["about"]["id"]) for one in listed] == [
                ("no", id_of(eve), id_of(ada)),
                ("he <b>cheats</b>", id_of(ada), id_of(eve)),
            ]
            assert {one["match"] for one in listed} == {matches[0]}

    run(test)


def test_a_player_deletes_their_data(database: str) -> None:
    async def test() -> None:
        async with serving(database) as server:
            ada, eve = server.person(), server.person()
            await eve.http.put("/api/me", headers=eve.headers, json={"name": "Eve Example"})
            over = await finished(ada, eve)
            while not (await eve.get("/api/me"))["ratings"]:
                await asyncio.sleep(0.01)
            await ada.http.get(f"/api/matches/{over}/analysis")
            await eve.post(f"/api/matches/{over}/report", reason="x")
            running, first, second = await playing(ada, eve)
            waiting = (await eve.create(GAME, open=True, request="one"))["id"]

            done = await eve.http.delete("/api/me", headers=eve.headers)
            assert done.json() == {"type": "deleted", "id": id_of(eve)}
            assert await ended(second) == "the data of this key was deleted"
            result = (await first.until("update", to_move=[]))["view"]["result"]
            assert (result["winner"], result["by"]) == (1, "resignation")
            assert (await ada.get(f"/api/matches/{waiting}"))["state"] == "closed"
            me = await eve.get("/api/me")
            assert me["name"].startswith("Guest ")
            assert me["ratings"] == []
            assert (await eve.get("/api/me/history"))["matches"] == []
            history = (await ada.get("/api/me/history"))["matches"]
            assert {one["id"] for one in history} == {over, running}
            for one in history:
                assert one["seats"][1]["name"] == "Deleted player"
            text = (await ada.http.get(f"/api/matches/{over}/record")).text
            assert record.loads(text, load).players[1] == "Deleted player"
            rated = (await ada.get("/api/me"))["ratings"]
            assert rated[0]["matches"] == 2  # the resigned match counts

            # Nothing in the database names the player any more.
            store: Any = server.manager.store
            tables = ("rooms", "entries", "answers", "players", "ratings", "analyses", "reports")
            for table in tables:
                kept = str([tuple(row) for row in await store._all(f"SELECT * FROM {table}")])
                for trace in ("Eve Example", digest(eve.key), id_of(eve)):
                    assert trace not in kept, table
            listed = (await ada.get(f"/api/ratings/{GAME}"))["ratings"]
            assert [one["player"]["id"] for one in listed] == [id_of(ada)]

    run(test)


def test_a_player_exports_their_data(database: str) -> None:
    async def test() -> None:
        async with serving(database, limits=replace(FREELY, exports=(1e-6, 2))) as server:
            ada, eve = server.person(), server.person()
            assert (await ada.get("/api/me/export"))["matches"] == []
            over = await finished(ada, eve)
            await ada.post(f"/api/matches/{over}/report", reason="x")
            running, first, second = await playing(ada, eve)
            closed = (await ada.create(GAME))["id"]
            await ada.post(f"/api/matches/{closed}/leave")
            found = await ada.get("/api/me/export")
            assert (found["id"], found["ban"]) == (id_of(ada), None)
            assert [one["match"] for one in found["reports"]] == [over]
            matches = {one["match"]["id"]: one for one in found["matches"]}
            assert set(matches) == {over, running, closed}
            assert record.loads(json.dumps(matches[over]["record"]), load).result is not None
            assert matches[running]["record"]["viewer"] == 1
            assert "seed" not in matches[running]["record"]
            assert matches[closed]["record"] is None
            assert digest(ada.key) not in json.dumps(found)
            assert (await refused(ada, "GET", "/api/me/export"))[0] == 429
            assert (await server.http.get("/api/me/export")).status_code == 401
            await first.close()
            await second.close()

    run(test)


def test_a_notice_is_applied_once_and_deleted_later(database: str) -> None:
    async def test() -> None:
        now = 1_800_000_000.0
        async with serving(database, now=lambda: now) as server:
            store, notices = server.manager.store, server.manager.notices

            async def reload(room: str) -> None:
                raise AssertionError("there is no room in memory")

            await store.notify(Notice("1", now, BANS, ""))
            assert [await notices.apply({}, reload) for _ in range(2)] == [True, False]
            now += KEPT / 2
            await store.notify(Notice("2", now, BANS, ""))
            assert await notices.apply({}, reload)
            now += KEPT / 2 + 1
            assert not await notices.apply({}, reload)
            assert [one.id for one in await store.notices(0.0)] == ["2"]
            assert await store.report(Report("room", "player", "why", 1.0))
            assert not await store.report(Report("room", "player", "again", 2.0))

    run(test)


def test_admin_works_without_a_server_and_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def test() -> None:
        missing = str(tmp_path / "none.sqlite")
        assert "no such file" in await admin(capsys, missing, "list", status=1)
        path = str(tmp_path / "duels.sqlite")
        async with serving(path) as server:
            await server.person().create(GAME)
        (found,) = await admin(capsys, path, "list")
        await admin(capsys, path, "close", found["id"])
        unknown = await admin(capsys, path, "ban", "0" * 16, status=2)
        assert "no player" in unknown
        async with serving(path) as server:
            assert (await server.person().get(f"/api/matches/{found['id']}"))["state"] == "closed"

    run(test)


def test_a_server_keeps_its_lock_while_admin_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def test() -> None:
        path = str(tmp_path / "duels.sqlite")
        async with serving(path) as server:
            await admin(capsys, path, "list")
            await server.manager.store.check()  # the files are still the ones that it opened
            with pytest.raises(Unavailable, match="in use"):
                await store_of(path).open()

    run(test)


def test_a_match_that_a_deletion_ends_is_rated_against_the_deleted_player(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also by `duels admin` beside the server of an SQLite file."""

    async def test() -> None:
        path = str(tmp_path / "duels.sqlite")
        async with serving(path) as server:
            ada, eve = server.person(), server.person()
            store: Any = server.manager.store
            strong = Strength(2100.0, 60.0, 0.06)
            known = StoredRating(GAME, id_of(eve), HUMAN, "Eve", *strong, 30)
            await store._all(schema.RATE, *msgspec.structs.astuple(known))
            await playing(ada, eve)
            async with store.rating_in_turn():  # the other process waits for its turn
                deleting = asyncio.create_task(admin(capsys, path, "delete", id_of(eve)))
                while not await store.unrated(1):
                    await asyncio.sleep(0.01)
                assert await store.ratings_of(id_of(eve)) == [known]
            await deleting
            rated = await store.rating(GAME, id_of(ada))
            assert rated.rating == pytest.approx(after(Strength(), strong, 1.0).rating)
            assert await store.ratings_of(id_of(eve)) == []

    run(test)
