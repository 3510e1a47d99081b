"""Hints for a human player: a sentence, and the move it is about.

The sentences start in lower case, so that a client can put words before them.
"""

from __future__ import annotations

from contextlib import suppress

from duels.core.errors import DuelsError
from duels.core.player import View

ITERATIONS = 300  # of the search: about a second
MOST_MOVES = 4  # of a mixed strategy


def solved_hint(view: View) -> tuple[str, str] | None:
    """The moves of an optimal strategy with their probabilities; None if the game is not solved."""
    from duels.algorithms.solutions import ready, solve

    strategy = None
    with suppress(DuelsError):
        if ready(view.game):
            solution = solve(view.game)
            choice = solution.assess(view)
            strategy = None if choice.rough else choice.mixed_strategy
    if not strategy:
        return None
    likely = sorted(strategy, key=lambda move: -strategy[move])[:MOST_MOVES]
    measured = f"; {solution.measured_gain}" if solution.measured_gain else ""
    if len(strategy) == 1:
        return f"perfect play chooses {likely[0]}{measured}.", likely[0]
    shown = ", ".join(f"{move} ({100 * strategy[move]:.0f} %)" for move in likely)
    others = 1 - sum(strategy[move] for move in likely)
    rest = f", others {100 * others:.0f} %" if others >= 0.005 else ""
    return f"perfect play chooses {shown}{rest}{measured}.", likely[0]


def search_hint(view: View, stream: str) -> tuple[str, str]:
    """The move that a short search chooses."""
    from duels.players.ismcts import Ismcts

    move = Ismcts(stream, ITERATIONS).choose(view)
    return f"a short search chooses {move}.", move
