"""Backward induction: solves any finite perfect-information game from its pure rules.

The graph of all states is walked and cut into components of states that lead to each other.
Components are solved children first: a lone state directly, a cycle without chance by working
backwards from its exits, a cycle with chance by finding both players' best policies and solving
their equations exactly. Play that never ends is worth a draw.

>>> from duels.games import load
>>> game = load("number-clash", numbers=4, points=2)
>>> round(Generic(game).value(game.start()), 9)
0.5
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from duels.algorithms.solution import HALF, Progress, Solution, Unsolved, Value
from duels.core.game import AnyGame, Chance, Decide, Over
from duels.core.payoffs import Unit, unit_of
from duels.core.player import View

LARGEST = 400_000  # states; beyond that enumeration in Python takes minutes
STEP = 10_000  # states between two words of progress: about a second; fewer are solved in silence


Values = dict[int, Value]


class Node(NamedTuple):
    """A state's turn with the numbers of the states it leads to."""

    kind: str  # over, chance, choice or sealed
    player: int
    children: tuple[int, ...]
    odds: tuple[Fraction, ...] = ()
    value: Value = HALF  # at the end of a game; elsewhere, of play that never ends
    width: int = 0  # columns of a sealed choice's matrix


class Generic(Solution):
    """Exact rationals, or floats where sealed choices make matrix games."""

    def __init__(
        self, game: AnyGame, progress: Progress | None = None, *, largest: int = LARGEST
    ) -> None:
        super().__init__(game)
        self.states, self.nodes = enumerate_states(game, largest, progress)
        self._seen: dict[tuple[int, Any], int] = {}
        self._index_views()
        self.values = solve_graph(self.nodes, progress)

    @classmethod
    def quick(cls, game: AnyGame) -> bool:
        return False

    def value(self, state: Any) -> Value:
        return self.values[self.states[state]]

    def state(self, view: View) -> Any:
        assert view.player is not None, "a spectator is in no state"
        return self._by_number[self._seen[view.player, view.observation]]

    def _index_views(self) -> None:
        """Which state a player is in, by what the player sees; two would be hidden information."""
        self._by_number = list(self.states)
        for state, number in self.states.items():
            turn = self.game.turn(state)
            for player in turn.options if isinstance(turn, Decide) else ():
                key = (player, self.game.observe(state, player))
                if self._seen.setdefault(key, number) != number:
                    raise Unsolved(
                        f"{self.game.slug} has hidden information: values of its states are not "
                        "values of what a player can know"
                    )


def enumerate_states(
    game: AnyGame, largest: int = LARGEST, progress: Progress | None = None
) -> tuple[dict[Any, int], list[Node]]:
    """Every reachable state, numbered in order of discovery, and its node.

    States that a match reaches only when a player's time runs out are among them.
    """
    start, unit = game.start(), unit_of(game)
    states: dict[Any, int] = {start: 0}
    queue, nodes = [start], []

    def number(state: Any) -> int:
        if state not in states:
            states[state] = len(states)
            queue.append(state)
        return states[state]

    for state in queue:
        if len(states) > largest:
            raise Unsolved(f"{game.slug} has more than {largest:,} states with these options")
        nodes.append(_node(game, state, number, unit))
        if progress is not None and len(nodes) % STEP == 0:
            progress(0.5 * len(nodes) / len(states), f"{len(states):,} states found")
    return states, nodes


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
    from duels.algorithms.matrix_game import solve_matrix

    rows = [reached[i : i + node.width] for i in range(0, len(reached), node.width)]
    return solve_matrix([[float(value) for value in row] for row in rows]).value


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
    """A cycle of choices: from a draw everywhere, back up until nothing changes.

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
    """A cycle with chance: guess both policies with floats, then solve and check exactly."""
    if any(nodes[number].kind == "sealed" for number in component):
        raise Unsolved("a sealed choice lies on a cycle; that is not solved here")
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
    """The child a player goes to."""
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
            raise Unsolved("best play goes round for ever here; that is not solved")
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [entry / rows[at][at] for entry in rows[at]]
        for r, row in enumerate(rows):
            if r != at and row[at]:
                rows[r] = [a - row[at] * b for a, b in zip(row, rows[at], strict=True)]
    for number, row in zip(component, rows, strict=True):
        values[number] = row[-1]
