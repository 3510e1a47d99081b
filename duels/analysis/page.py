"""A graded match as a page of its own."""

from __future__ import annotations

from html import escape

from duels.analysis.grade import Analysis, Graded
from duels.analysis.report import summary
from duels.core.show import player_name


def page(analysis: Analysis) -> str:
    """A page that needs nothing from anywhere else."""
    match = analysis.match
    rows = "\n".join(
        f"<tr class='{move.verdict}'><td>{move.entry}</td><td>{player_name(move.player)}</td>"
        f"<td>{escape(move.move)}</td><td>{float(move.before):.3f}</td>"
        f"<td>{float(move.after):.3f}</td><td>{float(move.regret):.3f}</td>"
        f"<td>{move.verdict}</td><td>{_better(move)}</td></tr>"
        for move in analysis.moves
    )
    sums = "".join(f"<p>{escape(summary(analysis, player))}</p>" for player in (0, 1))
    note = f"<p>{escape(analysis.solution.caveat)}</p>" if analysis.solution.caveat else ""
    seats = " against ".join(f"{player_name(p)} ({escape(match.players[p])})" for p in (0, 1))
    ended = escape(match.result.reason) if match.result else "The match is not finished."
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{match.game.title}: analysis</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; background: #fff; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ddd; }}
.slip td:nth-child(7) {{ color: #8a6d00; }} .mistake td:nth-child(7) {{ color: #b35900; }}
.blunder td:nth-child(7) {{ color: #b00020; font-weight: bold; }}
svg {{ width: 100%; height: auto; }}
</style></head><body>
<h1>{match.game.title}</h1>
<p>{seats}. {ended}</p>
<h2>Player 1's expected score</h2>
{graph(analysis)}
<h2>Moves</h2>
<table><thead><tr><th>entry</th><th>player</th><th>move</th><th>before</th><th>after</th>
<th>regret</th><th>verdict</th><th>better</th></tr></thead><tbody>
{rows}
</tbody></table>
<h2>Luck and skill</h2>
{sums}{note}
</body></html>
"""


def _better(move: Graded) -> str:
    return "" if move.verdict == "best" else escape(move.best)


def graph(analysis: Analysis) -> str:
    """The expected score over the match, as a line in an SVG."""
    width, height, count = 800, 200, max(1, len(analysis.curve) - 1)
    points = " ".join(
        f"{40 + (width - 60) * number / count:.1f},{10 + (height - 40) * (1 - float(value)):.1f}"
        for number, value in enumerate(analysis.curve)
    )
    lines = "".join(
        f'<line x1="40" x2="{width - 20}" y1="{10 + (height - 40) * part}" '
        f'y2="{10 + (height - 40) * part}" stroke="#ddd"/>'
        f'<text x="32" y="{15 + (height - 40) * part}" text-anchor="end" font-size="12">{1 - part}'
        "</text>"
        for part in (0, 0.5, 1)
    )
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Player 1\'s expected score">'
        f'{lines}<polyline points="{points}" fill="none" stroke="#4c78a8" stroke-width="2.5"/>'
        "</svg>"
    )
