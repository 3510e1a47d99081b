"""Solutions read from a table: shipped, stored by the user, or computed now.

A small variant is solved from its rules when it is needed. A large one is solved once, by compiled
code, and its table is stored in the user's data directory.
"""

from __future__ import annotations

from typing import Any, Protocol

from duels.algorithms import tables
from duels.algorithms.backward_induction import LARGEST, BackwardInduction
from duels.algorithms.solution import Progress, Solution, SolveArguments, Unsolved, Value
from duels.algorithms.tables import Solved
from duels.core.errors import DuelsError
from duels.core.game import AnyGame

SMALL = 20_000  # states that Python enumerates in about a second


class Reader(Protocol):
    def value(self, state: Any) -> Value: ...


class TableSolution(Solution):
    """The values of a game from its table; a missing table is computed and stored.

    The subclass of each game defines which table is needed, how to read it and how to compute it.
    Small variants are solved from the rules, without a table.
    """

    def __init__(self, game: AnyGame, progress: Progress | None = None) -> None:
        super().__init__(game)
        self.covering, self.kind = self.needs()
        if tables.find_table(self.covering, self.kind) is None:
            if self.states() <= SMALL:
                self.reader: Reader = BackwardInduction(game, progress)
                return
            try:
                self.make(progress)
            except DuelsError as missing:
                self.reader = self._without_kernels(missing)
                return
        self.reader = self._open()

    def decision_value(self, state: Any) -> Value:
        return self.reader.value(state)

    @classmethod
    def unopened(cls, game: AnyGame) -> TableSolution:
        """A solution whose table is not opened."""
        solution = cls.__new__(cls)
        Solution.__init__(solution, game)
        solution.covering, solution.kind = solution.needs()
        return solution

    @classmethod
    def quick(cls, game: AnyGame) -> bool:
        solution = cls.unopened(game)
        small = solution.states() <= SMALL
        return small or tables.find_table(solution.covering, solution.kind) is not None

    @classmethod
    def rebuild(cls, game: AnyGame, progress: Progress, given: SolveArguments) -> dict[str, Any]:
        if given.minutes is not None or given.jobs is not None:
            raise Unsolved(f"{game.slug} is solved exactly on one core; omit --minutes and --jobs")
        solution = cls.unopened(game)
        written, solved = solution.make(progress, given.path)
        return {"table": written, "bytes": len(solved.payload), **solved.facts()}

    def make(self, progress: Progress | None = None, path: str | None = None) -> tuple[str, Solved]:
        """Compute the table with the compiled solver and write it; returns path and contents."""
        solved = self.solve(progress)
        facts = solved.facts()
        return tables.store(self.covering, solved.payload, self.kind, path, facts), solved

    def _open(self) -> Reader:
        table = tables.find_table(self.covering, self.kind)
        assert table is not None
        return self.read(table.payload)

    def _without_kernels(self, missing: DuelsError) -> Reader:
        """Solve from the rules if numba is not installed; raise `missing` for too many states."""
        if self.states() > LARGEST:
            raise missing from None
        return BackwardInduction(self.game)

    def needs(self) -> tuple[AnyGame, str]:
        """The variant whose table contains this one, and the kind of table."""
        raise NotImplementedError

    def states(self) -> int:
        """The approximate number of states to solve."""
        raise NotImplementedError

    def read(self, payload: memoryview) -> Reader:
        """A reader of the table's payload."""
        raise NotImplementedError

    def solve(self, progress: Progress | None) -> Solved:
        """Compute the table with the compiled solver."""
        raise NotImplementedError
