"""The room manager: loads, changes and stores rooms, and notifies their clients.

Every change happens under the lock of its room and in this order: change the room in memory, store
it, send it to the clients, respond. If it cannot be stored, nothing has been sent, and the room is
loaded again from the store.
"""

from __future__ import annotations

import asyncio
import time
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
from duels.server.fair_queue import Busy
from duels.server.heartbeats import Heartbeats
from duels.server.limits import LimitTable
from duels.server.log_pages import first_sent
from duels.server.metrics import Metrics
from duels.server.notices import POLICY_VIOLATION, Notices
from duels.server.overload import Overload
from duels.server.ratings import rate_all
from duels.server.retention import Pruner
from duels.server.rooms import Connection, NoRoom, Room
from duels.server.settings import Settings
from duels.server.storage.base import (
    CLOSED,
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
    log,
)
from duels.server.tasks import Tasks, process_due

SWEEP = 1.0  # seconds between two checks for passed deadlines
RETRY_AFTER = 0.5  # seconds until a computer player retries a move that was not stored
CLOSE_WITHIN = 5.0  # seconds to complete pending writes
# Seconds between two passes through the store for what is expired, and between two steps of one.
PRUNE, PRUNE_STEP = 600.0, 2.0


class RoomManager:
    """Holds the rooms of one process in memory."""

    def __init__(self, settings: Settings, store: RoomStore, find: Find = load) -> None:
        self.settings, self.store, self.find = settings, store, find
        self.rooms: dict[str, Room] = {}
        self.computers = ComputerPlayers(settings.limits.searches)
        times = {"engine_seconds": self.computers.times, "store_commit_seconds": store.times}
        self.metrics = Metrics(self._figures, times)
        self.notices = Notices(store, settings)
        self.overload = Overload(settings.limits, self.rooms, self.computers, self.metrics)
        self._loading: dict[str, asyncio.Task[None]] = {}
        self._tasks = Tasks()
        self._sweeper: asyncio.Task[None] | None = None
        self.stopping = False
        self.address = ""  # for the other workers, if there are any
        self.heartbeats: Heartbeats | None = None  # if there are several workers
        self.limits = LimitTable()  # which several workers share
        self.opened = 0.0  # seconds since 1970

    def _figures(self) -> dict[str, float]:
        """Figures that are not counted by `metrics`."""
        written, commits = (getattr(self.store, name, 0) for name in ("written", "commits"))
        return {
            "rooms": len(self.rooms), "store_jobs_total": written, "store_commits_total": commits,
            "cpu_seconds_total": time.process_time(),
        }  # fmt: skip

    async def open(self) -> None:
        """Open the store and start the background tasks."""
        if self._sweeper is not None:
            return
        await self.store.open()
        await self.notices.open()
        self.opened = self.settings.now()
        if self.address:
            await self.store.join(self.address, self.drop, self._lease_taken)
        self._sweeper = asyncio.create_task(self._sweep())
        self._tasks.start(self.overload.measure())
        self._tasks.start(self._rate())
        if self.heartbeats is None or self.heartbeats.own == 0:  # one worker is enough
            self._tasks.start(self._prune())

    async def close(self) -> None:
        """Ask all clients to reconnect, complete pending writes, close the store."""
        if self.stopping:
            return
        self.stopping = True
        if self._sweeper is not None:
            self._sweeper.cancel()
        await self._dismiss(messages.bye("The server is restarting.", 1.0), CLOSE_WITHIN)
        await self._tasks.close(CLOSE_WITHIN)
        self.computers.close()
        await self.store.close()

    async def drop(self) -> None:
        """Unload all rooms, as other processes may have taken their leases."""
        await self._dismiss(messages.bye("The match has moved to another worker.", 0.5))

    def _lease_taken(self, id: str) -> None:
        """Unload a room whose lease was another process's before: it may have changed there.

        This process has such a room if it lost its leases and has not noticed yet.
        """
        self._loading.pop(id, None)  # the data being read may be older than the lease
        if (room := self.rooms.get(id)) is not None:
            for connection in list(room.connections):
                connection.dismiss(
                    messages.bye("The match has moved to another worker.", 0.5), 1012
                )
            self._unload(room)

    async def _dismiss(self, message: bytes, within: float | None = None) -> None:
        """Unload all rooms, each after its pending write, or after `within` seconds."""

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
        """A room from memory, loaded from the store if necessary."""
        while True:
            found = self.rooms.get(id)
            if found is not None:
                if not self.store.leases_valid:  # it may be older than what clients have seen
                    raise Unavailable("this worker may have lost its leases")
                return found
            if id not in self._loading:
                self._loading[id] = asyncio.create_task(self._load(id))
            await asyncio.shield(self._loading[id])

    @asynccontextmanager
    async def using(self, id: str) -> AsyncIterator[Room]:
        """Lock a room; it is loaded again if it was unloaded meanwhile."""
        while True:
            room = await self.room(id)
            async with room.lock:
                if not room.unloaded:
                    yield room
                    return

    async def _load(self, id: str) -> None:
        """Read a room into memory, unless its lease was taken meanwhile."""
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
            messages.match_info(room.row, None)  # raises if the row is damaged
        except (UnknownName, Unavailable):
            raise
        except Exception as error:
            self.store.damage.report(id, error)
            raise StoreError("the stored match is damaged and cannot be opened") from error
        self.store.damage.rooms.discard(id)
        return room

    async def add(self, row: Row) -> Room:
        """Store a new room and keep it in memory, unless a proxy chooses the worker for it."""
        room = Room(self.settings, StoredRoom(row, [], {}), self.find)
        await self.store.save(room.change())
        self.metrics.created += 1
        if not self.settings.worker_ports:  # else the proxy chooses the worker that gets the lease
            await self.store.lease_holder(row.id)  # no other process knows the room yet
            self.rooms[row.id] = room
        return room

    async def _reload(self, room: Room) -> None:
        """Restore a room from the store; its connections stay."""
        again = await self._read(room.row.id)
        room.row, room.match, room.stored_entries = again.row, again.match, again.stored_entries
        room.executed, room.unstored = again.executed, {}

    def _unload(self, room: Room) -> None:
        """Remove a room from memory and cancel its tasks."""
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
            if room.unloaded:  # another worker had the lease meanwhile
                raise Unavailable("the room was unloaded")
            await self._reload(room)
            self._publish(room, ("", [], None), room.row.moment)
            self._schedule(room)
        except BaseException as error:  # for any error: memory and store may differ now
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
        sent, room.views = room.views, {}
        made: dict[tuple[int | None, int, bool, bool], bytes] = {}
        for connection in room.connections:
            seat, known, current = connection.seat, connection.known, connection.current
            wanted = seat, known, current, connection.wants_captions
            if wanted not in made:
                made[wanted] = messages.update(
                    room, seat, known, sent.get(seat) if current else None,
                    captions=connection.wants_captions,
                )  # fmt: skip
            self._send_update(room, connection, made[wanted])
        self.metrics.moves += room.row.moment > version
        if room.match.result is not None and before[0] != OVER:
            self._tasks.start(self._rate())

    def send_whole_update(self, room: Room, connection: Connection, since: int) -> None:
        """Send a client the events from number `since` on, at most a page, and its whole view."""
        room.views.pop(connection.seat, None)  # clocks run, so it may be outdated
        since = first_sent(room.playing(), since)
        told = messages.update(room, connection.seat, since, captions=connection.wants_captions)
        self._send_update(room, connection, told)

    def _send_update(self, room: Room, connection: Connection, message: bytes) -> None:
        connection.send(message)
        connection.known, connection.current = len(room.playing().events), connection.wants_changes

    def broadcast(self, room: Room, message: Callable[[int | None], bytes]) -> None:
        """Send each client of a room the message for its seat."""
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
            if room.needs_second and row.rematch is None:
                self._tasks.start(self._second_game(row.id))
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

    async def _second_game(self, id: str) -> None:
        """Create the second game of a match of two after the first, once."""
        async with self.using(id) as room:
            if room.row.rematch is not None:
                return
            new = room.rematch()
            await self.add(new)  # stored first, so that no client is sent to a missing room
            await self.change(room, lambda: room.follow(new.id))
            self.broadcast(room, lambda viewer: messages.rematch(room))

    async def _rate(self) -> None:
        """Update the ratings by the matches that are not counted yet."""
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
            try:
                move = await self.computers.choose(
                    room.user, player.name, stream(match.seed, seat), view
                )
            except Busy:
                await asyncio.sleep(RETRY_AFTER)
                continue
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
                await asyncio.sleep(RETRY_AFTER)

    async def _sweep(self) -> None:
        """Process passed deadlines and unload unused rooms, periodically."""
        while True:
            await asyncio.sleep(SWEEP)
            await process_due(self.store, self.settings.now(), self.rooms, self.check_deadline)
            try:
                await self.apply_notices()
            except (Unavailable, StoreError) as error:
                log.warning("notices cannot be read now: %s", error)
            self.evict(self.settings.idle)

    async def apply_notices(self) -> None:
        """Apply the changes of the store by its operator, or by players who delete their data."""
        if await self.notices.apply(self.rooms, self._renew):
            self._tasks.start(self._rate())

    async def _renew(self, id: str) -> None:
        """Load a room again that was changed in the store, or disconnect its clients."""
        room, reason = self.rooms[id], ""
        async with room.lock:
            if room.unloaded:
                return
            before, version = room.summary(), room.row.moment
            try:
                await self._reload(room)
                if room.row.state == CLOSED != before[0]:
                    reason = f"the match was closed. {room.row.reason}"
            except Unavailable:
                raise
            except DuelsError as error:  # it was deleted
                reason = str(error)
            if not reason:
                self._publish(room, before, version)
                self._schedule(room)
                return
            for connection in list(room.connections):
                connection.dismiss(messages.refusal(reason), POLICY_VIOLATION)
            self._unload(room)

    async def _prune(self) -> None:
        """Delete what is expired, periodically and in small steps."""
        pruner = Pruner(self.store, self.settings.retention, self.rooms)
        more = False
        while True:
            await asyncio.sleep(PRUNE_STEP if more else PRUNE)
            try:
                more = await pruner.step(self.settings.now())
                if not more and pruner.found:
                    deleted = ", ".join(f"{n} {kind}" for kind, n in pruner.found.items())
                    log.info("expired and deleted: %s", deleted)
                    pruner.found.clear()
            except DuelsError as error:
                log.warning("expired matches cannot be deleted now: %s", error)
                more = False

    def evict(self, idle: float) -> None:
        """Unload the rooms without connections that were not used for `idle` seconds."""
        before = self.settings.now() - idle
        for room in list(self.rooms.values()):
            busy = room.thinking is not None and not room.thinking.done()
            if not (room.connections or busy or room.lock.locked()) and room.used <= before:
                self._unload(room)

    # Connections.

    async def enter(self, room: Room, connection: Connection, since: int) -> None:
        """Add a connection to a room and send it the events from `since` on, at most a page."""
        async with room.lock:
            if room.unloaded:
                connection.dismiss(messages.bye("The match was unloaded.", 0.0), 1012)
                return
            room.connections.add(connection)
            if connection.seat is not None:
                room.user = connection.address
            connection.send(messages.welcome(room, connection.seat))
            connection.known, connection.current = 0, False
            if room.match is not None:
                self.send_whole_update(room, connection, since)
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
