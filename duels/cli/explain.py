"""`duels explain`: what perfect play looks like."""

from __future__ import annotations

from argparse import Namespace

from duels.cli.files import write
from duels.cli.progress import ProgressBar
from duels.cli.terminal import Terminal
from duels.games import find
from duels.solve.charts import charts


def explain(terminal: Terminal, given: Namespace) -> int:
    game = find(given.game)()
    drawn = charts(game, ProgressBar(f"Solving {game.title}"))
    if given.svg is not None:
        write(given.svg, drawn[0].svg())
        terminal.note(f"Wrote {given.svg}")
        return 0
    for chart in drawn:
        terminal.say(["", *chart.text()])
    return 0
