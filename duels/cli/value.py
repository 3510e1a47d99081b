"""`duels value`: the value of a position and of each option in it."""

from __future__ import annotations

from argparse import Namespace

from duels.analysis.position import match_after, position_value, text, to_json
from duels.cli.progress import ProgressBar
from duels.cli.terminal import Terminal
from duels.games import find


def value(terminal: Terminal, given: Namespace) -> int:
    game = find(given.game)(**dict(given.set))
    found = position_value(match_after(game, given.after), ProgressBar(f"Solving {game.title}"))
    if given.json:
        import json

        terminal.say([json.dumps(to_json(found), indent=1)])
    else:
        terminal.say(text(found, ascii_only=terminal.ascii))
    return 0
