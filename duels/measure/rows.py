"""The same walk for large games, compiled: positions are rows of a kernel's numbers.

The rules are those of `duels.envs.kernels`, which the tests hold to the pure ones. Positions are
found wave by wave from the start, so that the policy is asked about a whole wave at once, and kept
in a table by their numbers. A kernel that leaves something to chance is noticed, and refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

from duels.core.game import AnyGame, Decide, Move
from duels.envs.kernels import DECISIONS, GOING_ON, NOBODY, kernel_named, kernel_of
from duels.envs.kernels.drive import drivers
from duels.measure.graph import DRAWN, LOST, POLICY, RESPONDER, WON, Graph, fast
from duels.solve.compiled import Array, compiled, np
from duels.solve.solution import Progress, Unsolved

# From rows in which a seat chooses, what it sees and its masks, to the chance of each move.
AskRows = Callable[[Array, int, Array, Array], Array]
BATCH = 1 << 18  # positions that a policy is asked about at once, at most
FULL, BY_CHANCE = -1, -2  # why an expansion stopped


class ByChance(Unsolved):
    """A kernel whose moves do not say all that happens."""


@compiled
def copy(source: Array, i: int, to: Array, j: int) -> None:
    """A row; said in full, since slices take seconds to compile."""
    for column in range(source.shape[1]):
        to[j, column] = source[i, column]


@compiled
def _slot(given: Array, i: int, rows: Array, table: Array) -> Any:
    """Where the row `given[i]` is in the table, or the free place for it."""
    key = np.uint64(0x9E3779B97F4A7C15)
    for column in range(1, given.shape[1]):
        key = (key ^ np.uint64(given[i, column])) * np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(29)
    at = np.int64(key & np.uint64(table.shape[0] - 1))
    while table[at] >= 0:
        same = True
        for column in range(1, given.shape[1]):
            same = same and rows[table[at], column] == given[i, column]
        if same:
            break
        at = (at + 1) & (table.shape[0] - 1)
    return at


@compiled
def _refill(rows: Array, count: int, table: Array) -> None:
    for number in range(count):
        table[_slot(rows, number, rows, table)] = number


@cache
def expander(slug: str, sealed: bool) -> Callable[..., Any]:
    """The loop that finds where positions lead, for one kernel."""
    kernel = kernel_named(slug)
    assert kernel is not None
    play, legal, mover = kernel.play, kernel.legal, kernel.mover

    @compiled
    def expand(
        rules: Any, seat: int, moves: int, begin: int, end: int, wave: int, count: int, rows: Array,
        table: Array, mine: Array, my_line: Array, theirs: Array, their_line: Array, fixed: bool,
        at_own: Array, chance: Array, act: Array, at_child: Array, child: Array, chooser: Array,
        scratch: Array, streams: Array,
    ) -> Any:  # fmt: skip
        """(where it stopped, positions known, whether one came again, FULL or BY_CHANCE or 0)."""
        other = 1 - seat
        again = False
        options = np.empty(moves, np.int64)
        weights = np.empty(moves, np.float64)
        for i in range(begin, end):
            who = mover(rules, rows, i)
            own, filled = at_own[i], at_child[i]
            room = moves * moves
            if (
                own + room > chance.shape[0]
                or filled + room > child.shape[0]
                or count + room > rows.shape[0]
                or 2 * (count + room) > table.shape[0]
            ):
                return i, count, again, FULL
            i_choose, they_choose = sealed or who == seat, sealed or who == other
            answers = 1
            options[0], weights[0] = 0, 1.0
            if they_choose:
                answers = 0
                for b in range(moves):
                    if legal(rules, rows, i, other, b):
                        q = theirs[their_line[i - wave], b] if fixed else 1.0
                        if q > 0.0:
                            options[answers], weights[answers] = b, q
                            answers += 1
            for a in range(moves if i_choose else 1):
                p = mine[my_line[i - wave], a] if i_choose else 1.0
                if p <= 0.0:
                    continue
                if not fixed:
                    chance[own], act[own] = p, a
                    own += 1
                for k in range(answers):
                    b = options[k]
                    if fixed:
                        chance[own], act[own] = p * weights[k], a
                        own += 1
                    copy(rows, i, scratch, 0)
                    if sealed:
                        one, two = (a, b) if seat == 0 else (b, a)
                    else:
                        one = two = a if i_choose else b
                    winner = play(rules, scratch, streams, 0, one, two)
                    if streams[0, 0] != 0 or streams[0, 1] != 0:
                        return i, count, again, BY_CHANCE
                    if winner != GOING_ON:
                        found = DRAWN if winner == NOBODY else WON if winner == other else LOST
                    else:
                        at = _slot(scratch, 0, rows, table)
                        if table[at] < 0:
                            table[at] = count
                            copy(scratch, 0, rows, count)
                            count += 1
                        found = table[at]
                        again = again or found < wave_end(wave, my_line)
                    child[filled] = found
                    filled += 1
            at_own[i + 1], at_child[i + 1] = own, filled
            chooser[i] = (POLICY if i_choose else 0) + (RESPONDER if they_choose else 0)
        return end, count, again, 0

    return expand


@compiled
def wave_end(wave: int, line: Array) -> Any:
    return wave + line.shape[0]


class Rows:
    """As `duels.measure.plain.Walk`, over a kernel's rows."""

    def __init__(
        self,
        game: AnyGame,
        seat: int,
        ask: AskRows,
        answers: AskRows | None = None,
        *,
        progress: Progress | None = None,
    ) -> None:
        self.game, self.seat, self.responder = game, seat, 1 - seat
        self.kernel = kernel_of(game)
        self.sealed = self.kernel.sealed(game)
        self.rules = self.kernel.rules(game)
        self._names = game.moves()
        self._walk(ask, answers, progress)

    def _walk(self, ask: AskRows, answers: AskRows | None, progress: Progress | None) -> None:
        moves, size = len(self._names), 1 << 12
        expand = expander(self.game.slug, self.sealed)
        rows = np.zeros((size, self.kernel.columns), self.kernel.dtype)
        rows[0, DECISIONS + 1 :] = self.kernel.pack(self.game, self.game.start())
        table = np.full(4 * size, -1, np.int32)
        _refill(rows, 1, table)
        at_own, at_child = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
        chooser = np.zeros(size, np.int8)
        chance, act = np.zeros(size), np.zeros(size, np.int8 if moves < 128 else np.int16)
        child = np.zeros(size, np.int32)
        scratch = np.zeros((1, self.kernel.columns), self.kernel.dtype)
        streams = np.zeros((1, 2), np.uint64)
        done, count, cyclic = 0, 1, False
        nobody = np.zeros((1, moves)), np.zeros(1, np.int64)
        while done < count:
            wave, end = done, count
            mine, my_line = self._asked(ask, rows[wave:end], self.seat)
            theirs, their_line = nobody
            if answers is not None:
                theirs, their_line = self._asked(answers, rows[wave:end], self.responder)
            while done < end:
                done, count, again, why = expand(
                    self.rules, self.seat, moves, done, end, wave, count, rows, table,
                    mine, my_line, theirs, their_line, answers is not None,
                    at_own, chance, act, at_child, child, chooser, scratch, streams,
                )  # fmt: skip
                cyclic = cyclic or bool(again)
                if why == BY_CHANCE:
                    raise ByChance(f"the kernel of {self.game.slug} leaves something to chance")
                if why == FULL:
                    room = moves * moves
                    if count + room > len(rows):
                        rows = _larger(rows, room)
                        at_own, at_child = _larger(at_own, room + 1), _larger(at_child, room + 1)
                        chooser = _larger(chooser, room)
                    if 2 * (count + room) > len(table):
                        table = np.full(4 * len(table), -1, np.int32)
                        _refill(rows, count, table)
                    if at_own[done] + room > len(chance):
                        chance, act = _larger(chance, room), _larger(act, room)
                    if at_child[done] + room > len(child):
                        child = _larger(child, room)
                if progress is not None:
                    progress(done / count, f"{count:,} positions")
        self.rows, self._table = rows[:count], table
        self._act = act[: at_own[count]]
        self.graph = Graph(
            at_own[: count + 1], chance[: at_own[count]], at_child[: count + 1],
            child[: at_child[count]], chooser[:count], cyclic,
        )  # fmt: skip

    def _asked(self, ask: AskRows, rows: Array, seat: int) -> tuple[Array, Array]:
        """The chances for those rows in which the seat chooses, and which of them is whose."""
        look = drivers(self.game.slug, self.sealed)
        line = np.zeros(len(rows), np.int64)
        chosen = np.arange(len(rows))
        if not self.sealed:
            movers = np.empty(len(rows), np.int8)
            look.movers(self.rules, rows, movers)
            chosen = np.flatnonzero(movers == seat)
        line[chosen] = np.arange(len(chosen))
        out = np.zeros((max(1, len(chosen)), len(self._names)))
        choosers = 2 if self.sealed else 1
        for begin in range(0, len(chosen), BATCH):
            some = np.ascontiguousarray(rows[chosen[begin : begin + BATCH]])
            masks = np.zeros((len(some), choosers, len(self._names)), np.bool_)
            seen = np.zeros((len(some), choosers, len(self.game.features())), np.int16)
            look.masks(self.rules, some, masks.view(np.uint8))
            look.observations(self.rules, some, seen)
            which = seat if self.sealed else 0
            out[begin : begin + len(some)] = ask(
                some, seat, np.ascontiguousarray(seen[:, which]),
                np.ascontiguousarray(masks[:, which]),
            )  # fmt: skip
        return out, line

    # Asking, as of a `Walk`

    def __len__(self) -> int:
        return len(self.rows)

    def state(self, number: int) -> Any:
        return unpacked(self.game, self.rows[number])

    def answer(self, number: int) -> Move:
        """A best answer in a position where the responder chooses."""
        turn = self.game.turn(self.state(number))
        assert isinstance(turn, Decide)
        options = sorted(turn.options[self.responder], key=self._names.index)
        return options[int(self.answers[number])]

    def find(self, state: Any) -> int:
        row = np.zeros((1, self.kernel.columns), self.kernel.dtype)
        row[0, DECISIONS + 1 :] = self.kernel.pack(self.game, state)
        return int(self._table[_slot(row, 0, self.rows, self._table)])

    @cached_property
    def _order(self) -> tuple[Array, Array, int]:
        size = len(self)
        if not self.graph.cyclic:  # every position leads to later waves only
            return np.arange(size - 1, -1, -1), np.arange(1, size + 1), size
        found = [np.full(size + 1, -1, np.int32) for _ in range(6)]
        place = np.full(size + 1, -1, np.int64)
        parts = fast().components(self.graph.at_child, self.graph.child, *found, place)
        return found[0], found[1], int(parts)

    @cached_property
    def _settled(self) -> Array:
        value = np.full(len(self), 0.5)
        fast().settle(*self.graph[:4], *self._order, value)
        return value

    def values(self) -> Array:
        return self._settled

    def against(self, mixes: Callable[[Array, int], Array]) -> float:
        """The responder's score with a mix of its own, where both choose at once everywhere.

        The graph holds every answer, so nothing has to be walked again.
        """
        assert self.sealed
        assert not self.graph.cyclic
        masks = np.zeros((len(self), 2, len(self._names)), np.bool_)
        drivers(self.game.slug, True).masks(self.rules, self.rows, masks.view(np.uint8))
        legal_first = np.argsort(~masks[:, self.responder], axis=1, kind="stable")
        weights = np.take_along_axis(mixes(self.rows, self.responder), legal_first, axis=1)
        value = np.zeros(len(self))
        fast().follow(*self.graph[:4], weights, value)
        return float(value[0])

    @cached_property
    def answers(self) -> Array:
        answer = np.full(len(self), -1, np.int16)
        fast().best(*self.graph[:4], *self._order, self.values(), answer)
        return answer

    def visits(self) -> Array:
        mass, visited = np.zeros(len(self)), np.zeros(len(self))
        mass[0] = 1.0
        fast().visits(*self.graph[:4], *self._order, self.answers, mass, visited)
        return visited

    def regrets(self, optimal: Array) -> Array:
        out = np.zeros(len(self))
        fast().gains(*self.graph[:4], optimal, out)
        return out

    def mix(self, number: int) -> dict[Move, float]:
        begin, end = self.graph.at_own[number], self.graph.at_own[number + 1]
        return {
            self._names[a]: float(p)
            for a, p in zip(self._act[begin:end], self.graph.chance[begin:end], strict=True)
        }


def _larger(array: Array, room: int) -> Array:
    more = np.zeros((2 * len(array) + room, *array.shape[1:]), array.dtype)
    more[: len(array)] = array
    return more


def unpacked(game: AnyGame, row: Array) -> Any:
    """A row as a state of the pure rules."""
    return kernel_of(game).unpack(game, tuple(row[DECISIONS + 1 :].tolist()))
