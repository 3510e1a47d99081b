"""A graded match as text and as JSON."""

from __future__ import annotations

from typing import Any

from duels.analysis.grade import VERDICTS, Analysis, Graded
from duels.core.show import player_name

SPARKS = "▁▂▃▄▅▆▇█"


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
