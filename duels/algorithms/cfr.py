"""Counterfactual regret minimisation on the information states of any game.

Three algorithms, each with alternating updates: CFR+ (Tammelin 2014), discounted CFR (Brown and
Sandholm 2019, with the exponents 1.5, 0 and 2), and predictive CFR+ (Farina, Kroer and Sandholm
2021) with quadratic averaging. `benchmarks/cfr.py` compares them: predictive CFR+ needs the fewest
iterations in most games, and discounted CFR in Leduc poker. Best responses are exact.

The functions below run on Python lists, and compiled by numba on arrays, from the same source.

>>> from duels.algorithms.infostate_tree import InfostateTree
>>> from duels.games import load
>>> tree = InfostateTree(load("digit-duel", hidden=True, digits=3, life="2/3"))
>>> found = solve_tree(tree, fast=False)
>>> round(found.value, 3), found.exploitability < 1e-6      # payoffs: 1 for a win, -1 for a loss
(-1.0, True)
"""

from __future__ import annotations

import time
from functools import cache
from math import log
from typing import Any, NamedTuple

from duels.algorithms.compiled import compiled, have_numba, np
from duels.algorithms.infostate_tree import Behaviour, InfostateTree
from duels.algorithms.solution import Progress

Numbers = Any  # a list, or an array
Both = tuple[Numbers, Numbers]  # one for each player
CFR_PLUS, DISCOUNTED, PREDICTIVE = 0, 1, 2
ALGORITHMS = {"cfr+": CFR_PLUS, "dcfr": DISCOUNTED, "pcfr+": PREDICTIVE}
DEFAULT = "pcfr+"
TARGET = 1e-6  # the exploitability at which a solve ends
ITERATIONS = 100_000  # at most
FEW = 500  # pairs of sequences; up to so many, Python is faster than compiling
LEAST = 1e-15  # smaller exploitabilities are rounding errors
CHECKED = 1.5  # factor between the iterations at which the exploitability is measured


class SequenceForm(NamedTuple):
    """A tree as arrays, each a pair with one for each player.

    State i has the sequences `begin[i]` to `begin[i + 1]` and follows the sequence `parent[i]`.
    Sequence s meets the sequences `other[k]` of the other player for k from `at[s]` to `at[s + 1]`:
    `payoff[k]` is the player's own payoff times the probability of chance, `mass[k]` that
    probability.
    """

    begin: Both
    parent: Both
    at: Both
    other: Both
    payoff: Both
    mass: Both


def sequence_form(tree: InfostateTree, fast: bool) -> SequenceForm:
    """The arrays of a tree: numpy's if `fast`, else lists."""
    one, two = (_player_form(tree, player) for player in (0, 1))
    if fast:
        kinds = (np.int64, np.int64, np.int64, np.int32, np.float64, np.float64)
        one, two = (
            [np.array(values, kind) for values, kind in zip(form, kinds, strict=True)]
            for form in (one, two)
        )
    return SequenceForm(*zip(one, two, strict=True))


def _player_form(tree: InfostateTree, player: int) -> list[list[Any]]:
    own, sign = tree.players[player], 1.0 if player == 0 else -1.0
    at, other = [0], list[int]()
    payoff, mass = list[float](), list[float]()
    for pair in sorted(tree.pairs, key=lambda pair: (pair[player], pair[1 - player])):
        at += [len(other)] * (pair[player] + 1 - len(at))
        other.append(pair[1 - player])
        payoff.append(sign * tree.pairs[pair].payoff)
        mass.append(tree.pairs[pair].mass)
    at += [len(other)] * (own.sequences + 1 - len(at))
    return [own.begin, own.parent, at, other, payoff, mass]


class CfrState(NamedTuple):
    """The state of CFR, for each sequence of each player."""

    regret: Both
    choice: Both  # the probability of the move in its information state
    plan: Both  # the product of these on the way to the sequence
    total: Both  # weighted sum of all plans: the average strategy
    value: Both  # room for values of sequences


# One function for each task, without calls of others: so it runs as it is on lists, and numba
# compiles and caches it as it is.


