"""Information-set Monte Carlo tree search: strong at any game, knowing nothing but its rules.

Each iteration takes a determinization, a whole state that fits what the player has seen, walks one
shared tree of what players can know, and plays the rest out at random. No table, no heuristic.

>>> from duels.core import Match
>>> from duels.core.chance import stream
>>> from duels.games import load
>>> match = Match(load("firewall-breach", strength=1), seed=1)
>>> Ismcts(stream(1, 0), iterations=200).choose(match.view(0))    # one bypass wins at once
'bypass'
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import log, sqrt
from typing import TYPE_CHECKING, Any

from duels.algorithms.belief import NoConsistentState, believe
from duels.core.game import AnyGame, Chance, Move, Over
from duels.core.payoffs import payoffs
from duels.core.player import View
from duels.players.base import Opponent

if TYPE_CHECKING:
    from random import Random

ITERATIONS = 1500
DETERMINIZATIONS = 100  # where something is hidden
EXPLORATION = 0.9  # the constant of the upper confidence bound
PLAYOUT_LENGTH = 400  # choices before a playout is called a draw
SHARE = 0.5  # of the time left for a choice, which is all that is used
MOST = 0.9  # of it, while some option has not had its first iteration


class SearchNode:
    """What is known of one player's choice: each move's visits, rewards and availability."""

    def __init__(self) -> None:
        self.visits: dict[Move, int] = {}
        self.rewards: dict[Move, float] = {}
        self.available: dict[Move, int] = {}  # iterations in which it could be chosen

    def select(self, options: tuple[Move, ...], randomness: Random) -> Move:
        """Anything unvisited first, then the upper confidence bound over what was available."""
        for move in options:
            self.available[move] = self.available.get(move, 0) + 1
        new = [move for move in options if move not in self.visits]
        if new:
            return randomness.choice(new)
        return max(options, key=self._bound)

    def _bound(self, move: Move) -> float:
        visits = self.visits[move]
        explored = sqrt(log(self.available[move]) / visits)
        return self.rewards[move] / visits + EXPLORATION * explored

    def update(self, move: Move, reward: float) -> None:
        self.visits[move] = self.visits.get(move, 0) + 1
        self.rewards[move] = self.rewards.get(move, 0.0) + reward


class Ismcts(Opponent):
    """Chooses the most visited move. How likely each is to be chosen it does not know.

    Where no state is found that fits what it has seen it chooses at random: the hidden part of a
    game of another package may be too large to search, or told in a way that cannot be followed.

    Without a clock every choice takes `iterations`; with one it takes half the time left at most.
    """

    needs_history = True

    def __init__(
        self,
        stream: str,
        iterations: int = ITERATIONS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(stream)
        self.iterations = iterations
        self._now = now
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True

    def choose(self, view: View) -> Move:
        self._cancelled = False
        if len(view.options) == 1:
            return view.options[0]
        began, randomness = self._now(), self.randomness(view)
        tree: dict[Any, SearchNode] = {}
        states: list[Any] = []
        wanted = DETERMINIZATIONS if view.game.private else 1
        particles = believe(view.game, view.history, view.player, randomness, wanted)
        for number in range(self.iterations):
            if self._cancelled or self._late(view, number, began):
                break
            if number < wanted:
                try:
                    states.append(next(particles).state)
                except NoConsistentState:
                    return randomness.choice(view.options)
            self._iterate(view.game, states[number % wanted], tree, randomness)
        root = tree.get((view.player, view.observation))
        if root is None:
            return view.options[0]
        return max(root.visits, key=lambda move: root.visits[move])

    def _late(self, view: View, done: int, began: float) -> bool:
        if view.clock is None:
            return False
        share = SHARE if done >= len(view.options) else MOST
        return self._now() - began >= share * view.clock

    def _iterate(
        self, game: AnyGame, state: Any, tree: dict[Any, SearchNode], randomness: Random
    ) -> None:
        path: list[tuple[SearchNode, int, Move]] = []
        growing = True  # the tree grows by one new node an iteration; beyond it play is random
        for _ in range(PLAYOUT_LENGTH):
            turn = game.turn(state)
            if isinstance(turn, Over):
                break
            if isinstance(turn, Chance):
                outcomes, odds = list(turn.odds), [float(odd) for odd in turn.odds.values()]
                state = game.play(state, randomness.choices(outcomes, odds)[0])
                continue
            picks = []
            for player, options in sorted(turn.options.items()):
                if growing:
                    key = (player, game.observe(state, player))
                    new = key not in tree
                    node = tree.setdefault(key, SearchNode())
                    move = node.select(options, randomness)
                    path.append((node, player, move))
                    growing = not new or len(turn.options) == 2
                else:
                    move = randomness.choice(options)
                picks.append(move)
            state = game.play(state, *picks)
        turn = game.turn(state)
        paid = payoffs(turn if isinstance(turn, Over) else None)
        most = float(game.highest_payoff())
        for node, player, move in path:
            node.update(move, (1 + paid[player] / most) / 2)
