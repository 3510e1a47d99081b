"""Refusal of new matches while the server is overloaded, so that those in progress stay fast."""

from __future__ import annotations

import asyncio
from collections.abc import Sized

from duels.server.computer_players import ComputerPlayers
from duels.server.fair_queue import Busy
from duels.server.metrics import Metrics
from duels.server.settings import Limits

TICK = 0.1  # seconds between two measurements
AVERAGED = 5.0  # seconds


class Overload:
    """Measures how late the event loop is, and decides whether a match is created."""

    def __init__(
        self, limits: Limits, rooms: Sized, computers: ComputerPlayers, metrics: Metrics
    ) -> None:
        self.limits, self.rooms, self.computers, self.metrics = limits, rooms, computers, metrics
        self.lag = 0.0  # seconds, on average

    async def measure(self) -> None:
        """Measure until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            await asyncio.sleep(TICK)
            self.add(loop.time() - began - TICK)

    def add(self, late: float) -> None:
        """Add a measurement to the average; a long delay is measured less often and weighs more."""
        self.lag += (late - self.lag) * min(1.0, (TICK + late) / AVERAGED)

    def check(self, user: str, opponent: str) -> None:
        """Raise `Busy` with a reason if a user must not create a match against this opponent."""
        limits, computers, reason = self.limits, self.computers, ""
        if self.lag > limits.lag:
            reason = "it responds too slowly"
        elif len(self.rooms) >= limits.rooms:
            reason = "too many matches are in progress"
        elif computers.searches(opponent) and computers.searching >= limits.searching:
            reason = "too many computer players are choosing"
        if reason:
            self.metrics.limited += 1
            raise Busy(f"the server is busy: {reason}; try again later")
        if computers.searches(opponent) and computers.full(user):
            self.metrics.limited += 1
            raise Busy("too many computer players are choosing in your matches; try again later")
