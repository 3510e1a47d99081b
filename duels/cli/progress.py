"""A progress bar with the time left, on the error stream so that it is never part of the output."""

from __future__ import annotations

import os
import sys
import time
from typing import TextIO

WIDTH = 30
TELLING = 0.02  # part done from which the time left can be estimated
PATIENCE = 2.0  # seconds before a bar is shown


def can_show(text: str, stream: TextIO) -> bool:
    """Whether a stream's encoding has these characters."""
    try:
        text.encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


class ProgressBar:
    """Called with the part done, from 0 to 1, and what is being done."""

    def __init__(self, title: str, patience: float = 0.0) -> None:
        """Shown once `patience` seconds have passed."""
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
        left = f"{passed / part * (1 - part):.0f} s left" if part >= TELLING else ""
        bar = full * round(WIDTH * part) + empty * (WIDTH - round(WIDTH * part))
        line = f"{self.title} {bar} {what} {left}"
        end = "\n" if part >= 1 else ""
        room = os.get_terminal_size(sys.stderr.fileno()).columns or 80
        print(f"\r{line:<{room}}"[:room], end=end, file=sys.stderr, flush=True)
        self._shown = True

    def done(self) -> None:
        """End the line of a bar that was shown, for work that does not report its end."""
        if self._shown and sys.stderr.isatty():
            print(file=sys.stderr, flush=True)
