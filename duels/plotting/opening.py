"""Chart of the values of the first moves, for any game."""

from __future__ import annotations

from typing import Any

from duels.algorithms.solution import Unsolved
from duels.algorithms.solutions import solve
from duels.core.game import AnyGame, Chance, Decide
from duels.plotting.drawing import Bars, Chart

MOST = 5_000  # positions that chance may open with; each is assessed
NEGLIGIBLE = 1e-9


def charts(game: AnyGame) -> list[Chart]:
    """The chart of a game that has none of its own."""
    return [first_moves(game)]


def first_moves(game: AnyGame) -> Bars:
    """The mover's expected score by first move, averaged over what chance brings before it."""
    solution = solve(game)
    worth: dict[str, float] = {}
    weight: dict[str, float] = {}
    found = openings(game)
    for chance, state, player in found:
        choice = solution.assess_state(state, player)
        for move in choice.options:
            value = choice.worth(move)
            assert value is not None, "the values of open games are exact"
            worth[move] = worth.get(move, 0.0) + chance * float(value)
            weight[move] = weight.get(move, 0.0) + chance
    note = f"{game.title} has no chart of its own; this one serves any game."
    if len(found) > 1:
        note += f" Averages over the {len(found)} openings that chance may bring."
    values = {move: worth[move] / weight[move] for move in worth}
    return Bars(f"{game.title}: what the first moves are worth", values, note)


def openings(game: AnyGame) -> list[tuple[float, Any, int]]:
    """The first choices of a game: how likely chance leads there, the state, and who chooses."""
    reached: dict[Any, float] = {game.start(): 1.0}
    found = []
    while reached:
        state = next(iter(reached))
        chance = reached.pop(state)
        turn = game.turn(state)
        if isinstance(turn, Decide):
            found.append((chance, state, min(turn.options)))
        elif isinstance(turn, Chance):
            for outcome, odd in turn.odds.items():
                if chance * odd > NEGLIGIBLE:  # a die may be thrown again and again
                    after = game.play(state, outcome)
                    reached[after] = reached.get(after, 0.0) + chance * float(odd)
        if len(found) + len(reached) > MOST:
            raise Unsolved(f"{game.slug} has no chart: chance opens it in over {MOST:,} ways")
    if not found:
        raise Unsolved(f"{game.slug} has no chart: no player ever chooses in it")
    return found
