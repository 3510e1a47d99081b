"""Ratings from finished matches: updated as each ends, or recomputed from all."""

from __future__ import annotations

from contextlib import suppress

from duels.core.errors import DuelsError
from duels.core.wire import Find
from duels.server.glicko2 import Strength, after
from duels.server.rooms import usual
from duels.server.storage.base import (
    OVER,
    Conflict,
    RoomStore,
    Row,
    StoredRating,
    StoredSeat,
    Unavailable,
)

AT_ONCE = 200  # matches


async def rate_room(store: RoomStore, row: Row, find: Find) -> None:
    """Update the ratings by a finished match, once per match."""
    try:
        changed = await _changed(store, row, find)
    except Unavailable:
        raise
    except Exception as error:  # a damaged match is not counted
        store.damage.report(row.id, error)
        changed = []
    with suppress(Conflict):
        await store.rate(row.id, changed)


async def rate_all(store: RoomStore, find: Find) -> int:
    """Count all uncounted matches in the order in which they ended; returns how many."""
    counted = 0
    async with store.rating_in_turn():
        while rows := await store.unrated(AT_ONCE):
            for row in rows:
                await rate_room(store, row, find)
            counted += len(rows)
    return counted


async def rebuild(store: RoomStore, find: Find) -> int:
    """Recompute all ratings from the stored matches; returns how many matches."""
    await store.forget_ratings()
    return await rate_all(store, find)


async def _changed(store: RoomStore, row: Row, find: Find) -> list[StoredRating]:
    """The new ratings of both players; empty if the match does not count."""
    one, two = row.seats
    if row.state != OVER or row.result is None or one is None or two is None:
        return []
    if one.id == two.id or row.result["by"] == "limit":
        return []
    try:
        game = find(row.game, **row.options)
    except DuelsError:  # a plugin that is not installed any more
        return []
    if not usual(game, row):
        return []
    score = {1: 1.0, 2: 0.0}.get(row.result["winner"], 0.5)
    old = [await _rating(store, row.game, seat) for seat in (one, two)]
    was = [Strength(rating.rating, rating.deviation, rating.volatility) for rating in old]
    new = after(was[0], was[1], score), after(was[1], was[0], 1 - score)
    return [
        StoredRating(row.game, seat.id, seat.kind, seat.name, *strength, rating.matches + 1)
        for seat, strength, rating in zip((one, two), new, old, strict=True)
    ]


async def _rating(store: RoomStore, game: str, seat: StoredSeat) -> StoredRating:
    found = await store.rating(game, seat.id)
    return found or StoredRating(game, seat.id, seat.kind, seat.name, *Strength(), 0)
