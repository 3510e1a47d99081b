"""`duels explain`: what perfect play looks like."""

from __future__ import annotations

from argparse import Namespace

from duels.cli.files import write
from duels.cli.terminal import Terminal
from duels.games import find
from duels.solve.pictures import pictures


def explain(terminal: Terminal, given: Namespace) -> int:
    drawn = pictures(find(given.game)())
    if given.svg is not None:
        write(given.svg, drawn[0].svg())
        terminal.note(f"Wrote {given.svg}")
        return 0
    for picture in drawn:
        terminal.say(["", *picture.text()])
    return 0
