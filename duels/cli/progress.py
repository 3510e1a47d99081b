"""A progress bar with the time left, on the error stream so that it is never part of the output."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TextIO

WIDTH = 30
ESTIMATED_FROM = 0.02  # part done from which the time left is shown
PATIENCE = 2.0  # seconds before a bar is shown
REFRESH = 0.2  # seconds between two drawings of a bar with lines below it


def can_show(text: str, stream: TextIO) -> bool:
    """Whether a stream's encoding has these characters."""
    try:
        text.encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


class ProgressBar:
    """A progress bar. Call it with the part done, from 0 to 1, and what is being done."""

    def __init__(self, title: str, patience: float = 0.0) -> None:
        """The bar is shown once `patience` seconds have passed."""
        self.title, self._patience = title, patience
        self._began = time.monotonic()
        self._shown = False

    def __call__(self, part: float, what: str) -> None:
        passed = time.monotonic() - self._began
        if passed < self._patience:
            return
        full, empty, dots = "█░…" if can_show("█░…", sys.stderr) else ("#", "-", "...")
        if not sys.stderr.isatty():
            if not self._shown:
                print(f"{self.title}{dots}", file=sys.stderr, flush=True)
            self._shown = True
            return
        left = f", {time_left(passed / part * (1 - part))}" if part >= ESTIMATED_FROM else ""
        bar = full * round(WIDTH * part) + empty * (WIDTH - round(WIDTH * part))
        self._show(f"{self.title} {bar} {what}{left}", part)

    def _show(self, line: str, part: float) -> None:
        end = "\n" if part >= 1 else ""
        room = os.get_terminal_size(sys.stderr.fileno()).columns or 80
        print(f"\r{line:<{room}}"[:room], end=end, file=sys.stderr, flush=True)
        self._shown = True

    def done(self) -> None:
        """End the line of a bar that was shown; needed if the last part reported was below 1."""
        if self._shown and sys.stderr.isatty():
            print(file=sys.stderr, flush=True)


class LiveBar(ProgressBar):
    """A progress bar with lines below it, which are drawn again with it."""

    def __init__(self, title: str, below: Callable[[], list[str]]) -> None:
        super().__init__(title)
        self._below, self._height, self._drawn = below, 0, 0.0

    def _show(self, line: str, part: float) -> None:
        now = time.monotonic()
        if now - self._drawn < REFRESH and part < 1:
            return
        self._drawn, self._shown = now, True
        columns, rows = os.get_terminal_size(sys.stderr.fileno())
        room = (columns or 80) - 1
        block = [text[:room] for text in (line, *self._below())][: (rows or 24) - 1]
        text = "".join(f"\r\x1b[2K{line}\n" for line in block)
        print(f"{self._up()}{text}\x1b[J", end="", file=sys.stderr, flush=True)
        self._height = len(block)

    def _up(self) -> str:
        return f"\x1b[{self._height}A" if self._height else ""

    def done(self) -> None:
        """Nothing to end: the last lines stay on the screen."""

    def erase(self) -> None:
        """Remove the bar and the lines, before the final results are printed."""
        if self._height:
            print(f"{self._up()}\r\x1b[J", end="", file=sys.stderr, flush=True)
            self._height = 0


def time_left(seconds: float) -> str:
    """The time left, in words.

    >>> time_left(42.4), time_left(600), time_left(7300)
    ('42 s left', '10 min left', '2 h 2 min left')
    """
    if seconds < 120:
        return f"{seconds:.0f} s left"
    minutes = round(seconds / 60)
    return f"{minutes} min left" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min left"
