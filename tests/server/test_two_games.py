"""Matches of two games: the second follows the first, with the seats swapped, once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from tests.server.server import Person, Served, run, served


async def second_of(person: Person, id: str) -> Any:
    """The match that follows one that is over."""
    while (follows := (await person.get(f"/api/matches/{id}"))["rematch"]) is None:
        await asyncio.sleep(0.01)
    return await person.get(f"/api/matches/{follows}")


async def resigned(site: Served, one: Person, two: Person, id: str) -> None:
    seats = [await one.sit(id), await two.sit(id)]
    for seat in seats:
        await seat.started()
    answer = await seats[0].command("resign", at=0)
    assert answer["ok"], answer
    for seat in seats:
        await seat.close()


def test_the_second_game_follows_with_the_seats_swapped_and_a_rematch_after_it() -> None:
    async def test() -> None:
        async with served() as site:
            ada, bob = site.person(), site.person()
            made = await ada.create("number-wars", seat=1, open=True, games=2)
            assert (made["games"], made["second"]) == (2, False)
            await bob.join(made["id"])
            live = [one["id"] for one in (await ada.get("/api/live"))["matches"]]
            assert live == []  # it has not begun
            await resigned(site, ada, bob, made["id"])
            second = await second_of(ada, made["id"])
            assert (second["games"], second["second"]) == (2, True)
            assert second["before"] == made["id"]
            assert second["you"] == 2
            await resigned(site, bob, ada, second["id"])
            over = await ada.get(f"/api/matches/{second['id']}")
            assert (over["state"], over["rematch"]) == ("over", None)  # no third game

    run(test)


def test_only_challenges_to_any_player_are_listed_as_live() -> None:
    async def test() -> None:
        async with served() as site:
            ada, bob = site.person(), site.person()
            ids = []
            for open_to_all in (True, False):
                made = await ada.create("number-wars", seat=1, open=open_to_all)
                await bob.join(made["id"])
                seats = [await ada.sit(made["id"]), await bob.sit(made["id"])]
                for seat in seats:
                    await seat.started()
                ids.append(made["id"])
            live = [one["id"] for one in (await bob.get("/api/live"))["matches"]]
            assert live == ids[:1]

    run(test)
