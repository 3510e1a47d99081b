"""Exact measurements in solved games: exploitability, best responses and values.

    exploitability(game, policy)       values, best responses, regrets, worst positions
    best_response(game, policy, seat)  the player that is best against a policy
    head_to_head(game, one, two)       two policies against each other, computed exactly
    value(game, *picks)                the value of a position

A game is the result of `duels.games.load`, or a name. A policy is `env.policy(function)`, a plain
function from arrays of observations and masks to probabilities, the name of a built-in player, any
player with `mixed_strategy(view)`, or a pair of these by seat (`duels.measure.policies`). A value
is an expected score: 1 for a win, 0 for a loss, a half for a draw and for play that never ends. In
a game with payoffs it is an expected payoff.

>>> from duels.games import load
>>> game = load("firewall-breach")
>>> found = exploitability(game, "random")             # or exploitability("firewall-breach", ...)
>>> [round(by, 6) for by in found.exploitability]      # by seat, Player 1's first
[0.202196, 0.171363]
>>> round(head_to_head(game, "greedy", "random"), 6)
0.734081
>>> from duels.core import Match
>>> player = best_response(game, "greedy", seat=0)
>>> round(player.value, 6), player.choose(Match(game, seed=1).view(0))
(0.580247, 'attack')
>>> round(value("number-clash", "7/8"), 6)             # Player 1's, after one sealed pair
0.877595
"""

from __future__ import annotations

from duels.algorithms.best_response import Enumeration
from duels.algorithms.solution import Progress, Unsolved, Value
from duels.core.errors import OptionError, quote
from duels.core.game import AnyGame
from duels.core.payoffs import unit_of
from duels.games import game_of
from duels.measure.dispatch import enumerate_positions, score_against
from duels.measure.policies import Inconsistent, NotMeasurable, Policy, QueriedPolicy, by_seat
from duels.measure.response import BestResponse, OpenResponse
from duels.measure.result import (
    EXACT,
    LOWER_BOUND,
    SELF_PLAY,
    Exploitability,
    PositionRegret,
    SeatResult,
)

__all__ = [
    "EXACT", "LOWER_BOUND", "SELF_PLAY",
    "BestResponse", "Exploitability", "Inconsistent", "NotMeasurable", "PositionRegret",
    "SeatResult",
    "best_response", "exploitability", "head_to_head", "value",
]  # fmt: skip


def exploitability(
    game: str | AnyGame, policy: Policy, *, turn_limit: int | None = None,
    seconds: float | None = None, progress: Progress | None = None,
) -> Exploitability:  # fmt: skip
    """What a policy scores against perfect play and against its best response, in both seats.

    Exploitability is the value of perfect play less the value against the best response: 0 only
    if no opponent gains anything against the policy. `policy` may be a pair, `(first, second)`.
    `turn_limit` and `seconds` are for games with hidden hands: docs/guides/measure-a-policy.md.
    Raises `Inconsistent` for a policy that answers differently when it is queried again.
    """
    from duels.algorithms import solve

    game = game_of(game)
    policies = by_seat(game, policy)
    if game.private:
        from duels.measure.hidden_information import hidden_exploitability

        return hidden_exploitability(game, policies, turn_limit, seconds, progress)
    perfect, unit = QueriedPolicy(game, "perfect"), unit_of(game)
    seats: list[SeatResult] = []
    large = False
    for seat in (0, 1):
        best = enumerate_positions(game, seat, policies[seat], progress=progress, large=large)
        policies[seat].confirm()
        large = not isinstance(best, Enumeration)
        # Solved only now, since it can take long and an enumeration that is too large is refused.
        start = float(solve(game, progress).start_value())
        against = score_against(best, policies[seat], perfect, progress)
        optimal = start if seat == 0 else float(unit.other(start))
        found = SeatResult(
            game, seat, optimal, unit.whole(1 - against),
            unit.whole(1 - float(best.values()[0])), best, policies[seat],
        )  # fmt: skip
        found.require_best()
        seats.append(found)
    return Exploitability(game, (seats[0], seats[1]))


def head_to_head(
    game: str | AnyGame, one: Policy, two: Policy, *, turn_limit: int | None = None,
    progress: Progress | None = None,
) -> float:  # fmt: skip
    """Player 1's exact expected score (or payoff) if `one` plays as Player 1, `two` as Player 2."""
    game = game_of(game)
    first, second = by_seat(game, one)[0], by_seat(game, two)[1]
    if game.private:
        from duels.measure.hidden_information import ResponseTree

        tree = ResponseTree(game, 0, first, second, turn_limit=turn_limit).confirmed()
        return tree.unit.total - tree.value
    found = enumerate_positions(game, 0, first, second, progress=progress)
    first.confirm()
    second.confirm()
    return unit_of(game).whole(1 - float(found.values()[0]))


def value(game: str | AnyGame, *picks: str) -> Value | None:
    """Player 1's expected score with perfect play after picks as `duels value` takes them.

    None if it is not known, which happens only in games that are solved approximately.
    """
    from duels.algorithms import solve
    from duels.analysis.position import match_after

    game = game_of(game)
    return solve(game).value_at(match_after(game, list(picks)))


def best_response(
    game: str | AnyGame, policy: Policy, seat: int, *, turn_limit: int | None = None,
    seconds: float | None = None, progress: Progress | None = None,
) -> BestResponse:  # fmt: skip
    """The player in `seat` (0 or 1) that does best against a policy in the other seat.

    Of a pair of policies, the other seat's is used. `turn_limit` and `seconds` are as in
    `exploitability`; if that gives a lower bound, so does the value of this player, which is then
    an estimate with an error.
    """
    if seat not in (0, 1) or isinstance(seat, bool | float):
        raise OptionError(f"seat takes 0 (Player 1) or 1 (Player 2); got {quote(seat)}")
    game = game_of(game)
    queried = by_seat(game, policy)[1 - seat]
    if game.private:
        from duels.measure.hidden_information import hidden_response

        return hidden_response(game, queried, seat, turn_limit, seconds, progress)
    found = enumerate_positions(game, 1 - seat, queried, progress=progress)
    queried.confirm()
    response = OpenResponse(game, seat, found)
    optimal = _optimal(game, 1 - seat)
    if optimal is not None:
        against = float(unit_of(game).other(response.value))
        SeatResult(game, 1 - seat, optimal, None, against).require_best()
    return response


def _optimal(game: AnyGame, seat: int) -> float | None:
    """The value of perfect play in a seat; None if the game is not solved."""
    from duels.algorithms import solve

    try:
        start = float(solve(game).start_value())
    except Unsolved:
        return None
    return start if seat == 0 else float(unit_of(game).other(start))
