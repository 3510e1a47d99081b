"""A small raster canvas: rounded rectangles and 5-by-7 letters in a palette of colours.

Only the standard library is needed. Pixels are indices into the palette, row by row.

>>> canvas = Canvas(12, 7, palette=((0, 0, 0), (255, 255, 255)))
>>> canvas.text(0, 0, "Hi", colour=1)
>>> for row in range(7):
...     print("".join(".#"[pixel] for pixel in canvas.pixels[12 * row : 12 * row + 12]))
#...#...#...
#...#.......
#...#..##...
#####...#...
#...#...#...
#...#...#...
#...#..###..
"""

from __future__ import annotations

import struct
import zlib
from functools import cache
from re import finditer
from unicodedata import combining, normalize

Colour = tuple[int, int, int]

LINE, ADVANCE = 7, 6  # pixels of a capital's height, and from one letter to the next
# Letters are five columns of a byte each, the lowest bit on top; the eighth line is for descenders.
CHARACTERS = "".join(map(chr, range(32, 127))) + "♠♥♦♣"
SHAPES = bytes.fromhex(
    "0000000000 00005f0000 0007000700 147f147f14 242a7f2a12 2313086462 3649562050 0005030000"
    "001c224100 0041221c00 2a1c7f1c2a 08083e0808 0080600000 0808080808 0060600000 2010080402"
    "3e5149453e 00427f4000 4261514946 2141454b31 1814127f10 2745454539 3c4a494930 0171090503"
    "3649494936 064949291e 0036360000 0056360000 0814224100 1414141414 0041221408 0201510906"
    "324979413e 7e1111117e 7f49494936 3e41414122 7f4141221c 7f49494941 7f09090901 3e4149497a"
    "7f0808087f 00417f4100 2040413f01 7f08142241 7f40404040 7f020c027f 7f0408107f 3e4141413e"
    "7f09090906 3e4151215e 7f09192946 4649494931 01017f0101 3f4040403f 1f2040201f 3f4038403f"
    "6314081463 0708700807 6151494543 007f414100 0204081020 0041417f00 0402010204 4040404040"
    "0001020400 2054545478 7f48444438 3844444420 384444487f 3854545418 087e090102 18a4a4a47c"
    "7f08040478 00447d4000 4080847d00 7f10284400 00417f4000 7c04180478 7c08040478 3844444438"
    "fc24242418 18242424fc 7c08040408 4854545420 043f444020 3c4040207c 1c2040201c 3c4030403c"
    "4428102844 1ca0a0a07c 4464544c44 0008364100 00007f0000 0041360800 0804081008"
    "1c4e7f4e1c 0e1f3e1f0e 081c3e1c08 184a7f4a18"
)
FONT = {letter: SHAPES[5 * n : 5 * n + 5] for n, letter in enumerate(CHARACTERS)}
PLAIN = str.maketrans("‘’“”–—−×·", "''\"\"---x.")


def legible(text: str, other: str = "?") -> str:
    """A text in characters of the font; `other` replaces each character that the font lacks.

    >>> legible("Zoë — 10 ☃"), legible("Zoë ☃", other="")
    ('Zoe - 10 ?', 'Zoe ')
    """
    letters = (c for c in normalize("NFKD", text.translate(PLAIN)) if not combining(c))
    return "".join(c if c in FONT else other for c in letters)


def width_of(text: str, size: int = 1) -> int:
    """The width of a text in pixels, without the space after its last letter."""
    return size * max(0, ADVANCE * len(legible(text)) - 1)


@cache
def _runs(letter: str) -> tuple[tuple[int, int, int], ...]:
    """The pixels of a letter as runs from left to right: line, first column, length."""
    lines = ["".join(" #"[bits >> line & 1] for bits in FONT[letter]) for line in range(LINE + 1)]
    return tuple(
        (line, run.start(), len(run.group()))
        for line, pixels in enumerate(lines)
        for run in finditer("#+", pixels)
    )


class Canvas:
    """An image to draw on. Parts outside of it are clipped."""

    def __init__(self, width: int, height: int, palette: tuple[Colour, ...]) -> None:
        self.width, self.height, self.palette = width, height, palette
        self.pixels = bytearray(width * height)

    def rectangle(
        self, x: int, y: int, width: int, height: int, colour: int, radius: int = 0
    ) -> None:
        """Draw a filled rectangle; with a radius of half its size, a disc."""
        for row in range(max(0, y), min(self.height, y + height)):
            depth = min(row - y, y + height - 1 - row)  # from the nearer edge
            inset = 0
            if depth < radius:
                inset = radius - round((radius**2 - (radius - depth - 0.5) ** 2) ** 0.5)
            left, right = max(0, x + inset), min(self.width, x + width - inset)
            if left < right:
                start = row * self.width
                self.pixels[start + left : start + right] = bytes([colour]) * (right - left)

    def text(self, x: int, y: int, text: str, colour: int, size: int = 1) -> None:
        """Draw a line of text; each pixel of the font is `size` pixels wide and high."""
        for letter in legible(text):
            for line, column, length in _runs(letter):
                left, top = x + column * size, y + line * size
                self.rectangle(left, top, length * size, size, colour)
            x += ADVANCE * size

    def png(self) -> bytes:
        """The image as a PNG file."""
        head = struct.pack(">IIBBBBB", self.width, self.height, 8, 3, 0, 0, 0)  # with a palette
        starts = range(0, len(self.pixels), self.width)
        rows = b"".join(b"\0" + self.pixels[start : start + self.width] for start in starts)
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            [
                _chunk(b"IHDR", head),
                _chunk(b"PLTE", bytes(value for colour in self.palette for value in colour)),
                _chunk(b"IDAT", zlib.compress(rows, 9)),
                _chunk(b"IEND", b""),
            ]
        )


def _chunk(kind: bytes, data: bytes) -> bytes:
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
