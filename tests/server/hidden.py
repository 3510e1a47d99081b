"""All that a viewer is told of a match, by where it is told, to compare two matches."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from duels.client.identity import digest
from duels.core.game import AnyGame, Decide
from duels.core.match import Match
from duels.games import load
from duels.server import commands
from duels.server.app import make_app
from duels.server.command_handler import CommandHandler
from duels.server.room_manager import RoomManager
from duels.server.rooms import Room
from duels.server.settings import Settings
from duels.server.storage.base import HUMAN, PLAYING, Row, StoredRoom, StoredSeat
from duels.server.storage.sqlite import SqliteStore
from tests.core.test_courses import VIEWERS, course, step, twin
from tests.server.server import NONCE, QUICK, run

NOW = 1.7e9
LATER = NOW + 1e5  # than all that happens in a course
ID = "A" * 22
KEYS = ("K" * 43, "L" * 43)
SECRET = 2**255 + 1
FIXED = replace(QUICK, now=lambda: NOW, secret=lambda: SECRET, room_id=lambda: ID)
PATHS = (
    "/api/matches/{}", "/api/matches/{}/record", "/api/matches/{}/replay", "/api/matches/{}/fair",
    "/api/matches/{}/analysis", "/api/matches", "/match/{}", "/match/{}/picture.png",
    "/api/me/history", "/api/value/{}", "/explore/{}", "/api/learn/{}", "/learn/{}",
    "/api/puzzles/day/{}", "/api/puzzles/practice/{}", "/puzzles", "/api/live",
)  # fmt: skip
Told = dict[str, Any]


class RecordingClient:
    """A client that records the messages it is sent; several clients can share one list."""

    def __init__(
        self, seat: int | None, told: list[Any] | None = None, captions: bool = False
    ) -> None:
        self.seat, self.known, self.address = seat, 0, ""
        self.wants_changes, self.current = True, False  # the first update has the whole view
        self.wants_captions = captions
        self.told: list[Any] = [] if told is None else told
        self.digest = None if seat is None else digest(KEYS[seat])

    def __hash__(self) -> int:  # so that clients are told in the same order each time
        return VIEWERS.index(self.seat)

    def send(self, message: bytes) -> None:
        self.told.append((self.seat, message))

    def dismiss(self, message: bytes, code: int) -> None:
        self.told.append((self.seat, message, code))


def room_with(settings: Settings, match: Match, id: str = ID) -> Room:
    seats: list[StoredSeat | None] = [
        StoredSeat(HUMAN, f"Player {n + 1}", str(n), digest(KEYS[n])) for n in (0, 1)
    ]
    row = Row(id, match.game.slug, {}, NOW, str(SECRET), seats, nonces=[NONCE, NONCE])
    row.begun = NOW
    room = Room(settings, StoredRoom(row, [], {}), load)
    room.begin(match)
    assert row.state == PLAYING
    return room


@asynccontextmanager
async def manager_with(settings: Settings, match: Match) -> AsyncIterator[tuple[RoomManager, Room]]:
    """A room manager with one room, which is stored."""
    manager = RoomManager(settings, SqliteStore(":memory:"))
    await manager.store.open()
    try:
        room = room_with(settings, match)
        await manager.store.save(room.change())
        room.saved()
        manager.rooms[ID] = room
        yield manager, room
    finally:
        await manager.close()


async def asked(manager: RoomManager, viewer: int | None) -> Told:
    """API answers and pages, with their headers."""
    headers = {} if viewer is None else {"Authorization": f"Bearer {KEYS[viewer]}"}
    transport = httpx.ASGITransport(make_app(manager))
    found: Told = {}
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
        for path in PATHS:
            answer = await http.get(path.format(ID), headers=headers)
            found[path] = answer.status_code, answer.headers.multi_items(), answer.content
    return found


class Log(logging.Handler):
    """What the server writes in its log."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


