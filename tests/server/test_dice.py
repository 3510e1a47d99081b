"""How a server and two clients agree on dice: hashes, nonces, deadlines, restarts, old stores."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.client.connection import Client, MatchConnection
from duels.client.identity import new_key
from duels.core.commitment import new_nonce, nonce_hash, verify
from duels.core.commitment_client import Unfair
from duels.core.match import Match
from duels.core.record import loads
from duels.games import load
from tests.server.server import QUICK, Seated, Served, play_out, run, served
from tests.server.test_rooms import Hands

Json = dict[str, Any]


async def committed(server: Served, game: str = "cipher-siege", **fields: Any) -> Any:
    """Two clients, one of which agrees by itself; the other has only sent its hash."""
    ada, bob = server.person(), server.person()
    made = await ada.create(game, seat=1, **fields)
    await bob.join(made["id"])
    one = await ada.sit(made["id"])
    two = await bob.sit(made["id"], nonce=False)
    nonce = new_nonce()
    hash = nonce_hash(made["id"], 1, made["commitment"], nonce)
    assert (await two.command("commit", hash=hash))["ok"]
    return one, two, made["id"], nonce


async def revealed(seated: Seated) -> Any:
    """The match as it is told once a nonce is known."""
    while not seated.match["revealed"]:
        await seated.receive()
    return seated.match


async def record_of(server: Served, id: str) -> Match:
    return loads((await server.http.get(f"/api/matches/{id}/record")).text, load)


def test_hashes_are_told_to_all_before_a_nonce_is_and_the_match_starts_with_the_last() -> None:
    async def test() -> None:
        async with served() as server:
            one, two, id, nonce = await committed(server)
            match = await revealed(two)
            assert match["hashes"] == one.commitment_client.hashes
            assert (match["revealed"], match["nonces"]) == ([1], None)
            assert one.commitment_client.nonce not in "".join(two.raw)
            told = [message["match"] for message in two.messages if "match" in message]
            assert all(None not in m["hashes"] for m in told if m["revealed"])
            assert (await two.command("reveal", nonce=nonce))["ok"]
            await asyncio.gather(one.started(), two.started())
            assert two.match["nonces"] == [one.commitment_client.nonce, nonce]
            assert (await server.person().get(f"/api/matches/{id}"))["hashes"] == match["hashes"]

    run(test)


def test_the_server_takes_no_nonce_too_early_none_that_does_not_fit_and_one_hash_for_good() -> None:
    async def test() -> None:
        async with served() as server:
            ada, bob = server.person(), server.person()
            made = await ada.create("number-wars", seat=1)
            one = await ada.sit(made["id"], nonce=False)
            nonce = new_nonce()
            hash = nonce_hash(made["id"], 0, made["commitment"], nonce)
            for wrong in ("", "a" * 63, "A" * 64, hash + "0"):
                assert (
                    not (await one.command("commit", hash=wrong))["ok"] if len(wrong) < 65 else True
                )
            assert (await one.command("commit", hash=hash))["ok"]
            assert (await one.command("commit", hash=hash))["ok"]  # of a client that comes again
            assert "another hash" in (await one.command("commit", hash="a" * 64))["reason"]
            assert "both hashes" in (await one.command("reveal", nonce=nonce))["reason"]
            await bob.join(made["id"])
            assert "both hashes" in (await one.command("reveal", nonce=nonce))["reason"]
            two = await bob.sit(made["id"])
            assert "does not match" in (await one.command("reveal", nonce=new_nonce()))["reason"]
            assert (await one.command("reveal", nonce=nonce))["ok"]
            await two.started()
            assert "protocol 2" in (await one.command("nonce", nonce=nonce))["reason"]

    run(test)


def test_the_hash_of_the_other_seat_cannot_be_copied() -> None:
    """A player who copies the opponent's hash never gets the nonce to copy."""

    async def test() -> None:
        async with served() as server:
            ada, bob = server.person(), server.person()
            made = await ada.create("number-wars", seat=1)
            one = await ada.sit(made["id"])
            while one.match["hashes"][0] is None:
                await one.receive()
            await bob.join(made["id"])
            two = await bob.sit(made["id"], nonce=False)
            assert one.commitment_client is not None
            assert (await two.command("commit", hash=one.commitment_client.hash))["ok"]
            await revealed(two)
            answer = await two.command("reveal", nonce=one.commitment_client.nonce)
            assert "does not match" in answer["reason"]

    run(test)


