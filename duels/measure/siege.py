"""Cipher Siege as it is usually played: how far its own strategy can be exploited, at least.

Nobody can search the whole game for a best response. A responder is learned from games against the
strategy and then tried in fresh ones, with an interval; what it gains is a lower bound. The bounds
that a table carries come from a longer search of the same kind (docs/cipher-siege.md) and are used
where they are there.
"""

from __future__ import annotations

import time
from typing import Any

from duels.core.game import AnyGame
from duels.games.cipher_siege import CipherSiege
from duels.measure.policies import Asked
from duels.measure.result import LOWER_BOUND, Exploitability, Seat
from duels.players.optimal import Perfect
from duels.solve.estimate import CONFIDENCE, Estimate
from duels.solve.siege.strategy import BEST, SEPARATE
from duels.solve.solution import Progress, Unsolved

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
    from duels.solve.compiled import need_numba
    from duels.solve.siege.knowledge import in_turn_order
    from duels.solve.siege.learned_responder import Responder
    from duels.solve.siege.publish import frozen

    need_numba("learning to beat it needs")
    game = in_turn_order(solution.game)
    tables, store = frozen(game, solution._strategy, solution.facts["fine_plies"])
    found = []
    for turn in (0, 1):
        responder = Responder(turn, tables, store)
        responder.learn(1)  # compiles
        began = time.monotonic()
        while (spent := time.monotonic() - began) < seconds:
            responder.learn(STEP)
            if progress is not None:
                part = min(1.0, spent / seconds)
                progress((turn + 0.9 * part) / 2, f"learning to beat it, seat {turn + 1}")
        score = responder.score(GAMES)
        found.append(Estimate(score.mean, score.half / CONFIDENCE))
    if progress is not None:
        progress(1.0, "both seats")
    return found
