"""What perfect play looks like: one or two charts for each game.

A game's charts are made by a function that is registered by the game's name, as its solution is;
a game without one gets the worth of its first moves.

>>> from duels.games import load
>>> [chart.title for chart in charts(load("number-wars"))]
['Number Wars: who wins the race with fresh records']
"""

from __future__ import annotations

from importlib import import_module

from duels.core.game import AnyGame
from duels.games import game_of
from duels.solve.catalogue import solve
from duels.solve.drawing import Chart
from duels.solve.solution import Progress

# Where each game's charts are made: a function from the game to a list of charts.
CHARTS = {
    "firewall-breach": "duels.solve.charts.firewall_breach:charts",
    "number-clash": "duels.solve.charts.number_clash:charts",
    "cipher-siege": "duels.solve.charts.cipher_siege:charts",
    "digit-duel": "duels.solve.charts.digit_duel:charts",
    "number-wars": "duels.solve.charts.number_wars:charts",
}
ANY_GAME = "duels.solve.charts.opening:charts"


def charts(game: str | AnyGame, progress: Progress | None = None) -> list[Chart]:
    """The charts of a game; `progress` is told of long solving."""
    game = game_of(game)
    solve(game, progress)
    module, _, name = CHARTS.get(game.slug, ANY_GAME).partition(":")
    drawn: list[Chart] = getattr(import_module(module), name)(game)
    return drawn
