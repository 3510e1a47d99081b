"""The hall: which rooms are in memory, what is written of them, and who is told.

Every change of a room goes the same way, under the room's lock: change it in memory, write it,
tell everybody, answer. If it cannot be written nobody was told, and the room is made again from the
store.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

from duels.core.chance import stream
from duels.core.errors import DuelsError, IllegalMove, UnknownName
from duels.core.wire import Find
from duels.games import load
from duels.web import frames
from duels.web.computers import Computers
from duels.web.metrics import Metrics
from duels.web.ratings import rate_all
from duels.web.room import PLAIN, Client, NoRoom, Room
from duels.web.settings import Settings
from duels.web.store import (
    OVER,
    PLAYING,
    STARTING,
    WAITING,
    Conflict,
    Kept,
    Row,
    Store,
    StoreError,
    Unavailable,
)
from duels.web.tasks import Tasks, look_at_due

SWEEP = 1.0  # seconds between two looks at what is due
AGAIN = 0.5  # seconds until a computer's move that was not stored is tried again
CLOSE_WITHIN = 5.0  # seconds for what is being written


class Hall:
    """All rooms of one process."""

    def __init__(self, settings: Settings, store: Store, find: Find = load) -> None:
        self.settings, self.store, self.find = settings, store, find
        self.rooms: dict[str, Room] = {}
        self.computers, self.metrics = Computers(), Metrics()
        self._loading: dict[str, asyncio.Task[Room]] = {}
        self._tasks = Tasks()
        self._sweeper: asyncio.Task[None] | None = None
        self.stopping = False
        self.address = ""  # where other processes find this one, if there are any
        self.opened = 0.0  # when

    async def open(self) -> None:
        if self._sweeper is not None:
            return
        await self.store.open()
        self.opened = self.settings.now()
        if self.address:
            await self.store.join(self.address, self.drop)
        self._sweeper = asyncio.create_task(self._sweep())
        self._tasks.start(self._rate())

    async def close(self) -> None:
        """Tell everybody to come back, finish what is being written, close the store."""
        if self.stopping:
            return
        self.stopping = True
        if self._sweeper is not None:
            self._sweeper.cancel()
        await self._dismiss(frames.bye("The server is restarted.", 1.0), CLOSE_WITHIN)
        await self._tasks.close(CLOSE_WITHIN)
        self.computers.close()
        await self.store.close()

    async def drop(self) -> None:
        """Other processes may have taken what was ours: everybody comes back and asks again, once
        what is being written is written or refused."""

        await self._dismiss(frames.bye("The match has moved.", 0.5))

    async def _dismiss(self, goodbye: bytes, within: float | None = None) -> None:
        """Put all rooms away, each once it is not being written, or after so many seconds."""

        async def dismiss(room: Room) -> None:
            with suppress(TimeoutError):
                await asyncio.wait_for(room.lock.acquire(), within)
                room.lock.release()
            for client in list(room.clients):
                client.dismiss(goodbye, 1012)
            self._put_away(room)

        await asyncio.gather(*map(dismiss, list(self.rooms.values())))

    # Rooms in memory.

    async def room(self, id: str) -> Room:
        """A room, from memory or the store."""
        while True:
            found = self.rooms.get(id)
            if found is not None:
                return found
            if id not in self._loading:
                self._loading[id] = asyncio.create_task(self._load(id))
                self._loading[id].add_done_callback(lambda _: self._loading.pop(id, None))
            await asyncio.shield(self._loading[id])

    @asynccontextmanager
    async def using(self, id: str) -> AsyncIterator[Room]:
        """A room under its lock, and surely the one that counts."""
        while True:
            room = await self.room(id)
            async with room.lock:
                if not room.gone:
                    yield room
                    return

    async def _load(self, id: str) -> Room:
        room = self.rooms[id] = await self._read(id)
        self._go_on(room)
        return room

    async def _read(self, id: str) -> Room:
        """A room made from the store; one that is damaged is reported, and fails alone."""
        try:
            kept = await self.store.load(id)
            if kept is None:
                raise NoRoom("there is no such match")
            room = Room(self.settings, kept, self.find)
            frames.match_info(room.row, None)  # what cannot be shown is damaged too
        except (UnknownName, Unavailable):
            raise
        except Exception as error:
            self.store.damage.report(id, error)
            raise StoreError("the stored match is damaged and cannot be opened") from error
        self.store.damage.rooms.discard(id)
        return room

    async def add(self, row: Row) -> Room:
        """A new room, on disk and in memory."""
        room = Room(self.settings, Kept(row, [], {}), self.find)
        await self.store.save(room.change())
        await self.store.owner(row.id)  # nobody else knows of it yet
        self.rooms[row.id] = room
        self.metrics.created += 1
        return room

    async def _reload(self, room: Room) -> None:
        """Make a room again from the store; whoever looks at it stays there."""
        again = await self._read(room.row.id)
        room.row, room.match, room.stored = again.row, again.match, again.stored
        room.answers, room.refusals = again.answers, {}

    def _put_away(self, room: Room) -> None:
        self.rooms.pop(room.row.id, None)
        room.gone = True
        if room.timer is not None:
            room.timer.cancel()
        if room.thinking is not None:
            room.thinking.cancel()

    # Changes.

    async def change(self, room: Room, act: Callable[[], Any], id: str | None = None,
                     seat: int | None = None) -> bytes:  # fmt: skip
        """Do something to a room, write it, tell everybody. Returns the answer.

        A DuelsError of `act` is passed on and changes nothing. To be called under the lock.
        """
        for last in (False, True):
            known = room.answers.get(f"{seat} {id}") if last else None
            if known is not None:  # it was done already, by whoever had the room before
                return known or frames.granted(id or "")
            before, moment = room.shown(), room.row.moment
            more = act() or {}
            answer = frames.granted(id or "", **more)
            kept = None if id is None or seat is None else (f"{seat} {id}", answer)
            try:
                await self.store.save(room.change(kept))
                break
            except BaseException as error:
                await self._forget(room)
                if last or room.gone or not isinstance(error, Conflict):
                    raise
        room.saved()
        if kept is not None:
            room.answers[kept[0]] = answer if more else PLAIN
        self._tell(room, before, moment)
        self._go_on(room)
        return answer

    async def _forget(self, room: Room) -> None:
        """Nobody knows what is on disk: go back to that, and tell what is new there."""
        try:
            if await self.store.owner(room.row.id) is not None:
                raise Unavailable("the match has moved")
            await self._reload(room)
            self._tell(room, ("", [], None), room.row.moment)
            self._go_on(room)
        except BaseException as error:  # whatever it is, what is in memory is not what is on disk
            for client in list(room.clients):
                client.dismiss(frames.bye("The match cannot be stored now.", 2.0), 1012)
            self._put_away(room)
            if not isinstance(error, DuelsError):
                raise

    def _tell(self, room: Room, before: Any, moment: int) -> None:
        """Everybody there, what is new."""
        if room.shown() != before:
            self.broadcast(room, lambda seat: frames.match_frame(room, seat))
        if room.claimable() is not None:
            self.broadcast(room, lambda seat: frames.presence(room))
        if room.match is None:
            return
        made: dict[tuple[int | None, int], bytes] = {}
        for client in room.clients:
            wanted = client.seat, client.known
            if wanted not in made:
                made[wanted] = frames.update(room, *wanted)
            client.send(made[wanted])
            client.known = len(room.match.events)
        self.metrics.moves += room.row.moment > moment
        if room.match.result is not None and before[0] != OVER:
            self._tasks.start(self._rate())

    def broadcast(self, room: Room, frame: Callable[[int | None], bytes]) -> None:
        made: dict[int | None, bytes] = {}
        for client in room.clients:
            if client.seat not in made:
                made[client.seat] = frame(client.seat)
            client.send(made[client.seat])

    def _go_on(self, room: Room) -> None:
        """What happens without anybody's wish: computers, clocks, ratings."""
        room.used = self.settings.now()
        match, row = room.match, room.row
        if room.timer is not None:
            room.timer.cancel()
            room.timer = None
        if row.state == OVER:
            return
        if row.deadline is not None:
            wait = max(0.0, row.deadline - self.settings.now()) + 0.002
            if wait < 3600:
                loop = asyncio.get_running_loop()
                room.timer = loop.call_later(
                    wait, lambda: self._tasks.start(self.look(room.row.id))
                )
        waiting = match is not None and any(seat in match.deciders for seat in room.computers)
        if waiting and (room.thinking is None or room.thinking.done()):
            room.thinking = self._tasks.start(self._think(room))

    async def _rate(self) -> None:
        await rate_all(self.store, self.find)

    async def look(self, id: str) -> None:
        """Do what the time asks for: a player is late, nobody came, nonces are missing."""
        async with self.using(id) as room:
            now, row = self.settings.now(), room.row
            if row.deadline is None or row.deadline > now:
                self._go_on(room)
                return
            if row.state == WAITING:
                await self.change(room, lambda: room.close("Nobody joined in time."))
            elif row.state == STARTING:
                await self.change(room, lambda: room.not_started(self.opened))
            elif row.state == PLAYING:
                await self.change(room, room.time_out)

    async def _think(self, room: Room) -> None:
        """Let a computer choose, as long as it is its turn."""
        while (match := room.match) is not None and match.result is None:
            seat = next((seat for seat in room.computers if seat in match.deciders), None)
            if seat is None:
                return
            player, moment, view = room.row.seats[seat], len(match.events), match.view(seat)
            assert player is not None
            assert match.seed is not None
            began = asyncio.get_running_loop().time()
            move = await self.computers.choose(player.name, stream(match.seed, seat), view)
            spent = asyncio.get_running_loop().time() - began
            await asyncio.sleep(max(0.0, self.settings.computer_delay - spent))
            try:
                async with room.lock:
                    if room.match is not match or len(match.events) != moment:
                        continue  # taken back meanwhile, or made again
                    match.start_clock(seat)  # a slow machine is not held against it
                    with suppress(IllegalMove):
                        await self.change(room, partial(room.submit, seat, moment, move))
            except (Unavailable, Conflict):
                await asyncio.sleep(AGAIN)

    async def _sweep(self) -> None:
        """Now and then: what is due though nobody looks, and which rooms nobody uses."""
        while True:
            await asyncio.sleep(SWEEP)
            await look_at_due(self.store, self.settings.now(), self.rooms, self.look)
            self.evict(self.settings.idle)

    def evict(self, idle: float) -> None:
        """Put away the rooms that nobody has used for so many seconds."""
        before = self.settings.now() - idle
        for room in list(self.rooms.values()):
            busy = room.thinking is not None and not room.thinking.done()
            if not (room.clients or busy or room.lock.locked()) and room.used <= before:
                self._put_away(room)

    # Clients.

    async def enter(self, room: Room, client: Client, since: int) -> None:
        """Somebody comes to the table, and is told what they do not know yet."""
        async with room.lock:
            if room.gone:
                client.dismiss(frames.bye("The match was put away.", 0.0), 1012)
                return
            room.clients.add(client)
            client.send(frames.welcome(room, client.seat))
            client.known = 0
            if room.match is not None:
                client.send(frames.update(room, client.seat, since))
                client.known = len(room.match.events)
            if room.row.offers or room.row.rematch:
                client.send(frames.rematch(room))
            self._go_on(room)
            self.show_presence(room)

    def leave(self, room: Room, client: Client) -> None:
        """Somebody goes, or their connection does."""
        room.clients.discard(client)
        room.used = self.settings.now()
        if client.seat is not None and client.seat not in {other.seat for other in room.clients}:
            room.away[client.seat] = room.used
        self.show_presence(room)

    def show_presence(self, room: Room) -> None:
        self.broadcast(room, lambda seat: frames.presence(room))
