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
