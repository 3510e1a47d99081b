"""A progress bar with the time left, on the error stream so that it is never part of an answer."""

from __future__ import annotations

import sys
import time

WIDTH = 30


class ProgressBar:
    """Called with the part done, from 0 to 1, and what is being done."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._began = time.monotonic()
        self._shown = False

    def __call__(self, part: float, what: str) -> None:
        passed = time.monotonic() - self._began
        if not sys.stderr.isatty():
            if not self._shown:
                print(f"{self.title}…", file=sys.stderr, flush=True)
            self._shown = True
            return
        left = f"{passed / part * (1 - part):.0f} s left" if part > 0 else ""
        bar = "█" * round(WIDTH * part) + "░" * (WIDTH - round(WIDTH * part))
        line = f"{self.title} {bar} {what} {left}"
        end = "\n" if part >= 1 else ""
        print(f"\r{line:<79}"[:110], end=end, file=sys.stderr, flush=True)
        self._shown = True
