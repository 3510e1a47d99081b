"""Turns at a process that users share, in round robin over the users."""

from __future__ import annotations

import asyncio
from collections import deque

from duels.core.errors import DuelsError


class Busy(DuelsError):
    """The server has too much to do for this now."""


class FairQueue:
    """One turn at a time. Each user waits for at most one turn of each other user.

    A user is an address group, as a client can make any number of keys.
    """

    def __init__(self, most: int) -> None:
        self._most = most  # turns for which a user waits
        self._running: str | None = None
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # the next user first

    @property
    def users(self) -> int:
        """How many users wait."""
        return len(self._waiting)

    def full(self, user: str) -> bool:
        """Whether a user waits for as many turns as allowed."""
        return len(self._waiting.get(user, ())) >= self._most

    async def turn(self, user: str) -> None:
        """Wait for a turn, to be ended by `release`; `Busy` if the user waits for too many."""
        if self._running is None:
            self._running = user
            return
        if self.full(user):
            raise Busy("too many of your moves, hints and analyses are being computed; wait")
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it was given the turn at the same moment
                self.release()
            elif (turns := self._waiting.get(user)) is not None:
                turns.remove(turn)
                if not turns:
                    del self._waiting[user]
            raise

    def release(self) -> None:
        """End a turn; the next user gets one."""
        if self._running in self._waiting:  # behind those who came during its turn
            self._waiting[self._running] = self._waiting.pop(self._running)
        self._running = None
        while self._waiting and self._running is None:
            user, turns = next(iter(self._waiting.items()))
            turn = turns.popleft()
            if not turns:
                del self._waiting[user]
            if not turn.done():
                turn.set_result(None)
                self._running = user
