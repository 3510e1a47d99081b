"""Players that reconnect and repeat commands while servers are killed.

Each keeps what was acknowledged. `check` then compares that with the records: nothing that was
acknowledged is lost, nothing is there twice.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from duels.client.identity import new_key
from duels.core.commitment import verify
from duels.core.commitment_client import CommitmentClient
from duels.core.game import Pick
from duels.core.record import loads
from duels.games import BUILT_IN, load
from tests.server.server import Seated

DAMAGED = 500  # the status of a match that cannot be read
GONE = (OSError, WebSocketException, asyncio.TimeoutError, httpx.HTTPError, EOFError)


@dataclass
class Played:
    """A match, and what each seat was told was done."""

    id: str
    keys: tuple[str, str]
    acknowledged: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    clients: list[CommitmentClient | None] = field(default_factory=lambda: [None, None])
    over: bool = False


class Crowd:
    """Pairs of players at a server that comes and goes."""

    def __init__(self, url: str, seed: int = 0) -> None:
        self.url, self.ws = url, url.replace("http", "ws")
        self.randomness = random.Random(seed)
        self.played: list[Played] = []
        self.stopping = False
        self.reconnected = self.resent = self.refused = 0
        self.damaged: set[str] = set()  # matches that a test has damaged
        self.lost_to_damage = 0  # those of them that were refused at the last check

    async def request(
        self, method: str, path: str, key: str, damaged: bool = False, **body: Any
    ) -> Any:
        """Asked again until it is answered; each request may safely be made twice."""
        while True:
            try:
                async with httpx.AsyncClient(base_url=self.url, timeout=20) as http:
                    headers = {"Authorization": f"Bearer {key}"}
                    found = await http.request(method, path, headers=headers, json=body)
                if found.status_code in (200, 201) or (damaged and found.status_code == DAMAGED):
                    return found
                assert found.status_code == 503, found.text
                self.refused += 1
            except GONE:
                pass
            await asyncio.sleep(0.05)

    async def pair(self, number: int) -> None:
        """Two players that play one match after another."""
        while not self.stopping:
            keys = new_key(), new_key()
            game = self.randomness.choice(list(BUILT_IN))
            body: dict[str, Any] = {
                "game": game,
                "seat": 1,
                "request": f"{number} {len(self.played)}",
            }
            made = (await self.request("POST", "/api/matches", keys[0], **body)).json()
            match = Played(made["id"], keys)
            self.played.append(match)
            await self.request("POST", f"/api/matches/{made['id']}/join", keys[1])
            await asyncio.gather(self.player(match, 0), self.player(match, 1))

    async def player(self, match: Played, seat: int) -> None:
        """Choose until the match is over, and come back whenever the connection is gone."""
        sent: dict[str, Any] | None = None  # sent and not answered
        moment, first = 0, True
        while not match.over or sent is not None:  # the other may see the end first
            self.reconnected += not first
            first = False
            try:
                socket = await connect(f"{self.ws}/ws/{match.id}", compression=None, open_timeout=5)
                seated = Seated(socket, match.keys[seat])
                await seated.hello(0)
                match.clients[seat] = match.clients[seat] or CommitmentClient.of(seated.match)
                if (client := match.clients[seat]) is not None:
                    await seated.agree(client)
                while True:
                    if sent is None:
                        match.over = not await self.choosing(seated)
                        if match.over or self.stopping:
                            await seated.close()
                            return
                        moment = seated.moment
                        move = self.randomness.choice(seated.view["options"])
                        id = f"{moment} {len(match.acknowledged[seat])}"  # new for each command
                        sent = {"type": "move", "id": id, "at": moment, "move": move}
                    else:
                        self.resent += 1
                    await seated.send(**sent)
                    answer = await seated.until("answer", id=sent["id"])
                    if not answer["ok"]:
                        assert "could not be stored" in answer["reason"], answer
                        self.refused += 1
                        await asyncio.sleep(0.05)
                        continue
                    match.acknowledged[seat].append(sent["move"])
                    sent = None
            except GONE:
                await asyncio.sleep(0.05)
            if self.stopping and sent is None:
                return

    async def choosing(self, seated: Seated) -> bool:
        """Wait for the player's choice or the end of the run; False once the match is over."""
        while not self.stopping:
            if seated.view is not None and (seated.view["options"] or seated.view["result"]):
                break
            with suppress(TimeoutError):
                await asyncio.wait_for(seated.receive(), 0.5)
            self.refused, seated.refused = self.refused + seated.refused, 0
        return seated.view is None or seated.view["result"] is None

    @property
    def moves(self) -> int:
        """Acknowledged so far."""
        return sum(len(told) for match in self.played for told in match.acknowledged)

    async def check(self) -> int:
        """Compare what was acknowledged with what is kept; how many moves that was."""
        self.lost_to_damage = 0
        return sum([await self._check_match(match) for match in self.played])

    async def _check_match(self, match: Played) -> int:
        damaged, key = match.id in self.damaged, match.keys[0]
        info = await self.request("GET", f"/api/matches/{match.id}", key, damaged)
        if info.status_code == 200 and info.json()["state"] in ("waiting", "starting"):
            assert not any(match.acknowledged)
            return 0
        found = await self.request("GET", f"/api/matches/{match.id}/record", key, damaged)
        if found.status_code == DAMAGED:
            self.lost_to_damage += 1
            return 0
        over = info.status_code == 200 and info.json()["state"] == "over"
        if over:
            full = loads(found.text, load)
            assert verify(full)
            picks = [entry.moves for entry in full.events if isinstance(entry, Pick)]
            kept = [[move for p in picks for s, move in p if s == seat] for seat in (0, 1)]
        else:
            entries = [e["moves"] for e in found.json()["entries"] if e["type"] == "pick"]
            kept = [[e[s] for e in entries if s in e] for s in ("1", "2")]
        for seat in (0, 1):
            told = match.acknowledged[seat]
            sealed = kept[seat] + told[len(kept[seat]) :][:1]  # waits for the other's pick
            same = told == kept[seat] or (not over and told == sealed)
            hidden = not over and any("?" in move for move in kept[seat])
            assert same or (hidden and len(told) == len(kept[seat])), (told, kept[seat])
        return sum(map(len, match.acknowledged))


async def until_moves(crowd: Crowd) -> None:
    """Matches go on: some more moves are acknowledged."""
    before = crowd.moves
    while crowd.moves < before + 10:
        await asyncio.sleep(0.05)


async def through(
    crowd: Crowd, disturb: Callable[[int], Awaitable[None]], times: int, pairs: int = 8
) -> int:
    """Play while the server is disturbed so many times; how many moves were acknowledged."""
    tasks = [asyncio.create_task(crowd.pair(number)) for number in range(pairs)]

    async def disturbed() -> None:
        for n in range(times):
            await asyncio.sleep(crowd.randomness.uniform(0.05, 0.5))
            await disturb(n)
        await asyncio.sleep(0.5)

    work = asyncio.create_task(disturbed())
    try:
        await asyncio.wait([work, *tasks], return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            if task.done():
                task.result()  # a player found something wrong
        work.result()
    finally:
        crowd.stopping = True
    await asyncio.wait_for(asyncio.gather(*tasks), 120)
    return await crowd.check()
