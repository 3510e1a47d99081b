"""How good is it, exactly? The questions that only a solved game can answer, each one call.

    exploitability(game, policy)       values, best responses, regrets, the worst positions
    best_response(game, policy, seat)  the player who does best against a policy
    head_to_head(game, one, two)       two known mixes against each other, without playing
    value(game, *picks)                what a position is worth

A game is what `duels.games.load` gives, or a name. A policy is `env.policy(function)`, a bare
function from arrays of observations and masks to probabilities, the name of a built-in player, any
player that says its mix, or a pair of these by seat (`duels.measure.policies`). A value is an
expected score: 1 for a win, 0 for a loss, a half for a draw and for play that never ends.

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

from duels.core.errors import OptionError, quote
from duels.core.game import AnyGame
from duels.games import game_of
from duels.measure.plain import Walk
from duels.measure.policies import Asked, Inconsistent, NotMeasurable, Policy, by_seat
from duels.measure.response import BestResponse, OpenResponse
from duels.measure.result import EXACT, LOWER_BOUND, SELF_PLAY, Exploitability, Position, Seat
from duels.measure.walking import score_against, walk
from duels.solve.solution import Progress, Unsolved, Value

__all__ = [
    "EXACT", "LOWER_BOUND", "SELF_PLAY",
    "BestResponse", "Exploitability", "Inconsistent", "NotMeasurable", "Position", "Seat",
    "best_response", "exploitability", "head_to_head", "value",
]  # fmt: skip


def exploitability(
    game: str | AnyGame, policy: Policy, *, turn_limit: int | None = None,
    seconds: float | None = None, progress: Progress | None = None,
) -> Exploitability:  # fmt: skip
    """What a policy scores against perfect play and against its best response, in both seats.

    The difference of the best response's value to what perfect play would score is exploitability:
    0 only if no opponent gains anything, whatever the policy's own games look like. `policy` may be
    a pair, `(first, second)`. `turn_limit` and `seconds` are for games with hidden hands
    (docs/measure.md). A policy that is not consistent raises `Inconsistent`.
    """
    from duels.solve import solve

    game = game_of(game)
    asked = by_seat(game, policy)
    if game.private:
        from duels.measure.hidden import hidden_exploitability

        return hidden_exploitability(game, asked, turn_limit, seconds, progress)
    start = float(solve(game, progress).start_value())
    perfect = Asked(game, "perfect")
    seats: list[Seat] = []
    large = False
    for seat in (0, 1):
        best = walk(game, seat, asked[seat], progress=progress, large=large)
        asked[seat].confirm()
        large = not isinstance(best, Walk)
        against = score_against(best, asked[seat], perfect, progress)
        optimal = start if seat == 0 else 1 - start
        found = Seat(
            game, seat, optimal, 1 - against, 1 - float(best.values()[0]), best, asked[seat]
        )
        found.require_best()
        seats.append(found)
    return Exploitability(game, (seats[0], seats[1]))


def head_to_head(
    game: str | AnyGame, one: Policy, two: Policy, *, turn_limit: int | None = None,
    progress: Progress | None = None,
) -> float:  # fmt: skip
    """Player 1's expected score when `one` sits there and `two` opposite, computed exactly."""
    game = game_of(game)
    first, second = by_seat(game, one)[0], by_seat(game, two)[1]
    if game.private:
        from duels.measure.hidden import Tree

        return 1 - Tree(game, 0, first, second, turn_limit=turn_limit).confirmed().value
    found = walk(game, 0, first, second, progress=progress)
    first.confirm()
    second.confirm()
    return 1 - float(found.values()[0])


def value(game: str | AnyGame, *picks: str) -> Value | None:
    """Player 1's expected score with perfect play after a record's picks, as `duels value` takes.

    None where it is not known, which happens only in games that are solved approximately.
    """
    from duels.analysis.position import followed
    from duels.solve import solve

    game = game_of(game)
    return solve(game).value_at(followed(game, list(picks)))


def best_response(
    game: str | AnyGame, policy: Policy, seat: int, *, turn_limit: int | None = None,
    seconds: float | None = None, progress: Progress | None = None,
) -> BestResponse:  # fmt: skip
    """The player in `seat` (0 or 1) that does best against a policy in the other one.

    Of a pair of policies it is the other seat's that counts. `turn_limit` and `seconds` are as in
    `exploitability`; where that gives a lower bound, so is the value of this player, which is then
    an estimate that knows its error.
    """
    if seat not in (0, 1) or isinstance(seat, bool | float):
        raise OptionError(f"seat takes 0 (Player 1) or 1 (Player 2); got {quote(seat)}")
    game = game_of(game)
    asked = by_seat(game, policy)[1 - seat]
    if game.private:
        from duels.measure.hidden import hidden_response

        return hidden_response(game, asked, seat, turn_limit, seconds, progress)
    found = walk(game, 1 - seat, asked, progress=progress)
    asked.confirm()
    response = OpenResponse(game, seat, found)
    optimal = _optimal(game, 1 - seat)
    if optimal is not None:
        Seat(game, 1 - seat, optimal, None, 1 - response.value).require_best()
    return response


def _optimal(game: AnyGame, seat: int) -> float | None:
    """What perfect play scores in a seat; None in a game that is not solved."""
    from duels.solve import solve

    try:
        start = float(solve(game).start_value())
    except Unsolved:
        return None
    return start if seat == 0 else 1 - start
