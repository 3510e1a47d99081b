"""Colour, bars and cards, for terminals that show them.

>>> from duels.core.show import Meter
>>> drawn([Meter("Life", 5, 10, owner=0)], width=80, colour=False, ascii_only=True)
['  Player 1  ##########..........   5']
"""

from __future__ import annotations

from duels.core.show import (
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
    Score,
    Sealed,
    Tokens,
    player_name,
    tone,
)

RESET = "\x1b[0m"
BOLD, DIM = "\x1b[1m", "\x1b[2m"
RED, GREEN, YELLOW, CYAN = "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m"
BAR = 20  # characters of a full meter, on a screen wide enough
TONES = {HEADING: BOLD + CYAN, GOOD: GREEN, BAD: RED, RESULT: BOLD + YELLOW}


def paint(line: str) -> str:
    """A line in the colour of its tone."""
    style = TONES.get(tone(line), "")
    return f"{style}{line}{RESET}" if style else line


def drawn(parts: list[Part], width: int, *, colour: bool, ascii_only: bool) -> list[str]:
    """The table, a line for each player and each common part, no wider than the screen allows."""
    rows: dict[str, list[str]] = {}
    pen = Pen(width, colour, ascii_only)
    for part in parts:
        name = (
            part.label if part.owner is None or isinstance(part, Die) else player_name(part.owner)
        )
        rows.setdefault(name, []).append(pen.part(part))
    side = max(map(len, rows), default=0)
    return [
        f"  {pen.dim(f'{name:<{side}}')}  {'   '.join(filter(None, shown))}"
        for name, shown in rows.items()
        if any(shown)
    ]


class Pen:
    """Draws parts in colour or without, in Unicode or ASCII."""

    def __init__(self, width: int, colour: bool, ascii_only: bool) -> None:
        self._colour = colour
        self._full, self._empty, self._point, self._ring, self._gone, self._back = (
            "#.*o-?" if ascii_only else "█░●○·░"
        )
        self._bar = max(5, min(BAR, width - 30))

    def part(self, part: Part) -> str:
        match part:
            case Meter(_, value, top):
                return self._meter(value, top)
            case Tokens(_, items):
                return " ".join(self._token(item) for item in items)
            case Hand(_, cards, hidden):
                known = [self._styled(BOLD, f"[{card.face}]") for card in cards]
                return " ".join(known + [f"[{self._back}]"] * hidden)
            case Pile(_, size, cards):
                return f"{size}" + self.dim("".join(f" {card.face}" for card in cards))
            case Die(_, face, owner):
                return f"[{face}]" + ("" if owner is None else self.dim(f" {player_name(owner)}"))
            case Score(_, points, goal):
                left = self.dim(self._ring * max(0, goal - points))
                return self._styled(YELLOW, self._point * points) + left
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
