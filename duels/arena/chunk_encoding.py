"""Encoding of a chunk's results: columns of numbers, compressed, beside the records of its games.

A game played in Python is stored as its record. A game played in compiled code is stored as the
actions that were chosen; the rules and the random streams reproduce its record from them.
"""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from math import isnan, nan
from typing import Any, NamedTuple

from duels.arena.failures import FAILED, with_reasons
from duels.arena.model import DISQUALIFIED, GameResult
from duels.arena.schedule import Chunk
from duels.core.errors import RecordError, quote

ENDS = ("rules", "limit", "forfeit", "time", "resignation", DISQUALIFIED)
NO_LOSER = -1
# By game: twice the score, how it ended, the seat that failed, choices; then what may be unknown.
# The last column is the payoff, which results of earlier versions lack.
TYPES = "bbbidddddd"


class ChunkResult(NamedTuple):
    """A finished chunk as the archive stores it."""

    chunk: Chunk
    results: bytes
    records: bytes


def damaged(why: str, folder: str = "") -> RecordError:
    """The error for an archive that cannot be read, with the way out."""
    where = f"the tournament in {quote(folder)}" if folder else "the tournament's file"
    return RecordError(
        f"{where} cannot be read: {why}; play it again with --fresh, or choose another --out"
    )


def packed_columns(columns: Sequence[Iterable[Any]]) -> bytes:
    """The columns of `TYPES`, concatenated, little-endian and compressed."""
    parts = []
    for kind, column in zip(TYPES, columns, strict=True):
        numbers = array(kind, column)
        if sys.byteorder == "big":
            numbers.byteswap()
        parts.append(numbers.tobytes())
    return zlib.compress(b"".join(parts), 1)


def inflated(data: bytes) -> bytes:
    """Decompressed bytes; raises `RecordError` if they are damaged."""
    try:
        return zlib.decompress(data)
    except (zlib.error, TypeError):
        raise damaged("games in it are damaged") from None


def columns_of(results: Sequence[GameResult]) -> list[list[Any]]:
    """Results of games as columns."""
    unknown = (nan, nan)
    rows = [
        (
            int(2 * game.score), ENDS.index(game.by),
            NO_LOSER if game.loser is None else game.loser, game.choices,
            nan if game.adjusted is None else game.adjusted,
            *(game.regret or unknown), *(game.graded or unknown),
            nan if game.payoff is None else game.payoff,
        )
        for game in results
    ]  # fmt: skip
    return [list(column) for column in zip(*rows, strict=True)]


def unpacked_results(chunk: Chunk, data: bytes) -> list[GameResult]:
    """The results of a chunk's games, in order."""
    raw = inflated(data)
    try:
        return list(_games(chunk, raw))
    except (ValueError, IndexError, OverflowError):
        raise damaged("games in it are damaged") from None


def _games(chunk: Chunk, raw: bytes) -> Iterator[GameResult]:
    at = 0
    columns: list[array[Any]] = []
    for kind in TYPES:
        numbers = array(kind)
        size = numbers.itemsize * chunk.games
        if at == len(raw) and len(columns) == len(TYPES) - 1:
            columns.append(array(kind, [nan] * chunk.games))
            break
        numbers.frombytes(raw[at : at + size])
        if sys.byteorder == "big":
            numbers.byteswap()
        columns.append(numbers)
        at += size
    if at != len(raw):
        raise ValueError(len(raw))
    for number, (twice, end, loser, choices, adjusted, *more) in enumerate(
        zip(*columns, strict=True)
    ):
        a, b, m, n, payoff = more
        yield GameResult(
            chunk.game, chunk.pairing, chunk.start + number // 2, number % 2,
            twice / 2, ENDS[end], choices,
            None if isnan(adjusted) else adjusted,
            None if isnan(a) else (a, b),
            None if isnan(m) else (int(m), int(n)),
            None if loser == NO_LOSER else loser,
            payoff=None if isnan(payoff) else payoff,
        )  # fmt: skip


def results_with_reasons(done: ChunkResult) -> list[GameResult]:
    """The results of a chunk's games, with the players that failed and why, from the records."""
    games = unpacked_results(done.chunk, done.results)
    if done.chunk.compiled or not any(game.by in FAILED for game in games):
        return games
    return with_reasons(games, json.loads(inflated(done.records)))
