"""Whole matches over a real server: a friend, the computer, a spectator, every game."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.core import Match
from duels.core.commitment import verify
from duels.core.narrator import narrate
from duels.core.presentation import Item, Tokens
from duels.core.record import loads
from duels.core.views import choice_of
from duels.core.wire import dump, dump_view
from duels.games import BUILT_IN, load
from duels.server.encoded import encodable, encode, encoded_part
from duels.server.views import displayed, view_json
from tests.server.server import Seated, play_out, run, served


@pytest.mark.parametrize("slug", BUILT_IN)
def test_two_people_play_a_match_to_its_end_and_its_record_verifies(slug: str) -> None:
    async def test() -> None:
        rng = random.Random(slug)
        async with served() as server:
            ada, bob = server.person(), server.person()
            made = await ada.create(slug, seat=1)
            assert made["state"] == "waiting"
            assert made["you"] == 1
            assert (await bob.join(made["id"]))["you"] == 2
            one, two = await ada.sit(made["id"]), await bob.sit(made["id"])
            watching = await server.person().sit(made["id"], nonce=False)
            await asyncio.gather(play_out(one, rng.choice), play_out(two, rng.choice))
            await until_over(watching)
            info = await ada.get(f"/api/matches/{made['id']}")
            assert info["state"] == "over"
            assert info["result"] == one.view["result"] == two.view["result"]
            text = (await server.http.get(f"/api/matches/{made['id']}/record")).text
            match = loads(text, load)
            assert "2 nonces" in verify(match)
            assert [e["number"] for e in one.events] == list(range(len(match.events) + 1))
            assert len(watching.events) == len(two.events) == len(one.events)

    run(test)


async def until_over(seated: Seated) -> None:
    while seated.view is None or seated.view["result"] is None:
        await seated.receive()


@pytest.mark.parametrize("level", ["random", "greedy", "ismcts", "easy", "perfect"])
def test_a_person_plays_each_kind_of_computer(level: str) -> None:
    async def test() -> None:
        async with served() as server:
            ada = server.person()
            made = await ada.create("number-clash", opponent=level, seat=2)
            assert made["state"] == "starting"
            seated = await ada.sit(made["id"])
            await play_out(seated, random.Random(1).choice)
            assert (await ada.get(f"/api/matches/{made['id']}"))["state"] == "over"

    run(test)


def test_what_comes_afterwards_is_there_analysis_replay_dice_history_and_rating() -> None:
    async def test() -> None:
        async with served() as server:
            ada = server.person()
            made = await ada.create("firewall-breach", opponent="easy")
            at = f"/api/matches/{made['id']}"
            for early in ("replay", "analysis", "fair"):
                assert (await server.http.get(f"{at}/{early}")).status_code == 409
            seated = await ada.sit(made["id"])
            await play_out(seated, lambda options: options[-1])
            analysis = await ada.get(f"{at}/analysis")
            assert analysis["moves"]
            assert analysis["costliest"].keys() == {"1", "2"}
            assert await ada.get(f"{at}/analysis") == analysis  # kept
            steps = (await ada.get(f"{at}/replay"))["steps"]
            assert [step["moment"] for step in steps] == list(range(len(seated.events)))
            assert steps[0]["event"] is None
            told = next(message for message in reversed(seated.messages) if "revealed" in message)
            assert steps[-1]["table"] == told["revealed"]["table"]
            fair = await ada.get(f"{at}/fair")
            assert fair["commitment"] == made["commitment"]
            history = await ada.get("/api/me/history")
            assert [match["id"] for match in history["matches"]] == [made["id"]]
            while not (rated := (await ada.get("/api/me"))["ratings"]):
                await asyncio.sleep(0.02)
            best = (await ada.get("/api/ratings/firewall-breach"))["ratings"]
            assert {rating["player"]["id"] for rating in best} == {
                "easy",
                rated[0]["player"]["id"],
            }

    run(test)


def test_an_open_challenge_is_listed_until_it_is_taken() -> None:
    async def test() -> None:
        async with served() as server:
            ada, bob, eve = server.person(), server.person(), server.person()
            made = await ada.create("digit-duel", open=True)
            hidden = await ada.create("digit-duel")
            listed = await bob.get("/api/matches")
            assert [match["id"] for match in listed["open"]] == [made["id"]]
            mine = (await ada.get("/api/matches"))["mine"]
            assert {match["id"] for match in mine} == {made["id"], hidden["id"]}
            await bob.join(made["id"])
            assert (await eve.get("/api/matches"))["open"] == []
            late = await eve.http.post(
                f"/api/matches/{made['id']}/join", headers=eve.headers, json={}
            )
            assert late.status_code == 409
            assert (await bob.join(made["id"]))["you"] == 3 - made["you"]

    run(test)


def test_a_spectator_who_joins_becomes_a_player_on_the_same_connection() -> None:
    async def test() -> None:
        async with served() as server:
            ada, bob = server.person(), server.person()
            made = await ada.create("number-wars", seat=1)
            one = await ada.sit(made["id"])
            two = await bob.sit(made["id"], nonce=False)
            assert two.match["you"] is None
            await bob.join(made["id"])
            assert (await two.until("welcome"))["you"] == 2
            await two.agree()
            assert await one.choosing()
            await two.started()
            assert two.view["player"] == 2

    run(test)


def test_a_view_is_the_same_bytes_as_the_core_writes() -> None:
    for slug in BUILT_IN:
        match = Match(load(slug), 2**120)
        for viewer in (0, 1, None):
            view = match.view(viewer)
            for _ in range(2):  # made, and remembered
                made = encode(view_json(displayed(match, viewer)))
                assert made == encode(dump_view(view, history=False))
        rng = random.Random(slug)
        while match.result is None:
            seat = rng.choice(match.deciders)
            match.submit(seat, rng.choice(match.view(seat).options))
        for viewer in (0, 1, None):
            told: list[Any] = [
                *match.log(viewer),
                *narrate(match, viewer),
                choice_of(match.view(0)),
            ]
            told += [choice_of(match.view_before(n, 0)) for n in range(len(match.events))]
            assert [encode(encodable(one)) for one in told] == [encode(dump(one)) for one in told]
    listed = Tokens("Odd", [Item("1")], 0)  # type: ignore[arg-type]
    assert bytes(encoded_part(listed, "x")) == encode({**dump(listed), "id": "x"})
