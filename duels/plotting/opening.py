"""Chart of the values of the first moves, for any game."""

from __future__ import annotations

from typing import Any

from duels.algorithms.solution import Unsolved
from duels.algorithms.solutions import solve
from duels.core.game import AnyGame, Chance, Decide, History, Outcome
from duels.core.player import View
from duels.plotting.drawing import Bars, Chart

MOST = 5_000  # first choices that chance events may lead to; each is assessed
NEGLIGIBLE = 1e-9  # probability below which a sequence of chance events is left out


def charts(game: AnyGame) -> list[Chart]:
    """The chart of a game that has none of its own."""
    return [first_moves(game)]


def first_moves(game: AnyGame) -> Bars:
    """The mover's value by first move, averaged over the chance events before it."""
    solution = solve(game)
    worth: dict[str, float] = {}
    weight: dict[str, float] = {}
    found = openings(game)
    for chance, view in found:
        choice = solution.assess(view)
        for move in choice.options:
            value = choice.worth(move)
            assert value is not None, "all values are known"
            worth[move] = worth.get(move, 0.0) + chance * float(value)
            weight[move] = weight.get(move, 0.0) + chance
    which = "" if game.usual() else " with these options"
    note = f"{game.title} has no chart of its own{which}; this one serves any game."
    if solution.unit.pays:
        note += f" Values are the mover's {solution.unit.name}."
    if solution.caveat is not None:
        note += f" {solution.caveat}"
    if len(found) > 1:
        note += f" Averages over the {len(found)} openings possible by chance."
    values = {move: worth[move] / weight[move] for move in worth}
    least = float(solution.unit.lowest)
    return Bars(f"{game.title}: what the first moves are worth", values, note, least)


def openings(game: AnyGame) -> list[tuple[float, View]]:
    """The first choices of a game: the probability of each, and the view of the player who chooses.

    In a game with hidden information, histories that lead to the same state are kept apart if the
    players have observed different events.
    """
    reached: dict[tuple[Any, History, History], float] = {(game.start(), (), ()): 1.0}
    found = []
    while reached:
        history = next(iter(reached))
        state, *seen = history
        chance = reached.pop(history)
        turn = game.turn(state)
        if isinstance(turn, Decide):
            player = min(turn.options)
            observed = game.observe(state, player)
            found.append((chance, View(game, player, observed, seen[player], turn.options[player])))
        elif isinstance(turn, Chance):
            for outcome, odd in turn.odds.items():
                if (
                    chance * odd > NEGLIGIBLE
                ):  # else a die that may be rolled repeatedly would never end
                    event = Outcome(outcome, turn.by)
                    one, two = (
                        (*seen[player], game.redact(state, event, player)) if game.private else ()
                        for player in (0, 1)
                    )
                    after = game.play(state, outcome), one, two
                    reached[after] = reached.get(after, 0.0) + chance * float(odd)
        if len(found) + len(reached) > MOST:
            raise Unsolved(
                f"{game.slug} has no chart: it can begin in more than {MOST:,} ways by chance"
            )
    if not found:
        raise Unsolved(f"{game.slug} has no chart: no player ever chooses in it")
    return found
