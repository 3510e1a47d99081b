"""`duels value`: what a position is worth, and each option in it."""

from __future__ import annotations

from argparse import Namespace

from duels.analysis.position import followed, text, to_json
from duels.cli.terminal import Terminal
from duels.games import find
from duels.solve import solve


def value(terminal: Terminal, given: Namespace) -> int:
    game = find(given.game)(**dict(given.set))
    match = followed(game, given.after)
    solution = solve(game)
    choices = [solution.assess(match.view(player)) for player in match.deciders]
    worth = choices[0].value if choices else solution.value_now(match)
    if given.json:
        import json

        terminal.say([json.dumps(to_json(solution, worth, choices), indent=1)])
    else:
        terminal.say(text(solution, worth, choices))
    return 0
