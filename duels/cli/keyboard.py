"""Reads a line from a pipe, from a terminal with line editing, or without echo.

Handles time limits, Ctrl-Z and input that was typed before the prompt. No other module changes the
modes of the terminal.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, TextIO

LONGEST = 1000  # characters of a line; the rest is dropped
TICK = 1.0  # seconds between two checks of the clock


class TimeUp(Exception):
    """The player's time ran out during a read."""


class MessageArrived(Exception):
    """A message arrived during a read."""


class Continued(Exception):
    """The program was suspended while a line was edited, and has continued."""


def _nothing() -> None:
    return None


class Keyboard:
    """A file descriptor to read from, and the stream that shows the prompts."""

    def __init__(self, source: int, out: TextIO, editing: bool) -> None:
        self._source, self._out = source, out
        self._interactive = os.isatty(source)
        self._editing = editing and source == 0
        self._buffer = b""
        self._half_typed: Callable[[], str | None] = _nothing  # text of the line being edited
        self._interrupted = ""  # text of a line that `MessageArrived` interrupted

    def read(
        self, prompt: str, *, secret: bool = False, seconds: float | None = None,
        counting: bool = False, news: Callable[[], bool] | None = None,
    ) -> str:  # fmt: skip
        """Read a line. Raises EOFError at the end of input, TimeUp when the time is up.

        `news` is polled every second; when it returns True, News is raised, and the next call
        continues with the text typed so far.
        """
        until = None if seconds is None else time.monotonic() + seconds
        clock = None
        if counting and until is not None:
            clock = Countdown(self._out, until, prompt)
        try:
            if not self._interactive:
                return self._line(prompt, until, clock, news)
            with self._stoppable(prompt, clock):
                if secret:
                    return self._secretly(prompt, until, clock)
                if self._editing and b"\n" not in self._buffer and _has_readline():
                    return self._edited(prompt, until, clock, news)
                return self._line(prompt, until, clock, news)
        except TimeUp:
            self.forget()  # the text typed so far belongs to a turn that is over
            raise

    def forget(self) -> None:
        """Discard input that was typed but not read."""
        self._buffer, self._interrupted = b"", ""
        if self._interactive:
            import termios

            termios.tcflush(self._source, termios.TCIFLUSH)

    # Three ways to read a line

    def _line(
        self, prompt: str, until: float | None, clock: Countdown | None,
        news: Callable[[], bool] | None = None,
    ) -> str:  # fmt: skip
        """A line from the terminal or the pipe, without line editing."""
        self._out.write(_countdown_text(clock) + prompt)
        self._out.flush()
        while b"\n" not in self._buffer:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                raise TimeUp
            # Never without end: a signal just before `select` is handled when that returns.
            wait = TICK if left is None else min(left, TICK)
            if not select.select([self._source], [], [], wait)[0]:
                if news is not None and news():
                    raise MessageArrived
                if clock is not None:
                    clock.tick()
                continue
            more = os.read(self._source, 65536)
            if not more:
                if not self._buffer:
                    raise EOFError
                more = b"\n"
            # An endless line is cut, so that it cannot fill the memory.
            line, end, rest = more.partition(b"\n")
            self._buffer = (self._buffer + line)[: 4 * LONGEST] + end + rest
        line, _, self._buffer = self._buffer.partition(b"\n")
        return _clean(line.decode("utf-8", "replace"))

    def _secretly(self, prompt: str, until: float | None, clock: Countdown | None) -> str:
        """A line read without echo; input typed before the prompt is discarded."""
        import termios

        usual, silent = (termios.tcgetattr(self._source) for _ in range(2))
        silent[3] &= ~termios.ECHO
        try:
            self._buffer = b""
            termios.tcsetattr(self._source, termios.TCSAFLUSH, silent)
            text = self._line(prompt, until, clock)
            self._out.write("\n")
            return text
        finally:
            termios.tcsetattr(self._source, termios.TCSADRAIN, usual)

    def _edited(
        self, prompt: str, until: float | None, clock: Countdown | None,
        news: Callable[[], bool] | None,
    ) -> str:  # fmt: skip
        """A line edited with readline; after a suspension the text typed so far is restored."""
        import readline
        from functools import partial

        self._out.flush()
        half_typed, self._interrupted = self._interrupted, ""
        while True:
            readline.set_startup_hook(partial(readline.insert_text, half_typed))
            try:
                self._half_typed = readline.get_line_buffer
                with _alarm(until, clock, news):
                    return _clean(input(_countdown_text(clock) + prompt))
            except MessageArrived:
                self._interrupted = readline.get_line_buffer()
                raise
            except Continued as continued:
                half_typed = str(continued)
            except SystemError as error:
                # SIGALRM arrived while readline reported Ctrl-C to Python.
                if isinstance(error.__cause__, KeyboardInterrupt):
                    raise error.__cause__ from None  # Ctrl-C or a termination signal
                raise
            finally:
                self._half_typed = _nothing
                readline.set_startup_hook()

    @contextmanager
    def _stoppable(self, prompt: str, clock: Countdown | None) -> Iterator[None]:
        """Restore the modes of the terminal while Ctrl-Z suspends the program.

        `fg` sets them again before anything can be typed, so that a secret is not echoed.
        """
        import termios

        found = termios.tcgetattr(self._source)

        def stop(number: int, frame: FrameType | None) -> None:
            ours, half_typed = termios.tcgetattr(self._source), self._half_typed()
            signal.setitimer(signal.ITIMER_REAL, 0)  # `_alarm` starts it again with the line
            termios.tcsetattr(self._source, termios.TCSADRAIN, found)
            os.kill(os.getpid(), signal.SIGSTOP)
            with suppress(termios.error):
                termios.tcsetattr(self._source, termios.TCSAFLUSH, ours)
            self._out.write("\n")
            if half_typed is not None:
                raise Continued(half_typed)
            self._out.write(_countdown_text(clock) + prompt)
            self._out.flush()

        try:
            before = signal.signal(signal.SIGTSTP, stop)
        except ValueError:  # not the main thread
            yield
            return
        try:
            yield
        finally:
            signal.signal(signal.SIGTSTP, before)


