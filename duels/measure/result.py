"""Results of a measurement: values by seat, exploitability and the worst positions of a policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from duels.algorithms.best_response import Enumeration
from duels.algorithms.estimate import CONFIDENCE, error_of, estimated, gain
from duels.algorithms.response_graph import POLICY
from duels.core.game import AnyGame, Move
from duels.core.payoffs import unit_of
from duels.core.player import View
from duels.core.presentation import Shared, player_name
from duels.core.views import position_of
from duels.core.wire import dump_observation
from duels.measure.dispatch import optimal_values
from duels.measure.policies import Inconsistent, QueriedPolicy

if TYPE_CHECKING:
    from duels.measure.compiled_enumeration import CompiledEnumeration

# The kind of a result: its accuracy, and what a seat's exploitability is relative to.
EXACT = "exact"
SELF_PLAY = "exact, from self-play"  # hidden hands: relative to the policy against itself
LOWER_BOUND = "lower bound"  # likewise, and the responder was learned: a better one may exist
SAMPLED = "sampled lower bound"  # players without known probabilities (`duels.measure.sampled`)
BOUNDS = (LOWER_BOUND, SAMPLED)  # kinds whose values are estimates with an interval
SHOWN = 5  # of the worst positions
FORMAT, VERSION = "duels exploitability", 1  # of the JSON
NOTHING = 1e-9  # smaller regrets are not shown
ROUNDING = 1e-12  # a smaller exploitability is 0
TOLERANCE = 1e-6  # allowed difference between the solution's and the response's values
BARE = (
    "The policy is a plain function and was given raw observations. If it was trained in an "
    "environment, measure env.policy(function) instead."
)


class PositionRegret(NamedTuple):
    """A position in which the policy chooses, with the policy's regret there.

    `regret` is the expected score lost to the best answer to the policy's mixed strategy when both
    play perfectly afterwards. `visits` is the expected number of visits in a game against the best
    response, so `cost` is what this position contributes to the exploitability.
    """

    seat: int
    state: Any
    mixed_strategy: Mapping[Move, float]
    perfect: Mapping[Move, float]
    regret: float
    visits: float

    @property
    def cost(self) -> float:
        return self.regret * self.visits


class SeatResult:
    """The result of a policy in one seat. Values are the policy's own expected score."""

    def __init__(
        self, game: AnyGame, seat: int, optimal: float, against_perfect: float | None,
        against_best: float, enumeration: Enumeration | CompiledEnumeration | None = None,
        policy: QueriedPolicy | None = None,
    ) -> None:  # fmt: skip
        self.game, self.seat, self.enumeration = game, seat, enumeration
        self.observations = None if policy is None else policy.observations()
        made = None if policy is None else policy.made
        # Whether the policy's environment never had its agent in this seat.
        self.unused = made is not None and made.seat not in (None, seat)
        # What perfect play scores in this seat; with hidden hands, the policy against itself.
        self.optimal = optimal
        self.value_vs_perfect = against_perfect
        self.value_vs_best_response = against_best

    @property
    def exploitability(self) -> float:
        """The largest loss to any opponent, relative to `optimal`: 0 for perfect play."""
        found = self.optimal - self.value_vs_best_response
        return 0.0 if error_of(found) is None and abs(found) < ROUNDING else found

    def require_best(self) -> None:
        """Raise `Inconsistent` if the best response does worse than perfect play or the policy.

        Only a policy whose answers changed during the measurement has such values.
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
        """The regrets in all positions that can be reached, in order of discovery.

        They are 0 where the policy does not choose.
        """
        if self.enumeration is None:
            return []
        found = self.enumeration.regrets(optimal_values(self.enumeration))
        unit = unit_of(self.game)
        return [unit.span * regret for regret in found] if unit.pays else found

    @cached_property
    def visits(self) -> Any:
        """The expected visits to each of these positions in a game against the best response."""
        return (
            []
            if self.enumeration is None or not len(self.enumeration)
            else self.enumeration.visits()
        )

    def positions(self) -> Iterator[tuple[Any, float]]:
        """Every state in which the policy chooses, with its regret there."""
        for number, regret in enumerate(self.regrets):
            assert self.enumeration is not None
            if self.enumeration.graph.chooser[number] & POLICY:
                yield self.enumeration.state(number), float(regret)

    def worst(self, count: int = SHOWN) -> list[PositionRegret]:
        """The positions with the largest cost; among those without cost, the largest regrets."""
        if self.enumeration is None:
            return []
        chooser, regrets, visits = self.enumeration.graph.chooser, self.regrets, self.visits
        numbers = sorted(
            (n for n in _largest(regrets, visits, count) if chooser[n] & POLICY),
            key=lambda n: (-_cost(regrets[n], visits[n]), -regrets[n]),
        )[:count]
        return [self._position(int(number)) for number in numbers]

    def _position(self, number: int) -> PositionRegret:
        from duels.algorithms import solve

        assert self.enumeration is not None
        state = self.enumeration.state(number)
        perfect = solve(self.game).assess_state(state, self.seat).mixed_strategy
        regret, visits = float(self.regrets[number]), float(self.visits[number])
        return PositionRegret(
            self.seat, state, self.enumeration.mixed_strategy(number), perfect, regret, visits
        )


def _cost(regret: float, visits: float) -> float:
    cost = float(regret * visits)
    return cost if cost > NOTHING else 0.0


def _largest(regrets: Any, visits: Any, count: int) -> list[int]:
    """Numbers of positions that include the worst; for arrays a short list, by partition."""
    if isinstance(regrets, list):
        return [number for number, regret in enumerate(regrets) if regret > NOTHING]
    costs, some = regrets * visits, min(count, len(regrets))
    found: set[int] = set((-costs).argpartition(some - 1)[:some].tolist())
    found |= set((-regrets).argpartition(some - 1)[:some].tolist())
    return [number for number in sorted(found) if regrets[number] > NOTHING]


class Exploitability:
    """The exploitability of a policy: values by seat, Player 1's first.

    `kind` is the accuracy of the figures: `exact`; `exact, from self-play` in a small game with
    hidden hands; `lower bound` if the responder was learned and a better one may exist; or `sampled
    lower bound` for a player without known probabilities. The last two have estimates with errors.
    """

    def __init__(
        self, game: AnyGame, seats: tuple[SeatResult, SeatResult], kind: str = EXACT,
        at_most: float | None = None, note: str = "",
    ) -> None:  # fmt: skip
        self.game, self.seats, self.kind = game, seats, kind
        self.note = note  # how it was measured, where that varies
        self.at_most = at_most  # a certified upper bound of `total`, if any

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
        """The sum over both seats, also called NashConv (of scores from 0 to 1, or of payoffs)."""
        return sum(self.exploitability)

    def worst(self, count: int = SHOWN) -> list[PositionRegret]:
        """The positions of both seats with the largest cost."""
        found = [position for seat in self.seats for position in seat.worst(count)]
        return sorted(found, key=lambda p: (-_cost(p.regret, p.visits), -p.regret))[:count]

    def to_json(self, count: int = SHOWN) -> dict[str, Any]:
        """JSON values; the keys "1" and "2" are the policy as that player."""

        def both(values: tuple[float | None, float | None]) -> dict[str, float | None]:
            return {str(seat + 1): None if v is None else float(v) for seat, v in enumerate(values)}

        data: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "game": self.game.slug,
            "options": self.game.settings(),
            **({"unit": unit_of(self.game).name} if unit_of(self.game).pays else {}),
            "kind": self.kind,
            "observations": {str(seat.seat + 1): seat.observations for seat in self.seats},
            "optimal": both((self.seats[0].optimal, self.seats[1].optimal)),
            "value_vs_perfect": both(self.value_vs_perfect),
            "value_vs_best_response": both(self.value_vs_best_response),
            "exploitability": both(self.exploitability),
            "total": float(self.total),
            "worst": [self._position_json(position) for position in self.worst(count)],
        }
        if self.note:
            data["note"] = self.note
        if self.kind in BOUNDS:
            errors = [CONFIDENCE * (error_of(v) or 0.0) for v in self.value_vs_best_response]
            data["interval"] = {str(seat + 1): half for seat, half in enumerate(errors)}
            data["total_interval"] = CONFIDENCE * (error_of(self.total) or 0.0)
            data["at_most"] = self.at_most
        return data

    def _observation_notes(self) -> list[str]:
        """Notes on the observations that a policy over arrays was given."""
        lines = []
        by_seat = {seat.seat: seat.observations for seat in self.seats if seat.observations}
        if any(not found["declared"] for found in by_seat.values()):
            lines.append(BARE)
        for seat, found in by_seat.items():
            if found["declared"]:
                scaled = "normalized" if found["normalize"] else "raw"
                memory = " with memory" if found["memory"] else ""
                lines.append(
                    f"As {player_name(seat)} the policy was given {scaled} observations{memory}, "
                    "as in its environment."
                )
        lines += [
            f"In the policy's environment the agent is never {player_name(seat.seat)}."
            for seat in self.seats if seat.unused
        ]  # fmt: skip
        return ["", *lines] if lines else []

    def _position_json(self, position: PositionRegret) -> dict[str, Any]:
        seen = self.game.observe(position.state, position.seat)
        return {
            "player": position.seat + 1,
            "position": dump_observation(self.game, seen)["fields"],
            "mix": dict(position.mixed_strategy),
            "perfect": dict(position.perfect),
            "regret": position.regret,
            "visits": position.visits,
            "cost": position.cost,
        }

    def _where(self, position: PositionRegret) -> str:
        """A position as one line: as clients show it, or the fields of the observation."""
        seen = self.game.observe(position.state, position.seat)
        if shown := position_of(View(self.game, Shared(position.seat), seen, (), ())):
            return "; ".join(shown)
        fields = dump_observation(self.game, seen)["fields"]
        return ", ".join(f"{name} {_plain(value)}" for name, value in fields.items())

    def text(self, count: int = SHOWN, *, ascii_only: bool = False) -> list[str]:
        """The result as lines of text."""

        def shown(value: float | None) -> str:
            if value is None:
                return "not known"
            if error_of(value) is None:
                return f"{round(value, 6) + 0.0:.6f}"  # + 0.0: never -0
            return estimated(value, ascii_only=ascii_only)

        lines = []
        least = "at least " if self.kind in BOUNDS else ""
        known = self.kind == EXACT or (self.kind == SAMPLED and not self.game.private)
        who = "perfect play" if known else "against itself it"
        unit = unit_of(self.game)
        scores = "is paid" if unit.pays else "scores"
        if unit.pays:
            lines.append(
                f"Values are expected payoffs; the most that a win pays is {unit.highest}."
            )
        for seat in self.seats:
            lines += [
                f"{player_name(seat.seat)}: {who} {scores} {shown(seat.optimal)} in this seat",
                f"  against perfect play        {shown(seat.value_vs_perfect)}",
                f"  against its best response   {shown(seat.value_vs_best_response)}",
                f"  exploitable by              {least}{shown(seat.exploitability)}",
            ]
        if self.kind in BOUNDS:
            most = "no upper bound is known" if self.at_most is None else f"at most {self.at_most}"
            lines += [
                "", f"Both seats together: at least {shown(self.total)}; {most}.",
                self.note
                or "A lower bound: the responder was trained, and a better one may exist.",
            ]  # fmt: skip
        if self.kind == SELF_PLAY:
            lines += [
                "",
                f"Both seats together: best responses gain {gain(self.total)} in {unit.name}, "
                "measured over all information states.",
            ]
        lines += self._observation_notes()
        worst = self.worst(count)
        if worst:
            lines += ["", "Where it goes wrong, costliest against its best response first:"]
        for position in worst:
            lines += [
                f"  {player_name(position.seat)} to choose. {self._where(position)}",
                f"    plays: {_mixed(position.mixed_strategy)}; "
                f"perfect play: {_mixed(position.perfect)}",
                f"    gives away {position.regret:.6f}, "
                f"occurs {position.visits:.4f} times per game",
            ]
        return lines


def _plain(value: Any) -> str:
    if isinstance(value, list):
        inner = (f"({_plain(v)})" if isinstance(v, list) else _plain(v) for v in value)
        return " ".join(inner)
    return "-" if value is None else str(value)


def _mixed(strategy: Mapping[Move, float]) -> str:
    return ", ".join(f"{move} {100 * p:.1f} %" for move, p in strategy.items() if p > 0)