async def all_that_is_told(match: Match, viewer: int | None) -> Told:
    """Messages, answers, pages, records and the log, for a client that also sends commands."""
    log, logger = Log(), logging.getLogger("duels")
    usual = logger.level
    logger.addHandler(log)
    logger.setLevel(logging.INFO)
    client = RecordingClient(viewer)
    captioned = RecordingClient(viewer, client.told, captions=True)
    try:
        async with manager_with(replace(FIXED, now=lambda: match.clock() or 0.0), match) as made:
            manager, room = made
            for since in (0, len(match.events) // 2):
                await manager.enter(room, client, since)
                await manager.enter(room, captioned, since)
            handler, at = CommandHandler(manager), len(match.events)
            answers = [
                await handler.execute(room, viewer, command)
                for command in (
                    commands.Move("a", at, "nonsense"),
                    commands.Move("b", at, None, "attack 9 9 9"),
                    commands.Move("c", at + 1, "1"), commands.Accept("d", at), commands.Claim("e"),
                    commands.Commit("f", "a" * 64), commands.Reveal("n", NONCE),
                    commands.Rematch("g"), commands.React("h", "👏"), commands.Ping("i"),
                    commands.Log("l", at), commands.Log("m", at // 2),
                    commands.Log("o", at, captions=True),
                )
            ]  # fmt: skip
            found = await asked(manager, viewer)
            manager.leave(room, client)
            manager.leave(room, captioned)
    finally:
        logger.removeHandler(log)
        logger.setLevel(usual)
    return {**found, "answers": answers, "messages": client.told, "log": log.lines}


def pairs(game: AnyGame, seeds: range, viewers: Any = VIEWERS) -> Iterator[Any]:
    """Viewers, each with two histories that the viewer cannot tell apart, and the time."""
    for seed in seeds:
        match, clock, randomness = course(game, seed)
        for _ in range(randomness.randrange(seed)):
            clock.tick()
            step(match, randomness)
            if match.result is not None:
                break
        if match.result is not None or match.late_players():
            continue  # every viewer may know it now, or will after the next event
        for viewer in viewers:
            other = twin(match, viewer, randomness)
            if other is None:
                continue
            other.restore(match.pending())
            other.offer, other.clock = match.offer, clock
            match.players = other.players
            yield viewer, match, other


def differing(one: Told, two: Told) -> set[str]:
    """Where two viewers were told different things."""
    assert one.keys() == two.keys()
    return {where for where in one if one[where] != two[where]}


def sealed(game: AnyGame) -> bool:
    turn = Match(game, 7).turn
    return isinstance(turn, Decide) and len(turn.options) == 2


async def told_of_a_pick(game: AnyGame, picker: int, pick: str) -> Told:
    """All messages about a sealed pick to other clients, connected before or after it."""
    match = Match(game, 7, now=FIXED.now, id=ID, players=("a", "b"))
    async with manager_with(FIXED, match) as (manager, room):
        told: list[Any] = []
        others = (1 - picker, None)
        for viewer in others:
            for captions in (False, True):
                await manager.enter(room, RecordingClient(viewer, told, captions), 0)
        answer = await CommandHandler(manager).execute(room, picker, commands.Move("x", 0, pick))
        assert b'"ok":true' in answer
        found: Told = {"answer": answer, "messages": list(told)}
        for viewer in others:
            late = RecordingClient(viewer)
            await manager.enter(room, late, 0)
            await manager.enter(room, RecordingClient(viewer, late.told, captions=True), 0)
            wrong = await CommandHandler(manager).execute(
                room, viewer, commands.Move("y", 0, "nonsense")
            )
            found |= {f"late {viewer}": late.told, f"wrong {viewer}": wrong}
            for path, content in (await asked(manager, viewer)).items():
                found[f"{path} {viewer}"] = content
        kept = await manager.store.load(ID)
        assert kept is not None
        assert kept.row.pending is not None, "it is on disk before it is answered"
        return found


def prepare(path: Path, matches: list[Match]) -> list[str]:
    """A store with matches in which something has happened; their ids."""
    ids = [f"{number:022d}" for number in range(len(matches))]

    async def fill() -> None:
        store = SqliteStore(str(path))
        await store.open()
        for id, match in zip(ids, matches, strict=True):
            await store.save(room_with(replace(FIXED, now=lambda: LATER), match, id).change())
        await store.close()

    run(fill)
    return ids
