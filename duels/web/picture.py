"""The picture of a link preview, as a PNG made with the standard library alone.

Big plain letters say which match a link leads to; what they cannot write is left out.
"""

from __future__ import annotations

import struct
import zlib
from unicodedata import normalize

from duels.web.store import OVER, PLAYING, WAITING, Row

WIDTH, HEIGHT = 600, 315
COLOURS = (24, 27, 38, 86, 156, 255, 240, 242, 248)  # ground, accent, ink
GROUND, ACCENT, INK = 0, 1, 2
# Letters of 5 by 7: a byte for each column, its lowest bit on top.
WRITTEN = " !-./0123456789:?ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SHAPES = bytes.fromhex(
    "0000000000 00005f0000 0808080808 0060600000 2010080402 3e5149453e 00427f4000 4261514946"
    "2141454b31 1814127f10 2745454539 3c4a494930 0171090503 3649494936 064949291e 0036360000"
    "0201510906 7e1111117e 7f49494936 3e41414122 7f4141221c 7f49494941 7f09090901 3e4149497a"
    "7f0808087f 00417f4100 2040413f01 7f08142241 7f40404040 7f020c027f 7f0408107f 3e4141413e"
    "7f09090906 3e4151215e 7f09192946 4649494931 01017f0101 3f4040403f 1f2040201f 3f4038403f"
    "6314081463 0708700807 6151494543"
)
FONT = {letter: SHAPES[5 * n : 5 * n + 5] for n, letter in enumerate(WRITTEN)}
SAID = {WAITING: "JOIN", PLAYING: "WATCH", OVER: "REPLAY"}


def picture(title: str, row: Row) -> bytes:
    """A match as a PNG of 600 by 315."""
    names = [seat.name if seat is not None else "you?" for seat in row.seats]
    one, two = (written(name).strip() or f"Player {n}" for n, name in enumerate(names, 1))
    canvas = [bytearray(WIDTH) for _ in range(HEIGHT)]
    for y in range(HEIGHT - 12, HEIGHT):
        canvas[y][:] = bytes([ACCENT]) * WIDTH
    _write(canvas, title, 40, 46, INK, 6)
    _write(canvas, one, 40, 120, INK, 4)
    _write(canvas, "against", 40, 160, ACCENT, 2)
    _write(canvas, two, 40, 186, INK, 4)
    _write(canvas, SAID.get(row.state, ""), 40, 246, ACCENT, 4)
    return _png(canvas)


def written(text: str) -> str:
    """What of a text can be written: capitals, digits and a few signs.

    >>> written("Zoë & Ada")
    'ZOE  ADA'
    """
    return "".join(c for c in normalize("NFKD", text).upper() if c in FONT)


def _write(canvas: list[bytearray], text: str, x: int, y: int, colour: int, size: int) -> None:
    """Letters from left to right, made smaller where they would not fit."""
    said = written(text)
    size = max(1, min(size, (WIDTH - 2 * x) // max(1, 6 * len(said))))
    for letter in said:
        for column, bits in enumerate(FONT[letter]):
            left = x + column * size
            for line in range(7):
                if bits >> line & 1:
                    for down in range(size):
                        row = canvas[y + line * size + down]
                        row[left : left + size] = bytes([colour]) * size
        x += 6 * size


def _png(canvas: list[bytearray]) -> bytes:
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0)  # colours of a palette
    lines = b"".join(b"\0" + bytes(row) for row in canvas)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        [
            _chunk(b"IHDR", head),
            _chunk(b"PLTE", bytes(COLOURS)),
            _chunk(b"IDAT", zlib.compress(lines, 9)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