def test_a_match_without_hashes_is_closed_and_no_player_has_lost() -> None:
    async def test() -> None:
        now = Hands()
        async with served(now=now) as server:
            ada, bob = server.person(), server.person()
            made = await ada.create("cipher-siege")
            await bob.join(made["id"])
            one = await ada.sit(made["id"])
            two = await bob.sit(made["id"], nonce=False)
            assert "not started" in (await two.command("move", at=0, move="swap 1"))["reason"]
            now.time += QUICK.start_within + 1
            while one.match["state"] != "closed":
                await one.receive()
            assert one.match["reason"]
            assert not (await two.command("commit", hash="a" * 64))["ok"]
            assert (await ada.get(f"/api/matches/{made['id']}"))["state"] == "closed"

    run(test)


def test_a_match_in_which_no_nonce_was_revealed_is_closed_too() -> None:
    async def test() -> None:
        now = Hands()
        async with served(now=now) as server:
            ada, bob = server.person(), server.person()
            made = await ada.create("cipher-siege", seat=1)
            await bob.join(made["id"])
            seats = [await person.sit(made["id"], nonce=False) for person in (ada, bob)]
            for seated in seats:
                assert (await seated.command("commit", hash="a" * 64))["ok"]
            now.time += QUICK.reveal_within - 1
            await asyncio.sleep(1.5)
            assert (await ada.get(f"/api/matches/{made['id']}"))["state"] == "starting"
            now.time += 2
            while seats[0].match["state"] != "closed":
                await seats[0].receive()

    run(test)


@pytest.mark.parametrize("options", [{}, {"first": "random"}])
def test_a_player_who_withholds_the_nonce_forfeits_and_that_is_recorded_and_rated(
    options: Json,
) -> None:
    async def test() -> None:
        now = Hands()
        async with served(now=now) as server:
            one, two, id, _ = await committed(server, options=options)
            match = await revealed(two)
            assert match["reveal_by"] == pytest.approx(now.time + QUICK.reveal_within)
            now.time += QUICK.reveal_within + 1
            while two.view is None or two.view["result"] is None:
                await two.receive()
            assert two.view["result"] == {
                "type": "result", "winner": 1, "by": "forfeit",
                "reason": "Player 2 forfeits: did not reveal the nonce in time.",
            }  # fmt: skip
            record = await record_of(server, id)
            assert "Player 2 forfeits" in verify(record)
            assert one.commitment_client.check(record)
            for path in ("replay", "fair", "analysis"):
                found = await server.http.get(f"/api/matches/{id}/{path}")
                assert found.status_code in (200, 422), (path, found.text)
            assert (await server.http.get(f"/match/{id}/picture.png")).status_code == 200
            while not (await server.person().get("/api/ratings/cipher-siege"))["ratings"]:
                await asyncio.sleep(0.02)

    run(test)


def test_a_player_who_has_seen_a_nonce_cannot_withdraw() -> None:
    async def test() -> None:
        async with served() as server:
            ada, bob = server.person(), server.person()
            made = await ada.create("number-wars", seat=1)
            await bob.join(made["id"])
            one = await ada.sit(made["id"])
            two = await bob.sit(made["id"], nonce=False)
            assert (await two.command("commit", hash="a" * 64))["ok"]
            await revealed(two)
            for person in (ada, bob):
                path = f"/api/matches/{made['id']}/leave"
                refused = await person.http.post(path, headers=person.headers, json={})
                assert refused.status_code == 409
                assert "nonce was revealed" in refused.json()["reason"]
            assert one.match["state"] != "closed"

    run(test)


