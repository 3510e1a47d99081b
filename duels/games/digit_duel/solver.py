"""Solution of Digit Duel: the table of all attacker states, read by pure Python.

Tables are relative to roles: the attacker's digits and life, then the defender's. The open game has
no draws, so its table contains, for each pair of sets of digits and each pair of life totals, a
*rung*: the index of an outcome with its distance in the list `ladder`. Only a few thousand patterns
of rungs over the life totals occur among the pairs of sets, so the payload is, in this order:

- the number of patterns, and the size in bytes of a pattern's number (2 or 4): 4 bytes each;
- the number of its pattern for each pair of sets, zeros up to a multiple of eight;
- the patterns, by the attacker's life and then the defender's, two rungs to a byte, the lower half
  of the byte first.

With `hidden` choices are simultaneous, and the payload is the attacker's probability to win, 8-byte
floats: 39 MB for the default options, computed in seconds and stored in the user's data directory.

>>> from duels.games import load
>>> game = load("digit-duel")
>>> table = stored_values(game)
>>> table.value(game.start()), table.distance(game.start())
(1.0, 9)
"""

from __future__ import annotations

import struct
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import comb
from typing import Any

from duels.algorithms import tables
from duels.algorithms.solution import Progress, Value
from duels.algorithms.subsets import subset_rank
from duels.algorithms.table_solution import Reader, TableSolution
from duels.algorithms.tables import Solved, TableError
from duels.core.game import AnyGame, Over
from duels.games.digit_duel.rules import DigitDuel, State

KIND = "digit-duel ladder 1"
HIDDEN_KIND = "digit-duel hidden 1"
LARGEST = 300_000_000  # attacker states of an open game: twenty seconds, 600 MB of memory
LARGEST_HIDDEN = 40_000_000  # of a hidden one: twenty seconds, 800 MB and a file of 320 MB


def ladder(size: int) -> list[tuple[bool, int]]:
    """The possible results with `size` digits left, from the attacker's worst to the best.

    Each rung is whether the attacker wins, and in how many turns. A knock-out is always by the
    attacker of that turn, so before the last turn the distance determines the winner.

    >>> ladder(4)
    [(False, 2), (False, 4), (True, 4), (True, 3), (True, 1)]
    """
    if size == 0:
        return [(False, 0), (True, 0)]
    turned = [(not wins, turns + 1) for wins, turns in reversed(ladder(size - 1))]
    return turned if size == 1 else [*turned, (True, 1)]


def lives(game: DigitDuel) -> tuple[int, int]:
    """Smaller life totals with which the game has the same solution.

    Neither player can lose more than `most`. A lead larger than that need only stay larger, and if
    both players have more than that, only the difference matters.

    >>> lives(DigitDuel(life=999)), lives(DigitDuel(life="3/999")), lives(DigitDuel())
    ((21, 21), (3, 24), (10, 10))
    """
    attacks = (game.digits + 1) // 2
    most = attacks * (game.digits - attacks)
    low = min(game.life)
    spare = max(0, low - most - 1)
    one, two = (min(life, low + most + 1) - spare for life in game.life)
    return one, two


def table_game(game: AnyGame) -> DigitDuel:
    """The variant whose table contains this one: its equal lives cover both players' totals."""
    assert isinstance(game, DigitDuel)
    life = max(lives(game))
    if game.digits == 9 and life < 10 and not game.hidden:
        life = 10  # the shipped table contains all lower totals too
    return DigitDuel(life=life, digits=game.digits, hidden=game.hidden)


