"""Charts of perfect play: the game's own, or the value of the first moves for any other game."""

from __future__ import annotations

from duels.algorithms.solution import Progress
from duels.algorithms.solutions import solve
from duels.core.game import AnyGame
from duels.core.spec import located, spec_of
from duels.plotting.drawing import Chart

ANY_GAME = "duels.plotting.opening:charts"


def charts(game: AnyGame, progress: Progress | None = None) -> list[Chart]:
    """The charts of a game; `progress` is called while the game is solved.

    >>> from duels.games import load
    >>> [chart.title for chart in charts(load("number-wars"))]
    ['Number Wars: who wins the race with fresh records']
    """
    solve(game, progress)
    drawn: list[Chart] = located(spec_of(game).charts or ANY_GAME)(game)
    return drawn
