"""Portions in compiled code: tens of thousands of games in a second."""

from __future__ import annotations

import zlib

from duels.arena.batch_luck import adjusted
from duels.arena.engine import set_ready
from duels.arena.keeping import ENDS, NOBODY, Done, packed
from duels.arena.played import Tournament
from duels.arena.schedule import WATCHED, Portion, chooser_of, encounter_seed, game_of
from duels.core.game import AnyGame
from duels.envs.kernels import Array, np
from duels.envs.kernels.drive import BY_FORFEIT, BY_LIMIT, BY_RULES
from duels.envs.kernels.meet import Met, meet

ENDINGS = {BY_RULES: "rules", BY_LIMIT: "limit", BY_FORFEIT: "forfeit"}
ACTIONS = "<i2"  # how actions are kept
DIGITS = 9


def play_compiled(cup: Tournament, portion: Portion) -> Done:
    """Play a portion between two choosers."""
    setting, (first, second) = cup.games[portion.game], cup.pairings[portion.pairing]
    names, game = (cup.players[first], cup.players[second]), game_of(setting)
    one, two = (chooser_of(setting, name) for name in names)
    assert one is not None
    assert two is not None
    watch = portion.start < WATCHED
    met = meet(
        game, one, two, encounter_seed(cup, portion.game, portion.pairing),
        range(portion.start, portion.stop), cup.turn_limit, watch,
    )  # fmt: skip
    twice = np.array([2, 0, 1], np.int8)[met.winner]  # seat 0 has won, seat 1 has, nobody has
    ends = np.zeros(max(ENDINGS) + 1, np.int8)
    for code, name in ENDINGS.items():
        ends[code] = ENDS.index(name)
    loser = np.where((met.ending == BY_FORFEIT) & (twice != 1), 1 - met.winner, NOBODY)
    columns = [twice, ends[met.ending], loser, met.choices, *lucks(game, names, met, cup, watch)]
    if watch:  # with the code for luck
        set_ready(cup, portion.game, portion.pairing)
    actions = zlib.compress(met.actions.astype(ACTIONS, copy=False).tobytes(), 1)
    return Done(portion, packed(columns), actions)


def lucks(
    game: AnyGame, names: tuple[str, str], met: Met, cup: Tournament, watch: bool
) -> list[Array]:
    """The score without luck, regrets and graded choices of each game, where they are known.

    Working them out takes longer than the games, and a thousand pairs without luck say as much as
    ten thousand with it: the pairs after the first `WATCHED` go without, here and by the rules.
    They are rounded, so that another machine's last digit is no other result.
    """
    found = adjusted(game, names, met, cup.turn_limit) if watch else None
    if found is None:
        return [np.full(len(met.winner), np.nan)] * 5
    score, regret, graded = found
    columns = [score, *regret.T, *np.where(graded.sum(axis=1, keepdims=True) > 0, graded, np.nan).T]
    return [np.round(column, DIGITS) for column in columns]
