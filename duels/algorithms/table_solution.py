"""Solutions read from a table: shipped, stored by the user, or computed now.

A small variant is solved from its rules on the spot. A large one needs the compiled kernels once;
its table is then kept in the user's data directory.
"""

from __future__ import annotations

from typing import Any, Protocol

from duels.algorithms import tables
from duels.algorithms.backward_induction import LARGEST, Generic
from duels.algorithms.solution import Progress, Solution, Unsolved, Value
from duels.algorithms.tables import Solved
from duels.core.errors import DuelsError
from duels.core.game import AnyGame

SMALL = 20_000  # states that Python enumerates in about a second


class Reader(Protocol):
    def value(self, state: Any) -> Value: ...


class TableSolution(Solution):
    """The values of a game from its table; a missing table is computed and stored.

    A subclass for each game says which table is needed, how to read it and how to compute it. Small
    variants are solved from the rules, without a table.
    """

    def __init__(self, game: AnyGame, progress: Progress | None = None) -> None:
        super().__init__(game)
        self.covering, self.kind = self.needs()
        if tables.find_table(self.covering, self.kind) is None:
            if self.states() <= SMALL:
                self.reader: Reader = Generic(game, progress)
                return
            try:
                self.make(progress)
            except DuelsError as missing:
                self.reader = self._without_kernels(missing)
                return
        self.reader = self._open()

    def known(self, state: Any) -> Value:
        return self.reader.value(state)

    @classmethod
    def unopened(cls, game: AnyGame) -> TableSolution:
        """A solution that knows which table it needs and has not opened it."""
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
    def rebuild(
        cls,
        game: AnyGame,
        progress: Progress,
        path: str | None = None,
        minutes: float | None = None,
        jobs: int | None = None,
    ) -> dict[str, Any]:
        if minutes is not None or jobs is not None:
            raise Unsolved(
                f"{game.slug} is solved to the end, on one core: no --minutes, no --jobs"
            )
        solution = cls.unopened(game)
        written, solved = solution.make(progress, path)
        return {"table": written, "bytes": len(solved.payload), **solved.facts()}

    def make(self, progress: Progress | None = None, path: str | None = None) -> tuple[str, Solved]:
        """Solve anew with the kernels and write the table."""
        solved = self.solve(progress)
        facts = solved.facts()
        return tables.store(self.covering, solved.payload, self.kind, path, facts), solved

    def _open(self) -> Reader:
        table = tables.find_table(self.covering, self.kind)
        assert table is not None
        return self.read(table.payload)

    def _without_kernels(self, missing: DuelsError) -> Reader:
        """Solve from the rules where the kernels are missing; too many states: raise `missing`."""
        if self.states() > LARGEST:
            raise missing from None
        return Generic(self.game)

    def needs(self) -> tuple[AnyGame, str]:
        """The variant whose table serves this one, and the kind of table."""
        raise NotImplementedError

    def states(self) -> int:
        """About how many states there are to solve."""
        raise NotImplementedError

    def read(self, payload: memoryview) -> Reader:
        """A reader of the table's payload."""
        raise NotImplementedError

    def solve(self, progress: Progress | None) -> Solved:
        """Compute the table with the compiled solver."""
        raise NotImplementedError
