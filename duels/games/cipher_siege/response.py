"""Learned responses to the Cipher Siege strategy: lower bounds on its exploitability.

The full game is too large to search for a best response. A responder is learned from games against
the strategy and then scored in new games.
"""

from __future__ import annotations

import time

from duels.algorithms.compiled import need_numba
from duels.algorithms.estimate import CONFIDENCE, Estimate
from duels.algorithms.solution import Progress, Solution
from duels.core.player import MixedStrategy, View
from duels.games.cipher_siege.bounds.q_responder import Responder
from duels.games.cipher_siege.encoding import CardEncoding
from duels.games.cipher_siege.infostate import in_turn_order, info_state
from duels.games.cipher_siege.rules import CipherSiege
from duels.games.cipher_siege.strategy import Strategy
from duels.games.cipher_siege.training.publish import frozen

SECONDS = 60.0  # of learning
STEP = 20_000  # games between two checks of the clock
GAMES = 1_000_000  # new games from which the score is estimated


class QResponse:
    """A learned responder as a mixed strategy; where it has learned nothing, the solution's."""

    def __init__(self, game: CipherSiege, solution: Solution, responder: Responder) -> None:
        self._solution, self._responder, self._encoding = solution, responder, CardEncoding(game)
        score = responder.score(GAMES)
        self.score = Estimate(score.mean, score.half / CONFIDENCE)

    def mixed_strategy(self, view: View) -> MixedStrategy:
        info = info_state(self._encoding, view)
        hand = self._encoding.hand(info.hand)
        if hand.names and hand.damage < info.other_ci:  # else the move is clear: pass or win
            unseen = self._encoding.cards(self._encoding.pack - info.hand - info.discards)
            move = self._responder.answer(info, unseen)
            if move >= 0:
                return {hand.names[move]: 1.0}
        return self._solution.assess(view).mixed_strategy


def learn_response(
    game: CipherSiege, solution: Solution, frozen_strategy: Strategy, fine_plies: int, seat: int,
    seconds: float | None, progress: Progress | None,
) -> QResponse:  # fmt: skip
    """Learn a responder for one seat against a strategy, for `seconds` (default: a minute)."""
    need_numba("learning to beat it needs")
    seconds = SECONDS if seconds is None else seconds
    turn = seat if game.first == 0 else 1 - seat
    responder = Responder(turn, *frozen(in_turn_order(game), frozen_strategy, fine_plies))
    responder.learn(1)  # compiles
    began = time.monotonic()
    while (spent := time.monotonic() - began) < seconds:
        responder.learn(STEP)
        if progress is not None:
            progress(0.9 * min(1.0, spent / seconds), "learning to beat it")
    return QResponse(game, solution, responder)
