"""Ratings from finished matches: updated as each ends, or recomputed from all.

Keys are free, so a player could raise the rating of one key by wins against others. A match between
keys of one address is not rated while one of them is new. The effect of the matches of one pair in
a game on one day is bounded: it halves after every `FULL` matches. A player gains nothing by a win
against an opponent who is rated `GAP` points lower, and a new key is rated 1500: so that wins
against new keys, however many, lift no rating far above 1900. The deviation of a new key is high,
so that a win against it has less effect.
"""

from __future__ import annotations

from contextlib import suppress

from duels.core.errors import DuelsError
from duels.core.wire import Find
from duels.server.glicko2 import Strength, after, partly
from duels.server.rooms import is_rated
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
ESTABLISHED = 20  # rated matches in a game after which a key is not new
PERIOD = 86400.0  # seconds
GAP = 400.0  # points
FULL = 5  # matches of a pair in the period with the same effect


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
    if not is_rated(game, row):
        return []
    score = {1: 1.0, 2: 0.0}.get(row.result["winner"], 0.5)
    old = [await _rating(store, row.game, seat) for seat in (one, two)]
    if row.near and min(rating.matches for rating in old) < ESTABLISHED:
        return []
    effect = 0.5 ** (await store.paired(row, (row.ended or 0.0) - PERIOD) // FULL)
    was = [Strength(rating.rating, rating.deviation, rating.volatility) for rating in old]
    new = [_after(was[0], was[1], score, effect), _after(was[1], was[0], 1 - score, effect)]
    return [
        StoredRating(row.game, seat.id, seat.kind, seat.name, *strength, rating.matches + 1)
        for seat, strength, rating in zip((one, two), new, old, strict=True)
    ]


def _after(own: Strength, other: Strength, score: float, effect: float) -> Strength:
    if score == 1 and own.rating - other.rating >= GAP:
        return own
    return partly(own, after(own, other, score), effect)


async def _rating(store: RoomStore, game: str, seat: StoredSeat) -> StoredRating:
    found = await store.rating(game, seat.id)
    return found or StoredRating(game, seat.id, seat.kind, seat.name, *Strength(), 0)
