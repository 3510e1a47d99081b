"""Backward induction: solves any finite perfect-information game from its pure rules.

The graph of all states is divided into its strongly connected components, which are solved children
first: a single state directly, a cycle without chance by backing up from its exits, a cycle with
chance by finding both players' best policies and solving their equations exactly. Play that never
ends has the value of a draw. The values of a larger game are stored as a table in the user's data
directory, so that it is solved once.

>>> from duels.games import load
>>> game = load("number-clash", numbers=4, points=2)
>>> round(BackwardInduction(game).value(game.start()), 9)
0.5
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from duels.algorithms import tables
from duels.algorithms.solution import HALF, Progress, Solution, SolveArguments, Unsolved, Value
from duels.algorithms.tree_size import clearly_more_states
from duels.core.game import AnyGame, Chance, Over
from duels.core.payoffs import Unit, unit_of
from duels.core.player import View
from duels.core.spec import spec_of

KIND = "values of states"
LARGEST = 1_000_000  # states, which Python enumerates and solves in a minute or two
PLAYOUT_STEPS = 80_000  # of all random playouts: about a second
SMALL = 2_000  # states that are found and solved in a moment
STEP = 10_000  # states between two calls of `progress`: about a second


MATRICES = 1 << 16  # whose values are cached

Values = dict[int, Value]


class Node(NamedTuple):
    """The turn of a state, with the numbers of its successors."""

    kind: str  # over, chance, choice or sealed
    player: int
    children: tuple[int, ...]
    odds: tuple[Fraction, ...] = ()
    value: Value = HALF  # at the end of a game; elsewhere, of play that never ends
    width: int = 0  # columns of a sealed choice's matrix

    @property
    def choosers(self) -> tuple[int, ...]:
        return {"choice": (self.player,), "sealed": (0, 1)}.get(self.kind, ())


class BackwardInduction(Solution):
    """Exact rationals, or floats where sealed choices make matrix games.

    Unless `use_tables` is False, a stored table is read if there is one, and the values of a larger
    game are stored.
    """

    def __init__(
        self,
        game: AnyGame,
        progress: Progress | None = None,
        *,
        largest: int = LARGEST,
        use_tables: bool = True,
    ) -> None:
        super().__init__(game)
        self._table = _stored(game) if use_tables else None
        if self._table is not None:
            return
        self.states, self.nodes = enumerate_states(game, largest, progress)
        self._seen: dict[tuple[int, Any], int] = {}
        # A table is read by what a player sees, which must be the state. Games with a solver of
        # their own have their own tables.
        self._storable = not spec_of(game).solver
        self._index_views()
        self.values = solve_graph(self.nodes, progress)
        self._storable = self._storable and all(map(_fits, self.values.values()))
        if use_tables and self._storable and len(self.states) > STEP:
            tables.keep(game, self._payload(), KIND, self._facts())

    @classmethod
    def quick(cls, game: AnyGame) -> bool:
        return _is_small(game) or _stored(game) is not None

    @classmethod
    def rebuild(cls, game: AnyGame, progress: Progress, given: SolveArguments) -> dict[str, Any]:
        if (given.minutes, given.jobs) != (None, None):
            raise Unsolved(f"{game.slug} is solved exactly on one core; omit --minutes and --jobs")
        new = cls(game, progress, use_tables=False)
        facts = {"states": len(new.states), f"value ({new.unit.name})": new.start_value()}
        if not new._storable:
            if given.path is not None:
                raise Unsolved(f"{game.slug} is solved without a table; omit --out")
            return facts
        payload = new._payload()
        path = given.path or tables.own_path(game)
        written = tables.store(game, payload, KIND, path, new._facts())
        return {"table": written, "bytes": len(payload), **facts}

    def _facts(self) -> dict[str, Any]:
        return {"states": len(self.states), **tables.provenance(self.game)}

    def _payload(self) -> bytes:
        return packed((key_of(state), self.values[number]) for state, number in self.states.items())

    def value(self, state: Any) -> Value:
        if self._table is not None:
            return self._table.value(state)
        return self.values[self.states[state]]

    def state(self, view: View) -> Any:
        assert view.player is not None, "a spectator is in no state"
        if self._table is not None:
            return view.observation
        return self._by_number[self._seen[view.player, view.observation]]

    def _index_views(self) -> None:
        """Which state a player is in, by what the player sees; two would be hidden information."""
        self._by_number = list(self.states)
        for state, number in self.states.items():
            for player in self.nodes[number].choosers:
                key = (player, self.game.observe(state, player))
                self._storable = self._storable and key[1] == state
                if self._seen.setdefault(key, number) != number:
                    raise Unsolved(
                        f"{self.game.slug} has hidden information: a player cannot tell some of "
                        "its states apart, so backward induction does not solve it"
                    )


class StoredValues:
    """The payload of a table: a number of states, their keys in order, and two parts of each value.

    A fraction is its numerator and denominator; a float is its bits and 0.
    """

    def __init__(self, payload: memoryview) -> None:
        (count,) = payload[:8].cast("Q")
        self._keys = payload[8 : 8 * (count + 1)].cast("Q")
        self._upper = payload[8 * (count + 1) : 8 * (2 * count + 1)].cast("q")
        self._lower = payload[8 * (2 * count + 1) :].cast("q")

    def value(self, state: Any) -> Value:
        at = tables.row_of(self._keys, key_of(state))
        if at is None:
            raise KeyError(state)
        upper, lower = self._upper[at], self._lower[at]
        if lower:
            return Fraction(upper, lower)
        number: float = struct.unpack("<d", struct.pack("<q", upper))[0]
        return number


def packed(values: Iterable[tuple[int, Value]]) -> bytes:
    """The payload of a table, from the value of each state by its key."""
    rows = sorted(values)
    keys, upper, lower = array("Q"), array("q"), array("q")
    for key, value in rows:
        assert not keys or key != keys[-1], "two states have one key"
        keys.append(key)
        if isinstance(value, Fraction | int):
            upper.append(value.numerator)
            lower.append(value.denominator)
        else:
            upper.append(struct.unpack("<q", struct.pack("<d", value))[0])
            lower.append(0)
    return b"".join(part.tobytes() for part in (array("Q", [len(keys)]), keys, upper, lower))


def _fits(value: Value) -> bool:
    """Whether a value can be stored exactly: a float, or a fraction of 64-bit integers."""
    return isinstance(value, float) or max(abs(value.numerator), value.denominator) < 1 << 63


def key_of(state: Any) -> int:
    """The key of a state: the same in every process, whatever the order of its sets."""
    return tables.key_of(canonical(state))


def canonical(value: Any) -> str:
    """A text for a state or a part of it.

    >>> canonical((1, frozenset("ba"), [2]))
    "tuple(1,frozenset('a','b'),list(2))"
    """
    if isinstance(value, set | frozenset):
        parts = sorted(map(canonical, value))
    elif isinstance(value, tuple | list):
        parts = [canonical(part) for part in value]
    elif isinstance(value, dict):
        parts = sorted(map(canonical, value.items()))
    elif is_dataclass(value):
        parts = [canonical(getattr(value, field.name)) for field in fields(value)]
    else:
        return repr(value)
    return f"{type(value).__name__}({','.join(parts)})"


def _stored(game: AnyGame) -> StoredValues | None:
    """The stored values of a game, if they are there and its states are found in them."""
    if spec_of(game).solver:
        return None
    table = tables.from_rules(game, KIND)
    if table is None:
        return None
    found = StoredValues(table.payload)
    try:
        found.value(game.start())
    except KeyError:  # the text of a state is different in each process
        return None
    return found


@lru_cache(maxsize=64)
def _is_small(game: AnyGame) -> bool:
    try:
        enumerate_states(game, SMALL)
    except Unsolved:
        return False
    return True


def enumerate_states(
    game: AnyGame, largest: int = LARGEST, progress: Progress | None = None
) -> tuple[dict[Any, int], list[Node]]:
    """Every reachable state, numbered in order of discovery, and its node.

    States that a match reaches only when a player's time runs out are among them.
    """
    start, unit = game.start(), unit_of(game)
    states: dict[Any, int] = {start: 0}
    queue, nodes, looked = [start], list[Node](), False

    def number(state: Any) -> int:
        if state not in states:
            states[state] = len(states)
            queue.append(state)
        return states[state]

    for state in queue:
        if len(states) > largest:
            raise _too_many(game, largest)
        if not looked and len(states) > STEP:
            looked = True
            if clearly_more_states(list(random_playouts(game)), largest):
                raise _too_many(game, largest)
        nodes.append(_node(game, state, number, unit))
        if progress is not None and len(nodes) % STEP == 0:
            progress(0.5 * len(nodes) / len(states), f"{len(states):,} states found")
    return states, nodes


def _too_many(game: AnyGame, largest: int) -> Unsolved:
    return Unsolved(f"{game.slug} has more than {largest:,} states with these options")


def random_playouts(game: AnyGame) -> Iterator[list[Any]]:
    """The states of random lines of play, to recognise a game that is far too large."""
    randomness, steps = Random("how large the graph is"), 0
    while steps < PLAYOUT_STEPS:
        states = [game.start()]
        while not isinstance(turn := game.turn(states[-1]), Over) and steps < PLAYOUT_STEPS:
            columns = [turn.odds] if isinstance(turn, Chance) else map(turn.options.get, (0, 1))
            picks = (randomness.choice(list(column)) for column in columns if column)
            states.append(game.play(states[-1], *picks))
            steps += 1
        yield states


def _node(game: AnyGame, state: Any, number: Any, unit: Unit) -> Node:
    turn = game.turn(state)
    if isinstance(turn, Over):
        return Node("over", 0, (), value=unit.end(turn))
    if isinstance(turn, Chance):
        children = tuple(number(game.play(state, outcome)) for outcome in turn.odds)
        return Node("chance", 0, children, odds=tuple(turn.odds.values()), value=unit.draw)
    if len(turn.options) == 1:
        ((player, moves),) = turn.options.items()
        if game.timeout_move is not None:
            number(game.play(state, game.timeout_move))  # no option, so none of the children
        children = tuple(number(game.play(state, move)) for move in moves)
        return Node("choice", player, children, value=unit.draw)
    pairs = [(one, two) for one in turn.options[0] for two in turn.options[1]]
    children = tuple(number(game.play(state, *pair)) for pair in pairs)
    return Node("sealed", 0, children, value=unit.draw, width=len(turn.options[1]))


def solve_graph(nodes: list[Node], progress: Progress | None = None) -> Values:
    """The value of every node."""
    values: Values = {number: node.value for number, node in enumerate(nodes)}
    long = progress if len(nodes) > STEP else None
    for done, component in enumerate(components(nodes)):
        if long is not None and done % STEP == 0:
            long(0.5 + 0.5 * done / len(nodes), f"{len(nodes):,} states to value")
        alone = len(component) == 1 and component[0] not in nodes[component[0]].children
        if alone:
            values[component[0]] = backed_up(nodes[component[0]], values)
        elif all(nodes[number].kind == "choice" for number in component):
            _work_backwards(nodes, component, values)
        else:
            _best_policies(nodes, component, values)
    if long is not None:
        long(1.0, f"{len(nodes):,} states")
    return values


def backed_up(node: Node, values: Values) -> Value:
    """A node's value from its children's."""
    if node.kind == "over":
        return node.value
    reached = [values[child] for child in node.children]
    if node.kind == "chance":
        return sum((odd * v for odd, v in zip(node.odds, reached, strict=True)), Fraction(0))
    if node.kind == "choice":
        return max(reached) if node.player == 0 else min(reached)
    return _matrix_value(tuple(map(float, reached)), node.width)


@lru_cache(maxsize=MATRICES)
def _matrix_value(payoffs: tuple[float, ...], width: int) -> float:
    """The value of a matrix game, which often recurs in many states of a game."""
    from duels.algorithms.matrix_game import solve_matrix

    return solve_matrix([payoffs[i : i + width] for i in range(0, len(payoffs), width)]).value


def components(nodes: list[Node]) -> list[list[int]]:
    """Tarjan's strongly connected components, children before parents, without recursion."""
    order, low = [-1] * len(nodes), [0] * len(nodes)
    found: list[list[int]] = []
    stack: list[int] = []
    on_stack = [False] * len(nodes)
    count = 0
    for root in range(len(nodes)):
        if order[root] >= 0:
            continue
        work = [(root, 0)]
        while work:
            number, position = work.pop()
            if position == 0:
                order[number] = low[number] = count
                count += 1
                stack.append(number)
                on_stack[number] = True
            for at in range(position, len(nodes[number].children)):
                child = nodes[number].children[at]
                if order[child] < 0:
                    work += [(number, at + 1), (child, 0)]
                    break
                if on_stack[child]:
                    low[number] = min(low[number], order[child])
            else:
                if low[number] == order[number]:
                    cut = len(stack) - 1
                    while stack[cut] != number:
                        cut -= 1
                    found.append(stack[cut:])
                    for member in stack[cut:]:
                        on_stack[member] = False
                    del stack[cut:]
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[number])
    return found


