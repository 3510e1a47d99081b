"""Plays chunks in compiled code: tens of thousands of games a second."""

from __future__ import annotations

import zlib

from duels.arena.chunk_encoding import ENDS, NO_LOSER, ChunkResult, packed_columns
from duels.arena.compiled_aivat import adjusted
from duels.arena.engine import set_ready
from duels.arena.model import Tournament
from duels.arena.schedule import (
    ADJUSTED_PAIRS,
    Chunk,
    chooser_of,
    encounter_seed,
    game_of,
    opponent,
)
from duels.core.game import AnyGame
from duels.kernels import Array, np
from duels.kernels.driver import BY_FORFEIT, BY_LIMIT, BY_RULES
from duels.kernels.pairs import PlayedGames, play_pairs

ENDINGS = {BY_RULES: "rules", BY_LIMIT: "limit", BY_FORFEIT: "forfeit"}
ACTIONS = "<i2"  # encoding of stored actions
DIGITS = 9  # decimals that are stored: differences of rounding between machines have no effect


def play_compiled(tournament: Tournament, chunk: Chunk) -> ChunkResult:
    """Play a chunk between two players in compiled code."""
    setting, (first, second) = tournament.games[chunk.game], tournament.pairings[chunk.pairing]
    names, game = (opponent(tournament, first), opponent(tournament, second)), game_of(setting)
    one, two = (chooser_of(setting, name) for name in names)
    assert one is not None
    assert two is not None
    adjust = chunk.start < ADJUSTED_PAIRS
    met = play_pairs(
        game, one, two, encounter_seed(tournament, chunk.game, chunk.pairing),
        range(chunk.start, chunk.stop), tournament.turn_limit, adjust,
    )  # fmt: skip
    twice = np.array([2, 0, 1], np.int8)[met.winner]  # by winner: seat 0, seat 1, none
    ends = np.zeros(max(ENDINGS) + 1, np.int8)
    for code, name in ENDINGS.items():
        ends[code] = ENDS.index(name)
    loser = np.where((met.ending == BY_FORFEIT) & (twice != 1), 1 - met.winner, NO_LOSER)
    columns = [
        twice,
        ends[met.ending],
        loser,
        met.choices,
        *adjusted_columns(game, names, met, tournament, adjust),
        met.payoff,
    ]
    if adjust:  # only now the code of the luck adjustment is compiled too
        set_ready(tournament, chunk.game, chunk.pairing)
    actions = zlib.compress(met.actions.astype(ACTIONS, copy=False).tobytes(), 1)
    return ChunkResult(chunk, packed_columns(columns), actions)


def adjusted_columns(
    game: AnyGame, names: tuple[str, str], met: PlayedGames, tournament: Tournament, adjust: bool
) -> list[Array]:
    """Adjusted score, regrets and graded choices of each game; NaN where they are not known.

    The adjustment takes longer than the games, and a thousand adjusted pairs are as informative as
    ten thousand raw ones: only the first `ADJUSTED_PAIRS` pairs are adjusted, as in Python.
    """
    found = adjusted(game, names, met, tournament.turn_limit) if adjust else None
    if found is None:
        return [np.full(len(met.winner), np.nan)] * 5
    score, regret, graded = found
    columns = [score, *regret.T, *np.where(graded.sum(axis=1, keepdims=True) > 0, graded, np.nan).T]
    return [np.round(column, DIGITS) for column in columns]