def test_the_win_can_be_claimed_when_only_the_opponents_nonce_is_missing() -> None:
    async def test() -> None:
        now = Hands()
        async with served(now=now, claim_after=30.0) as server:
            one, two, id, _ = await committed(server)
            await revealed(two)
            claim = await one.until("presence", claim={"player": 2, "at": now.time + 30})
            assert claim["online"] == [1, 2]
            assert "30 more seconds" in (await one.command("claim"))["reason"]
            assert not (await two.command("claim"))["ok"]
            now.time += 31
            assert not (await two.command("claim"))["ok"]
            assert (await one.command("claim"))["ok"]
            assert one.view["result"]["winner"] == 1
            assert "Player 2 forfeits" in verify(await record_of(server, id))

    run(test)


def test_nonces_are_waited_for_through_a_restart_and_again_after_it(tmp_path: Path) -> None:
    """While a server is down no player can reveal, so that time is not held against a player."""

    async def test() -> None:
        now = Hands()
        settings = replace(QUICK, database=str(tmp_path / "duels.sqlite"), now=now)
        async with served(settings) as server:
            one, two, id, nonce = await committed(server)
            before = await revealed(two)
            await server.manager.close()
        now.time += 10 * QUICK.reveal_within
        async with served(settings) as server:
            later = {"reveal_by": now.time + QUICK.reveal_within}
            while True:
                match = await server.person().get(f"/api/matches/{id}")
                assert match["state"] == "starting"
                if match["reveal_by"] == later["reveal_by"]:
                    break
                await asyncio.sleep(0.05)
            assert match == before | later | {"you": None, "seats": match["seats"]}
            again = await server.person(two.key).sit(id, nonce=False)
            assert (await again.command("reveal", nonce=nonce))["ok"]
            other = await server.person(one.key).sit(id, nonce=False)
            await other.agree(one.commitment_client)
            await other.started()
            assert other.view["result"] is None

    run(test)


# Servers that cheat.


