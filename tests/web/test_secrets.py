"""No byte that anybody is sent depends on what they may not know."""

from __future__ import annotations

import logging
from dataclasses import replace
from random import Random
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

import httpx

from duels.core.game import AnyGame, Decide
from duels.core.match import Match
from duels.games import load
from duels.web import commands as say
from duels.web.app import make_app
from duels.web.desk import Desk
from duels.web.hall import Hall
from duels.web.keys import digest
from duels.web.room import Room
from duels.web.sqlite import SqliteStore
from duels.web.store import HUMAN, PLAYING, Kept, Row, Seat, header
from tests.core.test_courses import VIEWERS, course, step, twin
from tests.variants import VARIANTS, name
from tests.web.server import NONCE, QUICK, run

NOW = 1.7e9
ID = "A" * 22
KEYS = ("K" * 43, "L" * 43)
FIXED = replace(QUICK, now=lambda: NOW, secret=lambda: 2**255 + 1, room_id=lambda: ID)


class Ear:
    """A client that keeps all it is told."""

    def __init__(self, seat: int | None) -> None:
        self.seat, self.known, self.told = seat, 0, list[bytes]()
        self.digest = None if seat is None else digest(KEYS[seat])

    def send(self, frame: bytes) -> None:
        self.told.append(frame)

    def dismiss(self, frame: bytes, code: int) -> None:
        self.told.append(frame)


def room_with(hall: Hall, match: Match) -> Room:
    seats: list[Seat | None] = [
        Seat(HUMAN, f"Player {n + 1}", str(n), digest(KEYS[n])) for n in (0, 1)
    ]
    row = Row(ID, match.game.slug, {}, NOW, str(FIXED.secret()), seats, nonces=[NONCE, NONCE])
    row.begun = NOW
    room = Room(hall.settings, Kept(row, [], {}), load)
    room.begin(match)
    assert row.state == PLAYING
    return room


