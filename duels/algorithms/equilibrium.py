"""Approximate equilibria of any game with hidden information, from its rules alone.

The information states are found (`infostate_tree`), CFR runs on them (`cfr`), and exact best
responses measure the exploitability of the result. A table has for each information state the value
and the probability of each move. It is stored in the user's data
directory, for the game, its options and the source of its rules, or ships with the game.

>>> from duels.games import load
>>> Equilibrium(load("cipher-siege"))  # doctest: +ELLIPSIS
Traceback (most recent call last):
duels.algorithms.infostate_tree.TooManyStates: cipher-siege has more than 300,000 information ...
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from duels.algorithms import tables
from duels.algorithms.cfr import Strategies, solve_tree
from duels.algorithms.estimate import ROUNDING, gain
from duels.algorithms.infostate_tree import InfostateTree, TooManyStates, events_of, picks_of
from duels.algorithms.solution import (
    Assessment,
    Progress,
    Solution,
    SolveArguments,
    Unsolved,
    Value,
)
from duels.core.game import AnyGame, Decide, Event, History, Move, Over
from duels.core.match import Match
from duels.core.payoffs import Unit, payoffs, unit_of
from duels.core.player import View

KIND = "equilibrium"
TARGET = 1e-5  # of the highest payoff: the exploitability at which solving ends
FINE = 1e-7  # the same for `duels solve`
SECONDS = 60.0  # after which solving ends in any case
SMALL = 1000  # information states that are found and solved in a moment; larger results are stored
FLOORS = (1e-2, 1e-3, 1e-4, 1e-6)  # probabilities that are rounded to 0, if nothing is lost by that
LOST = 1.1  # times the exploitability that rounding may cost
TREMBLE = 1e-6  # of uniform play, for beliefs where a strategy never leads


class SolvedState(NamedTuple):
    """One information state: the probability of each option, and its value to the player."""

    mixed_strategy: array[float]
    values: array[float]


class Equilibrium(Solution):
    """The values of a game when both players follow an approximate equilibrium.

    Values are known for what players have seen, and for the whole course of a match: the expected
    result from there, hidden information included, so that a deal is luck. A state alone has no
    value.
    """

    approximate = open_hands = True
    at_most: float
    missing = "the match has left the positions that choices lead to"

    def __init__(self, game: AnyGame, progress: Progress | None = None) -> None:
        super().__init__(game)
        table = tables.from_rules(game, KIND)
        if table is None:
            payload, facts = solved(game, progress)
            if facts["information states"] > SMALL:
                tables.keep(game, payload, KIND, facts)
            self.facts, self._rows = facts, Rows(memoryview(payload))
        else:
            self.facts, self._rows = table.facts, Rows(table.payload)
        self.bound = self.own_bound = self.at_most = self._in_unit(self.facts["exploitability"], 0)
        self._known: dict[tuple[Any, History, History, bool], float] = {}

    @classmethod
    def quick(cls, game: AnyGame) -> bool:
        return _is_small(game) or tables.from_rules(game, KIND) is not None

    @classmethod
    def rebuild(cls, game: AnyGame, progress: Progress, given: SolveArguments) -> dict[str, Any]:
        if given.jobs is not None:
            raise Unsolved(f"{game.slug} is solved on one core; omit --jobs")
        seconds = SECONDS if given.minutes is None else 60 * given.minutes
        payload, facts = solved(game, progress, target=FINE, seconds=seconds)
        table = None if given.path is not None else tables.from_rules(game, KIND)
        if table is not None and table.facts["exploitability"] < facts["exploitability"]:
            # The stored table is better than what was found in the time given.
            written, payload, facts = table.path, bytes(table.payload), table.facts
        else:
            path = given.path or tables.own_path(game)
            written = tables.store(game, payload, KIND, path, facts)
        unit = unit_of(game)
        return {
            "table": written,
            "bytes": len(payload),
            "information states": facts["information states"],
            f"value ({unit.name})": in_unit(facts["value"], unit),
            f"exploitability ({unit.name})": in_unit(facts["exploitability"], unit, 0),
        }

    @property
    def caveat(self) -> str:
        kind = "An equilibrium" if self.at_most < ROUNDING else "An approximate equilibrium"
        return f"{kind}: {self.measured_gain}, measured over all information states."

    @property
    def measured_gain(self) -> str:
        what = "" if self.at_most < ROUNDING else f" in {self.unit.name}"
        return f"best responses to it gain {gain(self.at_most)}{what}, both seats together"

    # Values. The table has payoffs: 1 for a plain win, -1 for a loss.

    def _in_unit(self, payoff: float, shift: int = 1) -> float:
        """A payoff as a value in the game's unit; with a shift of 0, a difference of payoffs."""
        return in_unit(payoff, self.unit, shift)

    def start_value(self) -> Value:
        return self._in_unit(self.facts["value"])

    def decision_value(self, state: Any) -> Value:
        raise Unsolved(
            "the value of a position with hidden information depends on which player sees it"
        )

    def value(self, state: Any) -> Value:
        turn = self.game.turn(state)
        return self.unit.end(turn) if isinstance(turn, Over) else self.decision_value(state)

    def estimate(self, state: Any, players: tuple[str, str]) -> float | None:
        return None

    def value_at(self, match: Match, number: int | None = None) -> Value | None:
        """The expected value of a match from here on, given all events; None: not known."""
        state = match.state if number is None else match.state_before(number)
        if state == self.game.start():
            return self.start_value()
        try:
            payoff = self._payoff(state, match.history(0, number), match.history(1, number))
        except Unsolved:
            return None
        return self._in_unit(payoff)

    def expected_score(self, state: Any, one: History, two: History) -> float | None:
        """Player 1's expected score after a history, a win counting 1 whatever it pays."""
        try:
            return (1 + self._payoff(state, one, two, plain=True)) / 2
        except Unsolved:
            return None

    def _payoff(self, state: Any, one: History, two: History, plain: bool = False) -> float:
        """Player 1's expected payoff after a history, as both players saw it.

        `plain`: as if every win paid 1.
        """
        turn = self.game.turn(state)
        if isinstance(turn, Over):
            return payoffs(turn._replace(payoff=1) if plain else turn)[0]
        key = state, one, two, plain
        found = self._known.get(key)
        if found is None:
            strategies: dict[int, dict[Move, float]] = {}
            for player, options in turn.options.items() if isinstance(turn, Decide) else ():
                row = self._row(player, (one, two)[player], len(options))
                strategies[player] = dict(zip(options, row.mixed_strategy, strict=True))
            found = 0.0
            for event, chance in events_of(turn):
                for player, move in getattr(event, "moves", ()):
                    chance *= strategies[player][move]
                if chance:
                    seen = [self.game.redact(state, event, player) for player in (0, 1)]
                    after = self.game.play(state, *picks_of(event))
                    found += chance * self._payoff(after, (*one, seen[0]), (*two, seen[1]), plain)
            self._known[key] = found
        return found

    def assess(self, view: View) -> Assessment:
        player = view.player
        assert player is not None, "a spectator has no choice"
        row = self._row(player, view.history, len(view.options))
        sign = 1 if player == 0 else -1
        values = [self._in_unit(sign * value) for value in row.values]
        value = sum(p * worth for p, worth in zip(row.mixed_strategy, values, strict=True))
        return Assessment(
            player,
            value,
            dict(zip(view.options, values, strict=True)),
            {move: p for move, p in zip(view.options, row.mixed_strategy, strict=True) if p},
            total=self.unit.total,
        )

    def dominated(self, view: View, choice: Assessment) -> frozenset[Move]:
        """As `duels.algorithms.dominance`, over all states that the player may be in.

        With too many of them, no move is known to be dominated.
        """
        from duels.algorithms.belief import posterior
        from duels.algorithms.dominance import dominated

        states = posterior(self.game, view.history, choice.player)
        found = dominated(self.game, states or (), choice.player)
        return found.difference(choice.mixed_strategy)

    def assess_state(self, state: Any, player: int) -> Assessment:
        self.decision_value(state)
        raise AssertionError("a state alone has no value")

    def _row(self, player: int, history: Iterable[Event], options: int) -> SolvedState:
        row = self._rows.find(key_of(player, history), options)
        if row is None:
            raise Unsolved(f"{self.game.slug}: {self.missing}")
        return row


