"""AIVAT luck adjustment of a match's score (Burch, Schmid, Moravčík, Morrill and Bowling, 2018).

At every chance event, and at every choice of a player with a known mixed strategy, the value of the
position after the event is compared with its expectation before. The difference is luck and is
subtracted from the score. Its mean is 0 for any value function, so the adjusted score is unbiased;
an accurate value function only reduces its variance.

Positions are full states, both hands included; in a game with hidden information that is solved
from its rules, they include what both players have seen. A player's mixed strategy is computed from
that player's view. Choices of players whose strategy is unknown are not adjusted. Values and
regrets are those of the game's `Solution`. Scores count wins, whatever they pay; regrets are
payoffs in a game with payoffs.

>>> from duels.core import Match
>>> from duels.core.chance import stream
>>> from duels.games import load
>>> from duels.players import make_opponent
>>> match = Match(load("firewall-breach"), seed=3)
>>> players = [make_opponent("perfect", stream(3, seat)) for seat in (0, 1)]
>>> while match.result is None:
...     (seat,) = match.deciders
...     match.submit(seat, players[seat].choose(match.view(seat)))
>>> found = adjusted(match, [player.mixed_strategy for player in players])
>>> match.result.winner, round(found.score, 6), found.regret  # the rest was luck
(0, 0.569959, (0.0, 0.0))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from duels.algorithms.infostate_tree import picks_of
from duels.analysis.grade import NOISE
from duels.core.errors import DuelsError
from duels.core.game import AnyGame, Chance, Decide, Event, History, Move, Outcome, Over, Pick
from duels.core.match import Match
from duels.core.player import MixedStrategy, View

if TYPE_CHECKING:
    from duels.algorithms import Solution

StrategyOf = Callable[[View], MixedStrategy | None]  # None: the strategy is not known
StateValue = Callable[[Any], float | None]  # Player 1's expected score where a player chooses
CACHED = 100_000  # values of states


class Adjustment(NamedTuple):
    """The luck-adjusted result of one game; None where a figure is not known."""

    score: float | None  # of Player 1
    regret: tuple[float, float] | None = None  # by player: the total of all graded choices
    graded: tuple[int, int] | None = None  # by player: the number of graded choices


NO_ADJUSTMENT = Adjustment(None)


def adjusted(
    match: Match, strategies: Sequence[StrategyOf], players: tuple[str, str] = ("", "")
) -> Adjustment:
    """The luck-adjusted result of a finished match; `strategies` are those of both players.

    `players` are the players' names, which improve value estimates that depend on who plays. In a
    game that is not solved no figure is known.
    """
    known = baseline_of(match.game, players)
    if known is None:
        return NO_ADJUSTMENT
    values, solution = known
    return Adjustment(aivat_score(match, strategies, values), *_regrets(match, solution))


class PositionValues:
    """Values of positions: estimates where a player chooses, expectations where chance acts.

    A position is a state of the rules, or what a subclass makes of it.
    """

    def __init__(self, game: AnyGame, estimate: StateValue) -> None:
        self.game, self._estimate = game, estimate
        self._cache: dict[Any, float | None] = {}

    def position(self, state: Any, one: History, two: History) -> Any:
        """The position of a state with what both players have seen."""
        return state

    def before(self, match: Match, number: int) -> Any:
        """The position before an event of a match."""
        return match.state_before(number)

    def state(self, position: Any) -> Any:
        return position

    def play(self, position: Any, event: Event) -> Any:
        """The position after an event."""
        return self.game.play(position, *picks_of(event))

    def __call__(self, position: Any) -> float | None:
        """Player 1's expected score; None if there is no estimate."""
        if position not in self._cache:
            found = self._computed(position)
            if len(self._cache) > CACHED:
                self._cache.clear()
            self._cache[position] = found
        return self._cache[position]

    def _computed(self, position: Any) -> float | None:
        turn = self.game.turn(self.state(position))
        if isinstance(turn, Over):
            return 0.5 if turn.winner is None else 1.0 - turn.winner
        if isinstance(turn, Decide):
            return self._estimate(position)
        after = (((outcome,), odd) for outcome, odd in turn.odds.items())
        return self.average(position, after)

    def average(self, position: Any, after: Any) -> float | None:
        """The expected value over picks or outcomes with their probabilities."""
        total, turn = 0.0, self.game.turn(self.state(position))
        for picks, chance in after:
            value = self(self.play(position, _event(turn, picks)))
            if value is None:
                return None
            total += float(chance) * value
        return total