def iterate(
    algorithm: int, first: int, count: int, begin: Any, parent: Any, at: Any, other: Any,
    payoff: Any, regret: Any, choice: Any, plan: Any, total: Any, value: Any,
) -> None:  # fmt: skip
    """Iterations `first` to `first + count`, counted from 1; players are updated in turn."""
    for iteration in range(first, first + count):
        weight, kept, forgotten = 1.0 * iteration, 1.0, 1.0
        if algorithm != 0:
            weight = 1.0 * iteration * iteration
        if algorithm == 1:
            power = (1.0 * iteration) ** 1.5
            kept, forgotten = power / (power + 1.0), 0.5
        for player in range(2):
            starts, before, meets = begin[player], parent[player], other[player]
            ends, paid, theirs = at[player], payoff[player], plan[1 - player]
            values, regrets = value[player], regret[player]
            mixed, own, sums = choice[player], plan[player], total[player]
            for s in range(len(values)):
                worth = 0.0
                for k in range(ends[s], ends[s + 1]):
                    worth += paid[k] * theirs[meets[k]]
                values[s] = worth
            for back in range(len(before)):
                i = len(before) - 1 - back
                low, high = starts[i], starts[i + 1]
                worth = 0.0
                for s in range(low, high):
                    worth += mixed[s] * values[s]
                values[before[i]] += worth
                mass = 0.0
                for s in range(low, high):
                    new = regrets[s] + values[s] - worth
                    if algorithm == 1:
                        new *= kept if new > 0.0 else forgotten
                    elif new < 0.0:
                        new = 0.0
                    regrets[s] = new
                    if algorithm == 2:
                        new += values[s] - worth
                    mixed[s] = new if new > 0.0 else 0.0
                    mass += mixed[s]
                for s in range(low, high):
                    mixed[s] = mixed[s] / mass if mass > 0.0 else 1.0 / (high - low)
            own[0] = 1.0
            for i in range(len(before)):
                reached = own[before[i]]
                for s in range(starts[i], starts[i + 1]):
                    own[s] = reached * mixed[s]
                    sums[s] += weight * own[s]


def normalise(begin: Any, total: Any, choice: Any) -> None:
    """A player's average strategy from its sums; uniform in states that are never reached."""
    choice[0] = 1.0
    for i in range(len(begin) - 1):
        mass = 0.0
        for s in range(begin[i], begin[i + 1]):
            mass += total[s]
        for s in range(begin[i], begin[i + 1]):
            choice[s] = total[s] / mass if mass > 0.0 else 1.0 / (begin[i + 1] - begin[i])


def realise(begin: Any, parent: Any, choice: Any, plan: Any) -> None:
    """A player's plan: the probability that the player's own moves lead to each sequence."""
    plan[0] = 1.0
    for i in range(len(parent)):
        for s in range(begin[i], begin[i + 1]):
            plan[s] = plan[parent[i]] * choice[s]


def respond(
    begin: Any, parent: Any, at: Any, other: Any, weight: Any, plan: Any, choice: Any, value: Any,
    best: bool,
) -> None:  # fmt: skip
    """The value of each sequence of a player against the other's plan; sequence 0 is the start.

    It is not divided by the probability that the other player and chance lead there. The player
    continues with `choice`, or if `best`, with the best move in each information state.
    """
    for s in range(len(value)):
        worth = 0.0
        for k in range(at[s], at[s + 1]):
            worth += weight[k] * plan[other[k]]
        value[s] = worth
    for back in range(len(parent)):
        i = len(parent) - 1 - back
        worth = value[begin[i]] if best else 0.0
        for s in range(begin[i], begin[i + 1]):
            if best:
                worth = max(worth, value[s])
            else:
                worth += choice[s] * value[s]
        value[parent[i]] += worth


class CfrFunctions(NamedTuple):
    """The functions above, as they are or compiled."""

    iterate: Any
    normalise: Any
    realise: Any
    respond: Any


@cache
def functions(fast: bool) -> CfrFunctions:
    found = CfrFunctions(iterate, normalise, realise, respond)
    return CfrFunctions(*(compiled(function) for function in found)) if fast else found


