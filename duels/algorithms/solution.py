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
from duels.core.game import AnyGame, Chance, Decide, Move, Over
from duels.core.match import Match
from duels.core.payoffs import Unit, unit_of
from duels.core.player import MixedStrategy, View

Value = Fraction | float
HALF = Fraction(1, 2)
Progress = Callable[[float, str], None]  # the part done, from 0 to 1, and what is being done


class Unsolved(DuelsError):
    """A game or variant whose values cannot be had here; the message says why."""


class Assessment(NamedTuple):
    """Values of a player's choice: Player 1's, whichever player chooses, in the game's unit.

    None stands for what is not known; that happens only where values are approximate. A value that
    was measured is an `Estimate`, which knows its error.
    """

    player: int
    value: Value | None
    options: Mapping[Move, Value | None]
    mixed_strategy: MixedStrategy  # how perfect play chooses
    rough: bool = False  # `mixed_strategy` is a rule of thumb, as perfect play is not known here
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
        """What a player choosing at random would give away here, on average."""
        regrets = [self.regret(move) for move in self.options]
        known = [regret for regret in regrets if regret is not None]
        return sum(known) / len(known) if known and len(known) == len(regrets) else None


class LearnedResponse(Protocol):
    """A response to an approximate strategy, with its score in fresh games."""

    score: Estimate

    def mixed_strategy(self, view: View) -> MixedStrategy:
        """How likely it is to choose each move."""


class Solution:
    """The values of one game. A kind of solution says what is known at each choice."""

    approximate: bool = False
    sampled: bool = False  # values are estimates with an error
    open_hands: bool = False  # `value_at` sees what is hidden from the players
    learns_responses: bool = False  # whether `learn_response` serves
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
        """What values are counted in."""
        return unit_of(self.game)

    @classmethod
    def quick(cls, game: AnyGame) -> bool:
        """Whether the solution is there in a moment, without long work."""
        return True

    @classmethod
    def rebuild(
        cls,
        game: AnyGame,
        progress: Progress,
        path: str | None = None,
        minutes: float | None = None,
        jobs: int | None = None,
    ) -> dict[str, Any]:
        """Solve anew and say what came out; a solution that needs no table writes none."""
        if (path, minutes, jobs) != (None, None, None):
            raise Unsolved(f"{game.slug} is solved on the spot; there is no table to write")
        return {"value": cls(game, progress).start_value()}

    @property
    def caveat(self) -> str | None:
        """What to know before trusting approximate values, in a sentence; None: they are exact."""
        if not self.approximate:
            return None
        if self.bound is None:
            return "Approximate: how far the strategy can be exploited, no bound was measured."
        if self.at_most is None:
            most = "a certified upper bound is not known"
        else:
            most = f"by at most {self.at_most:.4f}, certified"
        least = f"at least {self.bound:.4f}{self.bound_source}"
        return f"Approximate: the strategy is exploitable by {least}; {most}."

    def bounds(self) -> dict[str, float | None]:
        """How far an approximate strategy can be exploited, as plain data."""
        return {"bound": self.bound, "own_bound": self.own_bound, "at_most": self.at_most}

    @property
    def bound_source(self) -> str:
        """What measured `bound`, in brackets; nothing if it was the responder of this package."""
        if self.bound == self.own_bound:
            return ""
        own = "" if self.own_bound is None else f"; the responder here gains {self.own_bound:.4f}"
        return f" (measured by a separate implementation{own})"

    def response_scores(self) -> tuple[float, float] | None:
        """What a response to this strategy is known to score in each seat; None: not measured."""
        return None

    def learn_response(
        self, seat: int, seconds: float | None, progress: Progress | None = None
    ) -> LearnedResponse:
        """A response to this strategy in one seat, learned for so many seconds."""
        raise Unsolved(f"no response to the solution of {self.game.slug} can be learned")

    def known(self, state: Any) -> Value:
        """The value of a state in which a player chooses."""
        raise NotImplementedError

    def distance(self, state: Any) -> int | None:
        """Choices left until the end under perfect play, where that is known."""
        return None

    def state(self, view: View) -> Any:
        """The state a player is in: in these games nothing of it is hidden."""
        return view.observation

    def value(self, state: Any) -> Value:
        """Player 1's value of any state: known at choices, and an average at chance."""
        turn = self.game.turn(state)
        if isinstance(turn, Over):
            return self.unit.end(turn)
        if isinstance(turn, Decide):
            return self.known(state)
        total: Value = sum(
            odd * self.value(self.game.play(state, outcome)) for outcome, odd in turn.odds.items()
        )
        return total

    def start_value(self) -> Value:
        """Player 1's value before anything has happened."""
        return self.value(self.game.start())

    def value_at(self, match: Match, number: int | None = None) -> Value | None:
        """The value of where a match stands, or stood before an event; None: not known."""
        return self.value(match.state if number is None else match.state_before(number))

    def estimate(self, state: Any, players: tuple[str, str]) -> float | None:
        """An estimate of Player 1's score where a player chooses, with open hands; None if unknown.

        `players` are the names of who plays. For what stays right however good the estimate is, as
        taking luck out of a score does; where wins pay differently, payoffs are no scores.
        """
        return None if self.unit.pays else float(self.value(state))

    def assess(self, view: View) -> Assessment:
        """What a player's options are worth, from what that player sees."""
        assert view.player is not None, "a spectator has no choice"
        return self.assess_state(self.state(view), view.player)

    def measured(self, view: View, played: Move | None = None) -> Assessment:
        """As `assess`, and what that does not know is found out now, which may take a moment.

        The move that was `played` matters most.
        """
        return self.assess(view)

    def assess_state(self, state: Any, player: int) -> Assessment:
        """What a player's options are worth in a state of which nothing is hidden."""
        turn = self.game.turn(state)
        if isinstance(turn, Chance | Over) or player not in turn.options:
            raise Unsolved(f"it is not Player {player + 1}'s choice")
        if len(turn.options) == 2:
            return self._assess_sealed(state, turn, player)
        choice = self.assess_turn(state, player, turn.options[player])
        optimal = self.preferred(state, player, list(choice.mixed_strategy))
        return choice._replace(mixed_strategy={move: 1.0 / len(optimal) for move in optimal})

    def assess_turn(self, state: Any, player: int, options: tuple[Move, ...]) -> Assessment:
        """One player's choice, all its optimal moves equally likely."""
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
