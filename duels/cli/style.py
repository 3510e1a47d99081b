"""Draws the table in a terminal: colours, bars and cards.

>>> from duels.core.presentation import Meter
>>> drawn([Meter("Life", 5, 10, owner=0)], None, width=80, colour=False, ascii_only=True)
['  Player 1  ##########..........   5']
"""

from __future__ import annotations

import re

from duels.core.presentation import (
    BAD,
    GOOD,
    HEADING,
    RESULT,
    Die,
    Hand,
    Item,
    Meter,
    Part,
    Pile,
    Played,
    Points,
    Sealed,
    Tokens,
    called,
    part_contents,
    tone,
)

RESET = "\x1b[0m"
BOLD, DIM = "\x1b[1m", "\x1b[2m"
RED, GREEN, YELLOW, CYAN = "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m"
BAR = 20  # characters of a full meter, unless the screen is narrow
TONES = {HEADING: BOLD + CYAN, GOOD: GREEN, BAD: RED, RESULT: BOLD + YELLOW}


def paint(line: str) -> str:
    """A line in the colour of its tone."""
    style = TONES.get(tone(line), "")
    return f"{style}{line}{RESET}" if style else line


def drawn(
    parts: list[Part], viewer: int | None, width: int, *, colour: bool, ascii_only: bool
) -> list[str]:
    """The table from the view of a viewer: a row for each player and each common part.

    A row that is wider than the screen is continued in the next line.
    """
    rows: dict[str, list[str]] = {}
    pen = TablePainter(viewer, width, colour, ascii_only)
    for part in parts:
        name = part.label
        if part.owner is not None and not isinstance(part, Die):
            name = pen.name(part.owner)
        rows.setdefault(name, []).append(pen.part(part))
    side = max(map(len, rows), default=0)
    return [
        line
        for name, shown in rows.items()
        if any(shown)
        for line in _laid(f"  {pen.dim(f'{name:<{side}}')}", [*filter(None, shown)], width)
    ]


def _laid(head: str, parts: list[str], width: int) -> list[str]:
    """Parts in a row after a head; parts that do not fit are wrapped to the next line."""
    indent, lines, bare = " " * _columns(head), [head], True
    for part in parts:
        if not bare and _columns(f"{lines[-1]}   {part}") > width:
            lines.append(indent)
            bare = True
        gap = "  " if bare else "   "
        for word in part.split(" "):
            if not bare and _columns(lines[-1] + gap + word) > width:
                lines.append(indent)
                gap = "  "
            lines[-1] += gap + word
            gap, bare = " ", False
    return lines


def _columns(text: str) -> int:
    """The width of a text on the screen, without escape sequences."""
    return len(re.sub(r"\x1b\[[0-9;]*m", "", text))


class TablePainter:
    """Draws parts in colour or without, in Unicode or ASCII."""

    def __init__(self, viewer: int | None, width: int, colour: bool, ascii_only: bool) -> None:
        self._viewer, self._colour = viewer, colour
        self._full, self._empty, self._point, self._ring, self._gone, self._back = (
            "#.*o-?" if ascii_only else "█░●○·░"
        )
        self._bar = max(3, min(BAR, width - 30))

    def name(self, player: int) -> str:
        return called(player, self._viewer)

    def part(self, part: Part) -> str:
        match part:
            case Meter(_, value, top):
                return self._meter(value, top)
            case Tokens(_, items):
                return " ".join(self._token(item) for item in items)
            case Hand(_, cards, hidden):
                known = [self._styled(BOLD, f"[{card.face}]") for card in cards]
                return " ".join(known + [f"[{self._back}]"] * hidden)
            case Pile():
                return part_contents(part)
            case Die(_, face, owner):
                return f"[{face}]" + ("" if owner is None else self.dim(f" {self.name(owner)}"))
            case Points(_, points, goal):
                left = self.dim(self._ring * max(0, goal - points))
                return self._styled(YELLOW, self._point * points) + left
            case Played(_, face):
                return self._styled(BOLD, f"[{face}]")
            case Sealed(_, placed):
                return self._styled(BOLD, "[sealed]") if placed else ""

    def dim(self, text: str) -> str:
        return self._styled(DIM, text)

    def _styled(self, style: str, text: str) -> str:
        return f"{style}{text}{RESET}" if self._colour and text else text

    def _token(self, item: Item) -> str:
        if item.spent:
            return self.dim(self._gone * len(item.face))
        return self._styled(BOLD, item.face)

    def _meter(self, value: int, top: int) -> str:
        full = max(0, min(self._bar, -(-value * self._bar // top)))
        colour = GREEN if 2 * value > top else YELLOW if 4 * value > top else RED
        bar = self._styled(colour, self._full * full)
        return f"{bar}{self.dim(self._empty * (self._bar - full))} {value:>3}"
