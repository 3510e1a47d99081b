"""The decision problem of a best response as a graph in arrays, and the algorithms on it.

A `Graph` holds every position that a policy and any responder can reach. In a position the policy
has moves with probabilities (chance events are represented in the same way), and the responder has
answers; each pair leads to another position or to an end. A side that does not choose has one move
with probability 1.

The functions run on Python lists, and compiled on numpy arrays, from the same source: large games
need compiled code, and an installation without extras needs lists. Values are the responder's
expected score.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from duels.algorithms.compiled import compiled

Numbers = Any  # a list, or an array

# Who chooses in a position: a sum of these.
POLICY, RESPONDER = 1, 2

# A child that is an end of the game: the responder scores (-1 - child) / 2.
LOST, DRAWN, WON = -1, -2, -3

SETTLED = 1e-15  # smaller changes count as convergence
TIED = 1e-12  # answers that differ by less are equally good
LONGEST = 500  # turns for which a cyclic game is followed, as in a match


class Graph(NamedTuple):
    """Position i: chances `at_own[i]:at_own[i + 1]`, children `at_child[i]:at_child[i + 1]`.

    The children of the k-th probability are adjacent, one for each answer.
    """

    at_own: Numbers
    chance: Numbers
    at_child: Numbers
    child: Numbers
    chooser: Numbers
    cyclic: bool  # positions may recur


class Functions(NamedTuple):
    """The algorithms on a graph. `order` and `ends` are those of `components`."""

    components: Callable[..., Any]
    settle: Callable[..., Any]
    best: Callable[..., Any]
    follow: Callable[..., Any]
    visits: Callable[..., Any]
    gains: Callable[..., Any]


def built(decorate: Callable[[Any], Any]) -> Functions:
    """All functions, each decorated."""

    @decorate
    def worth(i: int, j: int, own: Any, chance: Any, at: Any, child: Any, value: Any) -> Any:
        """The value of the j-th answer in a position."""
        count = own[i + 1] - own[i]
        wide = (at[i + 1] - at[i]) // count
        total = 0.0
        for k in range(count):
            c = child[at[i] + k * wide + j]
            total += chance[own[i] + k] * (value[c] if c >= 0 else (-1 - c) / 2)
        return total

    @decorate
    def highest(i: int, own: Any, chance: Any, at: Any, child: Any, value: Any) -> Any:
        """The value of the best answer."""
        top = -1.0
        for j in range((at[i + 1] - at[i]) // (own[i + 1] - own[i])):
            top = max(top, worth(i, j, own, chance, at, child, value))
        return top

    @decorate
    def components(at: Any, child: Any, order: Any, ends: Any, low: Any, found: Any, stack: Any,
                   work: Any, place: Any) -> Any:  # fmt: skip
        """Tarjan's algorithm: fills `order`, children first, and the end of each component."""
        count = filled = parts = 0
        held = 0
        for root in range(len(at) - 1):
            if found[root] >= 0:
                continue
            deep = 1
            work[0], place[root] = root, at[root]
            while deep > 0:
                i = work[deep - 1]
                if found[i] < 0:
                    found[i] = low[i] = count
                    count += 1
                    stack[held] = i
                    held += 1
                down = -1
                while place[i] < at[i + 1]:
                    c = child[place[i]]
                    if c >= 0 and found[c] < 0:
                        down = c
                        break
                    if c >= 0 and low[c] >= 0:  # on the stack
                        low[i] = min(low[i], low[c])
                    place[i] += 1
                if down >= 0:
                    place[down] = at[down]
                    work[deep] = down
                    deep += 1
                    continue
                deep -= 1
                if low[i] == found[i]:
                    while True:
                        held -= 1
                        member = stack[held]
                        low[member] = -1
                        order[filled] = member
                        filled += 1
                        if member == i:
                            break
                    ends[parts] = filled
                    parts += 1
        return parts

    @decorate
    def settle(own: Any, chance: Any, at: Any, child: Any, order: Any, ends: Any, parts: int,
               value: Any) -> None:  # fmt: skip
        """Values with best answers: backed up, and iterated to convergence inside components."""
        begin = 0
        for part in range(parts):
            end = ends[part]
            change = 1.0
            while change > SETTLED:
                change = 0.0
                for at_order in range(begin, end):
                    i = order[at_order]
                    new = highest(i, own, chance, at, child, value)
                    change = max(change, abs(new - value[i]))
                    value[i] = new
                if end == begin + 1:
                    i = order[begin]
                    again = False
                    for e in range(at[i], at[i + 1]):
                        again = again or child[e] == i
                    if not again:
                        break
            begin = end

    @decorate
    def best(own: Any, chance: Any, at: Any, child: Any, order: Any, ends: Any, parts: int,
             value: Any, answer: Any) -> None:  # fmt: skip
        """A best answer in each position that makes progress instead of cycling forever.

        `answer` begins as -1 everywhere. Of equally good answers one is chosen that can leave the
        cycle, or leads to a position with such an answer.
        """
        begin = 0
        for part in range(parts):
            end = ends[part]
            changed = True
            while changed:
                changed = False
                for at_order in range(begin, end):
                    i = order[at_order]
                    if answer[i] >= 0:
                        continue
                    count = own[i + 1] - own[i]
                    wide = (at[i + 1] - at[i]) // count
                    for j in range(wide):
                        if worth(i, j, own, chance, at, child, value) < value[i] - TIED:
                            continue
                        for k in range(count):
                            c = child[at[i] + k * wide + j]
                            if c < 0 or answer[c] >= 0:
                                answer[i] = j
                                changed = True
                                break
                        if answer[i] >= 0:
                            break
            for at_order in range(begin, end):  # cycling forever is the best there is
                i = order[at_order]
                j = 0
                while answer[i] < 0:
                    if worth(i, j, own, chance, at, child, value) >= value[i] - TIED:
                        answer[i] = j
                    j += 1
            begin = end

    @decorate
    def follow(own: Any, chance: Any, at: Any, child: Any, weight: Any, value: Any) -> None:
        """Values for answers drawn with probabilities `weight[i, j]`; for acyclic graphs."""
        for back in range(len(own) - 1):
            i = len(own) - 2 - back
            total = 0.0
            for j in range((at[i + 1] - at[i]) // (own[i + 1] - own[i])):
                if weight[i, j] > 0.0:
                    total += weight[i, j] * worth(i, j, own, chance, at, child, value)
            value[i] = total

    @decorate
    def visits(own: Any, chance: Any, at: Any, child: Any, order: Any, ends: Any, parts: int,
               answer: Any, mass: Any, visited: Any) -> None:  # fmt: skip
        """Expected visits to each position; `mass` is 1 at the start and 0 elsewhere."""
        for behind in range(parts):
            part = parts - 1 - behind
            begin = ends[part - 1] if part > 0 else 0
            for _ in range(LONGEST):
                left = 0.0
                for back in range(ends[part] - begin):
                    i = order[ends[part] - 1 - back]
                    here = mass[i]
                    mass[i] = 0.0
                    visited[i] += here
                    count = own[i + 1] - own[i]
                    wide = (at[i + 1] - at[i]) // count
                    for k in range(count):
                        c = child[at[i] + k * wide + answer[i]]
                        if c >= 0:
                            mass[c] += here * chance[own[i] + k]
                for at_order in range(begin, ends[part]):
                    left += mass[order[at_order]]
                if left <= SETTLED:
                    break

    @decorate
    def gains(own: Any, chance: Any, at: Any, child: Any, value: Any, out: Any) -> None:
        """The policy's regret in each position, if both play perfectly afterwards.

        `value` are the values of the positions under perfect play.
        """
        for i in range(len(own) - 1):
            out[i] = highest(i, own, chance, at, child, value) - value[i]

    return Functions(components, settle, best, follow, visits, gains)


PLAIN = built(lambda function: function)


@cache
def fast() -> Functions:
    """The functions compiled for arrays."""
    return built(compiled)
