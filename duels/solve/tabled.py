"""Games whose values come from a table: shipped, kept from an earlier time, or made now.

A small variant is solved from its rules on the spot. A large one needs the compiled kernels once;
its table is then kept in the user's data directory.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any, Protocol

from duels.core.errors import DuelsError
from duels.core.game import AnyGame
from duels.games.digit_duel import DigitDuel
from duels.games.number_clash import NumberClash
from duels.solve import digit_duel, number_clash, tables
from duels.solve.generic import LARGEST, Generic
from duels.solve.solution import Solution, Unsolved, Value
from duels.solve.tables import Progress, Solved

SMALL = 20_000  # states that Python walks in about a second


class Reader(Protocol):
    def value(self, state: Any) -> Value: ...


class Tabled(Solution):
    """A kind of table says which file it needs, how to read it and how to make it."""

    def __init__(self, game: AnyGame, progress: Progress | None = None) -> None:
        super().__init__(game)
        self.covering, self.kind = self.needs()
        if tables.find(self.covering, self.kind) is None:
            if self.states() <= SMALL:
                self._reader: Reader = Generic(game, progress)
                return
            try:
                self.make(progress)
            except DuelsError as missing:
                self._reader = self._without_kernels(missing)
                return
        self._reader = self._open()

    def known(self, state: Any) -> Value:
        return self._reader.value(state)

    @classmethod
    def unopened(cls, game: AnyGame) -> Tabled:
        """Knows which table it needs, and has not looked for it."""
        solution = cls.__new__(cls)
        Solution.__init__(solution, game)
        solution.covering, solution.kind = solution.needs()
        return solution

    @classmethod
    def quick(cls, game: AnyGame) -> bool:
        solution = cls.unopened(game)
        small = solution.states() <= SMALL
        return small or tables.find(solution.covering, solution.kind) is not None

    @classmethod
    def rebuild(
        cls, game: AnyGame, progress: Progress, path: str | None, minutes: float | None
    ) -> dict[str, Any]:
        if minutes is not None:
            raise Unsolved(f"{game.slug} is solved to the end, however long that takes")
        solution = cls.unopened(game)
        written, solved = solution.make(progress, path)
        return {"table": written, "bytes": len(solved.payload), **solved.facts()}

    def make(self, progress: Progress | None = None, path: str | None = None) -> tuple[str, Solved]:
        """Solve anew with the kernels and write the table."""
        solved = self.solve(progress)
        facts = solved.facts()
        return tables.store(self.covering, solved.payload, self.kind, path, facts), solved

    def _open(self) -> Reader:
        table = tables.find(self.covering, self.kind)
        assert table is not None
        return self.read(table.payload)

    def _without_kernels(self, missing: DuelsError) -> Reader:
        """The rules alone may still do; if not, what is missing is the thing to say."""
        if self.states() > LARGEST:
            raise missing from None
        return Generic(self.game)

    def needs(self) -> tuple[AnyGame, str]:
        raise NotImplementedError

    def states(self) -> int:
        raise NotImplementedError

    def read(self, payload: memoryview) -> Reader:
        raise NotImplementedError

    def solve(self, progress: Progress | None) -> Solved:
        raise NotImplementedError


class NumberClashSolution(Tabled):
    game: NumberClash

    def needs(self) -> tuple[AnyGame, str]:
        return self.game, number_clash.KIND

    def states(self) -> int:
        return comb(2 * self.game.numbers, self.game.numbers) * self.game.points**2

    def read(self, payload: memoryview) -> Reader:
        return number_clash.NumberClashTable(self.game, payload)

    def solve(self, progress: Progress | None) -> Solved:
        return number_clash.solve(self.game, progress)


class DigitDuelSolution(Tabled):
    game: DigitDuel

    def known(self, state: Any) -> Value:
        value = self._reader.value(state)
        return value if self.game.hidden else Fraction(value)

    def distance(self, state: Any) -> int | None:
        """Turns, not choices; both grow alike, which is all a comparison needs."""
        if isinstance(self._reader, digit_duel.DigitDuelTable):
            return self._reader.distance(state)
        return None

    def needs(self) -> tuple[AnyGame, str]:
        return digit_duel.table_game(self.game), digit_duel.kind(self.game)

    def states(self) -> int:
        return digit_duel.check_size(self.game)

    def read(self, payload: memoryview) -> Reader:
        return digit_duel.reader(self.game, payload)

    def solve(self, progress: Progress | None) -> Solved:
        return digit_duel.solve(self.game, progress)
