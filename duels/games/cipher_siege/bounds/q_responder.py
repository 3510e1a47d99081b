"""A learned responder to a frozen strategy: a fast lower bound on its exploitability.

It plays games against the strategy and stores the mean score of each move by state (`q_table.py`).
It learns fast because of the following:

- The probability that a draw wins is computed, not sampled, and the game continues with a draw that
  does not win and the remaining weight. So every game reaches the later turns.
- It explores optimistically at every choice. After an exploratory move the choices before it are
  updated with the value of the best move instead (as in Q-learning).
- All legal moves are available to it. The lower bound is its score in new games, played without
  exploration.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

from duels.algorithms.compiled import Array, compiled, np
from duels.core.pieces import Cards
from duels.games.cipher_siege.compiled_policy import choose, new_scratch
from duels.games.cipher_siege.compiled_rules import (
    CI_M,
    CI_O,
    DISC,
    HAND_M,
    HAND_O,
    KNOWN_M,
    KNOWN_O,
    PLY,
    deal,
    draw,
    draw_on,
    new_states,
    play,
    turn_over,
)
from duels.games.cipher_siege.compiled_tables import PLIES, Tables, uniform
from duels.games.cipher_siege.infostate import InfoState
from duels.games.cipher_siege.q_table import (
    CAUTION,
    DETAIL,
    estimates,
    lower_confidence_move,
    q_key,
    upper_confidence_move,
)
from duels.games.cipher_siege.store import Store, find_or_add, new_store

UCB_CONSTANT = 1.5  # standard errors added to a value for exploration
EXPLORE, RANDOM = 0.8, 0.03  # probabilities of an optimistic and of a random move
MEMORY = 20_000.0  # games in a mean; older ones decay, since the responder was worse then
LOW_WEIGHT = 0.1  # games with a smaller weight are mostly abandoned

# Columns of `Trajectory.facts`, a row for each choice of the responder: the score from there to the
# next choice, and the weight left; the value of the best move; the weight; whether the best was
# played.
WON, LEFT, BEST, WEIGHT, PLAYED_BEST = range(5)


class Trajectory(NamedTuple):
    """The choices of the responder in a game."""

    where: Array  # i64[choices, DETAIL] offsets in the pool, or -1
    move: Array  # i64[choices]
    facts: Array  # f64[choices, 5]


def new_trajectory(tables: Tables) -> Trajectory:
    """An empty trajectory with room for the longest game."""
    choices = int(tables.const[PLIES]) + 1
    return Trajectory(
        np.zeros((choices, DETAIL), dtype=np.int64), np.zeros(choices, dtype=np.int64),
        np.zeros((choices, 5)),
    )  # fmt: skip


@compiled
def learn(
    games: int, me: int, tb: Tables, st: Store, qt: Store, tr: Trajectory, states: Array,
    scratch: Array, rng: Array,
) -> None:  # fmt: skip
    """Learn from games in seat `me`."""
    s = states[0]
    q, n, tmp = scratch[0], scratch[1], scratch[2]
    facts = tr.facts
    for _ in range(games):
        deal(s, tb, rng)
        seen = 0
        weight = left = 1.0
        won = 0.0
        while s[PLY] < tb.const[PLIES]:
            mine = (s[PLY] & 1) == me
            chance = draw_on(s, tb, rng)
            if mine:
                won += left * chance
            left *= 1.0 - chance
            if left <= 0.0:
                break
            if s[HAND_M] == 0:
                turn_over(s)
                continue
            if not mine:
                play(s, choose(s, 1, tb, st, tmp, rng), tb, rng)
                continue
            if seen > 0:
                facts[seen - 1, WON] = won
                facts[seen - 1, LEFT] = left
            weight *= left
            actions = estimates(s, tb, qt, q, n)
            best = lower_confidence_move(actions, CAUTION, q, n)
            facts[seen, BEST] = q[best] if best >= 0 else 0.5
            won, left = 0.0, 1.0
            seen += 1
            if weight < LOW_WEIGHT:
                if uniform(rng) * LOW_WEIGHT >= weight:
                    facts[seen - 1, WEIGHT] = facts[seen - 1, PLAYED_BEST] = 0.0
                    break
                weight = LOW_WEIGHT
            x = uniform(rng)
            a = best
            if best < 0 or x < EXPLORE:
                a = upper_confidence_move(actions, UCB_CONSTANT, q, n)
            elif x < EXPLORE + RANDOM:
                a = int(uniform(rng) * actions)
            for level in range(DETAIL):
                tr.where[seen - 1, level] = find_or_add(q_key(s, level, tb), actions, qt)
            tr.move[seen - 1] = a
            facts[seen - 1, WEIGHT] = weight
            facts[seen - 1, PLAYED_BEST] = 1.0 if a == best else 0.0
            play(s, a, tb, rng)
        score = won + 0.5 * left
        for i in range(seen - 1, -1, -1):
            if i < seen - 1:
                score = facts[i, WON] + facts[i, LEFT] * score
            if facts[i, WEIGHT] > 0.0:
                for level in range(DETAIL):
                    at = tr.where[i, level] + tr.move[i]
                    if tr.where[i, level] >= 0:
                        qt.pool[1, at] = min(MEMORY, qt.pool[1, at] + facts[i, WEIGHT])
                        step = facts[i, WEIGHT] / qt.pool[1, at]
                        qt.pool[0, at] += np.float32(step * (score - qt.pool[0, at]))
            if facts[i, PLAYED_BEST] == 0.0:
                score = facts[i, BEST]


@compiled
def best_known_move(s: Array, tb: Tables, qt: Store, scratch: Array) -> Any:
    """The best move by the Q table; -1 if the state is unknown."""
    actions = estimates(s, tb, qt, scratch[0], scratch[1])
    return lower_confidence_move(actions, CAUTION, scratch[0], scratch[1])


@compiled
def respond(s: Array, tb: Tables, st: Store, qt: Store, scratch: Array, rng: Array) -> Any:
    """The responder's move: the best by the Q table, or that of the strategy if there is none."""
    best = best_known_move(s, tb, qt, scratch)
    return best if best >= 0 else choose(s, 1, tb, st, scratch[2], rng)


