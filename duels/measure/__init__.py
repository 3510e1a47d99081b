"""How good is it, exactly? The questions that only a solved game can answer, each one call.

    exploitability(game, policy)       values, best responses, regrets, the worst positions
    best_response(game, policy, seat)  the player who does best against a policy
    head_to_head(game, one, two)       two known mixes against each other, without playing
    value(game, *picks)                what a position is worth

A policy is a function from arrays of observations and masks to probabilities, the name of a
built-in player, or any player that says its mix (`duels.measure.policies`). A value is an expected
score: 1 for a win, 0 for a loss, a half for a draw and for play that never ends.

>>> from duels.games import load
>>> game = load("firewall-breach")
>>> found = exploitability(game, "random")
>>> [round(by, 6) for by in found.exploitability]      # by seat, Player 1's first
[0.202196, 0.171363]
>>> round(head_to_head(game, "greedy", "random"), 6)
0.734081
>>> from duels.core import Match
>>> player = best_response(game, "greedy", seat=0)
>>> round(player.value, 6), player.choose(Match(game, seed=1).view(0))
(0.580247, 'attack')
>>> round(value(load("number-clash"), "7/8"), 6)       # Player 1's, after one sealed pair
0.877595
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from duels.core.game import AnyGame, Move
from duels.core.player import View
from duels.measure.plain import Walk
from duels.measure.policies import Asked, NotMeasurable, Policy
from duels.measure.result import EXACT, LOWER_BOUND, SELF_PLAY, Exploitability, Position, Seat
from duels.measure.walking import score_against, walk
from duels.players.opponent import Mixed
from duels.solve.solution import Progress, Value

if TYPE_CHECKING:
    from duels.measure.rows import Rows

__all__ = [
    "EXACT", "LOWER_BOUND", "SELF_PLAY",
    "BestResponse", "Exploitability", "NotMeasurable", "Position", "Seat",
    "best_response", "exploitability", "head_to_head", "value",
]  # fmt: skip


def exploitability(
    game: AnyGame, policy: Policy, *, turn_limit: int | None = None, seconds: float | None = None,
    progress: Progress | None = None,
) -> Exploitability:  # fmt: skip
    """What a policy scores against perfect play and against its best response, in both seats.

    The difference of the best response's value to what perfect play would score is exploitability:
    0 only if nobody gains anything, whatever the policy's own games look like. `turn_limit` and
    `seconds` are for games with hidden hands (docs/measure.md).
    """
    from duels.solve import solve

    asked = Asked(game, policy)
    if game.private:
        from duels.measure.hidden import hidden_exploitability

        return hidden_exploitability(game, asked, turn_limit, seconds, progress)
    start = float(solve(game, progress).start_value())
    perfect = Asked(game, "perfect")
    seats: list[Seat] = []
    large = False
    for seat in (0, 1):
        best = walk(game, seat, asked, progress=progress, large=large)
        large = not isinstance(best, Walk)
        against = score_against(best, asked, perfect, progress)
        optimal = start if seat == 0 else 1 - start
        seats.append(Seat(game, seat, optimal, 1 - against, 1 - float(best.values()[0]), best))
    return Exploitability(game, (seats[0], seats[1]))


def head_to_head(
    game: AnyGame, one: Policy, two: Policy, *, turn_limit: int | None = None,
    progress: Progress | None = None,
) -> float:  # fmt: skip
    """Player 1's expected score when `one` sits there and `two` opposite, computed exactly."""
    first, second = Asked(game, one), Asked(game, two)
    if game.private:
        from duels.measure.hidden import Tree

        return 1 - Tree(game, 0, first, second, turn_limit=turn_limit).value
    return 1 - float(walk(game, 0, first, second, progress=progress).values()[0])


def value(game: AnyGame, *picks: str) -> Value | None:
    """Player 1's expected score with perfect play after a record's picks, as `duels value` takes.

    None where it is not known, which happens only in games that are solved approximately.
    """
    from duels.analysis.position import followed
    from duels.solve import solve

    return solve(game).value_at(followed(game, list(picks)))


class BestResponse(Mixed):
    """The player in `seat` who does best against a policy; `value` is its expected score.

    Where that policy never lets a game come, it plays perfectly.
    """

    def __init__(self, game: AnyGame, seat: int, found: Walk | Rows) -> None:
        super().__init__(stream="")
        self.game, self.seat, self.value = game, seat, float(found.values()[0])
        self._found = found

    def mix(self, view: View) -> Mapping[Move, float]:
        from duels.solve import solve

        solution = solve(self.game)
        number = -1
        if view.game == self.game and view.player == self.seat:
            number = self._found.find(solution.state(view))
        if number < 0:
            return solution.assess(view).mix
        return {self._found.answer(number): 1.0}


def best_response(
    game: AnyGame, policy: Policy, seat: int, *, progress: Progress | None = None
) -> BestResponse:
    """The player in `seat` (0 or 1) who does best against a policy in the other one."""
    return BestResponse(game, seat, walk(game, 1 - seat, Asked(game, policy), progress=progress))
