"""Memory of a match that no client looks at: in memory, and put away.

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

from duels.client.identity import digest
from duels.core.chance import commitment
from duels.core.commitment import nonce_hash
from duels.games import BUILT_IN
from duels.server import commands
from duels.server.command_handler import CommandHandler
from duels.server.matchmaking import Matchmaking, NewMatch
from duels.server.room_manager import RoomManager
from duels.server.settings import Settings
from duels.server.storage.sqlite import SqliteStore

MATCHES, MOVES = 120, 10
NONCE = "0123456789abcdef" * 2


def held_now() -> float:
    """KB that Python holds, counted and not guessed from the process."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0] / 1024


async def some(
    manager: RoomManager, slug: str, count: int, made: list[str], moves: int = MOVES
) -> None:
    matchmaking, handler = Matchmaking(manager), CommandHandler(manager)
    for n in range(count):
        keys = [digest(f"{slug} {len(made)} {n} {seat}") for seat in (0, 1)]
        row = await matchmaking.create(keys[0], NewMatch(slug, seat=1))
        await matchmaking.join(row.id, keys[1])
        room = await manager.room(row.id)
        published = commitment(int(row.secret)) or ""
        for seat in (0, 1):
            hash = nonce_hash(row.id, seat, published, NONCE)
            await handler.execute(room, seat, commands.Commit("commit", hash))
        for seat in (0, 1):
            await handler.execute(room, seat, commands.Reveal("reveal", NONCE))
        for m in range(moves):
            match = room.match
            assert match is not None
            if match.result is None:
                seat = match.deciders[0]
                move = random.choice(match.view(seat).options)
                await handler.execute(room, seat, commands.Move(f"{m}", len(match.events), move))
        made.append(row.id)


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = replace(Settings(f"{folder}/duels.sqlite"), idle=1e9)
        manager = RoomManager(settings, SqliteStore(settings.database))
        await manager.open()
        tracemalloc.start()
        for slug in BUILT_IN:
            await some(manager, slug, MATCHES, [])  # what all matches share is there by then
            manager.evict(-1.0)
            made: list[str] = []
            await some(manager, slug, MATCHES, made)
            held = held_now()
            manager.evict(-1.0)
            again = held_now()
            await asyncio.gather(*(manager.room(id) for id in made))
            await asyncio.sleep(0)  # else what is gathered is held by whatever woke us
            loaded = held_now()
            manager.evict(-1.0)
            away = held_now()
            print(
                f"{slug:16} {(held - again) / MATCHES:5.1f} KB a match while it is played, "
                f"{(loaded - again) / MATCHES:5.1f} KB loaded again, "
                f"{max(0.0, away - again) / MATCHES:4.2f} KB once it is put away again"
            )
            assert not manager.rooms
        await manager.close()


if __name__ == "__main__":
    asyncio.run(main())