def in_unit(payoff: float, unit: Unit, shift: int = 1) -> float:
    """A payoff as a value in a game's unit; with a shift of 0, a difference of payoffs."""
    return payoff if unit.pays else (shift + payoff) / 2


class Rows:
    """The payload of a table: a number of states, their keys in order, where each begins, rows."""

    def __init__(self, payload: memoryview) -> None:
        (count,) = payload[:8].cast("Q")
        self._keys = payload[8 : 8 * (count + 1)].cast("Q")
        self._begin = payload[8 * (count + 1) : 8 * (2 * count + 2)].cast("Q")
        self._numbers = payload[8 * (2 * count + 2) :].cast("d")

    def find(self, key: int, options: int) -> SolvedState | None:
        at = tables.row_of(self._keys, key)
        if at is None:
            return None
        low, high = self._begin[at], self._begin[at + 1]
        if high - low != 2 * options:
            return None
        middle = low + options
        numbers = self._numbers
        return SolvedState(array("d", numbers[low:middle]), array("d", numbers[middle:high]))


def packed(rows: dict[int, tuple[list[float], list[float]]]) -> bytes:
    """The payload of a table, from the strategy and the values of each state by its key."""
    keys = array("Q", sorted(rows))
    begin, numbers = array("Q", [0]), array("d")
    for key in keys:
        numbers.extend(rows[key][0])
        numbers.extend(rows[key][1])
        begin.append(len(numbers))
    return b"".join(part.tobytes() for part in (array("Q", [len(keys)]), keys, begin, numbers))


