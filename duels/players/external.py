"""An external program as a player: the host's side of the protocol in docs/reference/bots.md.

The program may be in any language: it reads a line of JSON from its input and answers with one on
its output. Requests use the JSON of the core (`duels.core.wire`) and contain everything needed to
choose, so a program needs no memory between requests.

>>> from duels.core import Match
>>> from duels.games import load
>>> line = request(Match(load("firewall-breach"), seed=1).view(0), seconds=10.0, seed="a text")
>>> asked = json.loads(line)
>>> asked["type"], asked["view"]["player"], asked["view"]["options"]
('choose', 1, ['attack', 'bypass'])
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import lru_cache
from math import isfinite
from typing import Any

from duels.core.errors import Misbehaved, quote
from duels.core.game import AnyGame, History, Move, Result
from duels.core.player import MixedStrategy, Player, View
from duels.core.presentation import listed
from duels.core.wire import VERSION, dump, dump_game, dump_observation
from duels.players.process import Late, Process, ProcessLimits, shown
from duels.players.references import command_of

__all__ = ["External", "Process", "ProcessLimits"]

PROTOCOL = 1
BOM = b"\xef\xbb\xbf"
ROUNDING = 1e-3  # allowed difference between the sum of probabilities and 1


class External(Player):
    """An external program as a player, started on first use, for any number of matches.

    After any failure its process is ended, and the next request starts a new one. Use it from one
    thread; only `cancel` may be called from any.
    """

    def __init__(self, command: str, stream: str = "", limits: ProcessLimits | None = None) -> None:
        """`stream` is the player's random stream; set it for every match."""
        self.command, self.stream = command, stream
        self.limits = ProcessLimits.usual() if limits is None else limits
        self.last_strategy: dict[Move, float] | None = None  # from which the last move was drawn
        self.stalled: str | None = None  # why it did not start or answer: see `prepare`
        self._words = command_of(command)
        self._process: Process | None = None
        self._ready: dict[str, Any] = {}
        self._written: tuple[History, str] = (), ""  # the last history, and its text

    # The `Player` interface

    def prepare(self) -> None:
        """Start the program and wait until it is ready.

        If that fails, or a request without a clock is not answered in time, `stalled` is the
        reason. A host that plays many matches clears it, and can stop using the player, since each
        failure takes seconds.
        """
        try:
            self._get_ready()
        except Misbehaved as error:
            self.stalled = str(error)
            raise

    def _get_ready(self) -> None:
        if self._process is not None and self._process.owner != os.getpid():
            self._process.forget()
            self._process = None
        if self._process is not None:
            return
        self._process = Process(self._words, self.limits)
        hello = {"type": "hello", "protocol": PROTOCOL, "seconds": self.limits.start}
        ready = self._ask(compact(hello).encode(), self.limits.start, "ready")
        games = ready.get("games")
        if games is not None and not (
            isinstance(games, list) and all(isinstance(slug, str) for slug in games)
        ):
            raise self._failed(f"games: expected a list of names; got {quote(games)}")
        self._ready = ready

    def choose(self, view: View) -> Move:
        """Its move; from a mixed strategy (`mix`) one is drawn with the stream."""
        answer = self._asked(view)
        strategy = self.last_strategy = None if isinstance(answer, str) else answer
        if strategy is None:
            assert isinstance(answer, str)
            return answer
        if len(strategy) == 1:
            return next(iter(strategy))
        from random import Random

        return Random(self._seed(view)).choices(list(strategy), list(strategy.values()))[0]

    def mixed_strategy(self, view: View) -> MixedStrategy | None:
        """The mixed strategy that it answers with; None if it answers with a move."""
        answer = self._asked(view)
        if isinstance(answer, str):
            return {answer: 1.0} if len(view.options) == 1 else None
        return answer

    def on_end(self, result: Result) -> None:
        """Tell it how the match ended."""
        self._tell({"type": "over", "result": dump(result)})

    def cancel(self) -> None:
        if (process := self._process) is not None:
            process.stop()

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.owner == os.getpid():
                process.end()
            else:
                process.forget()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_process": None}

    def __del__(self) -> None:
        if getattr(self, "_process", None) is not None:
            self.close()

    # Specific to programs

    @property
    def games(self) -> list[str] | None:
        """The slugs of the games it plays, once it is ready; None for all."""
        return self._ready.get("games")

    # Internal

    def _seed(self, view: View) -> str:
        """The seed for one choice: equal in a repeated match, different after an undo."""
        return f"{self.stream} {view.version}"

    def _asked(self, view: View) -> Move | dict[Move, float]:
        self.prepare()
        if self.games is not None and view.game.slug not in self.games:
            raise Misbehaved(f"it plays {listed(self.games)}, not {view.game.slug}")
        seconds, clock = self.limits.seconds, view.clock
        timed = clock is not None and not (self.limits.always and seconds < clock)
        if clock is not None and timed:
            seconds = clock
        line = request(view, seconds, self._seed(view), self._history(view.history))
        limit = f"before its clock ran out ({_about(seconds)} left)" if timed else ""
        try:
            answer = self._ask(line.encode(), seconds, "move", limit)
        except Late as error:
            if not timed:
                self.stalled = str(error)
            raise
        try:
            return read_answer(answer, view.options)
        except ValueError as error:
            raise self._failed(str(error)) from None

    def _history(self, history: History) -> str:
        """A history as text, which extends the cached text of the last one if possible.

        Encoding all of it for every choice would take longer than the rest of the request.
        """
        if self._ready.get("history") is False:
            return ""
        before, text = self._written
        if len(before) > len(history) or history[: len(before)] != before:
            before, text = (), ""
        more = ",".join(compact(dump(event)) for event in history[len(before) :])
        text = f"{text},{more}" if text and more else text or more
        self._written = history, text
        return text

    def _tell(self, message: dict[str, Any]) -> None:
        """Send a message that has no answer."""
        if self._process is not None and self._process.owner == os.getpid():
            try:
                self._process.tell(compact(message).encode())
            except Misbehaved:
                self._process = None
                raise

    def _ask(self, line: bytes, seconds: float, wanted: str, limit: str = "") -> dict[str, Any]:
        """Send a request; returns the answer, which must be of the wanted type."""
        process = self._process
        assert process is not None
        try:
            text = process.ask(line, seconds, limit)
        except BaseException as error:
            self._process = None
            if not isinstance(error, Misbehaved):  # Ctrl-C: a late answer is not read
                process.kill()
            raise
        try:
            answer = _read(text.decode())
        except (ValueError, RecursionError) as error:
            raise self._failed(_unreadable(text, error)) from None
        if isinstance(answer, dict) and (excuse := self._excuse(answer)) is not None:
            raise Misbehaved(excuse)
        if not isinstance(answer, dict) or answer.get("type") != wanted:
            raise self._failed(f"expected an answer of type {wanted!r}; got {shown(text)}")
        return answer

    def _excuse(self, answer: dict[str, Any]) -> str | None:
        """The reason in an answer of type `error`, after which the program may continue."""
        return None

    def _failed(self, why: str) -> Misbehaved:
        process, self._process = self._process, None
        assert process is not None
        return process.failed(why)


