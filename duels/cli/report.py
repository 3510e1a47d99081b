"""`duels analyse`: a graded match as text, as JSON and as a page of its own."""

from __future__ import annotations

from argparse import Namespace
from html import escape
from typing import Any

from duels.cli.files import read_from, write
from duels.cli.terminal import Terminal
from duels.core.show import player_name
from duels.solve.grade import VERDICTS, Analysis, Graded, grade

SPARKS = "▁▂▃▄▅▆▇█"


def analyse(terminal: Terminal, given: Namespace) -> int:
    analysis = grade(read_from(given.file))
    if given.html is not None:
        write(given.html, page(analysis))
        terminal.note(f"Wrote {given.html}")
    if given.json:
        import json

        terminal.say([json.dumps(to_json(analysis), indent=1)])
    elif given.html is None:
        terminal.say(text(analysis))
    return 0


def text(analysis: Analysis) -> list[str]:
    match = analysis.match
    seats = " against ".join(f"{player_name(p)} ({match.players[p]})" for p in (0, 1))
    lines = [f"{match.game.title}: {seats}", ""]
    lines += [f"Player 1's expected score  {sparkline(analysis)}", ""]
    lines += [f"{'entry':>5}  {'player':<8}  {'move':<18} {'before':>6} {'after':>6} {'regret':>6}"]
    for move in analysis.moves:
        lines.append(_row(move))
    lines += ["", *(summary(analysis, player) for player in (0, 1))]
    if analysis.solution.caveat is not None:
        lines.append(analysis.solution.caveat)
    return lines


def _row(move: Graded) -> str:
    better = f"  {move.verdict}"
    if move.verdict != "best":
        better += f": {move.best} was better"
    regret = f"{float(move.regret):6.3f}" if move.verdict != "best" else f"{'':6}"
    return (
        f"{move.entry:>5}  {player_name(move.player)}  {move.move:<18} "
        f"{float(move.before):6.3f} {float(move.after):6.3f} {regret}{better}"
    )


def summary(analysis: Analysis, player: int) -> str:
    accuracy = analysis.accuracy(player)
    kept = "no choice to make" if accuracy is None else f"accuracy {accuracy:.1f} %"
    verdicts = [move.verdict for move in analysis.of(player)]
    counts = [f"{verdicts.count(name)} {name}" for _, name in VERDICTS if name in verdicts]
    return (
        f"{player_name(player)}: {kept}, gave away {float(analysis.regret(player)):.3f}, "
        f"luck {float(analysis.luck(player)):+.3f}; {', '.join(counts) or 'no moves'}"
    )


def sparkline(analysis: Analysis) -> str:
    return "".join(SPARKS[min(7, int(8 * float(value)))] for value in analysis.curve)


def to_json(analysis: Analysis) -> dict[str, Any]:
    match = analysis.match
    data: dict[str, Any] = {
        "game": match.game.slug,
        "options": match.game.settings(),
        "players": list(match.players),
        "moves": [
            {
                "entry": move.entry,
                "player": move.player + 1,
                "move": move.move,
                "before": float(move.before),
                "after": float(move.after),
                "regret": float(move.regret),
                "best": move.best,
                "verdict": move.verdict,
            }
            for move in analysis.moves
        ],
        "start": float(analysis.start),
        "curve": [float(value) for value in analysis.curve],
        "accuracy": {str(p + 1): analysis.accuracy(p) for p in (0, 1)},
        "regret": {str(p + 1): float(analysis.regret(p)) for p in (0, 1)},
        "luck": {str(p + 1): float(analysis.luck(p)) for p in (0, 1)},
    }
    if analysis.solution.approximate:
        data |= {"approximate": True, "bound": analysis.solution.bound}
    return data


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
