"""Positions for the explorer, computed in a worker process; only of games solved at once."""

from __future__ import annotations

import msgspec

from duels.algorithms.solution import Unsolved
from duels.algorithms.solutions import forget_all_but, ready
from duels.analysis.exploration import explore
from duels.analysis.position import match_after
from duels.games import load
from duels.server.views import open_table

LONGEST_LINE = 500  # moves and outcomes that lead to a position
SOLUTIONS = 32  # variants whose solutions a process keeps


def explored(slug: str, options: dict[str, str], after: list[str]) -> bytes:
    """A position as JSON: values, what can happen next, and the table with all hands open.

    `Unsolved` if the variant has no solution that is available within seconds.
    """
    game = load(slug, **options)
    match = match_after(game, after)  # refused before any work if it is not legal
    if not ready(game):
        raise Unsolved(
            f"{game.title} with these options takes too long to solve on a server; "
            f"in a terminal, duels value {game.slug} solves it"
        )
    try:
        found = explore(game, after)
    finally:
        forget_all_but(SOLUTIONS)
    return msgspec.json.encode({**found, "table": open_table(match)})