class Cheat:
    """Stands between the server and a client, and changes what is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from duels.server import messages

        honest = messages.match_info
        self.changed: Json = {}

        def told(row: Any, you: int | None) -> Json:
            info = honest(row, you)
            known = {key: value(info) for key, value in self.changed.items() if you == 0}
            return {**info, **known}

        monkeypatch.setattr(messages, "match_info", told)


async def table_of(server: Served, id: str) -> tuple[Client, MatchConnection]:
    client = Client(server.url, new_key())
    await asyncio.to_thread(client.join, id)
    return client, client.connect(id)


def test_a_client_refuses_a_server_that_swaps_the_hash_of_a_player_who_searches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The operator's attack: wait for the opponent's nonce, then choose a nonce."""
    cheat = Cheat(monkeypatch)

    async def test() -> None:
        async with served() as server:
            bob = server.person()
            made = await bob.create("firewall-breach", seat=2)
            client, table = await table_of(server, made["id"])
            two = await bob.sit(made["id"], nonce=False)
            reading = asyncio.create_task(asyncio.to_thread(table.choosing))
            honest = nonce_hash(made["id"], 1, made["commitment"], new_nonce())
            assert (await two.command("commit", hash=honest))["ok"]
            await revealed(two)
            room = await server.manager.room(made["id"])
            theirs = room.row.nonces[0]
            assert theirs is not None
            better = new_nonce()  # chosen with `theirs` and the secret known
            swapped = nonce_hash(made["id"], 1, made["commitment"], better)
            room.row.hashes[1] = swapped
            assert (await two.command("reveal", nonce=better))["ok"]
            with pytest.raises(Unfair, match="changed the hash of Player 2"):
                await reading
            # Told the first hash again, it finds that the nonce does not match.
            cheat.changed = {"hashes": lambda info: [info["hashes"][0], honest]}
            again = client.connect(made["id"])
            again.commitment_client = table.commitment_client
            with pytest.raises(Unfair, match="does not match the hash"):
                await asyncio.to_thread(again.choosing)
            # And told nothing of it, it finds the record out.
            await two.command("resign", at=two.moment)
            record = await record_of(server, made["id"])
            assert verify(record)  # the record alone cannot tell
            with pytest.raises(Unfair, match="hashes differ"):
                await asyncio.to_thread(table.check_dice)

    run(test)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"commitment": lambda info: "b" * 64}, "changed its commitment"),
        ({"hashes": lambda info: ["b" * 64, info["hashes"][1]]}, "hash"),
        ({"state": lambda info: "closed", "nonces": lambda info: None}, "closed the match"),
    ],
)
def test_a_client_refuses_a_server_that_changes_what_it_told(
    changed: Json, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cheat = Cheat(monkeypatch)

    async def test() -> None:
        async with served() as server:
            bob = server.person()
            made = await bob.create("firewall-breach", seat=2)
            _, table = await table_of(server, made["id"])
            two = await bob.sit(made["id"], nonce=False)
            reading = asyncio.create_task(asyncio.to_thread(table.choosing))
            nonce = new_nonce()
            hash = nonce_hash(made["id"], 1, made["commitment"], nonce)
            assert (await two.command("commit", hash=hash))["ok"]
            await revealed(two)
            while (
                table.commitment_client is None
                or not {"commit", "reveal"} <= table.commitment_client.granted
            ):
                await asyncio.sleep(0.02)
            cheat.changed = changed
            assert (await two.command("reveal", nonce=nonce))["ok"]
            with pytest.raises(Unfair, match=why):
                await reading

    run(test)


def test_a_client_of_the_new_protocol_refuses_an_old_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("duels.server.messages.PROTOCOL", 1)

    async def test() -> None:
        async with served() as server:
            made = await server.person().create("firewall-breach")
            _, table = await table_of(server, made["id"])
            with pytest.raises(Exception, match="speaks protocol 1, this client 3"):
                await asyncio.to_thread(table.receive)

    run(test)


# Stores of the version before.


def as_before(database: str) -> None:
    """Make the rooms of a store as a server of protocol 1 wrote them."""
    with sqlite3.connect(database) as connection:
        for id, text in connection.execute("SELECT id, data FROM rooms").fetchall():
            data = json.loads(text)
            del data["hashes"]
            if data["header"] is not None:
                data["header"]["version"] = 2
                data["header"]["about"]["fair"].pop("hashes")
            else:
                data["nonces"] = ["0123456789abcdef", None]
            connection.execute("UPDATE rooms SET data = ? WHERE id = ?", (json.dumps(data), id))


def test_matches_of_a_store_of_protocol_1_go_on(tmp_path: Path) -> None:
    settings = replace(QUICK, database=str(tmp_path / "duels.sqlite"))

    async def test() -> None:
        async with served(settings) as server:
            ada, bob = server.person(), server.person()
            ids = []
            for _ in range(2):
                made = await ada.create("firewall-breach", seat=1)
                ids.append(made["id"])
                await bob.join(made["id"])
            one, two = await ada.sit(ids[0]), await bob.sit(ids[0])
            assert await one.choosing()
            assert (await one.move("attack"))["ok"]
            await two.started()
            await server.manager.close()  # lets go of the file
        as_before(settings.database)
        async with served(settings) as server:
            again = [server.person(person.key) for person in (ada, bob)]
            running = [await person.sit(ids[0]) for person in again]
            assert running[0].match["nonces"] is None
            assert running[0].match["hashes"] == [None, None]
            await asyncio.gather(*(play_out(one, lambda options: options[0]) for one in running))
            said = verify(await record_of(server, ids[0]))
            assert "2 nonces; the record has no hashes" in said
            assert (await server.http.get(f"/api/matches/{ids[0]}/fair")).json()["draws"]
            late = Client(server.url, ada.key).connect(ids[0])
            await asyncio.to_thread(late.receive)
            said = await asyncio.to_thread(late.check_dice)
            assert "this client gave no share" in said
            # One that has not started begins anew with hashes; the nonce given before is dropped.
            starting = [await person.sit(ids[1]) for person in again]
            await asyncio.gather(*(play_out(one, lambda options: options[0]) for one in starting))
            assert "2 nonces match their hashes" in verify(await record_of(server, ids[1]))

    run(test)
