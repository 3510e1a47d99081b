"""Self-contained HTML page of a graded match."""

from __future__ import annotations

from html import escape

from duels.analysis.grade import Analysis, Graded
from duels.analysis.report import (
    MARKS,
    WORST,
    axis,
    better,
    cost_of,
    costly,
    ended,
    notes,
    position,
    seats,
    shown,
    sums,
    visible,
)
from duels.core.presentation import player_name

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 84, 20, 20, 64  # margins of the graph
TICKS = 6  # labels of its axis, at most
SIZES = dict(zip(MARKS, (5, 7, 9), strict=True))  # of the marks, so that colour is not needed

# Light or dark by the reader's preference. On a narrow screen a table scrolls, not the page, and
# a graph, which is scaled down, has larger labels.
STYLE = """\
:root { color-scheme: light dark; --text: #222; --back: #fff; --line: #ddd; --curve: #4c78a8;
  --slip: #7a6000; --mistake: #a85400; --blunder: #b00020; }
@media (prefers-color-scheme: dark) { :root { --text: #ddd; --back: #181a1b; --line: #444;
  --curve: #7fb0e0; --slip: #e0c050; --mistake: #f0a050; --blunder: #ff7b85; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--text); background: var(--back); overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; overflow-wrap: normal; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
svg { width: 100%; height: auto; } .grid { stroke: var(--line); } .curve { stroke: var(--curve); }
svg text { font-size: 14px; fill: var(--text); }
@media (max-width: 30rem) { svg text { font-size: 28px; } .curve { stroke-width: 5; } }"""

# The table of moves: on a narrow screen each row is a paragraph, and what the column said precedes
# the cell.
MOVES = """
body { max-width: 70rem; } figure { margin: 0; max-width: 50rem; }
figcaption { font-size: .9rem; } td { vertical-align: top; }
td.position { min-width: 17rem; } .position { white-space: normal; font-size: .85rem; }
td.verdict { white-space: normal; } .key { white-space: nowrap; }
.slip { --mark: var(--slip); } .mistake { --mark: var(--mistake); }
.blunder { --mark: var(--blunder); } circle, rect { fill: var(--mark); stroke: var(--back); }
.verdict { color: var(--mark); } .blunder .verdict { font-weight: bold; }
figcaption svg { width: 1em; height: 1em; vertical-align: -.1em; }
svg .axis { font-size: 12px; }
@media (max-width: 30rem) { svg .axis { font-size: 21px; } }
@media (max-width: 62rem) {
  thead { display: none; }
  tbody, tr, td { display: block; } tr { padding: .6rem 0; border-bottom: 1px solid var(--line); }
  td { display: inline-block; padding: 0 .6rem 0 0; border: 0; }
  td.move { font-weight: bold; } td.position, td.verdict { display: block; }
  td[data-name]:not(:empty)::before { content: attr(data-name) " "; }
}"""