async def all_that_is_told(
    match: Match, viewer: int | None, caplog: pytest.LogCaptureFixture
) -> list[Any]:
    """Frames, answers, pages and records of a viewer, with what the server writes in its log."""
    caplog.clear()
    settings = replace(FIXED, now=lambda: match.clock() or 0.0)
    hall = Hall(settings, SqliteStore(":memory:"))
    await hall.store.open()
    try:
        room = room_with(hall, match)
        await hall.store.save(room.change())
        room.saved()
        hall.rooms[ID] = room
        ear = Ear(viewer)
        found: list[Any] = []
        for since in (0, len(match.events) // 2):
            await hall.enter(room, ear, since)
        desk = Desk(hall)
        moment = len(match.events)
        for wish in (
            say.Move("a", moment, "nonsense"), say.Move("b", moment, None, "attack 9 9 9"),
            say.Move("c", moment + 1, "1"), say.Accept("d", moment), say.Claim("e"),
            say.Nonce("f", NONCE), say.Rematch("g"), say.React("h", "👏"), say.Ping("i"),
        ):  # fmt: skip
            found.append(await desk.command(room, viewer, wish))
        headers = {} if viewer is None else {"Authorization": f"Bearer {KEYS[viewer]}"}
        transport = httpx.ASGITransport(make_app(hall))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
            for path in (
                f"/api/matches/{ID}", f"/api/matches/{ID}/record", f"/api/matches/{ID}/replay",
                f"/api/matches/{ID}/fair", f"/api/matches/{ID}/analysis", "/api/matches",
                f"/match/{ID}", f"/match/{ID}/picture.png", "/api/me/history",
            ):  # fmt: skip
                answer = await http.get(path, headers=headers)
                found.append((answer.status_code, answer.headers.multi_items(), answer.content))
        found.append([entry.getMessage() for entry in caplog.records])
        hall.leave(room, ear)
        return [*found, *ear.told]
    finally:
        await hall.close()


@pytest.mark.parametrize("game", [game for game in VARIANTS if game.private], ids=name)
def test_hidden_cards_change_no_byte_of_what_the_others_are_sent(
    game: AnyGame, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="duels")

    async def test() -> None:
        differed = 0
        for seed in range(1, 40):
            match, clock, randomness = course(game, seed)
            for _ in range(randomness.randrange(seed)):
                clock.tick()
                step(match, randomness)
                if match.result is not None:
                    break
            if match.result is not None or match.late_players():
                continue  # now everybody may know, or is about to
            for viewer in VIEWERS:
                other = twin(match, viewer, randomness)
                if other is None:
                    continue
                other.restore(match.pending())
                other.offer = match.offer
                other.clock = clock
                match.players = other.players
                differed += other.events != match.events
                told = await all_that_is_told(match, viewer, caplog)
                again = await all_that_is_told(other, viewer, caplog)
                assert again == told
        alike = getattr(game, "values", 2) == 1
        assert alike or differed, "nothing was hidden, so nothing was shown"

    run(test)


def sealed(game: AnyGame) -> bool:
    turn = Match(game, 7).turn
    return isinstance(turn, Decide) and len(turn.options) == 2


@pytest.mark.parametrize("game", [game for game in VARIANTS if sealed(game)], ids=name)
@pytest.mark.parametrize("picker", [0, 1])
def test_a_sealed_pick_changes_no_byte_and_no_order_before_it_is_revealed(
    game: AnyGame, picker: int
) -> None:
    async def told_of(pick: str, later: bool) -> list[bytes]:
        hall = Hall(FIXED, SqliteStore(":memory:"))
        await hall.store.open()
        try:
            match = Match(game, 7, now=FIXED.now, id=ID, players=("a", "b"))
            room = room_with(hall, match)
            hall.rooms[ID] = room
            ears = [Ear(1 - picker), Ear(None)]
            for ear in ears:
                await hall.enter(room, ear, 0)
            answer = await Desk(hall).command(room, picker, say.Move("x", 0, pick))
            assert b'"ok":true' in answer
            late = [Ear(1 - picker), Ear(None)]
            for ear in late if later else []:
                await hall.enter(room, ear, 0)
            kept = await hall.store.load(ID)
            assert kept is not None
            assert kept.row.pending is not None, "it is on disk before it is answered"
            return [answer, *(frame for ear in [*ears, *late] for frame in ear.told)]
        finally:
            await hall.close()

    async def test() -> None:
        options = Match(game, 7).view(picker).options
        told = [await told_of(pick, later) for pick in options for later in (False, True)]
        assert all(one == told[0] for one in told[::2])
        assert all(one == told[1] for one in told[1::2])

    run(test)


def test_nobody_is_sent_a_key_a_secret_or_a_seed_before_the_end() -> None:
    async def test() -> None:
        randomness = Random(3)
        hall = Hall(FIXED, SqliteStore(":memory:"))
        await hall.store.open()
        try:
            match = Match(load("cipher-siege"), 2**200 + 9, now=FIXED.now, id=ID)
            room = room_with(hall, match)
            hall.rooms[ID] = room
            ears = [Ear(viewer) for viewer in VIEWERS]
            for ear in ears:
                await hall.enter(room, ear, 0)
            desk, turn = Desk(hall), 0
            while match.result is None:
                secret = [str(2**200 + 9), str(FIXED.secret()), *KEYS, *map(digest, KEYS)]
                for ear in ears:
                    assert not [s for s in secret for frame in ear.told if s.encode() in frame]
                seat, turn = match.deciders[0], turn + 1
                pick = randomness.choice(match.view(seat).options)
                await desk.command(room, seat, say.Move(str(turn), len(match.events), pick))
            kept = header(room.row)
            assert kept is not None
            assert kept["about"]["fair"]["secret"] == str(FIXED.secret())
        finally:
            await hall.close()

    run(test)
