"""One screen and one keyboard, or a pipe: writing lines and asking for them.

On a pipe everything is plain text, and what was read is echoed after its prompt so that the
transcript reads as it would on a screen.
"""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Iterable
from typing import TextIO

from duels.core.show import Part

LONGEST = 1000  # characters of a line that are looked at
CLEAR = "\x1b[2J\x1b[3J\x1b[H"


class TimeUp(Exception):
    """The player's time ran out while input was awaited."""


class Terminal:
    """Reads from a file descriptor, so that waiting can be limited; writes to a stream."""

    def __init__(self, keyboard: int, out: TextIO, err: TextIO, plain: bool = False) -> None:
        self.interactive = os.isatty(keyboard)
        bare = plain or bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        self.fancy = out.isatty() and not bare
        self._keyboard, self._out, self._err = keyboard, out, err
        self._buffer = b""
        self._blank = True  # after a blank line or at the top, where no other is wanted

    # Writing

    def say(self, lines: Iterable[str]) -> None:
        for line in lines:
            if not line and self._blank:
                continue
            self._blank = not line
            self._out.write(self._painted(line) + "\n")
        self._out.flush()

    def _painted(self, line: str) -> str:
        if not self.fancy:
            return line
        from duels.cli.style import paint

        return paint(line)

    def draw(self, parts: list[Part]) -> None:
        """The table, on screens that can show it."""
        if self.fancy and parts:
            from duels.cli.style import drawn

            self._out.write("\n".join(drawn(parts)) + "\n")

    def note(self, text: str) -> None:
        """Something about the program, not the game: kept out of the transcript."""
        for stream, more in ((self._out, ""), (self._err, text + "\n")):
            try:
                stream.write(more)
                stream.flush()
            except OSError:
                drop_output(stream)

    def clear(self) -> None:
        """Leave nothing of the page to see, nor to scroll back to."""
        dumb = os.environ.get("TERM", "dumb") == "dumb"
        if self._out.isatty():
            self._out.write("\n" * 100 if dumb else CLEAR)
            self._out.flush()
        self._blank = True

    # Asking

    def ask(self, prompt: str, *, secret: bool = False, seconds: float | None = None) -> str:
        """A line of input. Raises EOFError at its end and TimeUp when the seconds have passed."""
        self._blank = False
        prompt += " " if self.interactive else ""
        try:
            text = self._secretly(prompt, seconds) if secret else self._line(prompt, seconds)
        except BaseException:
            try:
                self._out.write("\n")
                self._out.flush()
            except OSError:  # the screen itself is gone
                drop_output(self._out)
            raise
        if not self.interactive:
            shown = "" if secret or not text else " " + printable(text)
            self._out.write(shown + "\n")
        return text

    def _secretly(self, prompt: str, seconds: float | None) -> str:
        """Read without showing what is typed, from before the prompt appears."""
        if not self.interactive:
            return self._line(prompt, seconds)
        import termios

        usual = termios.tcgetattr(self._keyboard)
        silent = termios.tcgetattr(self._keyboard)
        silent[3] &= ~termios.ECHO
        try:
            termios.tcsetattr(self._keyboard, termios.TCSADRAIN, silent)
            text = self._line(prompt, seconds)
            self._out.write("\n")
            return text
        finally:
            termios.tcsetattr(self._keyboard, termios.TCSADRAIN, usual)

    def _line(self, prompt: str, seconds: float | None) -> str:
        self._out.write(prompt)
        self._out.flush()
        until = None if seconds is None else time.monotonic() + seconds
        while b"\n" not in self._buffer:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([self._keyboard], [], [], left)[0]:
                self._forget_typing()
                raise TimeUp
            more = os.read(self._keyboard, 65536)
            if not more:
                if not self._buffer:
                    raise EOFError
                more = b"\n"
            # An endless line is cut, so that it cannot fill the memory.
            line, end, rest = more.partition(b"\n")
            self._buffer = (self._buffer + line)[: 4 * LONGEST] + end + rest
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode("utf-8", "replace").strip()[:LONGEST]

    def _forget_typing(self) -> None:
        """What was half typed belongs to a turn that is over."""
        self._buffer = b""
        if self.interactive:
            import termios

            termios.tcflush(self._keyboard, termios.TCIFLUSH)


def drop_output(stream: TextIO | None = None) -> None:
    """The output is gone: what is still buffered has nowhere to go and must not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def program() -> str:
    """What to type to run this program again: it may not be installed."""
    return "python3 -m duels" if sys.argv[0].endswith("__main__.py") else "duels"


def printable(text: str) -> str:
    """Text that cannot steer a terminal, whatever was piped in."""
    return "".join(char if char.isprintable() else "?" for char in text)