def read_answer(answer: Mapping[str, Any], options: tuple[Move, ...]) -> Move | dict[Move, float]:
    """The move or the mixed strategy of an answer; ValueError says what is wrong with it."""
    move, strategy = answer.get("move"), answer.get("mix")
    if ("move" in answer) == ("mix" in answer):
        raise ValueError("expected an answer with a move or a mix")
    if strategy is None:
        if not isinstance(move, str) or move not in options:
            raise ValueError(f"{quote(move)} is not an option; {_the(options)}")
        return move
    if not isinstance(strategy, dict) or not strategy:
        raise ValueError(f"mix: expected a probability for each move; got {quote(strategy)}")
    for move, chance in strategy.items():
        if move not in options:
            raise ValueError(f"mix: {quote(move)} is not an option; {_the(options)}")
        if type(chance) not in (int, float) or not 0 <= chance <= 1 + ROUNDING:
            raise ValueError(f"mix: expected a probability from 0 to 1; got {quote(chance)}")
    total = sum(strategy.values())
    if not isfinite(total) or abs(total - 1) > ROUNDING:
        raise ValueError(f"mix: expected probabilities that add up to 1; got {total:g}")
    return {move: chance / total for move, chance in strategy.items() if chance > 0}


def _the(options: tuple[Move, ...]) -> str:
    shown = listed(options) if len(options) <= 10 else f"{len(options)} others"
    return f"the options are {shown}"


