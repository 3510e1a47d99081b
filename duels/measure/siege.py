"""Cipher Siege as it is usually played: how far its own strategy can be exploited, at least.

Nobody can search the whole game for a best response. A responder is learned from games against the
strategy and then tried in fresh ones, with an interval; what it gains is a lower bound. The bounds
that a table carries come from a longer search of the same kind (docs/cipher-siege.md) and are used
where they are there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from duels.core.game import AnyGame, Move
from duels.core.player import View
from duels.games.cipher_siege import CipherSiege
from duels.measure.policies import Asked
from duels.measure.response import BestResponse
from duels.measure.result import LOWER_BOUND, Exploitability, Seat
from duels.players.optimal import Perfect
from duels.solve.estimate import CONFIDENCE, Estimate
from duels.solve.siege.places import Codes
from duels.solve.siege.strategy import BEST, SEPARATE
from duels.solve.solution import Progress, Unsolved

if TYPE_CHECKING:
    from duels.solve.siege.learned_responder import Responder

SECONDS = 60.0  # of learning, for each seat
STEP = 20_000  # games between two looks at the clock
GAMES = 1_000_000  # fresh ones, behind the score


def measures(game: AnyGame, policy: Asked) -> bool:
    """Whether this is the strategy that the kernels can play against."""
    if not isinstance(game, CipherSiege) or type(policy.player) is not Perfect:
        return False
    from duels.solve import solve

    try:
        solve(game)
    except Unsolved:
        return False
    return True


def hint(game: AnyGame) -> str:
    """What else is possible."""
    if not isinstance(game, CipherSiege):
        return ""
    return "; of the full game the perfect player can be measured, as a lower bound"


@contextmanager
def hinting(game: AnyGame) -> Iterator[None]:
    """Say what else is possible where a game is refused."""
    try:
        yield
    except Unsolved as error:
        raise Unsolved(f"{error}{hint(game)}") from None


def lower_bound(
    game: AnyGame, seconds: float | None = None, progress: Progress | None = None
) -> Exploitability:
    """The strategy's values against itself and against a response that was found.

    `seconds`: learn a responder anew for so long for each seat, whatever the table says.
    """
    from duels.solve import solve
    from duels.solve.cipher_siege import CipherSiegeSolution

    assert isinstance(game, CipherSiege)
    solution = solve(game)
    assert isinstance(solution, CipherSiegeSolution)
    stored, separate = solution.facts.get(BEST), solution.facts.get(SEPARATE, (0.0, 0.0))
    best: list[float]
    if stored is not None and seconds is None:
        best = [max(float(low), least) for (low, _), least in zip(stored, separate, strict=True)]
    else:
        best = [*_learned(solution, SECONDS if seconds is None else seconds, progress)]
    itself = solution.start_value()
    one = itself if game.first == 0 else 1 - itself  # of whoever moves first
    seats: list[Any] = [None, None]
    for turn in (0, 1):  # the policy's place in turn order: the response to it sits in the other
        seat = turn if game.first == 0 else 1 - turn
        own = one if turn == 0 else 1 - one
        # The strategy is its own approximation of perfect play.
        seats[seat] = Seat(game, seat, float(own), float(own), 1 - best[1 - turn])
    note = "A lower bound: the responder was learned, and a better one may exist."
    if solution.bound_source:
        least = f"at least {solution.bound:.4f}{solution.bound_source}"
        note += f" Both seats together are exploitable by {least}."
    return Exploitability(game, (seats[0], seats[1]), LOWER_BOUND, solution.at_most, note)


def _learned(solution: Any, seconds: float, progress: Progress | None) -> list[Estimate]:
    """What a learned responder scores, by its place in turn order."""
    found = []
    for turn in (0, 1):
        tell = None if progress is None else _half(progress, turn)
        found.append(_score(_learn(solution, turn, seconds, tell)))
    if progress is not None:
        progress(1.0, "both seats")
    return found


def _half(progress: Progress, turn: int) -> Progress:
    return lambda part, what: progress((turn + part) / 2, f"{what}, seat {turn + 1}")


def _learn(solution: Any, turn: int, seconds: float, progress: Progress | None) -> Responder:
    """A responder in one place of the turn order, after so many seconds of learning."""
    from duels.solve.compiled import need_numba

    need_numba("learning to beat it needs")
    from duels.solve.siege.knowledge import in_turn_order
    from duels.solve.siege.learned_responder import Responder
    from duels.solve.siege.publish import frozen

    game = in_turn_order(solution.game)
    responder = Responder(turn, *frozen(game, solution._strategy, solution.facts["fine_plies"]))
    responder.learn(1)  # compiles
    began = time.monotonic()
    while (spent := time.monotonic() - began) < seconds:
        responder.learn(STEP)
        if progress is not None:
            progress(0.9 * min(1.0, spent / seconds), "learning to beat it")
    return responder


def _score(responder: Responder) -> Estimate:
    score = responder.score(GAMES)
    return Estimate(score.mean, score.half / CONFIDENCE)


class LearnedResponse(BestResponse):
    """A responder that was learned, as a player; where it has learned nothing, the strategy plays.

    `value` is its score in fresh games, with its error.
    """

    needs_history = True

    def __init__(self, game: AnyGame, seat: int, solution: Any, responder: Responder) -> None:
        super().__init__(game, seat, _score(responder))
        self._solution, self._responder, self._codes = solution, responder, Codes(solution.game)

    def mix(self, view: View) -> Mapping[Move, float]:
        if view.game == self.game and view.player == self.seat:
            info = self._codes.info(view)
            hand = self._codes.hand(info.hand)
            if hand.names and hand.damage < info.other_ci:  # else there is nothing to learn
                unseen = self._codes.cards(self._codes.pack - info.hand - info.discards)
                move = self._responder.answer(info, unseen)
                if move >= 0:
                    return {hand.names[move]: 1.0}
        mix: Mapping[Move, float] = self._solution.assess(view).mix
        return mix


def learned_response(
    game: AnyGame, seat: int, seconds: float | None, progress: Progress | None
) -> BestResponse:
    """The responder to the strategy that is learned in so many seconds, as a player."""
    from duels.solve import solve

    assert isinstance(game, CipherSiege)
    solution = solve(game)
    turn = seat if game.first == 0 else 1 - seat
    responder = _learn(solution, turn, SECONDS if seconds is None else seconds, progress)
    return LearnedResponse(game, seat, solution, responder)
