"""Whether a tournament may go on with the games that a folder holds, and which of them it keeps.

More pairs and more players may be asked for than were played; all else must be the same, the
programs of the players included.

>>> from duels.arena.played import Setting, Tournament
>>> there = Tournament(("greedy", "random"), (Setting("digit-duel"),), pairs=5, seed=1)
>>> cup = joined("cup", there, there._replace(players=("easy", "random", "greedy"), pairs=9))
>>> cup.players, cup.pairs, renumbered(there, cup)
(('greedy', 'random', 'easy'), 9, {0: 0})
"""

from __future__ import annotations

import json
from typing import Any

from duels.arena.played import Tournament
from duels.core.errors import OptionError, quote
from duels.core.show import listed

MAY_GROW = ("players", "pairs", "programs", "plays")


def joined(folder: str, there: Tournament, cup: Tournament) -> Tournament:
    """The tournament of a folder with what another one adds to it; anything else is refused.

    Players who are there stay in their order, so that games keep who met whom.
    """
    old, new = there.to_stored(), cup.to_stored()
    for name in ("key", *old):  # first of all, whether the seed is secret
        if name not in MAY_GROW and old[name] != new[name]:
            raise refused(folder, _difference(name, there, cup))
    missing = [name for name in there.players if name not in cup.players]
    if missing:
        raise refused(folder, f"{listed(missing)} played there as well")
    if cup.gauntlet and cup.players[0] != there.players[0]:
        raise refused(folder, f"{there.players[0]} was the first player")
    before, now = (dict(zip(it.players, it.programs, strict=False)) for it in (there, cup))
    for name in there.players:
        if before.get(name) != now.get(name):
            raise refused(folder, f"{name} has changed since")
    players = (*there.players, *(name for name in cup.players if name not in there.players))
    programs = tuple(now[name] for name in players) if now else ()
    return cup._replace(players=players, programs=programs, pairs=max(there.pairs, cup.pairs))


def renumbered(there: Tournament, cup: Tournament) -> dict[int, int]:
    """The numbers of pairings in a tournament with more players, by those they had."""
    now = {pairing: number for number, pairing in enumerate(cup.pairings)}
    return {number: now[pairing] for number, pairing in enumerate(there.pairings)}


def refused(folder: str, why: str) -> OptionError:
    return OptionError(
        f"{quote(folder)} holds another tournament: {why}; choose another --out, or --fresh to "
        "start over"
    )


def _difference(name: str, there: Tournament, cup: Tournament) -> str:
    if name in ("key", "seed"):
        one, two = (
            "secret" if it.key is not None else str(it.seed) for it in (there, cup)
        )  # fmt: skip
        return f"its seed is {one}, not {two if one != two else 'this one'}"
    old, new = there.to_stored()[name], cup.to_stored()[name]
    return f"its {name} is {_text(old)}, not {_text(new)}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