def key_of(player: int, history: Iterable[Event]) -> int:
    """The key of an information state."""
    return tables.key_of(repr((player, tuple(history))))


@lru_cache(maxsize=64)
def _is_small(game: AnyGame) -> bool:
    try:
        InfostateTree(game, most=SMALL, histories=10 * SMALL)
    except TooManyStates:
        return False
    return True


def solved(
    game: AnyGame,
    progress: Progress | None,
    target: float = TARGET,
    seconds: float = SECONDS,
) -> tuple[bytes, dict[str, Any]]:
    """The payload and the facts of a game's table, by CFR."""
    tree = InfostateTree(game, progress)
    limit = target * float(game.highest_payoff())
    found = completed(tree, rounded(solve_tree(tree, progress, target=limit, seconds=seconds)))
    rows: dict[int, tuple[list[float], list[float]]] = {}
    for player, own in enumerate(tree.players):
        values = conditional_values(tree, found, player)
        chosen = [float(p) for p in found.choice[player]]
        for state, history in enumerate(own.histories()):
            low, high = own.begin[state], own.begin[state + 1]
            rows[key_of(player, history)] = chosen[low:high], values[low:high]
    states = sum(own.states for own in tree.players)
    assert len(rows) == states, "two information states have one key"
    facts = {
        "value": found.value,
        "exploitability": max(0.0, found.exploitability),
        "information states": states,
        **tables.provenance(game),
    }
    return packed(rows), facts


def rounded(found: Strategies) -> Strategies:
    """Strategies without very small probabilities, where nothing is lost by leaving them out."""
    allowed = LOST * found.exploitability
    for floor in FLOORS:
        choice = []
        for player in (0, 1):
            begin = [int(at) for at in found.form.begin[player]]
            own = [float(p) for p in found.choice[player]]
            for low, high in pairwise(begin):
                kept = [p if p >= floor else 0.0 for p in own[low:high]]
                own[low:high] = [p / sum(kept) for p in kept]
            choice.append(own)
        tried = replaced(found, choice)
        if tried.exploitability <= allowed:
            return tried
    return found


def completed(tree: InfostateTree, found: Strategies) -> Strategies:
    """Strategies that answer best where their own play never leads: after a mistake of their own.

    Their exploitability stays what it is.
    """
    choice = []
    trembling = with_trembles(tree, found)
    for player, own in enumerate(tree.players):
        best = trembling.values(player, best=True)
        chosen = [float(p) for p in found.choice[player]]
        for state in range(own.states):
            if not found.plan[player][own.parent[state]]:
                low, high = own.begin[state], own.begin[state + 1]
                chosen[low:high] = [0.0] * (high - low)
                chosen[max(range(low, high), key=lambda s: best[s])] = 1.0
        choice.append(chosen)
    return replaced(found, choice)


def with_trembles(tree: InfostateTree, found: Strategies) -> Strategies:
    """Strategies that choose every move now and then, so that every state has a belief."""
    return replaced(
        found,
        [
            [
                (1 - TREMBLE) * float(p) + TREMBLE * u
                for p, u in zip(found.choice[player], own.uniform(), strict=True)
            ]
            for player, own in enumerate(tree.players)
        ],
    )


def replaced(found: Strategies, choice: list[list[float]]) -> Strategies:
    """Other strategies on the same tree."""
    from duels.algorithms.compiled import np

    if isinstance(found.form.begin[0], list):
        return Strategies(found.form, (choice[0], choice[1]))
    return Strategies(found.form, (np.array(choice[0]), np.array(choice[1])))


def conditional_values(tree: InfostateTree, found: Strategies, player: int) -> list[float]:
    """What each sequence is worth to its player in its information state, by the player's belief.

    Where the other player's strategy never leads, the belief is that of a rare mistake.
    """
    values, reach = found.values(player), found.reach(player)
    rare = with_trembles(tree, found)
    # The player goes on as the strategy does; only the other player's mistakes make the belief.
    rare = replaced(
        rare,
        [list(rare.choice[who] if who != player else found.choice[who]) for who in (0, 1)],
    )
    rare_values, rare_reach = rare.values(player), rare.reach(player)
    return [
        float(value / mass if mass > 0.0 else rare_value / rare_mass)
        for value, mass, rare_value, rare_mass in zip(
            values, reach, rare_values, rare_reach, strict=True
        )
    ]
