"""Charts as text for a terminal and as SVG for a page.

There are two kinds: a grid of cells and a list of bars.

>>> print("\\n".join(Bars("A coin", {"heads": 0.5, "tails": 0.5}).text()))
A coin
  heads  ████████████████████████████████████████ 0.500
  tails  ████████████████████████████████████████ 0.500
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

BAR = 40
_ASCII = str.maketrans({"█": "#", "→": "->", "↑": "^"})
FONT = 'font-family="DejaVu Sans,Helvetica,Arial,sans-serif" font-size="13"'
PALETTE = ("#4c78a8", "#f58518", "#bab0ac", "#54a24b", "#e45756", "#b279a2")


class Bars(NamedTuple):
    """A bar for each named value; the largest has the longest bar, and `least` has length 0."""

    title: str
    values: Mapping[str, float]
    note: str = ""
    least: float = 0.0

    def _part(self, value: float) -> float:
        """The length of a value's bar as a fraction of the longest."""
        return (value - self.least) / ((max(self.values.values()) - self.least) or 1)

    def text(self, *, ascii_only: bool = False) -> list[str]:
        """The chart as lines of text."""
        width = max(map(len, self.values))
        rows = [
            f"  {name:<{width}}  {'█' * round(BAR * self._part(value))} {value:.3f}"
            for name, value in self.values.items()
        ]
        return _shown([self.title, *rows], self.note, ascii_only)

    def svg(self) -> str:
        """The chart as an SVG document."""
        left = 24 + 8 * max(map(len, self.values))
        rows = []
        for number, (name, value) in enumerate(self.values.items()):
            y = 48 + 24 * number
            length = 380 * self._part(value)
            rows.append(
                f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{escape(name)}</text>'
            )
            rows.append(
                f'<rect x="{left}" y="{y}" width="{length:.1f}" height="18" fill="{PALETTE[0]}"/>'
            )
            rows.append(f'<text x="{left + length + 6:.1f}" y="{y + 13}">{value:.3f}</text>')
        return _page(self.title, rows, left + 460, 60 + 24 * len(self.values), self.note)


class Grid(NamedTuple):
    """A table of short marks; each mark of the legend has its own colour."""

    title: str
    across: str  # the meaning of the columns
    columns: Sequence[str]
    down: str  # the meaning of the rows
    rows: Sequence[str]
    cells: Sequence[Sequence[str]]
    legend: Mapping[str, str]
    note: str = ""

    def text(self, *, ascii_only: bool = False) -> list[str]:
        """The chart as lines of text."""
        width = max(len(c) for row in [self.columns, *self.cells] for c in row) + 1
        side = max(map(len, self.rows))
        lines = [self.title, f"  {self.across} →"]
        lines.append(" " * (side + 2) + "".join(f"{column:>{width}}" for column in self.columns))
        for name, row in zip(self.rows, self.cells, strict=True):
            lines.append(f"  {name:>{side}}" + "".join(f"{cell:>{width}}" for cell in row))
        lines.append(f"  ↑ {self.down}")
        lines += [f"  {mark}  {meaning}" for mark, meaning in self.legend.items()]
        return _shown(lines, self.note, ascii_only)

    def svg(self) -> str:
        """The chart as an SVG document."""
        size = 34
        left, top = 92, 76
        colours = dict(zip(self.legend, PALETTE, strict=False))
        drawn = [f'<text x="{left}" y="50">{escape(self.across)} →</text>']
        for at, name in enumerate(self.columns):
            x = left + size * at + size / 2
            drawn.append(f'<text x="{x}" y="{top - 8}" text-anchor="middle">{escape(name)}</text>')
        for at, (name, row) in enumerate(zip(self.rows, self.cells, strict=True)):
            y = top + size * at
            drawn.append(
                f'<text x="{left - 8}" y="{y + 22}" text-anchor="end">{escape(name)}</text>'
            )
            for column, cell in enumerate(row):
                x = left + size * column
                fill = colours.get(cell, "#eeeeee")
                drawn.append(
                    f'<rect x="{x}" y="{y}" width="{size - 2}" height="{size - 2}" fill="{fill}"/>'
                )
                if cell not in colours:
                    drawn.append(
                        f'<text x="{x + size / 2 - 1}" y="{y + 21}" text-anchor="middle" '
                        f'font-size="11">{escape(cell)}</text>'
                    )
        middle = top + size * len(self.rows) / 2
        drawn.append(
            f'<text x="20" y="{middle}" text-anchor="middle" '
            f'transform="rotate(-90 20 {middle})">{escape(self.down)}</text>'
        )
        foot = top + size * len(self.rows) + 10
        for number, (mark, meaning) in enumerate(self.legend.items()):
            y = foot + 22 * number
            drawn.append(
                f'<rect x="{left}" y="{y}" width="14" height="14" fill="{colours[mark]}"/>'
            )
            drawn.append(f'<text x="{left + 22}" y="{y + 12}">{escape(meaning)}</text>')
        width = max(left + size * len(self.columns) + 20, 460)
        return _page(self.title, drawn, width, foot + 22 * len(self.legend) + 10, self.note)


Chart = Bars | Grid


def _shown(lines: list[str], note: str, ascii_only: bool) -> list[str]:
    lines = [*lines, note] if note else lines
    return [line.translate(_ASCII) for line in lines] if ascii_only else lines


def _page(title: str, drawn: list[str], width: float, height: float, note: str) -> str:
    if note:
        drawn = [*drawn, f'<text x="20" y="{height + 8}" fill="#666666">{escape(note)}</text>']
        height += 24
        width = max(width, 40 + 7 * len(note))
    width = max(width, 40 + 10 * len(title))
    body = "\n".join(drawn)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'{FONT}>\n<rect width="100%" height="100%" fill="#ffffff"/>\n'
        f'<text x="20" y="26" font-size="16" font-weight="bold">{escape(title)}</text>\n'
        f"{body}\n</svg>\n"
    )
