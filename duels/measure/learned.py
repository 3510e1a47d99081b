"""Lower bounds for approximate solutions, by responses that are learned.

A game that is too large for an exact best response may have a solution with responses that were
learned (`Solution.learn_response`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from duels.algorithms.solution import LearnedResponse, Progress, Solution, Unsolved
from duels.algorithms.solutions import solve, solver_of
from duels.core.game import AnyGame
from duels.core.player import MixedStrategy, View
from duels.measure.policies import QueriedPolicy
from duels.measure.response import BestResponse
from duels.measure.result import LOWER_BOUND, Exploitability, SeatResult
from duels.players.optimal import Perfect


def measurable(game: AnyGame, policy: QueriedPolicy) -> bool:
    """Whether a policy is the game's own strategy and responses to it can be learned."""
    if not solver_of(game).learns_responses or type(policy.player) is not Perfect:
        return False
    try:
        solve(game)
    except Unsolved:
        return False
    return True


@contextmanager
def hint_in_errors(game: AnyGame) -> Iterator[None]:
    """Add to errors what can be measured instead."""
    try:
        yield
    except Unsolved as error:
        if not solver_of(game).learns_responses:
            raise
        hint = "; in the full game only the perfect player can be measured, with a lower bound"
        raise Unsolved(f"{error}{hint}") from None


def lower_bound(
    game: AnyGame, seconds: float | None = None, progress: Progress | None = None
) -> Exploitability:
    """The strategy's values against itself and against the best known response.

    `seconds`: learn a new response for so long in each seat instead of using stored scores.
    """
    solution = solve(game)
    scores = solution.response_scores() if seconds is None else None
    if scores is None:
        scores = _learned_scores(solution, seconds, progress)
    itself = float(solution.start_value())
    seats = [
        # The strategy itself approximates perfect play.
        SeatResult(game, seat, own, own, 1 - scores[1 - seat])
        for seat, own in enumerate((itself, 1 - itself))
    ]
    note = "A lower bound: the responder was trained, and a better one may exist."
    if solution.bound_source:
        least = f"at least {solution.bound:.4f}{solution.bound_source}"
        note += f" Both seats together are exploitable by {least}."
    return Exploitability(game, (seats[0], seats[1]), LOWER_BOUND, solution.at_most, note)


def _learned_scores(
    solution: Solution, seconds: float | None, progress: Progress | None
) -> tuple[float, float]:
    """The scores of newly learned responses, by seat."""
    one, two = (
        solution.learn_response(seat, seconds, None if progress is None else _half(progress, seat))
        for seat in (0, 1)
    )
    if progress is not None:
        progress(1.0, "both seats")
    return one.score, two.score


def _half(progress: Progress, seat: int) -> Progress:
    return lambda part, what: progress((seat + part) / 2, f"{what}, seat {seat + 1}")


class LearnedPlayer(BestResponse):
    """A learned response as a player. `value` is its score in fresh games, with its error."""

    needs_history = True

    def __init__(self, game: AnyGame, seat: int, response: LearnedResponse) -> None:
        super().__init__(game, seat, response.score)
        self._solution, self._response = solve(game), response

    def mixed_strategy(self, view: View) -> MixedStrategy:
        if view.game == self.game and view.player == self.seat:
            return self._response.mixed_strategy(view)
        return self._solution.assess(view).mixed_strategy


def learned_player(
    game: AnyGame, seat: int, seconds: float | None, progress: Progress | None
) -> BestResponse:
    """A response to the strategy that is learned in the given seconds, as a player."""
    return LearnedPlayer(game, seat, solve(game).learn_response(seat, seconds, progress))
