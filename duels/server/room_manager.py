"""Rooms in memory: loading, changing, storing, notifying the connected clients.

Every change happens under the lock of its room and in this order: change the room in memory, store
it, send it to the clients, respond. If it cannot be stored, nothing has been sent, and the room is
loaded again from the store.
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
from duels.server import messages
from duels.server.computer_players import ComputerPlayers
from duels.server.heartbeats import Heartbeats
from duels.server.metrics import Metrics
from duels.server.ratings import rate_all
from duels.server.rooms import Connection, NoRoom, Room
from duels.server.settings import Settings
from duels.server.storage.base import (
    OVER,
    PLAYING,
    STARTING,
    WAITING,
    Conflict,
    RoomStore,
    Row,
    StoredRoom,
    StoreError,
    Unavailable,
)
from duels.server.tasks import Tasks, process_due

SWEEP = 1.0  # seconds between two checks for matches that are due
AGAIN = 0.5  # seconds until a computer player retries a move that was not stored
CLOSE_WITHIN = 5.0  # seconds to complete pending writes


class RoomManager:
    """The rooms of one process."""

    def __init__(self, settings: Settings, store: RoomStore, find: Find = load) -> None:
        self.settings, self.store, self.find = settings, store, find
        self.rooms: dict[str, Room] = {}
        self.computers, self.metrics = ComputerPlayers(), Metrics()
        self._loading: dict[str, asyncio.Task[None]] = {}
        self._tasks = Tasks()
        self._sweeper: asyncio.Task[None] | None = None
        self.stopping = False
        self.address = ""  # for the other workers, if there are any
        self.heartbeats: Heartbeats | None = None  # if there are several workers
        self.opened = 0.0  # seconds since 1970

    async def open(self) -> None:
        if self._sweeper is not None:
            return
        await self.store.open()
        self.opened = self.settings.now()
        if self.address:
            await self.store.join(self.address, self.drop, self._lease_taken)
        self._sweeper = asyncio.create_task(self._sweep())
        self._tasks.start(self._rate())

    async def close(self) -> None:
        """Ask all clients to reconnect, complete pending writes, close the store."""
        if self.stopping:
            return
        self.stopping = True
        if self._sweeper is not None:
            self._sweeper.cancel()
        await self._dismiss(messages.bye("The server is restarted.", 1.0), CLOSE_WITHIN)
        await self._tasks.close(CLOSE_WITHIN)
        self.computers.close()
        await self.store.close()

    async def drop(self) -> None:
        """Unload all rooms, as other processes may have taken their leases."""
        await self._dismiss(messages.bye("The match has moved.", 0.5))

    def _lease_taken(self, id: str) -> None:
        """Unload a room whose lease was another process's before: it may have changed there.

        This process has such a room if it lost its leases and has not noticed yet.
        """
        self._loading.pop(id, None)  # what is being read may be older than the lease
        if (room := self.rooms.get(id)) is not None:
            for connection in list(room.connections):
                connection.dismiss(messages.bye("The match has moved.", 0.5), 1012)
            self._unload(room)

    async def _dismiss(self, message: bytes, within: float | None = None) -> None:
        """Unload all rooms; one that is being stored after that, or after `within` seconds."""

        async def dismiss(room: Room) -> None:
            with suppress(TimeoutError):
                await asyncio.wait_for(room.lock.acquire(), within)
                room.lock.release()
            for connection in list(room.connections):
                connection.dismiss(message, 1012)
            self._unload(room)

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
            await asyncio.shield(self._loading[id])

    @asynccontextmanager
    async def using(self, id: str) -> AsyncIterator[Room]:
        """A room under its lock, and not one that was unloaded meanwhile."""
        while True:
            room = await self.room(id)
            async with room.lock:
                if not room.unloaded:
                    yield room
                    return

    async def _load(self, id: str) -> None:
        task, room = asyncio.current_task(), None
        try:
            room = await self._read(id)
        finally:
            if self._loading.get(id) is task:  # else its lease was taken meanwhile
                del self._loading[id]
                if room is not None:
                    self.rooms[id] = room
                    self._schedule(room)

    async def _read(self, id: str) -> Room:
        """Read a room from the store; `StoreError` if its data is damaged."""
        try:
            stored = await self.store.load(id)
            if stored is None:
                raise NoRoom("there is no such match")
            room = Room(self.settings, stored, self.find)
            messages.match_info(room.row, None)  # raises if the row cannot be shown
        except (UnknownName, Unavailable):
            raise
        except Exception as error:
            self.store.damage.report(id, error)
            raise StoreError("the stored match is damaged and cannot be opened") from error
        self.store.damage.rooms.discard(id)
        return room

    async def add(self, row: Row) -> Room:
        """Store a new room and keep it in memory."""
        room = Room(self.settings, StoredRoom(row, [], {}), self.find)
        await self.store.save(room.change())
        await self.store.lease_holder(
            row.id
        )  # takes the lease: no other process knows the room yet
        self.rooms[row.id] = room
        self.metrics.created += 1
        return room

    async def _reload(self, room: Room) -> None:
        """Restore a room from the store; its connections stay."""
        again = await self._read(room.row.id)
        room.row, room.match, room.stored_entries = again.row, again.match, again.stored_entries
        room.executed, room.refusals = again.executed, {}

    def _unload(self, room: Room) -> None:
        if self.rooms.get(room.row.id) is room:
            del self.rooms[room.row.id]
        room.unloaded = True
        if room.timer is not None:
            room.timer.cancel()
        if room.thinking is not None:
            room.thinking.cancel()

    # Changes.

    async def change(self, room: Room, act: Callable[[], Any], id: str | None = None,
                     seat: int | None = None) -> bytes:  # fmt: skip
        """Change a room, store it, send it to the clients; returns the response.

        To be called under the lock of the room. A DuelsError raised by `act` means that it has
        changed nothing. `act` may return additional fields of the response.
        """
        for last in (False, True):
            if last and (name := f"{seat} {id}") in room.executed:  # by another process
                return messages.granted(id or "", room.executed[name])
            before, version = room.summary(), room.row.moment
            fields = act()
            response = messages.granted(id or "", fields)
            remembered = None if id is None or seat is None else (f"{seat} {id}", response)
            try:
                await self.store.save(room.change(remembered))
                break
            except BaseException as error:
                await self._recover(room)
                if last or room.unloaded or not isinstance(error, Conflict):
                    raise
        room.saved()
        if remembered is not None:
            room.executed[remembered[0]] = fields
        self._publish(room, before, version)
        self._schedule(room)
        return response

    async def _recover(self, room: Room) -> None:
        """Restore a room after a failed write, of which it is unknown whether it was stored."""
        try:
            if await self.store.lease_holder(room.row.id) is not None:
                raise Unavailable("the match has moved")
            if room.unloaded:  # it moved away and back
                raise Unavailable("the room was unloaded")
            await self._reload(room)
            self._publish(room, ("", [], None), room.row.moment)
            self._schedule(room)
        except BaseException as error:  # memory and store differ, whatever the error is
            for connection in list(room.connections):
                connection.dismiss(messages.bye("The match cannot be stored now.", 2.0), 1012)
            self._unload(room)
            if not isinstance(error, DuelsError):
                raise

    def _publish(self, room: Room, before: Any, version: int) -> None:
        """Send the clients of a room what has changed."""
        if room.summary() != before:
            self.broadcast(room, lambda seat: messages.match_message(room, seat))
        if room.claimable() is not None:
            self.broadcast(room, lambda seat: messages.presence(room))
        if room.match is None:
            return
        made: dict[tuple[int | None, int], bytes] = {}
        for connection in room.connections:
            wanted = connection.seat, connection.known
            if wanted not in made:
                made[wanted] = messages.update(room, *wanted)
            connection.send(made[wanted])
            connection.known = len(room.match.events)
        self.metrics.moves += room.row.moment > version
        if room.match.result is not None and before[0] != OVER:
            self._tasks.start(self._rate())

    def broadcast(self, room: Room, message: Callable[[int | None], bytes]) -> None:
        made: dict[int | None, bytes] = {}
        for connection in room.connections:
            if connection.seat not in made:
                made[connection.seat] = message(connection.seat)
            connection.send(made[connection.seat])

    def _schedule(self, room: Room) -> None:
        """Schedule what happens without a command: deadlines and computer players."""
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
                    wait, lambda: self._tasks.start(self.check_deadline(room.row.id))
                )
        waiting = match is not None and any(seat in match.deciders for seat in room.computers)
        if waiting and (room.thinking is None or room.thinking.done()):
            room.thinking = self._tasks.start(self._play_computer(room))

    async def _rate(self) -> None:
        await rate_all(self.store, self.find)

    async def check_deadline(self, id: str) -> None:
        """Close or decide a match whose deadline has passed."""
        async with self.using(id) as room:
            now, row = self.settings.now(), room.row
            if row.deadline is None or row.deadline > now:
                self._schedule(room)
                return
            if row.state == WAITING:
                await self.change(room, lambda: room.close("No opponent joined in time."))
            elif row.state == STARTING:
                await self.change(room, lambda: room.not_started(self.opened))
            elif row.state == PLAYING:
                await self.change(room, room.time_out)

    async def _play_computer(self, room: Room) -> None:
        """Choose and play the moves of the computer player while it is its turn."""
        while (match := room.match) is not None and match.result is None:
            seat = next((seat for seat in room.computers if seat in match.deciders), None)
            if seat is None:
                return
            player, version, view = room.row.seats[seat], len(match.events), match.view(seat)
            assert player is not None
            assert match.seed is not None
            began = asyncio.get_running_loop().time()
            move = await self.computers.choose(player.name, stream(match.seed, seat), view)
            spent = asyncio.get_running_loop().time() - began
            await asyncio.sleep(max(0.0, self.settings.computer_delay - spent))
            try:
                async with room.lock:
                    if room.match is not match or len(match.events) != version:
                        continue  # undone or reloaded meanwhile
                    match.start_clock(seat)  # a slow machine must not cost it time
                    with suppress(IllegalMove):
                        await self.change(room, partial(room.submit, seat, version, move))
            except (Unavailable, Conflict):
                await asyncio.sleep(AGAIN)

    async def _sweep(self) -> None:
        """Process passed deadlines and unload unused rooms, periodically."""
        while True:
            await asyncio.sleep(SWEEP)
            await process_due(self.store, self.settings.now(), self.rooms, self.check_deadline)
            self.evict(self.settings.idle)

    def evict(self, idle: float) -> None:
        """Unload the rooms without connections that were not used for `idle` seconds."""
        before = self.settings.now() - idle
        for room in list(self.rooms.values()):
            busy = room.thinking is not None and not room.thinking.done()
            if not (room.connections or busy or room.lock.locked()) and room.used <= before:
                self._unload(room)

    # Connections.

    async def enter(self, room: Room, connection: Connection, since: int) -> None:
        """Add a connection to a room and send it everything from event `since` on."""
        async with room.lock:
            if room.unloaded:
                connection.dismiss(messages.bye("The match was put away.", 0.0), 1012)
                return
            room.connections.add(connection)
            connection.send(messages.welcome(room, connection.seat))
            connection.known = 0
            if room.match is not None:
                connection.send(messages.update(room, connection.seat, since))
                connection.known = len(room.match.events)
            if room.row.offers or room.row.rematch:
                connection.send(messages.rematch(room))
            self._schedule(room)
            self.send_presence(room)

    def leave(self, room: Room, connection: Connection) -> None:
        """Remove a connection from a room."""
        room.connections.discard(connection)
        room.used = self.settings.now()
        seat = connection.seat
        if seat is not None and all(other.seat != seat for other in room.connections):
            room.away[seat] = room.used
        self.send_presence(room)

    def send_presence(self, room: Room) -> None:
        self.broadcast(room, lambda seat: messages.presence(room))