def _work_backwards(nodes: list[Node], component: list[int], values: Values) -> None:
    """Solve a cycle of choices: from a draw everywhere, back up until nothing changes.

    Each pass lengthens the play that is looked at by one choice, so what is still a draw at the
    end is where neither player can force an end that is better for them than an endless game.
    """
    changed = True
    while changed:
        new = {number: backed_up(nodes[number], values) for number in component}
        changed = any(values[number] != value for number, value in new.items())
        for number, value in new.items():
            values[number] = value


def _best_policies(nodes: list[Node], component: list[int], values: Values) -> None:
    """Solve a cycle with chance: find both policies with floats, then solve and check exactly."""
    if any(nodes[number].kind == "sealed" for number in component):
        raise Unsolved("positions with sealed choices repeat; this solver cannot solve that")
    reached = {child for number in component for child in nodes[number].children}
    rough: Values = {number: float(values[number]) for number in reached.union(component)}
    for _ in range(100_000):
        change = 0.0
        for number in component:
            new = float(backed_up(nodes[number], rough))
            change = max(change, abs(new - float(rough[number])))
            rough[number] = new
        if change < 1e-15:
            break
    policy = {n: _choice(nodes[n], rough) for n in component if nodes[n].kind == "choice"}
    while True:
        _evaluate(nodes, component, policy, values)
        better = {
            number: _choice(nodes[number], values)
            for number in policy
            if backed_up(nodes[number], values) != values[number]
        }
        if not better:
            return
        policy |= better


