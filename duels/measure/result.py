"""What came out: a policy's values by seat, its exploitability, and where it goes wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from duels.core.game import AnyGame, Move
from duels.core.show import player_name
from duels.core.wire import dump_observation
from duels.measure.graph import POLICY
from duels.measure.plain import Walk
from duels.measure.policies import Asked, Inconsistent
from duels.measure.walking import optimal_values
from duels.solve.estimate import CONFIDENCE, error_of, estimated

if TYPE_CHECKING:
    from duels.measure.rows import Rows

# How far figures can be trusted, and what a seat's exploitability is measured from.
EXACT = "exact"
SELF_PLAY = "exact, from self-play"  # hidden hands: from what the policy scores against itself
LOWER_BOUND = "lower bound"  # likewise, and the responder was learned: a better one may exist
SAMPLED = "sampled lower bound"  # of who does not say its mix (`duels.measure.sampled`)
BOUNDS = (LOWER_BOUND, SAMPLED)  # values that are measured, with an interval
SHOWN = 5  # of the worst positions
FORMAT, VERSION = "duels exploitability", 1  # of the JSON
NOTHING = 1e-9  # a regret below this is not worth showing
ROUNDING = 1e-12  # an exploitability below this is none
TOLERANCE = 1e-6  # by which the solution's and the response's figures may miss each other
BARE = (
    "The policy is a bare function and was asked with raw observations. One that learned in an "
    "environment is measured as env.policy(function)."
)


class Position(NamedTuple):
    """A position in which the policy chooses, and what its mix gives away there.

    `regret` is the expected score lost to the best answer to this mix when both play perfectly
    afterwards. `visits` is how often a game against the best response comes here, so `cost` is what
    this position adds to the exploitability.
    """

    seat: int
    state: Any
    mix: Mapping[Move, float]
    perfect: Mapping[Move, float]
    regret: float
    visits: float

    @property
    def cost(self) -> float:
        return self.regret * self.visits


class Seat:
    """What is known of a policy in one seat. Values are the policy's own expected score."""

    def __init__(
        self, game: AnyGame, seat: int, optimal: float, against_perfect: float | None,
        against_best: float, walk: Walk | Rows | None = None, asked: Asked | None = None,
    ) -> None:  # fmt: skip
        self.game, self.seat, self.walk = game, seat, walk
        self.observations = None if asked is None else asked.observations()
        made = None if asked is None else asked.made
        # Whether the policy's environment never had its agent in this seat.
        self.unused = made is not None and made.seat not in (None, seat)
        # What perfect play scores in this seat; with hidden hands, what the policy itself does.
        self.optimal = optimal
        self.value_vs_perfect = against_perfect
        self.value_vs_best_response = against_best

    @property
    def exploitability(self) -> float:
        """What the policy gives away at most, against whomever: 0 for perfect play."""
        found = self.optimal - self.value_vs_best_response
        return 0.0 if error_of(found) is None and abs(found) < ROUNDING else found

    def require_best(self) -> None:
        """Refuse a best response that does worse than perfect play, or the policy itself, would.

        Only a policy whose answers changed while it was measured makes such a figure.
        """
        others = [self.optimal, self.value_vs_perfect]
        least = min(other for other in others if other is not None)
        if self.value_vs_best_response > least + TOLERANCE:
            raise Inconsistent(
                f"as {player_name(self.seat)} it scores {self.value_vs_best_response:.6f} against "
                f"its best response and {least:.6f} against perfect play or itself, so its answers "
                "changed while it was measured"
            )

    @cached_property
    def regrets(self) -> Any:
        """Of all positions that the policy and any responder can reach, in order of discovery.

        Where the policy does not choose, it is what the opponent's best move brings: nothing.
        """
        return [] if self.walk is None else self.walk.regrets(optimal_values(self.walk))

    @cached_property
    def visits(self) -> Any:
        """How often a game against the best response comes to each of these positions."""
        return [] if self.walk is None or not len(self.walk) else self.walk.visits()

    def positions(self) -> Iterator[tuple[Any, float]]:
        """Every state in which the policy chooses, with its regret there."""
        for number, regret in enumerate(self.regrets):
            assert self.walk is not None
            if self.walk.graph.chooser[number] & POLICY:
                yield self.walk.state(number), float(regret)

    def worst(self, count: int = SHOWN) -> list[Position]:
        """Those that cost most; of those that cost nothing, the largest regrets."""
        if self.walk is None:
            return []
        chooser, regrets, visits = self.walk.graph.chooser, self.regrets, self.visits
        numbers = sorted(
            (n for n in _largest(regrets, visits, count) if chooser[n] & POLICY),
            key=lambda n: (-_cost(regrets[n], visits[n]), -regrets[n]),
        )[:count]
        return [self._position(int(number)) for number in numbers]

    def _position(self, number: int) -> Position:
        from duels.solve import solve

        assert self.walk is not None
        state = self.walk.state(number)
        perfect = solve(self.game).assess_state(state, self.seat).mix
        regret, visits = float(self.regrets[number]), float(self.visits[number])
        return Position(self.seat, state, self.walk.mix(number), perfect, regret, visits)


