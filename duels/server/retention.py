"""Deletes what is stored longer than necessary: rooms, analyses, responses and names.

The database is read in order of its keys, a few rows at a time, so that it needs no index for this
and moves are not delayed. A room is deleted only if it has not changed since it was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container

from duels.server.settings import Retention
from duels.server.storage.base import (
    CLOSED,
    OVER,
    PLAYING,
    STARTING,
    WAITING,
    NameAge,
    RoomAge,
    RoomStore,
)

AT_ONCE = 200  # rooms or names that are read
DELETED = 20  # rooms that are deleted in one transaction
KINDS = ("closed", "abandoned", "finished", "analyses", "names")


def kind(room: RoomAge, retention: Retention, now: float) -> str | None:
    """Which retention time has passed for a room; None if it is kept as it is.

    >>> room = RoomAge("id", 1, CLOSED, 0.0, None, None, False, False)
    >>> kind(room, Retention(closed=60.0), now=61.0), kind(room, Retention(closed=None), now=61.0)
    ('closed', None)
    """

    def passed(since: float | None, limit: float | None) -> bool:
        return isinstance(since, float) and limit is not None and since < now - limit

    if room.state == CLOSED:
        return "closed" if passed(room.updated, retention.closed) else None
    if room.state in (WAITING, STARTING):  # long after its deadline: it could not be closed
        return "closed" if passed(room.deadline, retention.closed) else None
    if room.state == PLAYING:
        return "abandoned" if passed(room.updated, retention.abandoned) else None
    if room.state == OVER and room.rated and passed(room.ended, retention.finished):
        return "finished"
    if room.state == OVER and room.derived and passed(room.ended, retention.analyses):
        return "analyses"
    return None


class Pruner:
    """Goes through a store in small steps, again and again.

    Rooms in `used` are kept. With `dry_run` nothing is deleted; `found` counts by kind what is.
    """

    def __init__(
        self, store: RoomStore, retention: Retention, used: Container[str] = (),
        dry_run: bool = False,
    ) -> None:  # fmt: skip
        self._store, self._retention, self._used, self._dry_run = store, retention, used, dry_run
        self._room: str | None = ""  # the last id that was read; None after the last room
        self._name = ""
        self.found: Counter[str] = Counter()

    async def step(self, now: float) -> bool:
        """Process the next rows; False after the last ones, when it starts again."""
        if self._room is not None:
            rooms = await self._store.ages(self._room, AT_ONCE)
            await self._prune_rooms(rooms, now)
            self._room = rooms[-1].id if len(rooms) == AT_ONCE else None
            return True
        names = await self._store.name_ages(self._name, AT_ONCE)
        await self._prune_names(names, now)
        if len(names) == AT_ONCE:
            self._name = names[-1].digest
            return True
        if not self._dry_run:
            await self._store.delete_orphans()
        self._room = self._name = ""
        return False

    async def _prune_rooms(self, rooms: list[RoomAge], now: float) -> None:
        expired: dict[str, list[RoomAge]] = {}
        for room in rooms:
            found = kind(room, self._retention, now)
            if found is not None and room.id not in self._used:
                expired.setdefault(found, []).append(room)
        for found, group in expired.items():
            if self._dry_run:
                self.found[found] += len(group)
            elif found == "analyses":
                for room in group:
                    await self._store.delete_derived(room.id)
                self.found[found] += len(group)
            else:
                for first in range(0, len(group), DELETED):
                    chosen = [(room.id, room.version) for room in group[first : first + DELETED]]
                    self.found[found] += await self._store.delete_rooms(chosen)

    async def _prune_names(self, names: list[NameAge], now: float) -> None:
        if (limit := self._retention.names) is None:
            return
        for name in names:
            if not name.used and name.since < now - limit:
                if not self._dry_run:
                    await self._store.delete_name(name.digest, now - limit)
                self.found["names"] += 1


async def prune(
    store: RoomStore, retention: Retention, now: float, dry_run: bool = False
) -> Counter[str]:
    """Go through a whole store once; returns how much of each kind was deleted."""
    pruner = Pruner(store, retention, dry_run=dry_run)
    while await pruner.step(now):
        pass
    return pruner.found
