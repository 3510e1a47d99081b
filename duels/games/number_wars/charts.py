"""Chart of Number Wars: which player wins the race."""

from __future__ import annotations

from duels.algorithms.solutions import solve
from duels.core.game import AnyGame
from duels.games.number_wars.rules import NumberWars, State
from duels.plotting.drawing import Chart, Grid


def charts(game: AnyGame) -> list[Chart]:
    assert isinstance(game, NumberWars)
    return [race(game)]


def facts(game: AnyGame) -> list[str]:
    """What the solution shows, with its figures."""
    assert isinstance(game, NumberWars)
    start, solution = game.start(), solve(game)
    choice = solution.assess_state(start, start.mover)
    winning = [move for move in choice.options if choice.worth(move) == 1]
    found = [
        f"With perfect play the game takes {solution.distance(start)} turns.",
        f"{len(winning)} of {len(choice.options)} first attacks keep the win.",
    ]
    lost = start._replace(mover=1 - start.mover)
    if solution.value(lost) != solution.value(start):
        found.append("A single lost turn at the start hands the win to the opponent.")
    return found


def race(game: NumberWars) -> Grid:
    solution = solve(game)
    steps = [str(lp) for lp in range(10, max(game.lp) + 1, 10)]
    cells = []
    for mine in steps:
        row = []
        for theirs in steps:
            state = State((int(mine), int(theirs)), ((), ()), 0)
            row.append("W" if solution.value(state) == 1 else "L")
        cells.append(row)
    return Grid(
        "Number Wars: who wins the race with fresh records",
        "the other player's LP", steps, "the mover's LP", steps, cells,
        {"W": "the player to move wins", "L": "the other player wins"},
        f"From the start the game takes {solution.distance(game.start())} turns.",
    )  # fmt: skip
