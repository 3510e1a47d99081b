"""The solution interface: the value of each position of a game and of each move in it.

Values are in the unit of the game (`duels.core.payoffs`): expected scores, or expected payoffs. A
`Solution` looks values up at choices; everything else follows from the rules: chance is an
average, a turn is a best move, a sealed choice is a matrix game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from duels.algorithms.estimate import Estimate
from duels.core.errors import DuelsError
from duels.core.game import AnyGame, Chance, Decide, History, Move, Over
from duels.core.match import Match
from duels.core.payoffs import Unit, unit_of
from duels.core.player import MixedStrategy, View

Value = Fraction | float
HALF = Fraction(1, 2)
ROUNDING = 1e-12  # of values that are floats
Progress = Callable[[float, str], None]  # the part done, from 0 to 1, and what is being done


class Unsolved(DuelsError):
    """A game or variant that cannot be solved here; the message says why."""


class SolveArguments(NamedTuple):
    """Arguments of `duels solve`; None if not given."""

    path: str | None = None  # of the table
    minutes: float | None = None
    jobs: int | None = None  # runs in parallel


class Assessment(NamedTuple):
    """Values of a player's choice: Player 1's, whichever player chooses, in the game's unit.

    None stands for what is not known; that happens only where values are approximate. A value that
    was measured is an `Estimate`, which has a standard error.
    """

    player: int
    value: Value | None
    options: Mapping[Move, Value | None]
    mixed_strategy: MixedStrategy  # how perfect play chooses
    rough: bool = False  # `mixed_strategy` is a heuristic, since perfect play is not known here
    total: int = 1  # the values of both players add up to this (`duels.core.payoffs.Unit`)

    def worth(self, move: Move) -> Value | None:
        """What a move is worth to the player who chooses."""
        value = self.options[move]
        return value if value is None or self.player == 0 else self.total - value

    @property
    def best(self) -> Value | None:
        """The most that a move is known to be worth to the player who chooses."""
        return max(
            (worth for worth in map(self.worth, self.options) if worth is not None), default=None
        )

    def regret(self, move: Move) -> Value | None:
        """Expected score given away by a move. What perfect play may choose is never wrong."""
        if move in self.mixed_strategy and not self.rough:
            return 0
        best, worth = self.best, self.worth(move)
        return None if best is None or worth is None else best - worth

    @property
    def random_regret(self) -> Value | None:
        """The expected regret of a random move."""
        regrets = [self.regret(move) for move in self.options]
        known = [regret for regret in regrets if regret is not None]
        return sum(known) / len(known) if known and len(known) == len(regrets) else None


class LearnedResponse(Protocol):
    """A response to an approximate strategy, with its score in new games."""

    score: Estimate

    def mixed_strategy(self, view: View) -> MixedStrategy:
        """The probability of each move."""


class Solution:
    """The values of one game. Subclasses define the values of choices (`decision_value`)."""

    approximate: bool = False
    sampled: bool = False  # values are estimates with an error
    open_hands: bool = False  # `value_at` uses what is hidden from the players
    learns_responses: bool = False  # whether `learn_response` is implemented
    # Where values are approximate: a best responder gained this much, both seats together, so the
    # strategy can be exploited by at least that. None: it was not measured. `own_bound` is what the
    # responder of this package gained; a separate implementation may have gained more.
    bound: float | None = None
    own_bound: float | None = None
    at_most: float | None = None  # no player gains more, both seats together; certified
    missing: str = ""  # why a value may not be known

    def __init__(self, game: AnyGame, progress: Progress | None = None) -> None:
        self.game = game

    @cached_property
    def unit(self) -> Unit:
        """The unit of values."""
        return unit_of(self.game)

    @classmethod
    def quick(cls, game: AnyGame) -> bool:
        """Whether the solution is available without a long computation."""
        return True

    @classmethod
    def rebuild(cls, game: AnyGame, progress: Progress, given: SolveArguments) -> dict[str, Any]:
        """Solve again, write the table if there is one, and return the figures of the result."""
        if given != SolveArguments():
            raise Unsolved(
                f"{game.slug} is solved without a table; omit --out, --minutes and --jobs"
            )
        return {"value": cls(game, progress).start_value()}

    @property
    def caveat(self) -> str | None:
        """A sentence about the precision of approximate values; None if values are exact."""
        if not self.approximate:
            return None
        if self.bound is None:
            return "Approximate: it was not measured how far the strategy can be exploited."
        if self.at_most is None:
            most = "; no certified upper bound is known"
        else:
            most = f" and at most {self.at_most:.4f} (certified)"
        least = f"at least {self.bound:.4f}{self.bound_source}"
        return f"Approximate: the strategy is exploitable by {least}{most}."

    @property
    def measured_gain(self) -> str:
        """What best responses gain against the strategy, in words; empty: not measured exactly."""
        return ""

    def bounds(self) -> dict[str, float | None]:
        """How far an approximate strategy can be exploited, as plain data."""
        return {"bound": self.bound, "own_bound": self.own_bound, "at_most": self.at_most}

    @property
    def bound_source(self) -> str:
        """What measured `bound`, in brackets; nothing if it was the responder of this package."""
        if self.bound == self.own_bound:
            return ""
        own = ""
        if self.own_bound is not None:
            own = f"; this package's responder gains {self.own_bound:.4f}"
        return f" (measured by a separate implementation{own})"

    def response_scores(self) -> tuple[float, float] | None:
        """What a response to this strategy is known to score in each seat; None: not measured."""
        return None

    def learn_response(
        self, seat: int, seconds: float | None, progress: Progress | None = None
    ) -> LearnedResponse:
        """A response to this strategy in one seat, learned for so many seconds."""
        raise Unsolved(f"no response to the solution of {self.game.slug} can be trained")

    def expected_score(self, state: Any, one: History, two: History) -> float | None:
        """Player 1's expected score after a history, a win counting 1; only with `open_hands`."""
        raise NotImplementedError

    def decision_value(self, state: Any) -> Value:
        """The value of a state in which a player chooses."""
        raise NotImplementedError

    def distance(self, state: Any) -> int | None:
        """Choices left until the end under perfect play, where that is known."""
        return None

    def state(self, view: View) -> Any:
        """The state of a view, in games without hidden information."""
        return view.observation

    def value(self, state: Any) -> Value:
        """Player 1's value of any state: known at choices, and an average at chance."""
        turn = self.game.turn(state)
        if isinstance(turn, Over):
            return self.unit.end(turn)
        if isinstance(turn, Decide):
            return self.decision_value(state)
        total: Value = sum(
            odd * self.value(self.game.play(state, outcome)) for outcome, odd in turn.odds.items()
        )
        return total

    def start_value(self) -> Value:
        """Player 1's value at the start of the game."""
        return self.value(self.game.start())

    def value_at(self, match: Match, number: int | None = None) -> Value | None:
        """The value of a match now, or before an event; None if it is not known."""
        return self.value(match.state if number is None else match.state_before(number))

    def estimate(self, state: Any, players: tuple[str, str]) -> float | None:
        """An estimate of Player 1's score where a player chooses, with open hands; None if unknown.

        `players` are the names of the players. It is used where the quality of the estimate does
        not affect correctness, as in luck adjustment. Where wins pay differently, it is the part of
        the possible payoffs.
        """
        return self.unit.part(self.value(state))

    def assess(self, view: View) -> Assessment:
        """The values of a player's options, from the view of that player."""
        assert view.player is not None, "a spectator has no choice"
        return self.assess_state(self.state(view), view.player)

    def measured(self, view: View, played: Move | None = None) -> Assessment:
        """As `assess`, but values that are not stored are measured now, which may take seconds.

        The move that was `played` is measured more precisely.
        """
        return self.assess(view)

    def dominated(self, view: View, choice: Assessment) -> frozenset[Move]:
        """The dominated moves of a choice (`duels.algorithms.dominance`).

        Also, in turn-based choices, a move that has no effect other than ending the turn and has
        the lowest value; in simultaneous choices, a move that is never worth more than some other
        move. Moves of perfect play are never among them.
        """
        from duels.algorithms.dominance import dominated, dominated_rows

        player, state = choice.player, self.state(view)
        turn = self.game.turn(state)
        assert isinstance(turn, Decide), "a player chooses here"
        if len(turn.options) == 2:
            matrix = self.payoffs(state, turn)
            if player == 1:
                matrix = [[-value for value in column] for column in zip(*matrix, strict=True)]
            found = frozenset(turn.options[player][k] for k in dominated_rows(matrix, ROUNDING))
        else:
            found = dominated(self.game, [state], player) | self._idle(state, choice)
        return found.difference(choice.mixed_strategy)

    def _idle(self, state: Any, choice: Assessment) -> frozenset[Move]:
        """The moves that do what running out of time does, if no other move is worth less."""
        if self.game.timeout_move is None:
            return frozenset()
        nothing = self.game.play(state, self.game.timeout_move)
        worth = {move: choice.worth(move) or 0 for move in choice.options}
        least = [move for move in worth if worth[move] == min(worth.values())]
        return frozenset(move for move in least if self.game.play(state, move) == nothing)

    def assess_state(self, state: Any, player: int) -> Assessment:
        """The values of a player's options in a state of which nothing is hidden."""
        turn = self.game.turn(state)
        if isinstance(turn, Chance | Over) or player not in turn.options:
            raise Unsolved(f"it is not Player {player + 1}'s choice")
        if len(turn.options) == 2:
            return self._assess_sealed(state, turn, player)
        choice = self.assess_turn(state, player, turn.options[player])
        optimal = self.preferred(state, player, list(choice.mixed_strategy))
        return choice._replace(mixed_strategy={move: 1.0 / len(optimal) for move in optimal})

    def assess_turn(self, state: Any, player: int, options: tuple[Move, ...]) -> Assessment:
        """The assessment of one player's choice; all optimal moves are equally likely."""
        values = {move: self.value(self.game.play(state, move)) for move in options}
        best = max(values.values()) if player == 0 else min(values.values())
        optimal = [move for move in values if values[move] == best]
        strategy = {move: 1 / len(optimal) for move in optimal}
        return Assessment(player, best, values, strategy, total=self.unit.total)

    def preferred(self, state: Any, player: int, optimal: list[Move]) -> list[Move]:
        """Of equally good moves, those that win soonest or hold out longest, then gain most."""
        if len(optimal) == 1:
            return optimal
        seen = self.game.observe(state, player)
        gains = {move: self.game.gain(seen, player, move) for move in optimal}
        lasting = self._lasting(state, player, optimal)
        top = max(gains[move] for move in lasting)
        return [move for move in lasting if gains[move] == top]

    def _lasting(self, state: Any, player: int, optimal: list[Move]) -> list[Move]:
        ends = {move: self.distance(self.game.play(state, move)) for move in optimal}
        known = {move: steps for move, steps in ends.items() if steps is not None}
        if len(known) < len(optimal):
            return optimal
        best = self.value(self.game.play(state, optimal[0]))
        won = best == self.unit.highest if player == 0 else best == self.unit.lowest
        target = min(known.values()) if won else max(known.values())
        return [move for move in optimal if known[move] == target]

    def payoffs(self, state: Any, turn: Decide) -> list[list[float]]:
        """A sealed choice as a matrix: Player 1 chooses the row, Player 2 the column."""
        return [
            [float(self.value(self.game.play(state, one, two))) for two in turn.options[1]]
            for one in turn.options[0]
        ]

    def _assess_sealed(self, state: Any, turn: Decide, player: int) -> Assessment:
        from duels.algorithms.matrix_game import solve_matrix

        payoffs = self.payoffs(state, turn)
        found = solve_matrix(payoffs)
        rows, columns = turn.options[0], turn.options[1]
        if player == 0:
            worth = [
                sum(p * v for p, v in zip(found.column_strategy, row, strict=True))
                for row in payoffs
            ]
            values = dict(zip(rows, worth, strict=True))
            strategy = dict(zip(rows, found.row_strategy, strict=True))
        else:
            worth = [
                sum(p * row[j] for p, row in zip(found.row_strategy, payoffs, strict=True))
                for j in range(len(columns))
            ]
            values = dict(zip(columns, worth, strict=True))
            strategy = dict(zip(columns, found.column_strategy, strict=True))
        strategy = {move: p for move, p in strategy.items() if p > 0}
        return Assessment(player, found.value, values, strategy, total=self.unit.total)