class RoleTable:
    """Base of both tables: the indices of a pair of sets and of a pair of life totals."""

    def __init__(self, game: AnyGame, payload: memoryview | bytes) -> None:
        assert isinstance(game, DigitDuel)
        self._game = game
        self.payload = memoryview(payload)
        self._life = table_game(game).life[0]
        self._spare = tuple(full - kept for full, kept in zip(game.life, lives(game), strict=True))
        counts = [comb(game.digits, size) for size in range(game.digits + 1)]
        self._counts = counts
        self._starts = [0, *accumulate(count * count for count in [0, *counts[1:]])]
        self._pairs = self._starts.pop()

    def _place(self, state: State) -> tuple[int, int]:
        """The index of the pair of sets and, within it, of the pair of life totals."""
        mine, theirs = state.attacker, 1 - state.attacker
        size = len(state.digits[mine])
        row = subset_rank(state.digits[mine]) * self._counts[size]
        pair = self._starts[size] + row + subset_rank(state.digits[theirs])
        one, two = (state.life[player] - 1 - self._spare[player] for player in (mine, theirs))
        if not (0 <= one < self._life and 0 <= two < self._life):
            raise TableError("this position is not reachable in Digit Duel with these options")
        return pair, one * self._life + two

    def _places(
        self, attacker: Any, mine: Any, theirs: Any, life: Any, other: Any
    ) -> tuple[Any, Any, Any]:
        """As `_place`, for arrays of attacker states: sets of digits as bits; with their sizes."""
        from duels.algorithms.compiled import np
        from duels.algorithms.subsets import ranks

        spare = np.array(self._spare)
        rank, sizes = ranks(self._game.digits)
        size = sizes[mine]
        pair = np.array(self._starts)[size] + rank[mine] * np.array(self._counts)[size]
        one, two = life - 1 - spare[attacker], other - 1 - spare[1 - attacker]
        return pair + rank[theirs], one * self._life + two, size

    def attacker_wins(self, attacker: Any, mine: Any, theirs: Any, life: Any, other: Any) -> Any:
        """The attacker's probability to win in arrays of states before the attack. Needs numpy."""
        raise NotImplementedError


