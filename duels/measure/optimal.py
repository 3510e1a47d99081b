"""What positions are worth between perfect players, for very many rows of a kernel at once.

Where a game's solution can be read in arrays, that is done here; else it is asked one by one. The
tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from duels.core.game import AnyGame
from duels.envs.kernels import GOING_ON, NOBODY, digit_duel, kernel_named, number_clash, number_wars
from duels.envs.kernels.bits import numbers_of
from duels.games.digit_duel import DigitDuel
from duels.games.number_wars import NumberWars
from duels.measure.rows import copy, unpacked
from duels.solve import solve
from duels.solve.compiled import Array, compiled, np
from duels.solve.compiled.mixes import mixes
from duels.solve.digit_duel import RoleTable
from duels.solve.number_clash import NumberClashTable
from duels.solve.table_solution import TableSolution

SOME = 512  # rows whose sealed choices are solved at a time: what a processor keeps near


def optimal(game: AnyGame, rows: Array) -> Array:
    """Player 1's expected score in rows where somebody chooses."""
    solution = solve(game)
    reader = solution._reader if isinstance(solution, TableSolution) else None
    if isinstance(reader, NumberClashTable):
        left, score = number_clash.LEFT, number_clash.SCORE
        columns = (left, left + 1, score, score + 1)
        return reader.values(*(rows[:, c].astype(np.int64) for c in columns))
    if isinstance(reader, RoleTable):
        assert isinstance(game, DigitDuel)
        return _digit_duel(game, reader, rows)
    if isinstance(game, NumberWars) and game.refresh:
        return _number_wars(game, rows)
    return np.array([float(solution.value(unpacked(game, row))) for row in rows])


def _number_wars(game: NumberWars, rows: Array) -> Array:
    """Who needs fewer turns wins, the mover if both need as many."""
    from duels.solve.number_wars import NumberWarsSolution

    solution = solve(game)
    assert isinstance(solution, NumberWarsSolution)

    def turns(player: int) -> Array:
        used = rows[:, number_wars.USED + player].astype(np.int64)
        pairs = used << 16 | rows[:, number_wars.LP + 1 - player]
        known, back = np.unique(pairs, return_inverse=True)
        found = [solution._turns(pair & 0xFFFF, numbers_of(pair >> 16)) for pair in known.tolist()]
        return np.array(found, np.int64)[back]

    one, two = turns(0), turns(1)
    first = rows[:, number_wars.MOVER] == 0
    return np.where(first, one <= two, one < two).astype(np.float64)


def _digit_duel(game: DigitDuel, table: RoleTable, rows: Array) -> Array:
    left, life = digit_duel.LEFT, digit_duel.LIFE
    columns = (digit_duel.ATTACKER, digit_duel.ATTACK, left, left + 1, life, life + 1)
    attacker, attack, one, two, life_one, life_two = (rows[:, c].astype(np.int64) for c in columns)
    second = attacker == 1
    mine, theirs = np.where(second, two, one), np.where(second, one, two)
    life, other = np.where(second, life_two, life_one), np.where(second, life_one, life_two)
    wins = np.zeros(len(rows))
    before = attack == 0
    wins[before] = table.attacker_wins(
        *(part[before] for part in (attacker, mine, theirs, life, other))
    )
    held = np.ones(len(rows), np.bool_)  # the attacker's win, whatever the answer
    for digit in range(1, game.digits + 1):
        at = np.flatnonzero(~before & (theirs >> digit - 1 & 1 == 1))
        left = theirs[at] ^ 1 << digit - 1
        after = other[at] - np.maximum(0, attack[at] - digit)
        won = after <= 0
        last = ~won & (left == 0)
        won[last] = life[at][last] >= after[last]
        on = ~won & ~last
        turned = (1 - attacker[at], left, mine[at], after, life[at])
        won[on] = table.attacker_wins(*(part[on] for part in turned)) == 0
        held[at] &= won
    wins[~before] = held[~before]
    return np.where(second, 1 - wins, wins)


@cache
def _leads(slug: str) -> Callable[..., Any]:
    """The loop that makes the matrix of each sealed choice: its children, or how it ends."""
    kernel = kernel_named(slug)
    assert kernel is not None
    play, legal = kernel.play, kernel.legal

    @compiled
    def leads(rules: Any, rows: Array, moves: int, after: Array, ended: Array) -> None:
        streams = np.zeros((1, 2), np.uint64)
        scratch = np.zeros((1, rows.shape[1]), rows.dtype)
        for i in range(rows.shape[0]):
            for a in range(moves):
                for b in range(moves):
                    ended[i, a, b] = -1.0
                    if legal(rules, rows, i, 0, a) and legal(rules, rows, i, 1, b):
                        copy(rows, i, scratch, 0)
                        winner = play(rules, scratch, streams, 0, a, b)
                        copy(scratch, 0, after, (i * moves + a) * moves + b)
                        ended[i, a, b] = -2.0
                        if winner != GOING_ON:
                            ended[i, a, b] = 0.5 if winner == NOBODY else 1.0 - winner

    return leads


def sealed_mixes(game: AnyGame, rows: Array, seat: int) -> Array:
    """How the perfect player chooses in rows where both choose at once."""
    kernel = kernel_named(game.slug)
    assert kernel is not None
    rules, moves = kernel.rules(game), len(game.moves())
    out = np.zeros((len(rows), moves))
    for begin in range(0, len(rows), SOME):
        some = np.ascontiguousarray(rows[begin : begin + SOME])
        after = np.zeros((len(some) * moves * moves, rows.shape[1]), rows.dtype)
        payoffs = np.empty((len(some), moves, moves))
        _leads(game.slug)(rules, some, moves, after, payoffs)
        on = payoffs == -2.0
        payoffs[on] = optimal(game, after[on.reshape(-1)])
        out[begin : begin + len(some)] = mixes(payoffs, seat)
    return out
