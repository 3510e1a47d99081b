"""Dominated moves, as far as a player can see them by looking ahead to the next own choice.

A move is dominated if another one leads to no worse a result, whatever is hidden and whatever the
other player and chance do until then; any result is possible later. So missing a win is dominated,
and so is losing at once if the loss can be delayed.

>>> from duels.games import load
>>> game = load("firewall-breach", strength=1)
>>> sorted(dominated(game, [game.start()], 0))   # a bypass wins at once, an attack may miss
['attack']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from duels.core.game import AnyGame, Chance, Decide, Move, Over
from duels.core.payoffs import payoffs

LOOKED_AT = 5000  # states after one move; beyond them its result may be anything

Range = tuple[float, float]  # the lowest and the highest payoff that is possible


def dominated(game: AnyGame, states: Iterable[Any], player: int) -> frozenset[Move]:
    """The dominated moves of a player who may be in any of these states, with the same options."""
    ranges: dict[Move, list[Range]] = {}
    for state in states:
        turn = game.turn(state)
        assert isinstance(turn, Decide), "a player chooses here"
        others = turn.options.get(1 - player)
        for move in turn.options[player]:
            for other in others or [None]:
                picks = [move] if other is None else [move, other] if player == 0 else [other, move]
                after = game.play(state, *picks)
                ranges.setdefault(move, []).append(_range(game, after, player))
    return frozenset(
        move
        for move, own in ranges.items()
        if any(_is_better(better, own) for other, better in ranges.items() if other != move)
    )


def _is_better(better: list[Range], own: list[Range]) -> bool:
    """Whether one move is never worse than another, and may be better."""
    pairs = list(zip(own, better, strict=True))
    return all(high <= low for (_, high), (low, _) in pairs) and any(
        low < high for (low, _), (_, high) in pairs
    )


def _range(game: AnyGame, state: Any, player: int) -> Range:
    """The payoffs that are possible after a state, if the player's next choice may lead to any."""
    most = float(game.highest_payoff())
    low, high = most, -most
    for number, payoff in enumerate(_results(game, state, player)):
        if payoff is None or number == LOOKED_AT:
            return -most, most
        low, high = min(low, payoff), max(high, payoff)
        if (low, high) == (-most, most):
            break
    return low, high


def _results(game: AnyGame, state: Any, player: int) -> Iterator[float | None]:
    """The payoff of each end before the player's next choice; None for each such choice."""
    work = [state]
    while work:
        state = work.pop()
        turn = game.turn(state)
        if isinstance(turn, Over):
            yield payoffs(turn)[player]
        elif isinstance(turn, Chance):
            work += [game.play(state, outcome) for outcome in turn.odds]
        elif player in turn.options:
            yield None
        else:
            work += [game.play(state, move) for move in turn.options[1 - player]]


def dominated_rows(matrix: list[list[float]], rounding: float) -> list[int]:
    """The rows of a matrix game, by number, than which another row is never lower.

    >>> dominated_rows([[1.0, 0.5], [1.0, 0.0], [0.0, 1.0]], 1e-9)
    [1]
    """
    return [
        number
        for number, row in enumerate(matrix)
        if any(
            all(mine <= other + rounding for mine, other in zip(row, better, strict=True))
            and any(mine < other - rounding for mine, other in zip(row, better, strict=True))
            for better in matrix
        )
    ]
