"""The image of a link preview: a PNG with the game and the players of a match.

Characters that the bitmap font does not have are left out.
"""

from __future__ import annotations

from duels.plotting.bitmap import ADVANCE, Canvas, legible
from duels.server.storage.base import COMPUTER, OVER, PLAYING, WAITING, Row, StoredSeat

WIDTH, HEIGHT = 600, 315
COLOURS = ((24, 27, 38), (86, 156, 255), (240, 242, 248))
ACCENT, INK = 1, 2  # indices of these colours; the first is the background
SAID = {WAITING: "JOIN", PLAYING: "WATCH", OVER: "REPLAY"}


def names(row: Row) -> list[str]:
    """The players' names in a link preview; an empty seat invites the reader."""
    return ["you?" if seat is None else _name(seat) for seat in row.seats]


def _name(seat: StoredSeat) -> str:
    return f"Computer ({seat.name})" if seat.kind == COMPUTER else seat.name


def picture(title: str, row: Row) -> bytes:
    """A match as a PNG of 600 by 315 pixels."""
    one, two = (
        legible_capitals(name).strip() or f"Player {n}" for n, name in enumerate(names(row), 1)
    )
    canvas = Canvas(WIDTH, HEIGHT, COLOURS)
    canvas.rectangle(0, HEIGHT - 12, WIDTH, 12, ACCENT)
    _write(canvas, title, 40, 46, INK, 6)
    _write(canvas, one, 40, 120, INK, 4)
    _write(canvas, "against", 40, 160, ACCENT, 2)
    _write(canvas, two, 40, 186, INK, 4)
    _write(canvas, SAID.get(row.state, ""), 40, 246, ACCENT, 4)
    return canvas.png()


def legible_capitals(text: str) -> str:
    """The characters of a text that the font has, in capitals.

    >>> legible_capitals("Zoë & 愛 Ada")
    'ZOE &  ADA'
    """
    return legible(text, other="").upper()


def _write(canvas: Canvas, text: str, x: int, y: int, colour: int, size: int) -> None:
    """Write a line of text, smaller if it would not fit."""
    said = legible_capitals(text)
    size = max(1, min(size, (WIDTH - 2 * x) // max(1, ADVANCE * len(said))))
    canvas.text(x, y, said, colour, size)
