"""Enumeration of large games in compiled code; positions are packed rows of a kernel's state.

The rules are those of `duels.kernels`, which tests compare with the pure rules. Positions are found
breadth first, so that the policy is queried about a whole wave at once, and stored in a hash table.
Kernels with chance events are detected and refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

from duels.algorithms.compiled import Array, np
from duels.algorithms.compiled.templates import load
from duels.algorithms.response_graph import Graph, fast
from duels.algorithms.solution import Progress, Unsolved
from duels.core.game import AnyGame, Chance, Decide, Move
from duels.kernels import DECISIONS, Kernel, kernel_of
from duels.kernels.driver import drivers

# From positions in which a seat chooses, its observations and masks, to move probabilities.
AskPositions = Callable[[Array, int, Array, Array], Array]
BATCH = 1 << 18  # positions in one query of a policy, at most
FULL, BY_CHANCE = -1, -2  # reasons why an expansion stopped


class ChanceInKernel(Unsolved):
    """A kernel with chance events, whose positions do not follow from the moves alone."""


@cache
def loops(kernel: Kernel, sealed: bool) -> Any:
    """The loops of `duels.measure.kernel_template` for one kernel."""
    return load(
        "duels.measure.kernel_template",
        sealed=sealed, play=kernel.play, legal=kernel.legal, mover=kernel.mover,
    )  # fmt: skip


class CompiledEnumeration:
    """`duels.algorithms.best_response.Enumeration` over a kernel's packed positions."""

    def __init__(
        self,
        game: AnyGame,
        seat: int,
        ask: AskPositions,
        answers: AskPositions | None = None,
        *,
        progress: Progress | None = None,
    ) -> None:
        self.game, self.seat, self.responder = game, seat, 1 - seat
        if isinstance(game.turn(game.start()), Chance):
            raise ChanceInKernel(f"{game.slug} begins with a chance event")
        self.kernel = kernel_of(game, progress)
        self.sealed = self.kernel.sealed(game)
        self.rules = self.kernel.rules(game)
        self._loops = loops(self.kernel, self.sealed)
        self._names = game.moves()
        self._enumerate(ask, answers, progress)

    def _enumerate(
        self, ask: AskPositions, answers: AskPositions | None, progress: Progress | None
    ) -> None:
        moves, size = len(self._names), 1 << 12
        expand, refill = self._loops.expand, self._loops.refill
        rows = np.zeros((size, self.kernel.columns), self.kernel.dtype)
        rows[0, DECISIONS + 1 :] = self.kernel.pack(self.game, self.game.start())
        table = np.full(4 * size, -1, np.int32)
        refill(rows, 1, table)
        at_own, at_child = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
        chooser = np.zeros(size, np.int8)
        chance, act = np.zeros(size), np.zeros(size, np.int8 if moves < 128 else np.int16)
        child = np.zeros(size, np.int32)
        scratch = np.zeros((1, self.kernel.columns), self.kernel.dtype)
        streams = np.zeros((1, 2), np.uint64)
        done, count, cyclic = 0, 1, False
        unused = np.zeros((1, moves)), np.zeros(1, np.int64)
        while done < count:
            wave, end = done, count
            mine, my_line = self._queried(ask, rows[wave:end], self.seat)
            theirs, their_line = unused
            if answers is not None:
                theirs, their_line = self._queried(answers, rows[wave:end], self.responder)
            while done < end:
                done, count, again, why = expand(
                    self.rules, self.seat, moves, done, end, wave, count, rows, table,
                    mine, my_line, theirs, their_line, answers is not None,
                    at_own, chance, act, at_child, child, chooser, scratch, streams,
                )  # fmt: skip
                cyclic = cyclic or bool(again)
                if why == BY_CHANCE:
                    raise ChanceInKernel(f"the kernel of {self.game.slug} has chance events")
                if why == FULL:
                    room = moves * moves
                    if count + room > len(rows):
                        rows = _larger(rows, room)
                        at_own, at_child = _larger(at_own, room + 1), _larger(at_child, room + 1)
                        chooser = _larger(chooser, room)
                    if 2 * (count + room) > len(table):
                        table = np.full(4 * len(table), -1, np.int32)
                        refill(rows, count, table)
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

    def _queried(self, ask: AskPositions, rows: Array, seat: int) -> tuple[Array, Array]:
        """Probabilities in the positions where the seat chooses, and the line of each position."""
        look = drivers(self.kernel, self.sealed)
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

    # Results, as of an `Enumeration`

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
        return int(self._table[self._loops.slot_of(row, 0, self.rows, self._table)])

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

    def against(self, strategies: Callable[[Array, int], Array]) -> float:
        """The responder's score with its own mixed strategies, if all choices are simultaneous.

        The graph holds every answer, so that nothing is enumerated again.
        """
        assert self.sealed
        assert not self.graph.cyclic
        masks = np.zeros((len(self), 2, len(self._names)), np.bool_)
        drivers(self.kernel, True).masks(self.rules, self.rows, masks.view(np.uint8))
        legal_first = np.argsort(~masks[:, self.responder], axis=1, kind="stable")
        weights = np.take_along_axis(strategies(self.rows, self.responder), legal_first, axis=1)
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

    def mixed_strategy(self, number: int) -> dict[Move, float]:
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
    """A packed position as a state of the pure rules."""
    return kernel_of(game).unpack(game, tuple(row[DECISIONS + 1 :].tolist()))
