"""Memory of a match that nobody looks at: in memory, and put away.

`python benchmarks/web_memory.py` makes rooms of every game with ten moves each, no connections.
"""

from __future__ import annotations

import asyncio
import gc
import random
import sys
import tempfile
import tracemalloc
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from duels.core.chance import commitment
from duels.core.fair import nonce_hash
from duels.games import BUILT_IN
from duels.web import commands as say
from duels.web.desk import Desk
from duels.web.hall import Hall
from duels.web.keys import digest
from duels.web.lobby import Lobby, Wish
from duels.web.settings import Settings
from duels.web.sqlite import SqliteStore

MATCHES, MOVES = 120, 10
NONCE = "0123456789abcdef" * 2


def held_now() -> float:
    """KB that Python holds, counted and not guessed from the process."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0] / 1024


async def some(hall: Hall, slug: str, count: int, made: list[str]) -> None:
    lobby, desk = Lobby(hall), Desk(hall)
    for n in range(count):
        keys = [digest(f"{slug} {len(made)} {n} {seat}") for seat in (0, 1)]
        row = await lobby.create(keys[0], Wish(slug, seat=1))
        await lobby.join(row.id, keys[1])
        room = await hall.room(row.id)
        published = commitment(int(row.secret)) or ""
        for seat in (0, 1):
            hash = nonce_hash(row.id, seat, published, NONCE)
            await desk.command(room, seat, say.Commit("commit", hash))
        for seat in (0, 1):
            await desk.command(room, seat, say.Reveal("reveal", NONCE))
        for m in range(MOVES):
            match = room.match
            assert match is not None
            if match.result is None:
                seat = match.deciders[0]
                move = random.choice(match.view(seat).options)
                await desk.command(room, seat, say.Move(f"{m}", len(match.events), move))
        made.append(row.id)


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = replace(Settings(f"{folder}/duels.sqlite"), idle=1e9)
        hall = Hall(settings, SqliteStore(settings.database))
        await hall.open()
        tracemalloc.start()
        for slug in BUILT_IN:
            await some(hall, slug, MATCHES, [])  # what all matches share is there by then
            hall.evict(-1.0)
            made: list[str] = []
            await some(hall, slug, MATCHES, made)
            held = held_now()
            hall.evict(-1.0)
            again = held_now()
            await asyncio.gather(*(hall.room(id) for id in made))
            await asyncio.sleep(0)  # else what is gathered is held by whatever woke us
            loaded = held_now()
            hall.evict(-1.0)
            away = held_now()
            print(
                f"{slug:16} {(held - again) / MATCHES:5.1f} KB a match while it is played, "
                f"{(loaded - again) / MATCHES:5.1f} KB loaded again, "
                f"{max(0.0, away - again) / MATCHES:4.2f} KB once it is put away again"
            )
            assert not hall.rooms
        await hall.close()


if __name__ == "__main__":
    asyncio.run(main())
