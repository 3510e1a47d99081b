"""The best anyone can do against a player whose policy is known.

This shares no code with the solvers' search for good policies: the opponent's choices become
chance, and what is left is one player's problem, solved by backing values up until they stand
still. Against perfect play it must gain nothing.

>>> from duels.games import load
>>> game = load("firewall-breach")
>>> never_risk = lambda state: {"bypass": 1.0}
>>> Response(game, 0, never_risk).value      # who starts can simply race; perfect play gives 0.57
1.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from duels.core.game import AnyGame, Chance, Decide, Move, Over
from duels.solve.solution import Unsolved, score

Policy = Callable[[Any], Mapping[Move, float]]  # from a state to the chance of each move
Branch = tuple[float, Any]
SETTLED = 1e-14


class Response:
    """Values are the responder's own expected score, in every state the two can reach."""

    def __init__(
        self,
        game: AnyGame,
        player: int,
        policy: Policy,
        *,
        allowed: Callable[[Any], list[Move]] | None = None,
        largest: int = 2_000_000,
    ) -> None:
        if game.private:
            raise Unsolved(
                f"{game.slug} has hidden hands: a response to its states would see the cards"
            )
        self.game, self.player = game, player
        self._policy, self._allowed = policy, allowed
        # For each state: what the responder can choose, and where each choice may lead.
        self.moves: dict[Any, dict[Move, list[Branch]]] = {}
        self.values: dict[Any, float] = {}
        self._walk(largest)
        self._settle()

    @property
    def value(self) -> float:
        return self.values[self.game.start()]

    def worth(self, state: Any, move: Move) -> float:
        """The responder's expected score of a move."""
        return sum(odd * self.values[child] for odd, child in self.moves[state][move])

    def _walk(self, largest: int) -> None:
        """Visit every state; children are listed after their parents."""
        queue = [self.game.start()]
        known = set(queue)
        for state in queue:
            turn = self.game.turn(state)
            if isinstance(turn, Over):
                points = float(score(turn))
                self.values[state] = points if self.player == 0 else 1 - points
                self.moves[state] = {}
                continue
            self.moves[state] = self._branches(state, turn)
            self.values[state] = 0.5
            for branches in self.moves[state].values():
                for _, child in branches:
                    if child not in known:
                        known.add(child)
                        queue.append(child)
            if len(queue) > largest:
                raise Unsolved(f"more than {largest:,} states can be reached")

    def _branches(self, state: Any, turn: Decide | Chance) -> dict[Move, list[Branch]]:
        play = self.game.play
        if isinstance(turn, Chance):
            return {"": [(float(odd), play(state, move)) for move, odd in turn.odds.items()]}
        opponent = 1 - self.player
        if self.player not in turn.options:
            mix = self._policy(state)
            return {"": [(p, play(state, move)) for move, p in mix.items() if p]}
        own = self._allowed(state) if self._allowed else list(turn.options[self.player])
        if opponent not in turn.options:
            return {move: [(1.0, play(state, move))] for move in own}
        mix = self._policy(state)
        pairs = {m: {o: (m, o) if self.player == 0 else (o, m) for o in mix} for m in own}
        return {m: [(mix[o], play(state, *pairs[m][o])) for o in mix if mix[o]] for m in own}

    def _settle(self) -> None:
        """Back values up, last found first, until no value changes."""
        order = [state for state in reversed(self.moves) if self.moves[state]]
        change = 1.0
        while change > SETTLED:
            change = 0.0
            for state in order:
                new = max(self.worth(state, move) for move in self.moves[state])
                change = max(change, abs(new - self.values[state]))
                self.values[state] = new
