"""`duels solve`: solves a game anew, with a progress bar, and prints the figures of the result."""

from __future__ import annotations

import time
from argparse import Namespace

from duels.algorithms.solution import SolveArguments
from duels.algorithms.solutions import rebuild
from duels.cli.progress import ProgressBar
from duels.cli.terminal import Terminal
from duels.games import find


def solve_command(terminal: Terminal, given: Namespace) -> int:
    game = find(given.game)(**dict(given.set))
    bar = ProgressBar(f"Solving {game.title}")
    began = time.monotonic()
    try:
        facts = rebuild(game, bar, SolveArguments(given.out, given.minutes, given.jobs))
    except KeyboardInterrupt:
        bar.done()
        raise
    facts["seconds"] = f"{time.monotonic() - began:.1f}"
    width = max(map(len, facts))
    terminal.say(f"{name:<{width}}  {fact}" for name, fact in facts.items())
    return 0
