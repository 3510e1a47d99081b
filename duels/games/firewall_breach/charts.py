"""Chart of Firewall Breach: the best action at every pair of strengths."""

from __future__ import annotations

from duels.algorithms.solutions import solve
from duels.core.game import AnyGame
from duels.games.firewall_breach.rules import ACTIONS, FirewallBreach, State
from duels.plotting.drawing import Chart, Grid


def charts(game: AnyGame) -> list[Chart]:
    assert isinstance(game, FirewallBreach)
    return [best_actions(game)]


def facts(game: AnyGame) -> list[str]:
    """What the solution shows, with its figures."""
    assert isinstance(game, FirewallBreach)
    cells = [cell for row in best_actions(game).cells for cell in row]
    attack, bypass, either = (cells.count(mark) for mark in "AB=")
    return [
        f"In {either} of {len(cells)} positions both actions are exactly equal.",
        f"Only the attack is right in {attack} positions, only the bypass in {bypass}.",
    ]


def best_actions(game: FirewallBreach) -> Grid:
    solution = solve(game)
    marks = {("attack",): "A", ("bypass",): "B", ("attack", "bypass"): "="}
    own, other = (range(1, strength + 1) for strength in game.strength)
    cells = []
    for mine in own:
        row = []
        for theirs in other:
            state = State((mine, theirs), 0)
            best = solution.assess_turn(state, 0, ACTIONS).mixed_strategy
            row.append(marks[tuple(sorted(best))])
        cells.append(row)
    either = sum(row.count("=") for row in cells)
    count = len(own) * len(other)
    return Grid(
        "Firewall Breach: the best action",
        "the opponent's firewall", [str(n) for n in other],
        "your firewall", [str(n) for n in own], cells,
        {"A": "attack", "B": "bypass", "=": "either (exactly equal)"},
        f"The player who starts wins {solution.start_value()} of games; in {either} of {count} "
        "positions both actions are equal.",
    )  # fmt: skip
