"""How far a finished strategy can be exploited: both bounds for both seats, within a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil, floor
from typing import Any, NamedTuple

from duels.games.cipher_siege import CipherSiege
from duels.solve.siege.codes import Store, Tables
from duels.solve.siege.learned_responder import Responder
from duels.solve.siege.public_bounds import PublicResponder, close_in
from duels.solve.siege.strategy import CERTIFIED, EXPLOITABLE

STEP = 100_000  # games between two looks at the clock
LEARNING = 0.5  # the share of the time for the learned responder
GAMES = 1_000_000  # fresh games behind a lower bound
FIRST_TAU = 1e-4


class Certificate(NamedTuple):
    """What a best response scores at least and at most, by seat."""

    lower: tuple[float, float]
    upper: tuple[float, float]

    def facts(self) -> dict[str, Any]:
        """For the table: both seats together, rounded to the safe side, and each seat.

        >>> Certificate((0.7, 0.3011), (0.71, 0.31)).facts()[EXPLOITABLE]
        0.0011
        """
        low, high = sum(self.lower) - 1, sum(self.upper) - 1
        return {
            EXPLOITABLE: max(0.0, floor(low * 1e4 + 1e-6) / 1e4),
            CERTIFIED: ceil(high * 1e4 - 1e-6) / 1e4,
            "best response": [
                [round(low, 4), round(high, 4)]
                for low, high in zip(self.lower, self.upper, strict=True)
            ],
        }


def certify(
    game: CipherSiege,
    tables: Tables,
    strategy: Store,
    seconds: float,
    tell: Callable[[float, str], None],
) -> Certificate:
    """Learn a response, then search the public tree, for about so long for each seat.

    `tell` is called with the part done and what is known. Compiling comes on top of the time.
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
        responder = PublicResponder(game, seat, tables, strategy, learner.learned)
        responder.search(1.0)
        for found in close_in(responder, (1 - LEARNING) * seconds, GAMES, FIRST_TAU):
            lower[seat], upper[seat] = found.lower, found.upper
            part = min(1.0, 0.5 + 0.5 * found.seconds / seconds)
            tell(
                (seat + part) / 2,
                f"seat {seat + 1}: a best response scores {found.lower:.4f} to {found.upper:.4f}",
            )
    return Certificate((lower[0], lower[1]), (upper[0], upper[1]))
