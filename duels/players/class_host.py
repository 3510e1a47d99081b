"""The program in which an isolated `module:Class` player runs: see `duels.players.isolated`.

It implements the protocol of docs/reference/bots.md with additions for what a class can do and a
program cannot: a new instance for every match (`begin`), events (`events`), its mixed strategy
apart from its moves (`mix`), and exceptions that do not end it (`error`). A history is sent once
and then extended (`history`). The class has no access to the lines of the protocol: its output goes
to the error stream, and its input is empty.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from functools import lru_cache
from typing import Any

from duels.core.errors import DuelsError, one_line
from duels.core.game import AnyGame, History
from duels.core.player import Player, View, answer
from duels.core.wire import load as load_wire
from duels.core.wire import load_view
from duels.games import load
from duels.players.references import class_named, instantiate
from duels.players.runner import listens

UNANSWERED = ("history", "events", "over")


def main() -> None:
    """Answer lines until the input ends."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    seat = HostedPlayer(sys.argv[-1])
    for line in requests:
        reply = seat.reply(json.loads(line))
        if reply is not None:
            os.write(answers, json.dumps(reply).encode() + b"\n")


class HostedPlayer:
    """A player of a class, replaced for every match."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.player: Player | None = None
        self.history: History = ()
        self.failure: str | None = None  # of a line without an answer; sent with the next answer

    def reply(self, asked: dict[str, Any]) -> dict[str, Any] | None:
        """The answer to a line; None for a line that has none."""
        kind = asked["type"]
        if kind in UNANSWERED:
            if self.failure is None:
                self.failure = self._done(kind, asked).get("why")
            return None
        if self.failure is not None and kind != "begin":
            return {"type": "error", "why": self.failure}
        return self._done(kind, asked)

    def _done(self, kind: str, asked: dict[str, Any]) -> dict[str, Any]:
        try:
            done: dict[str, Any] = getattr(self, f"_{kind}")(asked)
            return done
        except (Exception, SystemExit) as error:
            known = isinstance(error, DuelsError)
            return {"type": "error", "why": str(error) if known else one_line(error)}

    def _hello(self, asked: dict[str, Any]) -> dict[str, Any]:
        kind = class_named(self.name)
        games = getattr(kind, "games", None)
        return {
            "type": "ready",
            "games": list(games) if isinstance(games, list | tuple | set | frozenset) else None,
            "needs_solution": kind.needs_solution,
            "mixes": kind.mixed_strategy is not Player.mixed_strategy,
            "listens": kind.on_event is not Player.on_event,
        }

    def _begin(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Create a player; solves the game for it now, while no clock runs, if it needs that."""
        self.failure, self.history = None, ()
        if self.player is not None:
            before, self.player = self.player, None
            with suppress(Exception, SystemExit):
                before.close()
        self.player = instantiate(self.name, asked["stream"])
        self.player.prepare()
        if self.player.needs_solution and asked["game"] is not None:
            from duels.algorithms import solve

            solve(found(asked["game"]["slug"], **asked["game"]["options"]))
        return {"type": "begun"}

    def _choose(self, asked: dict[str, Any]) -> dict[str, Any]:
        assert self.player is not None
        move = answer(self.player, self._view(asked))
        return {"type": "move", "move": move}

    def _mix(self, asked: dict[str, Any]) -> dict[str, Any]:
        assert self.player is not None
        strategy = self.player.mixed_strategy(self._view(asked))
        return {
            "type": "mix",
            "mix": None
            if strategy is None
            else {move: float(part) for move, part in strategy.items()},
        }

    def _view(self, asked: dict[str, Any]) -> View:
        return load_view(asked["view"], found)._replace(history=self.history)

    def _history(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.history = self.history[: asked["kept"]] + load_wire(asked["events"])
        return {}

    def _events(self, asked: dict[str, Any]) -> dict[str, Any]:
        if self.player is not None and listens(self.player):
            for number, entry in asked["events"]:
                self.player.on_event(number, load_wire(entry))
        return {}

    def _over(self, asked: dict[str, Any]) -> dict[str, Any]:
        if self.player is not None:
            self.player.on_end(load_wire(asked["result"]))
        return {}


def found(slug: str, **options: str) -> AnyGame:
    """A game by its name and options, cached for the lines of a match."""
    return _found(slug, tuple(options.items()))


@lru_cache(maxsize=64)
def _found(slug: str, options: tuple[tuple[str, str], ...]) -> AnyGame:
    return load(slug, **dict(options))
