"""The picture of a link preview, as a PNG made with the standard library alone.

Big plain letters say which match a link leads to; what they cannot write is left out.
"""

from __future__ import annotations

from duels.core.bitmap import ADVANCE, Canvas, legible
from duels.web.store import OVER, PLAYING, WAITING, Row

WIDTH, HEIGHT = 600, 315
COLOURS = ((24, 27, 38), (86, 156, 255), (240, 242, 248))
ACCENT, INK = 1, 2  # of these; the first is the ground
SAID = {WAITING: "JOIN", PLAYING: "WATCH", OVER: "REPLAY"}


def picture(title: str, row: Row) -> bytes:
    """A match as a PNG of 600 by 315."""
    names = [seat.name if seat is not None else "you?" for seat in row.seats]
    one, two = (written(name).strip() or f"Player {n}" for n, name in enumerate(names, 1))
    canvas = Canvas(WIDTH, HEIGHT, COLOURS)
    canvas.rectangle(0, HEIGHT - 12, WIDTH, 12, ACCENT)
    _write(canvas, title, 40, 46, INK, 6)
    _write(canvas, one, 40, 120, INK, 4)
    _write(canvas, "against", 40, 160, ACCENT, 2)
    _write(canvas, two, 40, 186, INK, 4)
    _write(canvas, SAID.get(row.state, ""), 40, 246, ACCENT, 4)
    return canvas.png()


def written(text: str) -> str:
    """What of a text can be written, in capitals.

    >>> written("Zoë & 愛 Ada")
    'ZOE &  ADA'
    """
    return legible(text, other="").upper()


def _write(canvas: Canvas, text: str, x: int, y: int, colour: int, size: int) -> None:
    """Letters from left to right, made smaller where they would not fit."""
    said = written(text)
    size = max(1, min(size, (WIDTH - 2 * x) // max(1, ADVANCE * len(said))))
    canvas.text(x, y, said, colour, size)