class Countdown:
    """The time left, at the start of the prompt's line, updated in place."""

    WIDTH = 8  # columns, for less than 100 minutes

    def __init__(self, out: TextIO, until: float, prompt: str) -> None:
        self._out, self._until = out, until
        self._columns = self.WIDTH + len(prompt)

    def text(self) -> str:
        left = max(0, round(self._until - time.monotonic()))
        return f"[{left // 60:>2}:{left % 60:02}] "

    def tick(self, typed: str = "") -> None:
        """Update the time at the start of the line, then restore the cursor.

        If `typed` does not fit in the prompt's line, the cursor may be in another line. Nothing is
        written then, so that the typed text is not overwritten.
        """
        try:
            width = os.get_terminal_size(self._out.fileno()).columns
        except (OSError, ValueError):
            return
        if self._columns + len(typed) < width:
            self._out.write(f"\x1b7\r{self.text()}\x1b8")
            self._out.flush()


def _countdown_text(clock: Countdown | None) -> str:
    return "" if clock is None else clock.text()


@contextmanager
def _alarm(
    until: float | None, clock: Countdown | None, news: Callable[[], bool] | None = None
) -> Iterator[None]:
    """Raise TimeUp or News from SIGALRM, for `input`, which has no timeout.

    The timer runs even without a time limit: if a signal such as Ctrl-C arrives after readline has
    shown its prompt and before it waits, readline handles it only when the next signal arrives.
    """

    def ring(number: int, frame: FrameType | None) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)  # `news` takes a lock: no second signal in it
        if news is not None and news():
            raise MessageArrived
        if until is None:
            signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
            return
        left = until - time.monotonic()
        if left <= 0:
            raise TimeUp
        if clock is not None:
            import readline

            clock.tick(readline.get_line_buffer())
        signal.setitimer(signal.ITIMER_REAL, max(0.001, min(left, TICK)), TICK)

    try:
        before: Any = signal.signal(signal.SIGALRM, ring)
    except ValueError:  # not the main thread
        yield
        return
    left = TICK if until is None else max(0.001, until - time.monotonic())
    signal.setitimer(signal.ITIMER_REAL, min(left, TICK), TICK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _has_readline() -> bool:
    """Import readline, if available, so that `input` uses it.

    It keeps no history, because the next person at the keyboard may be the opponent.
    """
    try:
        import readline
    except ImportError:
        return False
    readline.set_auto_history(False)
    readline.parse_and_bind("set enable-bracketed-paste off")
    readline.parse_and_bind("tab: self-insert")
    return True


def _clean(text: str) -> str:
    return text.strip()[:LONGEST]