def _unreadable(text: bytes, error: Exception) -> str:
    """Why an answer is not JSON in UTF-8: the encoding, no JSON, too many digits, too deep."""
    if text.startswith(BOM):
        return "its answer begins with a byte order mark (BOM); write UTF-8 without one"
    if isinstance(error, UnicodeDecodeError):
        where = f"byte 0x{text[error.start]:02x} at position {error.start}"
        return f"its answer is not UTF-8 ({where}): {shown(text)}"
    if not text.strip():
        return "it answered with an empty line"
    other = "" if text.lstrip()[:1] in b"{[" else "; write other output to standard error"
    return f"it answered {shown(text)}, which is not JSON{other}"


def _about(seconds: float) -> str:
    """A time on a clock, which has run for a moment when it is read.

    >>> _about(0.4991), _about(59.98), _about(0.02)
    ('0.5 s', '60 s', 'less than 0.1 s')
    """
    return f"{seconds:.1f}".removesuffix(".0") + " s" if seconds >= 0.1 else "less than 0.1 s"


# Encoding of requests. For speed a line is joined from cached texts; tests compare it with
# `duels.core.wire.dump_view`.


def request(
    view: View, seconds: float, seed: str, history: str | None = None, kind: str = "choose"
) -> str:
    """The line that asks for a choice: the view without what can be worked out from the rest.

    `history` is the text of it between the brackets, where that is known.
    """
    if history is None:
        history = ",".join(compact(dump(event)) for event in view.history)
    one, two = view.clocks
    sealed = ",".join(map(_seat, view.sealed)) if view.sealed else ""
    result = "null" if view.result is None else compact(dump(view.result))
    return (
        f'{{"type":"{kind}","seconds":{seconds!r},"seed":{_quoted(seed)},"view":{{"type":"view",'
        f'"version":{VERSION},"game":{_game_text(view.game)},"player":{_seat(view.player)},'
        f'"moment":{view.version},'
        f'"observation":{compact(dump_observation(view.game, view.observation))},'
        f'"history":[{history}],"options":{_options_text(view.options)},"choice":null,"table":[],'
        f'"clock":{_number(view.clock)},"clocks":[{_number(one)},{_number(two)}],'
        f'"sealed":[{sealed}],"offer":{_seat(view.offer)},"result":{result}}}}}'
    )


compact = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
_quoted = json.encoder.encode_basestring
_read = json.JSONDecoder().decode
_games: dict[int, tuple[AnyGame, str]] = {}  # by identity: equal games are as many as matches


def _game_text(game: AnyGame) -> str:
    found = _games.get(id(game))
    if found is None or found[0] is not game:
        if len(_games) >= 64:
            _games.clear()
        found = _games[id(game)] = game, compact(dump_game(game))
    return found[1]


@lru_cache(4096)
def _options_text(options: tuple[Move, ...]) -> str:
    return compact(options)


def _seat(player: int | None) -> str:
    return "null" if player is None else str(player + 1)


def _number(seconds: float | None) -> str:
    return "null" if seconds is None else repr(seconds)
