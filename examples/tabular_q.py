"""Q-learning with a table, by self-play on a batch of games, measured exactly while it learns.

    python3 examples/tabular_q.py [--game firewall-breach] [--steps 400000] [--out curve.svg]

The table holds, for every observation and move, what the move is worth to who makes it, from -1 to
1. What a position is worth to one player is the negative of what it is worth to the other, so one
table learns for both. For open games in which players take turns and observations are few.

Needs `pip install '.[rl]'`.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from curve import Curve

from duels.envs.vector import Batch
from duels.games import load

LARGEST = 10_000_000  # entries of a table


class Table:
    def __init__(self, game: Any) -> None:
        self.shape = tuple(most + 1 for most in game.bounds())
        size = int(np.prod(self.shape, dtype=float)) * len(game.moves())
        if game.private or size > LARGEST:
            raise SystemExit(f"{game.slug} is not for a table: hidden hands, or {size:.0e} entries")
        self.values = np.zeros((size // len(game.moves()), len(game.moves())))
        self.tries = np.zeros_like(self.values)

    def rows(self, observations: Any) -> Any:
        """The row of the table for each observation: its numbers as the digits of one."""
        return np.ravel_multi_index(observations.T, self.shape)

    def best(self, rows: Any, masks: Any) -> Any:
        return np.where(masks, self.values[rows], -np.inf).argmax(axis=1)

    def learn(self, rows: Any, actions: Any, targets: Any) -> None:
        """Towards what came of it; the more often a move was tried, the less one outcome counts."""
        places, inverse, tries = np.unique(
            rows * self.values.shape[1] + actions, return_inverse=True, return_counts=True
        )
        means = np.bincount(inverse, targets) / tries
        values, tried = self.values.reshape(-1), self.tries.reshape(-1)
        tried[places] += tries
        pace = 1 - (1 - tried[places] ** -0.7) ** tries  # as if one outcome came after the other
        values[places] += pace * (means - values[places])

    def policy(self, observations: Any, masks: Any) -> Any:
        """The best move for sure, as `duels.measure` asks for it."""
        return np.eye(masks.shape[1])[self.best(self.rows(observations), masks)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Q-learning with a table, measured exactly")
    parser.add_argument("--game", default="firewall-breach")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE")
    parser.add_argument("--steps", type=int, default=400_000)
    parser.add_argument("--size", type=int, default=256, help="games at a time")
    parser.add_argument("--curiosity", type=float, default=0.3, help="chance of a random move")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="an SVG picture of the curve")
    given = parser.parse_args()

    game = load(given.game, **dict(text.split("=", 1) for text in given.set))
    table, batch = Table(game), Batch(game, given.size, given.seed)
    rng = np.random.default_rng(given.seed)
    curve = Curve(game, f"{game.title}: Q-learning with a table, self-play")
    policy = batch.policy(table.policy)
    curve.measure(0, policy)
    rounds = max(1, given.steps // given.size)
    for number in range(1, rounds + 1):
        rows, player = table.rows(batch.observation), batch.player.copy()
        actions = table.best(rows, batch.mask)
        curious = rng.random(given.size) < given.curiosity
        actions = np.where(curious, batch.random_actions(), actions)
        rewards, terminated, truncated = batch.step(actions)
        next_rows = table.rows(batch.observation)
        worth = np.where(batch.mask, table.values[next_rows], -np.inf).max(axis=1)
        worth = np.where(batch.player == player, worth, -worth)
        own = rewards[np.arange(given.size), player]
        table.learn(rows, actions, np.where(terminated | truncated, own, worth))
        if number * 20 % rounds < 20:
            curve.measure(number * given.size, policy)
    if given.out:
        curve.save(given.out)


if __name__ == "__main__":
    main()
