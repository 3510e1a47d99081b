"""`duels explain`: what perfect play looks like."""

from __future__ import annotations

import os
from argparse import Namespace

from duels.cli.files import write
from duels.cli.progress import ProgressBar
from duels.cli.terminal import Terminal
from duels.core.errors import OptionError, quote
from duels.games import find
from duels.plotting import charts


def _names(path: str, count: int) -> list[str]:
    """A file name for each chart: the given one, then the same with a number.

    >>> _names("charts/duel.svg", 2), _names("duel", 1)
    (['charts/duel.svg', 'charts/duel-2.svg'], ['duel'])
    """
    stem, ending = os.path.splitext(path)
    return [path, *(f"{stem}-{number}{ending}" for number in range(2, count + 1))]


def explain(terminal: Terminal, given: Namespace) -> int:
    game = find(given.game)(**dict(given.set))
    if given.out is not None and not given.out.endswith(".svg"):
        raise OptionError(f"--out: expected a file that ends in .svg; got {quote(given.out)}")
    drawn = charts(game, ProgressBar(f"Solving {game.title}"))
    if given.out is not None:
        for path, chart in zip(_names(given.out, len(drawn)), drawn, strict=True):
            write(path, chart.svg())
            terminal.note(f"Wrote {path}: {chart.title}")
        return 0
    for chart in drawn:
        terminal.say(["", *chart.text(ascii_only=terminal.ascii)])
    return 0
