"""Portions in compiled code: tens of thousands of games in a second."""

from __future__ import annotations

import zlib

from duels.arena.keeping import ENDS, NOBODY, Done, packed
from duels.arena.played import Tournament
from duels.arena.schedule import Portion, chooser_of, encounter_seed, game_of
from duels.envs.kernels import np
from duels.envs.kernels.drive import BY_FORFEIT, BY_LIMIT, BY_RULES
from duels.envs.kernels.meet import meet

ENDINGS = {BY_RULES: "rules", BY_LIMIT: "limit", BY_FORFEIT: "forfeit"}
ACTIONS = "<i2"  # how actions are kept


def play_compiled(cup: Tournament, portion: Portion) -> Done:
    """Play a portion between two choosers."""
    setting, pairing = cup.games[portion.game], cup.pairings[portion.pairing]
    one, two = (chooser_of(setting, cup.players[index]) for index in pairing)
    assert one is not None
    assert two is not None
    met = meet(
        game_of(setting), one, two, encounter_seed(cup, portion.game, portion.pairing),
        range(portion.start, portion.stop), cup.turn_limit,
    )  # fmt: skip
    twice = np.array([2, 0, 1], np.int8)[met.winner]  # seat 0 has won, seat 1 has, nobody has
    ends = np.zeros(max(ENDINGS) + 1, np.int8)
    for code, name in ENDINGS.items():
        ends[code] = ENDS.index(name)
    loser = np.where((met.ending == BY_FORFEIT) & (twice != 1), 1 - met.winner, NOBODY)
    unknown = np.full(portion.games, np.nan)
    columns = [twice, ends[met.ending], loser, met.choices, unknown, *[unknown] * 4]
    actions = zlib.compress(met.actions.astype(ACTIONS, copy=False).tobytes(), 1)
    return Done(portion, packed(columns), actions)
