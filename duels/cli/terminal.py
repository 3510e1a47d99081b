"""Output and input of one terminal or pipe.

On a pipe everything is plain text, and input is echoed after its prompt so that the transcript
looks as on a screen.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from typing import TextIO

from duels.cli.keyboard import Countdown, Keyboard
from duels.core.presentation import Part, part_line, pile_lines

CLEAR = "\x1b[2J\x1b[3J\x1b[H"
ROOM = 8  # columns for input after a prompt
PACE = 0.6  # seconds before a computer's move, on a screen


class Terminal:
    """Reads from a file descriptor, so that reads can time out, and writes to a stream."""

    def __init__(
        self, keyboard: int, out: TextIO, err: TextIO, plain: bool = False, fast: bool = False
    ) -> None:
        screen, kind = out.isatty(), os.environ.get("TERM", "")
        self.interactive = os.isatty(keyboard)
        self.on_screen = screen
        self.clearable = screen and kind not in ("", "dumb", "unknown")
        self.drawing = self.clearable and not plain
        self.colour = self.drawing and not os.environ.get("NO_COLOR")
        self.ascii = not _encodes(out, "█░●○·▁")
        self.paced = self.drawing and self.interactive and not fast
        self._keyboard = Keyboard(keyboard, out, editing=self.interactive and self.clearable)
        self._out, self._err = out, err
        self._movable = kind not in ("", "dumb", "unknown") and not plain
        self._blank = True  # at the top or after a blank line: another blank line is omitted

    @property
    def width(self) -> int:
        """Columns of the screen; 80 if there is none."""
        try:
            return os.get_terminal_size(self._out.fileno()).columns or 80
        except (OSError, ValueError):
            return 80

    @property
    def refreshing(self) -> bool:
        """Whether lines on the error stream can be drawn again: on a screen with a cursor."""
        return self._err.isatty() and self._movable

    # Writing

    def say(self, lines: Iterable[str], whole: bool = False) -> None:
        """Write lines, wrapped between words on a narrow screen unless they must stay whole."""
        for line in lines:
            if not line and self._blank:
                continue
            self._blank = not line
            for part in [line] if whole else self._fit(line):
                self._out.write(self._painted(part) + "\n")
        self._out.flush()

    def _fit(self, line: str, less: int = 0) -> list[str]:
        """Wrap a line to the width of the screen, less some columns."""
        if not self.on_screen or "\n" in line or len(line) <= (width := self.width - less):
            return [line]
        from textwrap import wrap

        from duels.core.presentation import Line, tone

        indent = " " * (len(line) - len(line.lstrip()))
        found = wrap(
            line, max(10, width), subsequent_indent=indent, break_long_words=False,
            break_on_hyphens=False,
        )  # fmt: skip
        return [Line(part, tone(line)) for part in found] or [line]

    def _painted(self, line: str) -> str:
        if not self.colour:
            return line
        from duels.cli.style import paint

        return paint(line)

    def draw(self, parts: list[Part], viewer: int | None, *, whole: bool = False) -> None:
        """Draw the table; without drawing, write the piles, or with `whole` every part."""
        if not self.drawing:
            self.say(filter(None, map(part_line, parts)) if whole else pile_lines(parts))
            return
        from duels.cli.style import drawn

        self.say(
            drawn(parts, viewer, self.width, colour=self.colour, ascii_only=self.ascii), whole=True
        )

    def pace(self) -> None:
        """Wait a moment before a computer's move, so that the user notices it."""
        if self.paced:
            self._out.flush()
            time.sleep(PACE)

    def note(self, text: str) -> None:
        """Write a message about the program, not the game, to the error stream."""
        for stream, more in ((self._out, ""), (self._err, text + "\n")):
            try:
                stream.write(more)
                stream.flush()
            except OSError:
                drop_output(stream)

    def clear(self) -> None:
        """Clear the screen and its scrollback."""
        if self.clearable:
            self._out.write(CLEAR)
            self._out.flush()
        self._blank = True

    # Asking

    def ask(
        self, prompt: str, *, secret: bool = False, seconds: float | None = None,
        news: Callable[[], bool] | None = None,
    ) -> str:  # fmt: skip
        """Read a line of input.

        Raises EOFError at the end of input, TimeUp when the seconds have passed, and News when
        `news` returns True.
        """
        self._blank = False
        counting = self.drawing and self.interactive and seconds is not None
        if self.interactive:  # only the last line is the prompt: a countdown is written before it
            *above, last = self._fit(prompt)
            *more, prompt = self._fit(last, ROOM + (Countdown.WIDTH if counting else 0))
            self.say(above + more)
            self._blank = False
            prompt += " "
        try:
            text = self._keyboard.read(
                prompt, secret=secret, seconds=seconds, counting=counting, news=news
            )
        except BaseException:
            try:
                self._out.write("\n")
                self._out.flush()
            except OSError:  # the terminal was closed
                drop_output(self._out)
            raise
        if not self.interactive:
            shown = "" if secret or not text else " " + printable(text)
            self._out.write(shown + "\n")
        return text

    def forget_typing(self) -> None:
        """Discard input that was typed before the keyboard was handed over."""
        self._keyboard.forget()


def _encodes(out: TextIO, text: str) -> bool:
    try:
        text.encode(out.encoding or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True


def drop_output(stream: TextIO | None = None) -> None:
    """Redirect a stream that cannot be written any more to the null device.

    What is still buffered would make the interpreter fail again at exit.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def printable(text: str) -> str:
    """A text without control characters, which could control a terminal."""
    return "".join(char if char.isprintable() else "?" for char in text)
