"""A Python class as a player in a process of its own, so that it cannot harm its host.

It runs as an external program (`duels.players.external`) with the same limits of time and memory;
the program is `duels.players.class_host`. What the class prints is not part of the host's output,
and a class that hangs or ends its process only loses its match.

>>> from duels.core import Match
>>> from duels.games import load
>>> last = Isolated("duels.players.greedy:Greedy", "a stream")
>>> last.choose(Match(load("number-wars"), seed=3).view(0))
'10'
>>> last.close()
"""

from __future__ import annotations

import os
import shlex
import sys
from typing import Any

from duels.core.errors import Misbehaved
from duels.core.game import AnyGame, History, Move, Result
from duels.core.player import MixedStrategy, Player, View
from duels.core.wire import dump, dump_game
from duels.players.external import External, ProcessLimits, compact, read_answer, request
from duels.players.process import recordable
from duels.players.references import instantiate

# The child finds modules where its host does; the class may be beside either of them.
START = (
    "import os, sys; sys.path[:] = sys.argv[1].split(os.pathsep); "
    "from duels.players.class_host import main; main()"
)


class Isolated(External):
    """A `module:Class` player in a process. `renew` creates a new instance for the next match."""

    def __init__(self, name: str, stream: str = "", limits: ProcessLimits | None = None) -> None:
        words = [sys.executable, "-c", START, os.pathsep.join(sys.path), name]
        super().__init__(shlex.join(words), stream, limits)
        self.name = name
        self.renew(stream)

    def renew(self, stream: str, game: AnyGame | None = None) -> None:
        """Begin a new match; solves its game first if the class needs that."""
        self.stream, self._game = stream, game
        self._begun = self._out = False
        self._events: list[Any] = []
        self._sent: History = ()

    @property
    def needs_solution(self) -> bool:  # type: ignore[override]
        """Whether it plays only games that are solved; known once it is ready."""
        return self._ready.get("needs_solution") is True

    @property
    def listening(self) -> bool:
        """Whether its class wants to be told what happens; known once it is ready."""
        return self._ready.get("listens") is True

    def _get_ready(self) -> None:
        before = self._process
        super()._get_ready()
        if self._process is not before:
            self._begun = False
        if not self._begun:
            game = None if self._game is None else dump_game(self._game)
            begin = {"type": "begin", "stream": self.stream, "game": game}
            self._ask(compact(begin).encode(), self.limits.start, "begun")
            self._begun, self._sent = True, ()

    def choose(self, view: View) -> Move:
        try:
            self.prepare()
            self._tell_events()
            return super().choose(view)
        except Misbehaved:
            self._out = True
            raise

    def mixed_strategy(self, view: View) -> MixedStrategy | None:
        """The mixed strategy of its class; None if it has none or has failed in this match."""
        if self._out or self._ready.get("mixes") is False:
            return None
        try:
            self.prepare()
            line = request(view, self.limits.seconds, "", self._history(view.history), "mix")
            answer = self._ask(line.encode(), self.limits.seconds, "mix")
        except Misbehaved:
            self._out = True
            raise
        try:
            strategy = read_answer({"mix": answer.get("mix")}, view.options)
        except ValueError:
            return None
        assert not isinstance(strategy, str)
        return strategy

    def _history(self, history: History) -> str:
        """An empty text: new events are sent before the request, and the program stores the rest.

        Decoding a long history for every choice would take longer than everything else.
        """
        before, self._sent = self._sent, history
        same = min(len(before), len(history))
        kept = same if history[:same] == before[:same] else 0
        if kept < max(len(before), len(history)):
            events = [dump(event) for event in history[kept:]]
            self._tell({"type": "history", "kept": kept, "events": events})
        return ""

    def on_event(self, number: int, entry: Any) -> None:
        """Queue an event; those between two choices are sent together."""
        self._events.append([number, dump(entry)])

    def on_end(self, result: Result) -> None:
        if self._begun and not self._out:
            self._tell_events()
            super().on_end(result)

    def _tell_events(self) -> None:
        events, self._events = self._events, []
        if events:
            self._tell({"type": "events", "events": events})

    def _excuse(self, answer: dict[str, Any]) -> str | None:
        if answer.get("type") != "error":
            return None
        return recordable(str(answer.get("why"))) or "it failed"


def isolated(name: str, stream: str, limits: ProcessLimits | None = None) -> Player:
    """A class in its own process, or in this one on systems that do not support programs."""
    return Isolated(name, stream, limits) if os.name == "posix" else instantiate(name, stream)
