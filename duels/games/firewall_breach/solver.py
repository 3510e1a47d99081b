"""Exact solution of Firewall Breach: a recursion over both strengths.

A position is the strength of the mover and that of the opponent. After a miss the strengths are the
same with the opponent to move, so two positions that differ only in this are solved together.

>>> from duels.games import load
>>> game = load("firewall-breach", strength=2)
>>> FirewallBreachSolution(game).value(game.start())
Fraction(2, 3)
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from duels.algorithms.best_response import Enumeration, by_state
from duels.algorithms.levels import level_strategy
from duels.algorithms.solution import Assessment, Progress, Solution, Unsolved
from duels.core.game import AnyGame, Move
from duels.core.player import MixedStrategy, View
from duels.games.firewall_breach.rules import ACTIONS, FACES, HITS, FirewallBreach, State

HIT_CHANCE = Fraction(HITS, FACES)
# Largest strengths:
SMALL = 20  # at which ties are broken by what scores most against the medium level
QUICK = 60  # at which solving takes less than half a second
LARGEST = 200  # at all: a few seconds, and fractions of some 90 digits


class FirewallBreachSolution(Solution):
    def __init__(self, game: AnyGame, progress: Progress | None = None) -> None:
        super().__init__(game)
        assert isinstance(game, FirewallBreach)
        if max(game.strength) > LARGEST:
            raise Unsolved(f"firewall-breach is solved exactly up to strength={LARGEST}")
        self._strength, self._hit, self._bypass = game.strength, game.hit, game.bypass
        self._against_medium: dict[int, Enumeration] = {}
        self._wins: dict[tuple[int, int], Fraction] = {}
        self._solve_all(max(game.strength), None if self.quick(game) else progress)

    @classmethod
    def quick(cls, game: AnyGame) -> bool:
        assert isinstance(game, FirewallBreach)
        return max(game.strength) <= QUICK

    def decision_value(self, state: State) -> Fraction:
        own, other = state.strength[state.mover], state.strength[1 - state.mover]
        wins = self._win(own, other)
        return wins if state.mover == 0 else 1 - wins

    def preferred(self, state: State, player: int, optimal: list[Move]) -> list[Move]:
        """Of two optimal actions, the one that scores more against the medium level."""
        if len(optimal) == 1 or max(self._strength) > SMALL:
            return optimal
        if player not in self._against_medium:
            self._against_medium[player] = self._response_to_medium(player)
        response = self._against_medium[player]
        number = response.find(state)
        if number < 0:  # not reached by perfect play
            return optimal
        return [
            max(
                optimal,
                key=lambda move: (
                    round(response.answer_value(number, move), 12),
                    self.game.gain(state, player, move),
                ),
            )
        ]

    def level_at(self, state: State, choice: Assessment, level: str) -> MixedStrategy:
        """How a level chooses in a state."""
        view = View(self.game, state.mover, state, (), ACTIONS)
        return level_strategy(choice, level, self.dominated(view, choice))

    def _response_to_medium(self, player: int) -> Enumeration:
        @cache  # asked again with every choice between equally good actions
        def choice(state: State) -> Assessment:
            return self.assess_turn(state, state.mover, ACTIONS)

        def medium(state: State) -> MixedStrategy:
            return self.level_at(state, choice(state), "medium")

        return Enumeration(
            self.game,
            1 - player,
            by_state(medium),
            allowed=lambda state: list(choice(state).mixed_strategy),
        )

    def _win(self, own: int, other: int) -> Fraction:
        """The mover's chance to win."""
        return Fraction(1) if other <= 0 else self._wins[own, other]

    def _solve_all(self, strength: int, progress: Progress | None) -> None:
        """Solve positions in order of the sum of both strengths: hits and bypasses lower it."""
        for total in range(2, 2 * strength + 1):
            for own in range(max(1, total - strength), total // 2 + 1):
                self._solve_both(own, total - own)
            if progress is not None:
                progress(len(self._wins) / strength**2, f"sum of strengths {total}")

    def _solve_both(self, own: int, other: int) -> None:
        """Solve two positions that lead to each other by a miss: try all four pairs of actions."""
        pair = [(own, other), (other, own)]
        bypass = [self._after(a, b, self._bypass) for a, b in pair]
        hit = [HIT_CHANCE * self._after(a, b, self._hit) for a, b in pair]
        miss = 1 - HIT_CHANCE
        for attacks in ((True, True), (True, False), (False, True), (False, False)):
            # x = hit + miss * (1 - y) for a position that attacks, x = bypass for one that does not
            if all(attacks):
                x = (hit[0] + miss * (1 - hit[1] - miss)) / (1 - miss * miss)
                y = hit[1] + miss * (1 - x)
            elif attacks[0]:
                y = bypass[1]
                x = hit[0] + miss * (1 - y)
            else:
                x = bypass[0]
                y = hit[1] + miss * (1 - x) if attacks[1] else bypass[1]
            best = (
                max(bypass[0], hit[0] + miss * (1 - y)),
                max(bypass[1], hit[1] + miss * (1 - x)),
            )
            if best == (x, y):
                self._wins[pair[0]], self._wins[pair[1]] = x, y
                return
        raise AssertionError("one of the four pairs of actions is always optimal")

    def _after(self, own: int, other: int, damage: int) -> Fraction:
        left = other - damage
        return Fraction(1) if left <= 0 else 1 - self._win(left, own)
