"""Chart of Number Clash: the opening strategy, and the value of the first round."""

from __future__ import annotations

from duels.algorithms.solutions import solve
from duels.core.game import AnyGame
from duels.games.number_clash.rules import NumberClash
from duels.plotting.drawing import Bars, Chart, Grid


def charts(game: AnyGame) -> list[Chart]:
    assert isinstance(game, NumberClash)
    return [opening_strategy(game), first_round(game)]


def opening_strategy(game: NumberClash) -> Bars:
    choice = solve(game).assess_state(game.start(), 0)
    values = {move: choice.mixed_strategy.get(move, 0.0) for move in choice.options}
    return Bars("Number Clash: how often to open with each number", values)


def first_round(game: NumberClash) -> Grid:
    solution = solve(game)
    numbers = [str(number) for number in range(1, game.numbers + 1)]
    cells = [
        [f"{100 * float(solution.value(game.play(game.start(), one, two))):.0f}" for two in numbers]
        for one in numbers
    ]
    return Grid(
        "Number Clash: Player 1's expected score in percent after round 1",
        "Player 2 opens with", numbers, "Player 1 opens with", numbers, cells, {},
    )  # fmt: skip
