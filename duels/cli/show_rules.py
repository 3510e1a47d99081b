"""`duels games` and `duels rules`: what there is to play, and how it is played."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from duels.cli.terminal import Terminal
from duels.core.game import AnyGame
from duels.games import catalogue, find

COMMON = """\
All games
  A1. Two players, Player 1 and Player 2. Player 1 moves first unless the match says otherwise.
      A rematch swaps seats.
  A2. Input that makes no sense or is not possible changes nothing: you are told why and asked
      again.
  A3. A match that has seen 500 choices ends without a winner.
  A4. With a time limit, whoever runs out of time in a choice loses the game. Both late in a
      sealed choice: a draw.
  A5. Dice, deals and draws have exact odds and come from the match's own seed."""


def rules_text(game: type[AnyGame]) -> list[str]:
    """The rules, the numbered rulings and the options of a game."""
    lines = [game.title, "=" * len(game.title), "", *game.rules.splitlines(), ""]
    lines += [*COMMON.splitlines(), "", "Options (--set name=value)"]
    options = game.options()
    width = max(map(len, options))
    for name, option in options.items():
        usual = option.show(option.default)
        lines.append(f"  {name:<{width}}  {option.about}: {option.expects}; usually {usual}")
    return lines


def rules(terminal: Terminal, given: Namespace) -> int:
    terminal.say(rules_text(find(given.game)))
    return 0


def games(terminal: Terminal, given: Namespace) -> int:
    listed = [find(slug) for slug in catalogue()]
    if given.json:
        import json

        terminal.say([json.dumps([_described(game) for game in listed], indent=1)])
    else:
        terminal.say(f"{game.slug:<16}  {game.summary}" for game in listed)
    return 0


def _described(game: type[AnyGame]) -> dict[str, Any]:
    options = {
        name: {
            "default": option.show(option.default),
            "takes": option.expects,
            "about": option.about,
        }
        for name, option in game.options().items()
    }
    return {
        "slug": game.slug,
        "title": game.title,
        "summary": game.summary,
        "options": options,
    }