class HistoryValues(PositionValues):
    """Values in a game with hidden information: of a state with what both players have seen."""

    def position(self, state: Any, one: History, two: History) -> Any:
        return state, one, two

    def before(self, match: Match, number: int) -> Any:
        return match.state_before(number), match.history(0, number), match.history(1, number)

    def state(self, position: Any) -> Any:
        return position[0]

    def play(self, position: Any, event: Event) -> Any:
        state, one, two = position
        seen = [self.game.redact(state, event, player) for player in (0, 1)]
        return self.game.play(state, *picks_of(event)), (*one, seen[0]), (*two, seen[1])


def _event(turn: Decide | Chance | Over, picks: tuple[Move, ...]) -> Event:
    """The event of picks or of an outcome."""
    assert not isinstance(turn, Over)
    if isinstance(turn, Chance):
        return Outcome(picks[0], turn.by)
    return Pick(tuple(zip(sorted(turn.options), picks, strict=True)))


def aivat_score(
    match: Match, strategies: Sequence[StrategyOf], values: PositionValues
) -> float | None:
    """Player 1's AIVAT score of a finished match; None if a value is not known."""
    result = match.result
    assert result is not None, "a match without a result has no score"
    score = 0.5 if result.winner is None else 1.0 - result.winner
    for number in match.line:
        entry = match.events[number]
        if not isinstance(entry, Outcome | Pick):
            continue  # a timeout or a forfeit is not luck
        position = values.before(match, number)
        if isinstance(entry, Outcome):
            before = values(position)
        else:
            known = [
                _checked_strategy(strategies[player], match.view_before(number, player), move)
                for player, move in entry.moves
            ]
            if all(len(strategy) == 1 for strategy in known):
                continue
            before = values.average(position, joint_picks(known))
        after = values(values.play(position, entry))
        if before is None or after is None:
            return None
        score -= after - before
    return score


def _checked_strategy(strategy_of: StrategyOf, view: View, played: Move) -> MixedStrategy:
    """A player's mixed strategy; the played move for certain if it is unknown or invalid."""
    strategy = strategy_of(view)
    if strategy is None or not strategy.get(played):
        return {played: 1.0}
    valid = all(move in view.options and 0 <= chance < inf for move, chance in strategy.items())
    return strategy if valid else {played: 1.0}


def joint_picks(strategies: Sequence[MixedStrategy]) -> list[tuple[tuple[Move, ...], float]]:
    """All combinations of moves under the deciders' mixed strategies, with probabilities."""
    parts: list[tuple[tuple[Move, ...], float]] = [((), 1.0)]
    for strategy in strategies:
        whole = sum(strategy.values())
        parts = [
            ((*before, move), chance * part / whole)
            for before, chance in parts
            for move, part in strategy.items()
            if part
        ]
    return parts


class Baseline(NamedTuple):
    """The value function of AIVAT, and the solution that it comes from."""

    values: PositionValues
    solution: Solution


@lru_cache(maxsize=64)
def baseline_of(game: AnyGame, players: tuple[str, str]) -> Baseline | None:
    """The value function of a game; None if the game is not solved and would take long to solve.

    It does not depend on which games this process has played before.
    """
    from duels.algorithms.backward_induction import BackwardInduction
    from duels.algorithms.solutions import solve, solver_of
    from duels.algorithms.table_solution import SMALL

    try:
        if solver_of(game) is BackwardInduction:
            solution: Solution = BackwardInduction(game, largest=SMALL, use_tables=False)
        elif solver_of(game).quick(game):
            solution = solve(game)
        else:
            return None
    except DuelsError:
        return None
    if solution.open_hands:
        scores = solution.expected_score
        return Baseline(HistoryValues(game, lambda position: scores(*position)), solution)
    return Baseline(PositionValues(game, lambda state: solution.estimate(state, players)), solution)


def _regrets(
    match: Match, solution: Solution
) -> tuple[tuple[float, float], tuple[int, int]] | tuple[None, None]:
    """By player: the total regret of the moves that can be graded, and their number."""
    regret, graded = [0.0, 0.0], [0, 0]
    for number in match.line:
        entry = match.events[number]
        for player, move in entry.moves if isinstance(entry, Pick) else ():
            found = solution.assess(match.view_before(number, player)).regret(move)
            if found is not None:
                regret[player] += float(found) if found > NOISE else 0.0
                graded[player] += 1
    return ((regret[0], regret[1]), (graded[0], graded[1])) if any(graded) else (None, None)