def _cost(regret: float, visits: float) -> float:
    cost = float(regret * visits)
    return cost if cost > NOTHING else 0.0


def _largest(regrets: Any, visits: Any, count: int) -> list[int]:
    """Numbers among which the worst are; of an array only those that may be, found at once."""
    if isinstance(regrets, list):
        return [number for number, regret in enumerate(regrets) if regret > NOTHING]
    costs, some = regrets * visits, min(count, len(regrets))
    found: set[int] = set((-costs).argpartition(some - 1)[:some].tolist())
    found |= set((-regrets).argpartition(some - 1)[:some].tolist())
    return [number for number in sorted(found) if regrets[number] > NOTHING]


class Exploitability:
    """How good a policy is: values by seat, the first number of a pair being Player 1's.

    `kind` says how far the figures can be trusted: `exact`; `exact, from self-play` in a small game
    with hidden hands; `lower bound` where a responder had to be learned and a better one may exist;
    or `sampled lower bound` of a player that does not say its mix. In the last two, values are
    estimates that know their error.
    """

    def __init__(
        self, game: AnyGame, seats: tuple[Seat, Seat], kind: str = EXACT,
        at_most: float | None = None, note: str = "",
    ) -> None:  # fmt: skip
        self.game, self.seats, self.kind = game, seats, kind
        self.note = note  # how it was measured, where that is not always the same
        self.at_most = at_most  # a certified upper bound of `total`; None: there is none

    @property
    def value_vs_perfect(self) -> tuple[float | None, float | None]:
        return self.seats[0].value_vs_perfect, self.seats[1].value_vs_perfect

    @property
    def value_vs_best_response(self) -> tuple[float, float]:
        return self.seats[0].value_vs_best_response, self.seats[1].value_vs_best_response

    @property
    def exploitability(self) -> tuple[float, float]:
        return self.seats[0].exploitability, self.seats[1].exploitability

    @property
    def total(self) -> float:
        """Both seats together, which the field also calls NashConv (of scores from 0 to 1)."""
        return sum(self.exploitability)

    def worst(self, count: int = SHOWN) -> list[Position]:
        """The positions of both seats that cost most."""
        found = [position for seat in self.seats for position in seat.worst(count)]
        return sorted(found, key=lambda p: (-_cost(p.regret, p.visits), -p.regret))[:count]

    def to_json(self, count: int = SHOWN) -> dict[str, Any]:
        """Plain data; a figure under the key "1" or "2" is that of the policy as that player."""

        def both(values: tuple[float | None, float | None]) -> dict[str, float | None]:
            return {str(seat + 1): None if v is None else float(v) for seat, v in enumerate(values)}

        data: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "game": self.game.slug,
            "options": self.game.settings(),
            "kind": self.kind,
            "observations": {str(seat.seat + 1): seat.observations for seat in self.seats},
            "optimal": both((self.seats[0].optimal, self.seats[1].optimal)),
            "value_vs_perfect": both(self.value_vs_perfect),
            "value_vs_best_response": both(self.value_vs_best_response),
            "exploitability": both(self.exploitability),
            "total": float(self.total),
            "worst": [self._told(position) for position in self.worst(count)],
        }
        if self.note:
            data["note"] = self.note
        if self.kind in BOUNDS:
            errors = [CONFIDENCE * (error_of(v) or 0.0) for v in self.value_vs_best_response]
            data["interval"] = {str(seat + 1): half for seat, half in enumerate(errors)}
            data["total_interval"] = CONFIDENCE * (error_of(self.total) or 0.0)
            data["at_most"] = self.at_most
        return data

    def _asked(self) -> list[str]:
        """What a reader must know of the observations that a policy over arrays was given."""
        lines = []
        told = {seat.seat: seat.observations for seat in self.seats if seat.observations}
        if any(not found["declared"] for found in told.values()):
            lines.append(BARE)
        for seat, found in told.items():
            if found["declared"]:
                scaled = "normalized" if found["normalize"] else "raw"
                memory = " with memory" if found["memory"] else ""
                lines.append(
                    f"As {player_name(seat)} the policy was asked with {scaled} observations"
                    f"{memory}, as its environment gives them."
                )
        lines += [
            f"The policy's environment never has its agent as {player_name(seat.seat)}."
            for seat in self.seats if seat.unused
        ]  # fmt: skip
        return ["", *lines] if lines else []

    def _told(self, position: Position) -> dict[str, Any]:
        seen = self.game.observe(position.state, position.seat)
        return {
            "player": position.seat + 1,
            "position": dump_observation(self.game, seen)["fields"],
            "mix": dict(position.mix),
            "perfect": dict(position.perfect),
            "regret": position.regret,
            "visits": position.visits,
            "cost": position.cost,
        }

    def text(self, count: int = SHOWN, *, ascii_only: bool = False) -> list[str]:
        """A few lines for a reader."""

        def shown(value: float | None) -> str:
            if value is None:
                return "not known"
            if error_of(value) is None:
                return f"{round(value, 6) + 0.0:.6f}"  # and never -0
            return estimated(value, ascii_only=ascii_only)

        lines = []
        least = "at least " if self.kind in BOUNDS else ""
        known = self.kind == EXACT or (self.kind == SAMPLED and not self.game.private)
        who = "perfect play" if known else "against itself it"
        for seat in self.seats:
            lines += [
                f"{player_name(seat.seat)}: {who} scores {shown(seat.optimal)} in this seat",
                f"  against perfect play        {shown(seat.value_vs_perfect)}",
                f"  against its best response   {shown(seat.value_vs_best_response)}",
                f"  exploitable by              {least}{shown(seat.exploitability)}",
            ]
        if self.kind in BOUNDS:
            most = "no upper bound is known" if self.at_most is None else f"at most {self.at_most}"
            lines += [
                "", f"Both seats together: at least {shown(self.total)}; {most}.",
                self.note
                or "A lower bound: the responder was learned, and a better one may exist.",
            ]  # fmt: skip
        lines += self._asked()
        worst = self.worst(count)
        if worst:
            lines += ["", "Where it goes wrong, by what that costs against its best response:"]
        for position in worst:
            data = self._told(position)
            where = ", ".join(f"{name} {_plain(value)}" for name, value in data["position"].items())
            lines += [
                f"  {player_name(position.seat)}, {where}",
                f"    plays {_mixed(position.mix)}; perfect play {_mixed(position.perfect)}",
                f"    gives away {position.regret:.6f}, comes up {position.visits:.4f} x a game",
            ]
        return lines


def _plain(value: Any) -> str:
    if isinstance(value, list):
        inner = (f"({_plain(v)})" if isinstance(v, list) else _plain(v) for v in value)
        return " ".join(inner)
    return "-" if value is None else str(value)


def _mixed(mix: Mapping[Move, float]) -> str:
    return ", ".join(f"{move} {100 * p:.1f} %" for move, p in mix.items() if p > 0)
