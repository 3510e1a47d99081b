"""Chart of Digit Duel: which player wins before the first attack."""

from __future__ import annotations

from duels.algorithms.solutions import solve
from duels.core.game import AnyGame
from duels.games.digit_duel.rules import DigitDuel
from duels.plotting.drawing import Chart, Grid
from duels.plotting.opening import first_moves


def charts(game: AnyGame) -> list[Chart]:
    assert isinstance(game, DigitDuel)
    # Other lives than those at the start are solved for the default rules only.
    return [winners(game) if game.usual() else first_moves(game)]


def facts(game: AnyGame) -> list[str]:
    """What the solution shows, with its figures."""
    assert isinstance(game, DigitDuel)
    start, solution = game.start(), solve(game)
    choice = solution.assess_state(start, start.attacker)
    winning = [move for move in choice.options if choice.worth(move) == 1]
    found = [f"{len(winning)} of {len(choice.options)} first attacks win with perfect play."]
    if game.usual():
        cells = winners(game).cells
        won = sum(row.count("W") for row in cells)
        count = sum(map(len, cells))
        found.append(f"The first attacker wins from {won} of {count} pairs of life points.")
        less, more = game.life[0] - 1, game.life[0]
        if cells[less - 1][more - 1] == "L":
            found.append(f"With {less} life points against {more} the defender wins instead.")
    return found


def winners(game: DigitDuel) -> Grid:
    solution = solve(game)
    lives = range(1, max(game.life) + 1)
    cells = [
        [
            "W" if solution.value(game.start()._replace(life=(a, d), attacker=0)) == 1 else "L"
            for d in lives
        ]
        for a in lives
    ]
    names = [str(life) for life in lives]
    return Grid(
        "Digit Duel: who wins before the first attack",
        "the defender's life points", names, "the first attacker's life points", names, cells,
        {"W": "the first attacker wins", "L": "the defender wins"},
    )  # fmt: skip