def page(analysis: Analysis, viewer: int | None = None) -> str:
    """The page as HTML text, which any encoding that contains ASCII can represent."""
    game = analysis.match.game
    title = _safe(game.title)
    rows = "\n".join(_row(analysis, move) for move in analysis.moves)
    skill = "".join(_skill(analysis, player, viewer) for player in (0, 1))
    options = f"<p>{_safe(line)}</p>" if (line := game.differing_line()) else ""
    below = "".join(f"<p>{_safe(line)}</p>" for line in notes(analysis))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}: analysis</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
{STYLE}{MOVES}
</style></head><body>
<h1>{title}</h1>
<p>{_safe(seats(analysis, viewer))}. <strong>{_safe(ended(analysis, viewer))}</strong></p>{options}
<h2>Skill and luck</h2>
{skill}
<h2>Player 1's {analysis.solution.unit.name}</h2>
{graph(analysis)}
<h2>Moves</h2>
<div class="wide" role="region" aria-label="Moves" tabindex="0">
<table><thead><tr><th>step</th><th>player</th><th>move</th><th>position</th><th>before</th>
<th>after</th><th>regret</th><th>verdict</th></tr></thead><tbody>
{rows}
</tbody></table></div>
{below}
</body></html>
"""


def _skill(analysis: Analysis, player: int, viewer: int | None) -> str:
    """The totals of a player and the costliest moves."""
    worst = "".join(
        f"<li class='{move.verdict}'>step {move.entry}: "
        f"<span class='verdict'>{_safe(cost_of(move))}</span><br/>"
        f"<span class='position'>{_where(analysis, move)}</span></li>"
        for move in costly(analysis, player)[:WORST]
    )
    said = _safe(sums(analysis, player, viewer))
    return f"<p>{said}</p><ul>{worst}</ul>" if worst else f"<p>{said}</p>"


def _safe(text: str) -> str:
    return escape(visible(text)).replace("±", "&plusmn;")


def _where(analysis: Analysis, move: Graded) -> str:
    return "<br/>".join(_safe(line) for line in position(analysis, move))


def _row(analysis: Analysis, move: Graded) -> str:
    cells = (
        f"<td data-name='Step'>{move.entry}</td><td>{player_name(move.player)}</td>"
        f"<td class='move'>{_safe(move.move)}</td>"
        f"<td class='position'>{_where(analysis, move)}</td>"
    )
    figures = {"before": move.before, "after": move.after, "regret": move.regret}
    for name, figure in figures.items():
        cells += f"<td data-name='{name}'>{_safe(shown(figure))}</td>"
    said = _safe(f"{move.verdict}{better(move, ': ')}")
    return f"<tr class='{move.verdict}'>{cells}<td class='verdict'>{said}</td></tr>"


def graph(analysis: Analysis) -> str:
    """Player 1's value over the match as SVG, with gaps where it is not known.

    Mistakes are marked, a circle for Player 1 and a square for Player 2.
    """
    unit = analysis.solution.unit
    count = max(1, len(analysis.curve) - 1)
    places: dict[int, tuple[float, float]] = {}  # by step, of the curve
    steps = sorted({move.entry for move in analysis.moves})
    pieces: list[list[str]] = [[]]
    for number, value in enumerate(analysis.curve):
        if value is None:
            pieces.append([])
            continue
        x = LEFT + (WIDTH - LEFT - RIGHT) * number / count
        y = _height(1 - unit.part(value))
        pieces[-1].append(f"{x:.1f},{y:.1f}")
        if number < len(steps):
            places[steps[number]] = x, y
    curves = "".join(
        f'<polyline points="{" ".join(points)}" fill="none" class="curve" '
        'stroke-width="2.5" stroke-linecap="round"/>'
        for points in pieces
        if points
    )
    lines = "".join(
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{_height(part)}" y2="{_height(part)}" '
        f'class="grid"/><text class="axis" x="{LEFT - 14}" y="{_height(part) + 5}" '
        f'text-anchor="end">{float(label):g}</text>'
        for part, label in ((0, unit.highest), (0.5, unit.draw), (1, unit.lowest))
    )
    foot, middle = HEIGHT - BOTTOM, (LEFT + WIDTH - RIGHT) / 2
    for step in steps[:: -(-len(steps) // TICKS) or 1]:
        if step in places:
            x = places[step][0]
            lines += (
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{foot}" y2="{foot + 6}" class="grid"/>'
                f'<text class="axis" x="{x:.1f}" y="{foot + 26}" text-anchor="middle">{step}</text>'
            )
    center = (TOP + foot) / 2
    lines += (
        f'<text class="axis" x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">step</text>'
        f'<text class="axis" x="22" y="{center}" text-anchor="middle" '
        f'transform="rotate(-90 22 {center})">{unit.name}</text>'
    )
    marks = ""
    for move in analysis.moves:
        if move.verdict in MARKS and move.entry in places:
            lost = cost_of(move, ascii_only=True)  # XML has no name for a plus-minus sign
            said = f"Step {move.entry}, {player_name(move.player)}: {lost}"
            marks += _mark(move.player, move.verdict, *places[move.entry], _safe(said))
    verdicts = [verdict for verdict in MARKS if any(m.verdict == verdict for m in analysis.moves)]
    key = ", ".join(
        f"<span class='key'>{_key(0, verdict)} {_key(1, verdict)} {verdict}</span>"
        for verdict in verdicts
    )
    marked = f" Circles mark Player 1's moves, squares Player 2's: {key}." if key else ""
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{axis(analysis)}">'
        f"{lines}{curves}{marks}</svg>"
        f"<figcaption>The line is {axis(analysis)}.{marked}</figcaption></figure>"
    )


def _mark(player: int, verdict: str, x: float, y: float, said: str = "") -> str:
    """The mark of a move: a circle for Player 1, a square for Player 2."""
    r, name = SIZES[verdict], f"<title>{said}</title>" if said else ""
    if player == 0:
        return f'<circle class="{verdict}" cx="{x:.1f}" cy="{y:.1f}" r="{r}">{name}</circle>'
    size = f'width="{2 * r}" height="{2 * r}"'
    return f'<rect class="{verdict}" x="{x - r:.1f}" y="{y - r:.1f}" {size}>{name}</rect>'


def _key(player: int, verdict: str) -> str:
    return f'<svg viewBox="0 0 20 20" aria-hidden="true">{_mark(player, verdict, 10, 10)}</svg>'


def _height(part: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * part
