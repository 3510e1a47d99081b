"""What happens around the moves: retries, reconnecting, undo, rematch, clocks, leaving for good."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.server.app import store_of
from tests.server.postgres import Postgres
from tests.server.server import QUICK, Person, Process, Seated, Served, run, served


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.time = 1_800_000_000.0

    def __call__(self) -> float:
        return self.time


async def seated(server: Served, game: str, **fields: object) -> tuple[Seated, Seated, str]:
    """Two people at a table that has just been started."""
    ada, bob = server.person(), server.person()
    made = await ada.create(game, seat=1, **fields)
    await bob.join(made["id"])
    one, two = await ada.sit(made["id"]), await bob.sit(made["id"])
    await one.started()
    await two.started()
    return one, two, made["id"]


def test_a_move_that_is_sent_again_is_answered_as_the_first_time_and_counts_once() -> None:
    async def test() -> None:
        async with served() as server:
            one, two, id = await seated(server, "number-wars")
            first = await one.command("move", "again", at=0, move="10")
            assert first["ok"]
            assert await one.command("move", "again", at=0, move="10") == first
            other_tab = await Person(server.http, server.ws, one.key or "").sit(id, nonce=False)
            assert await other_tab.command("move", "again", at=0, move="10") == first
            assert not (await one.command("move", "new", at=0, move="9"))["ok"]
            room = await server.manager.room(id)
            assert room.match is not None
            assert len(room.match.events) == 1
            # The same name by the other seat is another command.
            assert (await two.command("move", "again", at=1, move="3"))["ok"]

    run(test)


def test_a_move_that_another_process_wrote_meanwhile_is_answered_as_there(
    postgres: Postgres,
) -> None:
    """A process that has just been killed may have written it after the room was read here."""

    async def test() -> None:
        stores = [store_of(postgres.url) for _ in "ab"]
        async with served(QUICK, stores[0]) as server, served(QUICK, stores[1]) as other:
            one, two, id = await seated(server, "number-wars")
            there = await Person(other.http, other.ws, one.key or "").sit(id, nonce=False)
            watching = await other.person().sit(id, nonce=False)
            first = await one.command("move", "again", at=0, move="10")
            assert first["ok"]
            assert await there.command("move", "again", at=0, move="10") == first
            assert (await watching.until("update", moment=1))["events"]
            assert (await two.command("move", "mine", at=1, move="3"))["ok"]
            assert not (await there.command("move", "late", at=1, move="9"))["ok"]
            kept = await server.manager.store.load(id)
            assert kept is not None
            assert len(kept.entries) == 2

    run(test)


def test_a_refusal_is_repeated_too() -> None:
    async def test() -> None:
        async with served() as server:
            one, two, _ = await seated(server, "number-wars")
            early = await two.command("accept", "x", at=0)
            assert early["reason"] == "no undo was requested"
            await one.move("10")
            await two.until("update")
            await two.move("9")
            assert await two.command("accept", "x", at=0) == early

    run(test)


def test_coming_back_one_is_told_what_one_missed_and_nothing_twice() -> None:
    async def test() -> None:
        async with served() as server:
            one, two, id = await seated(server, "firewall-breach")
            await one.move("bypass")
            await two.until("update", moment=1)
            await one.close()
            await two.move("bypass")
            back = await Person(server.http, server.ws, one.key or "").sit(id, 1, nonce=False)
            update = await back.until("update")
            assert (update["since"], update["moment"]) == (1, 2)
            assert [event["number"] for event in update["events"]] == [1]
            assert all(passage["kind"] != "opening" for passage in update["passages"])

    run(test)


def test_a_person_must_agree_to_an_undo_and_a_computer_does_not() -> None:
    async def test() -> None:
        async with served() as server:
            one, two, _ = await seated(server, "number-wars")
            await one.move("10")
            assert (await one.command("undo", at=1))["ok"]
            offered = await two.until("update", moment=1)
            while offered["view"]["offer"] is None:
                offered = await two.until("update")
            assert offered["view"]["offer"] == 1
            assert (await two.command("decline", at=1))["ok"]
            await one.command("undo", at=1)
            assert (await two.command("accept", at=1))["ok"]
            assert two.view["options"] == []
            assert two.moment == 2
            ada = server.person()
            made = await ada.create("number-wars", seat=1, opponent="random")
            alone = await ada.sit(made["id"])
            assert await alone.choosing()
            await alone.move("10")
            assert await alone.choosing()
            assert (await alone.command("undo", at=alone.moment))["ok"]
            assert len(alone.view["options"]) == 10

    run(test)


def test_a_rematch_has_the_seats_swapped_and_waits_for_both() -> None:
    async def test() -> None:
        async with served() as server:
            one, two, id = await seated(server, "digit-duel", options={"life": "5"})
            assert not (await one.command("rematch"))["ok"]
            await one.command("resign", at=0)
            assert (await one.command("rematch"))["ok"]
            offer = await two.until("rematch")
            assert offer == {"type": "rematch", "offers": [1], "match": None}
            await one.command("rematch")
            await two.command("rematch")
            new = (await one.until("rematch", offers=[1, 2]))["match"]
            again = await Person(server.http, server.ws, one.key or "").sit(new)
            other = await Person(server.http, server.ws, two.key or "").sit(new)
            await other.started()
            await again.started()
            assert (again.view["player"], other.view["player"]) == (2, 1)
            assert again.view["game"]["options"]["life"] == "5"
            assert (await server.person().get(f"/api/matches/{id}"))["rematch"] == new

    run(test)


def test_the_server_ends_a_match_when_time_runs_out_though_no_player_moves() -> None:
    async def test() -> None:
        async with served() as server:
            one, two, _ = await seated(server, "digit-duel", time={"limit": 0.3})
            assert one.view["clock"] is not None
            while two.view["result"] is None:
                await two.receive()
            assert two.view["result"]["by"] == "time"
            assert two.view["result"]["winner"] == 2

    run(test)


def test_a_deadline_that_passes_while_no_client_looks_is_kept() -> None:
    async def test() -> None:
        now = Hands()
        async with served(now=now) as server:
            one, two, id = await seated(server, "digit-duel", time={"limit": 1000})
            await one.close()
            await two.close()
            while server.manager.rooms[id].connections:
                await asyncio.sleep(0.01)
            server.manager.evict(0.0)
            assert id not in server.manager.rooms
            now.time += 1001
            ada = server.person()
            while (await ada.get(f"/api/matches/{id}"))["state"] != "over":
                await asyncio.sleep(0.05)

    run(test)


def test_a_player_who_leaves_for_good_can_be_beaten_after_a_countdown() -> None:
    async def test() -> None:
        now = Hands()
        async with served(now=now, claim_after=30.0) as server:
            one, two, _ = await seated(server, "number-wars")
            assert "waits for an absent opponent" in (await two.command("claim"))["reason"]
            await one.close()
            gone = await two.until("presence", online=[2])
            assert gone["claim"] == {"player": 1, "at": now.time + 30}
            assert "30 more seconds" in (await two.command("claim"))["reason"]
            now.time += 31
            assert (await two.command("claim"))["ok"]
            assert two.view["result"] == {
                "type": "result", "winner": 2, "by": "forfeit",
                "reason": "Player 1 forfeits: left the match.",
            }  # fmt: skip

    run(test)


def test_typed_words_are_read_as_in_the_terminal() -> None:
    async def test() -> None:
        async with served() as server:
            one, two, _ = await seated(server, "cipher-siege")
            mover = one if one.view["options"] else two
            at = mover.moment
            asked = await mover.command("move", at=at, text="sw")
            assert not asked["ok"]
            assert asked["so_far"] == "swap"
            assert asked["step"]["choices"]
            card = asked["step"]["choices"][0]
            wrong = await mover.command("move", at=at, text="fly")
            assert "I don't know" in wrong["reason"]
            assert (await mover.command("move", at=at, text=card, so_far="swap"))["ok"]

    run(test)


def test_hints_are_for_matches_against_a_computer_and_make_them_unrated() -> None:
    async def test() -> None:
        async with served() as server:
            one, _, _ = await seated(server, "number-wars")
            assert not (await one.command("hint", at=0))["ok"]
            ada = server.person()
            made = await ada.create("number-wars", seat=1, opponent="easy")
            alone = await ada.sit(made["id"])
            assert await alone.choosing()
            hint = await alone.command("hint", at=0)
            assert hint["move"] in alone.view["options"]
            assert hint["move"] in hint["hint"]
            await alone.command("resign", at=alone.moment)
            await asyncio.sleep(0.2)
            assert (await ada.get("/api/me"))["ratings"] == []

    run(test)


def test_reactions_are_a_few_signs_that_all_connected_clients_see() -> None:
    async def test() -> None:
        async with served() as server:
            one, two, _ = await seated(server, "number-wars")
            assert not (await one.command("react", reaction="<script>"))["ok"]
            assert (await one.command("react", reaction="👏"))["ok"]
            assert (await two.until("reaction"))["player"] == 1

    run(test)


def test_a_repeated_request_creates_one_match() -> None:
    async def test() -> None:
        async with served() as server:
            ada = server.person()
            body = {"game": "digit-duel", "request": "once"}
            made = await asyncio.gather(*(ada.post("/api/matches", **body) for _ in range(5)))
            assert len({match["id"] for match in made}) == 1
            other = await server.person().post("/api/matches", **body)
            assert other["id"] != made[0]["id"]

    run(test)


def test_a_match_that_was_not_started_can_be_withdrawn_by_either_player() -> None:
    async def test() -> None:
        async with served() as server:
            ada = server.person()
            made = await ada.create("digit-duel", open=True)
            eve = server.person()
            path = f"/api/matches/{made['id']}/leave"
            refused = await eve.http.post(path, headers=eve.headers, json={})
            assert refused.status_code == 400
            assert (await ada.post(path))["state"] == "closed"
            assert (await eve.get("/api/matches"))["open"] == []

    run(test)


def test_names_are_chosen_and_bounded() -> None:
    async def test() -> None:
        async with served() as server:
            ada = server.person()
            assert (await ada.get("/api/me"))["name"].startswith("Guest ")

            async def rename(name: str) -> int:
                done = await ada.http.put("/api/me", headers=ada.headers, json={"name": name})
                return done.status_code

            assert await rename("Ada <b>") == 200
            assert (await ada.get("/api/me"))["name"] == "Ada <b>"
            for wrong in ("", "  ", "x" * 25, "a\x1b[2J", "a\u202eb", "perfect", "Human"):
                assert await rename(wrong) == 400
            made = await ada.create("digit-duel")
            page = (await server.http.get(f"/match/{made['id']}")).text
            assert "Ada &lt;b&gt;" in page
            assert "Ada <b>" not in page

    run(test)


def test_a_stopped_server_says_goodbye_and_the_match_goes_on_after_a_restart(
    tmp_path: Path,
) -> None:
    async def test() -> None:
        path = str(tmp_path / "duels.sqlite")
        settings = replace(QUICK, database=path)
        async with served(settings) as server:
            one, two, id = await seated(server, "number-clash", time={"budget": 1000})
            await one.move("7")  # sealed, and in no record
            assert two.view["sealed"] in ([], [1])
            await server.manager.close()
            assert (await two.until("bye"))["after"] > 0
        async with served(settings) as server:
            again = await Person(server.http, server.ws, one.key or "").sit(id, 0)
            other = await Person(server.http, server.ws, two.key or "").sit(id, 0)
            await other.started()
            assert other.view["sealed"] == [1]
            assert other.view["clocks"][0] <= 1000
            assert (await other.move("8"))["ok"]
            update = await again.until("update", moment=1)
            assert update["events"][0]["moves"] == {"1": "7", "2": "8"}

    run(test)


def test_a_terminated_process_ends_in_order(tmp_path: Path) -> None:
    server = Process(str(tmp_path / "duels.sqlite"))
    assert server.stop() == 0