@compiled
def play_games(
    games: int, me: int, tb: Tables, st: Store, qt: Store, states: Array, scratch: Array, rng: Array
) -> float:
    """Score of the responder over new games; draws that win are sampled too."""
    s = states[0]
    total = 0.0
    for _ in range(games):
        deal(s, tb, rng)
        result = 0.5
        while s[PLY] < tb.const[PLIES]:
            draw(s, tb, rng)
            if s[HAND_M] == 0:
                turn_over(s)
                continue
            mine = (s[PLY] & 1) == me
            if tb.best[s[HAND_M]] >= s[CI_O]:
                result = 1.0 if mine else 0.0
                break
            if mine:
                play(s, respond(s, tb, st, qt, scratch, rng), tb, rng)
            else:
                play(s, choose(s, 1, tb, st, scratch[2], rng), tb, rng)
        total += result
    return total / games


class MeanScore(NamedTuple):
    """A mean score with the half-width of its 95% confidence interval."""

    mean: float
    half: float
    games: int

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {self.half:.4f} ({self.games} games)"


def mean_score(mean: float, games: int) -> MeanScore:
    """The mean of scores of 0 or 1 with its interval (draws, which are rare, count as the mean)."""
    return MeanScore(mean, 1.96 * sqrt(max(mean * (1 - mean), 1e-9) / games), games)


class Responder:
    """A learning responder for one seat (0 moves first) against a frozen strategy."""

    def __init__(self, seat: int, tables: Tables, strategy: Store, slots_log2: int = 24) -> None:
        self.seat, self.tables, self.strategy, self.games = seat, tables, strategy, 0
        self.q_table = new_store(slots_log2, 12 << slots_log2)
        self.rng: Array = np.array([4242 + seat], dtype=np.uint64)
        self.trail, self.states, self.scratch = new_trajectory(tables), new_states(), new_scratch()

    def learn(self, games: int) -> None:
        """Learn from more games."""
        learn(
            games, self.seat, self.tables, self.strategy, self.q_table, self.trail, self.states,
            self.scratch, self.rng,
        )  # fmt: skip
        self.games += games

    def answer(self, info: InfoState, unseen: Cards) -> int:
        """The index of the best move by the Q table; -1 if the state is unknown.

        `unseen` are cards in the deck or in the other hand: any of them are used as the other hand,
        of which only the size matters.
        """
        s = self.states[0]
        other = sum(int(self.tables.radix[card - 1]) for card in unseen[: info.other_size])
        s[:] = 0
        s[HAND_M], s[HAND_O], s[DISC] = info.hand, other, info.discards
        s[CI_M], s[CI_O] = info.ci, info.other_ci
        s[KNOWN_M], s[KNOWN_O], s[PLY] = info.known_other, info.known_own, info.choices
        return int(best_known_move(s, self.tables, self.q_table, self.scratch))

    def score(self, games: int, seed: int = 99) -> MeanScore:
        """The score over new games."""
        rng = np.array([seed * 1_000_003 + self.seat], dtype=np.uint64)
        mean = play_games(
            games, self.seat, self.tables, self.strategy, self.q_table, self.states, self.scratch,
            rng,
        )  # fmt: skip
        return mean_score(float(mean), games)