class DigitDuelTable(RoleTable):
    """Winner and distance of every state of the open game, from the payload of its table."""

    def __init__(self, game: AnyGame, payload: memoryview | bytes) -> None:
        super().__init__(game, payload)
        _, self._wide = struct.unpack_from("<II", self.payload)
        self._patterns_at = 8 + (self._pairs * self._wide + 7) // 8 * 8
        # Cached, since a choice needs the same states several times: for values and distances.
        self._kept = lru_cache(maxsize=4096)(self._result)
        self._ladders = [ladder(size) for size in range(self._game.digits + 1)]

    def value(self, state: State) -> float:
        """Player 1's score with best play: 1.0 or 0.0."""
        return float(self.result(state)[0] == 0)

    def distance(self, state: State) -> int:
        """Turns to the end, this one included, if the winner hurries and the loser delays."""
        return self.result(state)[1]

    def result(self, state: State) -> tuple[int, int]:
        """(winner, turns to the end), before an attack, before its defence or at the end."""
        return self._kept(state)

    def _result(self, state: State) -> tuple[int, int]:
        if min(state.life) <= 0 or not state.digits[1 - state.attacker]:
            turn = self._game.turn(state)
            assert isinstance(turn, Over), "no player can choose here"
            assert turn.winner is not None, "there are no draws (D3)"
            return turn.winner, 0
        if state.attack is not None:
            return self._before_defence(state)
        wins, turns = self._ladders[len(state.digits[0])][self._rung(state) - 1]
        return (state.attacker if wins else 1 - state.attacker), turns

    def attacker_wins(self, attacker: Any, mine: Any, theirs: Any, life: Any, other: Any) -> Any:
        from duels.algorithms.compiled import np

        pair, cell, size = self._places(attacker, mine, theirs, life, other)
        pattern = np.frombuffer(self.payload, f"<u{self._wide}", self._pairs, 8)[pair]
        at = self._patterns_at + pattern.astype(np.int64) * ((self._life**2 + 1) // 2) + cell // 2
        rung = np.frombuffer(self.payload, np.uint8)[at] >> 4 * (cell % 2) & 15
        wins = np.zeros((self._game.digits + 1, 17))
        for count, rungs in enumerate(self._ladders):
            wins[count, 1 : 1 + len(rungs)] = [won for won, _ in rungs]
        return wins[size, rung]

    def _before_defence(self, state: State) -> tuple[int, int]:
        defender = 1 - state.attacker
        winning: list[int] = []
        losing: list[int] = []
        for digit in state.digits[defender]:
            winner, turns = self._result(self._game.play(state, str(digit)))
            (winning if winner == defender else losing).append(1 + turns)
        return (defender, min(winning)) if winning else (state.attacker, max(losing))

    def _rung(self, state: State) -> int:
        pair, cell = self._place(state)
        at = 8 + pair * self._wide
        pattern = int.from_bytes(self.payload[at : at + self._wide], "little")
        at = self._patterns_at + pattern * ((self._life**2 + 1) // 2) + cell // 2
        both: int = self.payload[at]
        return both >> 4 * (cell % 2) & 15


class HiddenDuelTable(RoleTable):
    """The values of the hidden variant, in which attack and defence are simultaneous."""

    def value(self, state: State) -> float:
        """Player 1's probability to win in a state in which both choose."""
        pair, cell = self._place(state)
        (wins,) = struct.unpack_from("<d", self.payload, 8 * (pair * self._life**2 + cell))
        return float(wins) if state.attacker == 0 else 1.0 - float(wins)

    def attacker_wins(self, attacker: Any, mine: Any, theirs: Any, life: Any, other: Any) -> Any:
        from duels.algorithms.compiled import np

        pair, cell, _ = self._places(attacker, mine, theirs, life, other)
        return np.frombuffer(self.payload, "<f8")[pair * self._life**2 + cell]


def kind(game: AnyGame) -> str:
    assert isinstance(game, DigitDuel)
    return HIDDEN_KIND if game.hidden else KIND


def reader(game: AnyGame, payload: memoryview | bytes) -> DigitDuelTable | HiddenDuelTable:
    assert isinstance(game, DigitDuel)
    return HiddenDuelTable(game, payload) if game.hidden else DigitDuelTable(game, payload)


def stored_values(game: AnyGame) -> DigitDuelTable | HiddenDuelTable | None:
    """The game's table, shipped or computed by the user; None if there is none."""
    table = tables.find_table(table_game(game), kind(game))
    return None if table is None else reader(game, table.payload)


def check_size(game: AnyGame) -> int:
    """The number of attacker states to solve; raises `Unsolved` if there are too many."""
    assert isinstance(game, DigitDuel)
    life = table_game(game).life[0]
    states = (comb(2 * game.digits, game.digits) - 1) * life**2
    most = LARGEST_HIDDEN if game.hidden else LARGEST
    if states > most:
        raise TableError(
            f"digits={game.digits} with life={game.settings()['life']} has {states:,} attacker "
            f"states; at most {most:,} can be solved here"
            + (" with hidden=yes" if game.hidden else "")
        )
    return states


def solve(game: AnyGame, progress: Progress | None = None) -> Solved:
    """Solve `table_game(game)` with the compiled kernel."""
    states = check_size(game)
    from duels.algorithms.compiled import need_numba
    from duels.games.digit_duel.compiled_solver import hidden_layers, open_layers

    need_numba()
    table = table_game(game)
    life, digits = table.life[0], table.digits
    tell = progress or (lambda part, what: None)
    done = accumulate(comb(digits, size) ** 2 * life**2 / states for size in range(1, digits + 1))
    if table.hidden:
        values, gap = [], 0.0
        for part, (layer, its_gap) in zip(done, hidden_layers(digits, life), strict=True):
            values.append(layer.astype("<f8").tobytes())
            gap = max(gap, its_gap)
            tell(part, f"{len(values)} digits left")
        return Solved(b"".join(values), states, gap)
    numbers: list[int] = []
    patterns: dict[bytes, int] = {}
    cells = life * life
    for size, (part, layer) in enumerate(zip(done, open_layers(digits, life), strict=True), 1):
        rungs: bytes = layer.tobytes()
        numbers += [
            patterns.setdefault(rungs[at : at + cells], len(patterns))
            for at in range(0, len(rungs), cells)
        ]
        tell(part, f"{size} digits left")
    return Solved(_packed(numbers, patterns), states, 0.0)


def _packed(numbers: list[int], patterns: dict[bytes, int]) -> bytes:
    wide = 2 if len(patterns) <= 1 << 16 else 4
    indices = struct.pack(f"<{len(numbers)}{'H' if wide == 2 else 'I'}", *numbers)
    packed = b"".join(
        bytes(low | high << 4 for low, high in zip(cells[::2], cells[1::2], strict=True))
        for cells in (pattern + bytes(len(pattern) % 2) for pattern in patterns)
    )
    head = struct.pack("<II", len(patterns), wide)
    return head + indices + bytes(-len(indices) % 8) + packed


class DigitDuelSolution(TableSolution):
    game: DigitDuel

    def decision_value(self, state: Any) -> Value:
        value = self.reader.value(state)
        return value if self.game.hidden else Fraction(value)

    def distance(self, state: Any) -> int | None:
        """Turns, not choices: both have the same order, which is sufficient for comparisons."""
        if isinstance(self.reader, DigitDuelTable):
            return self.reader.distance(state)
        return None

    def needs(self) -> tuple[AnyGame, str]:
        return table_game(self.game), kind(self.game)

    def states(self) -> int:
        return check_size(self.game)

    def read(self, payload: memoryview) -> Reader:
        return reader(self.game, payload)

    def solve(self, progress: Progress | None) -> Solved:
        return solve(self.game, progress)
