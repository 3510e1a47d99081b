"""Players of tests, to be named `tests.arena.players:Name`."""

from __future__ import annotations

import os
import signal
import time

from duels.core.game import Move
from duels.core.player import Player, View


def worker() -> int:
    """The process that plays the tournament; a class is in one of its own, under a supervisor."""
    with open(f"/proc/{os.getppid()}/stat") as supervisor:
        return int(supervisor.read().rpartition(")")[2].split()[1])


class Last(Player):
    """Takes its last option."""

    def choose(self, view: View) -> Move:
        return view.options[-1]


class Slow(Last):
    """Gives a test time to interrupt a tournament."""

    def choose(self, view: View) -> Move:
        time.sleep(0.005)
        return super().choose(view)


class Counts(Player):
    """Plays by how often it was asked: another game, another player, unless it is made anew."""

    def __init__(self, stream: str) -> None:
        self.asked = len(stream)

    def choose(self, view: View) -> Move:
        self.asked += 1
        return view.options[self.asked % len(view.options)]


class Dies(Slow):
    """Kills the worker it plays for when there is an order: a file, or a folder for every time."""

    def choose(self, view: View) -> Move:
        order = os.environ.get("DUELS_TEST_DIES", "")
        try:
            if not os.path.isdir(order):
                os.unlink(order)
        except FileNotFoundError:
            return super().choose(view)
        os.kill(worker(), signal.SIGKILL)
        return super().choose(view)


class Crashes(Player):
    def choose(self, view: View) -> Move:
        raise ValueError("no\x1b idea")


class Leaves(Player):
    def choose(self, view: View) -> Move:
        raise SystemExit(1)


class Cheats(Player):
    def choose(self, view: View) -> Move:
        return "win"


class Mute(Player):
    def choose(self, view: View) -> Move:
        return None  # type: ignore[return-value]


class Lies(Last):
    """Fails when it is asked how it chooses, and when it is told how it went."""

    def mixed_strategy(self, view: View) -> dict[Move, float]:
        raise RuntimeError("a secret")

    def on_end(self, result: object) -> None:
        raise RuntimeError("not my fault")


class Unmakeable(Player):
    def __init__(self) -> None:
        raise RuntimeError("out of order")


class Elsewhere(Last):
    """Leaves a mark in the environment's file for each process it plays for."""

    def choose(self, view: View) -> Move:
        with open(os.environ["DUELS_TEST_MARKS"], "a") as file:
            file.write(f"{worker()}\n")
        return super().choose(view)