class Strategies:
    """A strategy for each player of a tree: their values, best responses, exploitability.

    `choice` has the probability of each sequence's move in its information state. Values are
    payoffs: 1 for a plain win, -1 for a loss, 0 for a draw.
    """

    def __init__(self, form: SequenceForm, choice: Both) -> None:
        self.form, self.choice = form, choice
        self._fast = not isinstance(form.begin[0], list)
        self._functions = functions(self._fast)
        self.plan = zeros(len(choice[0]), self._fast), zeros(len(choice[1]), self._fast)
        for player in (0, 1):
            self._functions.realise(
                form.begin[player], form.parent[player], choice[player], self.plan[player]
            )

    def values(self, player: int, *, best: bool = False) -> Numbers:
        """The value of each sequence for its player against the other's strategy; 0 is the start.

        The player continues with the strategy, or with a best response to the other's. Values are
        multiplied by the probability that the other player and chance lead to the information
        state (`reach`).
        """
        return self._respond(player, self.form.payoff, best)

    def reach(self, player: int) -> Numbers:
        """The probability of each sequence if its player's own moves lead to it with certainty."""
        return self._respond(player, self.form.mass, False)

    def _respond(self, player: int, weight: Both, best: bool) -> Numbers:
        form, choice = self.form, self.choice[player]
        value = zeros(len(choice), self._fast)
        self._functions.respond(
            form.begin[player], form.parent[player], form.at[player], form.other[player],
            weight[player], self.plan[1 - player], choice, value, best,
        )  # fmt: skip
        return value

    @property
    def value(self) -> float:
        """Player 1's expected payoff."""
        return float(self.values(0)[0])

    def best_response(self, player: int) -> float:
        """What a best response in this seat is paid by the other player's strategy."""
        return float(self.values(player, best=True)[0])

    @property
    def exploitability(self) -> float:
        """What best responses gain, both seats together."""
        return self.best_response(0) + self.best_response(1)


def zeros(size: int, fast: bool) -> Numbers:
    return np.zeros(size) if fast else [0.0] * size


def strategies(tree: InfostateTree, one: Behaviour, two: Behaviour) -> Strategies:
    """The `Strategies` of two policies; a policy maps a view to the probability of each move."""
    choice = tree.behaviour(0, one), tree.behaviour(1, two)
    return Strategies(sequence_form(tree, fast=False), choice)


class Cfr:
    """A run of CFR on a tree, which can be continued.

    It runs in Python where numba is not installed, or would take longer to compile.
    """

    def __init__(
        self, tree: InfostateTree, algorithm: str = DEFAULT, *, fast: bool | None = None
    ) -> None:
        self.algorithm, self.iterations = algorithm, 0
        self._fast = have_numba() and len(tree.pairs) > FEW if fast is None else fast
        self.form = sequence_form(tree, self._fast)
        self._sizes = [player.sequences for player in tree.players]
        self._learning = CfrState(*(self._room() for _ in CfrState._fields))
        uniform = self.average()
        self._learning = self._learning._replace(choice=uniform.choice, plan=uniform.plan)

    def _room(self) -> Both:
        one, two = (zeros(size, self._fast) for size in self._sizes)
        return one, two

    def run(self, iterations: int) -> None:
        """Run more iterations."""
        functions(self._fast).iterate(
            ALGORITHMS[self.algorithm], self.iterations + 1, iterations, *self.form[:5],
            *self._learning,
        )  # fmt: skip
        self.iterations += iterations

    def average(self) -> Strategies:
        """The average strategies, which converge to an equilibrium."""
        choice = self._room()
        for player in (0, 1):
            functions(self._fast).normalise(
                self.form.begin[player], self._learning.total[player], choice[player]
            )
        return Strategies(self.form, choice)


def solve_tree(
    tree: InfostateTree,
    progress: Progress | None = None,
    *,
    algorithm: str = DEFAULT,
    target: float = TARGET,
    iterations: int = ITERATIONS,
    seconds: float | None = None,
    fast: bool | None = None,
) -> Strategies:
    """Average strategies with an exploitability of at most `target`, or what the limits allow."""
    run = Cfr(tree, algorithm, fast=fast)
    end = None if seconds is None else time.monotonic() + seconds
    best, step, start = run.average(), 10, 0.0
    least = best.exploitability
    while run.iterations < iterations:
        run.run(min(step, iterations - run.iterations))
        found = run.average()
        reached = found.exploitability
        if reached < least:  # which later averages need not be
            best, least = found, reached
        start = start or 2 * reached
        if reached <= target or (end is not None and time.monotonic() > end):
            break
        if progress is not None:
            part = log(start / reached) / log(start / max(target, LEAST))
            progress(max(0.0, part), f"{run.iterations:,} iterations, exploitability {reached:.1e}")
        step = max(10, int(run.iterations * (CHECKED - 1)))
    return best
