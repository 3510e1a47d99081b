"""Best responses as players, from an enumeration or a response tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from duels.algorithms.best_response import Enumeration
from duels.core.game import AnyGame, Event, Move
from duels.core.payoffs import unit_of
from duels.core.player import MixedStrategy, View
from duels.players.base import MixedStrategyOpponent

if TYPE_CHECKING:
    from duels.measure.compiled_enumeration import CompiledEnumeration


class BestResponse(MixedStrategyOpponent):
    """The player in `seat` that does best against a policy; `value` is its expected score."""

    def __init__(self, game: AnyGame, seat: int, value: float) -> None:
        super().__init__(stream="")
        self.game, self.seat, self.value = game, seat, value


class OpenResponse(BestResponse):
    """A best response in an open game; in states that are not reached it plays perfectly."""

    def __init__(self, game: AnyGame, seat: int, found: Enumeration | CompiledEnumeration) -> None:
        super().__init__(game, seat, unit_of(game).whole(float(found.values()[0])))
        self._found = found

    def mixed_strategy(self, view: View) -> MixedStrategy:
        from duels.algorithms import solve

        solution = solve(self.game)
        number = -1
        if view.game == self.game and view.player == self.seat:
            number = self._found.find(solution.state(view))
        if number < 0:
            return solution.assess(view).mixed_strategy
        return {self._found.answer(number): 1.0}


class HiddenResponse(BestResponse):
    """A best response in a game with hidden hands, by what its player has seen.

    In histories that are not reached all moves are equally likely.
    """

    needs_history = True

    def __init__(
        self, game: AnyGame, seat: int, value: float, answers: Mapping[tuple[Event, ...], Move]
    ) -> None:
        super().__init__(game, seat, value)
        self._answers = answers

    def mixed_strategy(self, view: View) -> MixedStrategy:
        found = None
        if view.game == self.game and view.player == self.seat:
            found = self._answers.get(view.history)
        return dict.fromkeys(view.options, 1 / len(view.options)) if found is None else {found: 1.0}
