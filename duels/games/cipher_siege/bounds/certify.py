"""Bounds on the exploitability of a finished strategy, for both seats, within a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from duels.games.cipher_siege.bounds.public_bounds import PublicResponder, tighten_bounds
from duels.games.cipher_siege.bounds.q_responder import Responder
from duels.games.cipher_siege.compiled_tables import Tables
from duels.games.cipher_siege.rules import CipherSiege
from duels.games.cipher_siege.store import Store
from duels.games.cipher_siege.strategy import BEST, CERTIFIED, EXPLOITABLE, outward

STEP = 100_000  # games between two checks of the time
LEARNING = 0.5  # fraction of the time for the learned responder
GAMES = 1_000_000  # new games from which a lower bound is estimated
FIRST_TAU = 1e-4


class Certificate(NamedTuple):
    """Lower and upper bounds on the score of a best response, by seat."""

    lower: tuple[float, float]
    upper: tuple[float, float]

    def facts(self) -> dict[str, Any]:
        """Facts for the table: bounds of both seats together, and of each, rounded outward.

        >>> facts = Certificate((0.7, 0.30119), (0.71, 0.31001)).facts()
        >>> facts[EXPLOITABLE], facts[CERTIFIED], facts[BEST]
        (0.0011, 0.0201, [[0.7, 0.71], [0.3011, 0.3101]])
        """
        low, high = outward(sum(self.lower) - 1, sum(self.upper) - 1)
        seats = zip(self.lower, self.upper, strict=True)
        return {
            EXPLOITABLE: max(0.0, low),
            CERTIFIED: high,
            BEST: [list(outward(*bounds)) for bounds in seats],
        }


def certify(
    game: CipherSiege,
    tables: Tables,
    strategy: Store,
    seconds: float,
    tell: Callable[[float, str], None],
) -> Certificate:
    """Learn a response, then search the public tree, for about `seconds` for each seat.

    `tell` is called with the fraction done and a status text. Compilation is not in the time.
    """
    lower, upper = [0.0, 0.0], [1.0, 1.0]
    for seat in (0, 1):
        tell(seat / 2, f"learning to beat it, seat {seat + 1}")
        learner = Responder(seat, tables, strategy)
        learner.learn(1)  # compiles
        began = time.monotonic()
        while (spent := time.monotonic() - began) < LEARNING * seconds:
            learner.learn(STEP)
            tell((seat + 0.5 * spent / seconds) / 2, f"learning to beat it, seat {seat + 1}")
        responder = PublicResponder(game, seat, tables, strategy, learner.q_table)
        responder.search(1.0)
        for found in tighten_bounds(responder, (1 - LEARNING) * seconds, GAMES, FIRST_TAU):
            lower[seat], upper[seat] = found.lower, found.upper
            part = min(1.0, 0.5 + 0.5 * found.seconds / seconds)
            low, high = outward(found.lower, found.upper)
            tell(
                (seat + part) / 2,
                f"seat {seat + 1}: a best response scores {low:.4f} to {high:.4f}",
            )
    return Certificate((lower[0], lower[1]), (upper[0], upper[1]))
