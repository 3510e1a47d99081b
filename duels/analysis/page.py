"""Self-contained HTML page of a graded match."""

from __future__ import annotations

from html import escape

from duels.analysis.grade import Analysis, Graded
from duels.analysis.report import better, notes, seats, shown, sums, visible
from duels.core.presentation import player_name

WIDTH, HEIGHT = 800, 200
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 22, 22  # margins of the graph

# Light or dark by the reader's preference. On a narrow screen the table scrolls, not the page, and
# the graph, which is scaled down, has larger labels.
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
.slip td:nth-child(7) { color: var(--slip); } .mistake td:nth-child(7) { color: var(--mistake); }
.blunder td:nth-child(7) { color: var(--blunder); font-weight: bold; }
svg { width: 100%; height: auto; } .grid { stroke: var(--line); } .curve { stroke: var(--curve); }
svg text { font-size: 14px; fill: var(--text); }
@media (max-width: 30rem) { svg text { font-size: 28px; } .curve { stroke-width: 5; } }"""


def page(analysis: Analysis) -> str:
    """The whole page. It can be written in any encoding that has letters and dashes."""
    game, result = analysis.match.game, analysis.match.result
    title = _safe(game.title)
    rows = "\n".join(_row(move) for move in analysis.moves)
    below = [*(sums(analysis, player) for player in (0, 1)), *notes(analysis)]
    sentences = "".join(f"<p>{_safe(line)}</p>" for line in below)
    ended = _safe(result.reason) if result else "The match is not finished."
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}: analysis</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
{STYLE}
</style></head><body>
<h1>{title}</h1>
<p>{_safe(seats(analysis))}. {ended}</p>
<h2>Player 1's {analysis.solution.unit.name}</h2>
{graph(analysis)}
<h2>Moves</h2>
<div class="wide" role="region" aria-label="Moves" tabindex="0">
<table><thead><tr><th>entry</th><th>player</th><th>move</th><th>before</th><th>after</th>
<th>regret</th><th>verdict</th><th>better</th></tr></thead><tbody>
{rows}
</tbody></table></div>
<h2>Luck and skill</h2>
{sentences}
</body></html>
"""


def _safe(text: str) -> str:
    return escape(visible(text)).replace("±", "&plusmn;")


def _row(move: Graded) -> str:
    cells = (
        str(move.entry), player_name(move.player), move.move, shown(move.before), shown(move.after),
        shown(move.regret), move.verdict, better(move).removesuffix(" was better"),
    )  # fmt: skip
    drawn = "".join(f"<td>{_safe(cell)}</td>" for cell in cells)
    return f"<tr class='{move.verdict}'>{drawn}</tr>"


def graph(analysis: Analysis) -> str:
    """Player 1's value over the match as an SVG line, with gaps where it is not known."""
    unit = analysis.solution.unit
    count = max(1, len(analysis.curve) - 1)
    pieces: list[list[str]] = [[]]
    for number, value in enumerate(analysis.curve):
        if value is None:
            pieces.append([])
            continue
        x = LEFT + (WIDTH - LEFT - RIGHT) * number / count
        pieces[-1].append(f"{x:.1f},{_height(1 - unit.part(value)):.1f}")
    curves = "".join(
        f'<polyline points="{" ".join(points)}" fill="none" class="curve" '
        'stroke-width="2.5" stroke-linecap="round"/>'
        for points in pieces
        if points
    )
    lines = "".join(
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{_height(part)}" y2="{_height(part)}" '
        f'class="grid"/><text x="{LEFT - 8}" y="{_height(part) + 5}" text-anchor="end">'
        f"{float(label):g}</text>"
        for part, label in ((0, unit.highest), (0.5, unit.draw), (1, unit.lowest))
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Player 1\'s {unit.name}">'
        f"{lines}{curves}</svg>"
    )


def _height(part: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * part