def _choice(node: Node, values: Values) -> int:
    """The best child for the player who chooses."""
    worth: list[Value] = [values[child] for child in node.children]
    return node.children[worth.index(max(worth) if node.player == 0 else min(worth))]


def _evaluate(
    nodes: list[Node], component: list[int], policy: dict[int, int], values: Values
) -> None:
    """Solve the linear equations of a fixed pair of policies, in exact fractions."""
    place = {number: at for at, number in enumerate(component)}
    rows: list[list[Fraction]] = []
    for number in component:
        row = [Fraction(0)] * (len(component) + 1)
        row[place[number]] += 1
        node = nodes[number]
        steps = (
            zip(node.children, node.odds, strict=True)
            if node.kind == "chance"
            else [(policy[number], Fraction(1))]
        )
        for child, odd in steps:
            if child in place:
                row[place[child]] -= odd
            else:
                row[-1] += odd * Fraction(values[child])
        rows.append(row)
    for at in range(len(rows)):
        pivot = next((r for r in range(at, len(rows)) if rows[r][at]), None)
        if pivot is None:
            raise Unsolved("best play never ends; this solver cannot solve that")
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [entry / rows[at][at] for entry in rows[at]]
        for r, row in enumerate(rows):
            if r != at and row[at]:
                rows[r] = [a - row[at] * b for a, b in zip(row, rows[at], strict=True)]
    for number, row in zip(component, rows, strict=True):
        values[number] = row[-1]
