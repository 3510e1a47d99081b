"""Exact solution of Number Wars: a race in which the players do not affect each other.

Using the largest free number each time is optimal, since it maximises the damage after any number
of turns. So the turns to a win can be counted for each player separately, and the player who needs
fewer wins; if both need equally many, the one to move wins.

>>> from duels.games import load
>>> game = load("number-wars")
>>> solution = NumberWarsSolution(game)
>>> solution.value(game.start()), solution.distance(game.start())
(Fraction(1, 1), 31)
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from duels.algorithms.solution import HALF, Progress, Solution
from duels.core.game import AnyGame, Decide
from duels.games.number_wars.rules import NumberWars, State


class NumberWarsSolution(Solution):
    def __init__(self, game: AnyGame, progress: Progress | None = None) -> None:
        super().__init__(game)
        assert isinstance(game, NumberWars)
        self._numbers, self._refresh = game.numbers, game.refresh
        self.turns = lru_cache(maxsize=None)(self._count_turns)

    def decision_value(self, state: State) -> Fraction:
        mover = state.mover
        mine, theirs = self._turns_to_win(state)
        if mine is None and theirs is None:
            return self._exhausted_value(state)
        wins = theirs is None or (mine is not None and mine <= theirs)
        return Fraction(1 - mover if wins else mover)

    def distance(self, state: State) -> int | None:
        if not isinstance(self.game.turn(state), Decide):
            return 0
        mine, theirs = self._turns_to_win(state)
        if mine is not None and (theirs is None or mine <= theirs):
            return 2 * mine - 1
        return None if theirs is None else 2 * theirs

    def _turns_to_win(self, state: State) -> tuple[int | None, int | None]:
        """Turns to a win of the mover and of the other player; None if a win is not possible."""
        mover = state.mover
        return (
            self.turns(state.lp[1 - mover], state.used[mover]),
            self.turns(state.lp[mover], state.used[1 - mover]),
        )

    def _count_turns(self, lp: int, used: tuple[int, ...]) -> int | None:
        """Turns to reduce `lp` to 0 with the largest free number each time; None if impossible."""
        turns = 0
        free = [number for number in range(self._numbers, 0, -1) if number not in used]
        while lp > 0:
            if not free:
                if not self._refresh:
                    return None
                free = list(range(self._numbers, 0, -1))
            lp -= free.pop(0)
            turns += 1
        return turns

    def _exhausted_value(self, state: State) -> Fraction:
        """The value without refresh if neither player has enough numbers left to reduce LP to 0.

        If both use all their numbers, LP decide. The player who would lose then can avoid that end
        by repeating a used number for ever, which scores a half. This needs a used number to repeat
        and another that stays unused; a player who has numbers left has both sooner or later,
        unless the game has only one number.
        """
        free = [[n for n in range(1, self._numbers + 1) if n not in u] for u in state.used]
        one, two = state.lp[0] - sum(free[1]), state.lp[1] - sum(free[0])
        if one == two:
            return HALF
        loser = 0 if one < two else 1
        return HALF if free[loser] and self._numbers > 1 else Fraction(loser)
