"""Chart of Number Clash: the opening strategy, and the value of the first round."""

from __future__ import annotations

from duels.algorithms.solutions import solve
from duels.core.game import AnyGame
from duels.core.presentation import listed
from duels.games.number_clash.rules import NumberClash
from duels.plotting.drawing import Bars, Chart, Grid


def charts(game: AnyGame) -> list[Chart]:
    assert isinstance(game, NumberClash)
    return [opening_strategy(game), first_round(game)]


def facts(game: AnyGame) -> list[str]:
    """What the solution shows, with its figures."""
    assert isinstance(game, NumberClash)
    solution = solve(game)
    choice = solution.assess_state(game.start(), 0)
    played = choice.mixed_strategy
    often = max(played, key=lambda move: played[move])
    never = [move for move in choice.options if move not in played]
    found = [
        f"Perfect play opens most often with {often}, in {100 * played[often]:.1f} % of games."
    ]
    if never:
        found.append(f"It never opens with {listed(never, ' or ')}.")
    high = str(game.numbers)
    if game.numbers > 1:
        under = str(game.numbers - 1)
        value = 100 * float(solution.value(game.play(game.start(), high, under)))
        found.append(
            f"After {high} against {under} in round 1 the underdog has {100 - value:.1f} % of the "
            "expected score."
        )
    return found


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
