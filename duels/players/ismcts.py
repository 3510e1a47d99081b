"""Information-set Monte Carlo tree search: strong at any game, knowing nothing but its rules.

Each round imagines a whole state that fits what the player has seen, then walks one shared tree of
what players can know, and plays the rest out at random. No table, no heuristic.

>>> from duels.core import Match
>>> from duels.games import load
>>> match = Match(load("firewall-breach", strength=1), seed=1)
>>> Ismcts(seed=1, player=0, rounds=200).choose(match.view(0))    # one bypass wins at once
'bypass'
"""

from __future__ import annotations

from math import log, sqrt
from random import Random
from typing import Any

from duels.core.game import AnyGame, Chance, Decide, Event, Move, Outcome, Over, Pick
from duels.core.player import View
from duels.players.uniform import Uniform

ROUNDS = 1500
WORLDS = 100  # imagined states where something is hidden
PATIENCE = 2000  # steps of a search for a state before it starts again
CURIOSITY = 0.9
LONGEST = 400  # choices of a playout before it is called a draw


class Spot:
    """What is known of one player's choice: how often each move was tried and what it brought."""

    def __init__(self) -> None:
        self.tries: dict[Move, int] = {}
        self.gains: dict[Move, float] = {}
        self.offered: dict[Move, int] = {}

    def pick(self, options: tuple[Move, ...], randomness: Random) -> Move:
        """Anything untried first, then the upper confidence bound over what was on offer."""
        for move in options:
            self.offered[move] = self.offered.get(move, 0) + 1
        new = [move for move in options if move not in self.tries]
        if new:
            return randomness.choice(new)
        return max(options, key=self._bound)

    def _bound(self, move: Move) -> float:
        tries = self.tries[move]
        return self.gains[move] / tries + CURIOSITY * sqrt(log(self.offered[move]) / tries)

    def learn(self, move: Move, gain: float) -> None:
        self.tries[move] = self.tries.get(move, 0) + 1
        self.gains[move] = self.gains.get(move, 0.0) + gain


class Ismcts(Uniform):
    def __init__(self, seed: int, player: int, rounds: int = ROUNDS) -> None:
        super().__init__(seed, player)
        self.rounds = rounds

    def choose(self, view: View) -> Move:
        if len(view.options) == 1:
            return view.options[0]
        randomness = self.randomness(view)
        tree: dict[Any, Spot] = {}
        worlds = [imagine(view, randomness) for _ in range(WORLDS if view.game.private else 1)]
        for number in range(self.rounds):
            self._round(view.game, worlds[number % len(worlds)], tree, randomness)
        spot = tree[view.player, view.observation]
        return max(spot.tries, key=lambda move: spot.tries[move])

    def _round(self, game: AnyGame, state: Any, tree: dict[Any, Spot], randomness: Random) -> None:
        path: list[tuple[Spot, int, Move]] = []
        growing = True  # the tree grows by one new spot a round; beyond it play is random
        for _ in range(LONGEST):
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
                    spot = tree.setdefault(key, Spot())
                    move = spot.pick(options, randomness)
                    path.append((spot, player, move))
                    growing = not new or len(turn.options) == 2
                else:
                    move = randomness.choice(options)
                picks.append(move)
            state = game.play(state, *picks)
        turn = game.turn(state)
        winner = turn.winner if isinstance(turn, Over) else None
        for spot, player, move in path:
            spot.learn(move, 0.5 if winner is None else float(winner == player))


def imagine(view: View, randomness: Random) -> Any:
    """A state that fits everything a player has seen, found by a random search with backtracking.

    Hidden chance is tried in an order drawn by its odds, so likely states come up more often.
    """
    game, history = view.game, view.history
    patience = PATIENCE
    while True:
        work = [(0, game.start())]
        for _ in range(patience):
            if not work:
                raise RuntimeError("no state fits what was seen")
            number, state = work.pop()
            if number == len(history):
                if game.observe(state, view.player) == view.observation:
                    return state
                continue
            fits = _fitting(game, state, history[number], view.player, randomness)
            work += [(number + 1, after) for after in reversed(fits)]
        patience *= 2  # an early guess was wrong and shows late: better to guess again


def _fitting(game: AnyGame, state: Any, event: Event, player: int, randomness: Random) -> list[Any]:
    """The states after any event that looks to the player like the one seen, likeliest first."""
    turn = game.turn(state)
    if isinstance(turn, Chance) and isinstance(event, Outcome):
        fits = [
            outcome
            for outcome in turn.odds
            if game.seen(state, Outcome(outcome, turn.by), player) == event
        ]
        # Exponential races: the order of a draw without replacement, by the odds.
        fits.sort(key=lambda outcome: randomness.expovariate(float(turn.odds[outcome])))
        return [game.play(state, outcome) for outcome in fits]
    if not isinstance(turn, Decide) or not isinstance(event, Pick):
        return []
    if len(event.moves) == 2 or event.moves[0][1] == game.timeout_move:
        return [game.play(state, *(move for _, move in event.moves))]
    mover, shown = event.moves[0]
    options = turn.options.get(mover, ())
    options = (shown,) if shown in options else options
    moves = [m for m in options if game.seen(state, Pick(((mover, m),)), player) == event]
    randomness.shuffle(moves)
    return [game.play(state, move) for move in moves]
