"""Rules for continuing a stored tournament.

More pairs and more players may be requested than were played; everything else must be the same,
including the programs of the players.

>>> from duels.arena.model import Setting, Tournament
>>> there = Tournament(("greedy", "random"), (Setting("digit-duel"),), pairs=5, seed=1)
>>> tournament = joined("cup", there, there._replace(players=("easy", "random", "greedy"), pairs=9))
>>> tournament.players, tournament.pairs, renumbered(there, tournament)
(('greedy', 'random', 'easy'), 9, {0: 0})
"""

from __future__ import annotations

import json
from typing import Any

from duels.arena.model import Tournament
from duels.core.errors import OptionError, quote
from duels.core.presentation import listed

MAY_GROW = ("players", "pairs", "programs", "plays", "commands")


def joined(folder: str, there: Tournament, tournament: Tournament) -> Tournament:
    """The stored tournament with added players and pairs; other changes are refused.

    Stored players stay in their order, so that stored games keep their pairings.
    """
    old, new = there.to_stored(), tournament.to_stored()
    for name in ("key", *old):  # the secrecy of the seed first, for the best message
        if name not in MAY_GROW and old[name] != new[name]:
            raise refused(folder, _difference(name, there, tournament))
    missing = [name for name in there.players if name not in tournament.players]
    if missing:
        raise refused(folder, f"{listed(missing)} played there as well")
    if tournament.gauntlet and tournament.players[0] != there.players[0]:
        raise refused(folder, f"{there.players[0]} was the first player")
    before, now = (dict(zip(it.players, it.programs, strict=False)) for it in (there, tournament))
    for name in there.players:
        if there.text_of(name) != tournament.text_of(name):
            raise refused(folder, f"{name} was {there.text_of(name)}")
        if before.get(name) != now.get(name):
            raise refused(folder, f"{name} has changed since")
    players = (*there.players, *(name for name in tournament.players if name not in there.players))
    programs = tuple(now[name] for name in players) if now else ()
    return tournament._replace(
        players=players, programs=programs, pairs=max(there.pairs, tournament.pairs)
    )


def renumbered(there: Tournament, tournament: Tournament) -> dict[int, int]:
    """The new number of each pairing after players were added, by its old number."""
    now = {pairing: number for number, pairing in enumerate(tournament.pairings)}
    return {number: now[pairing] for number, pairing in enumerate(there.pairings)}


def refused(folder: str, why: str) -> OptionError:
    return OptionError(
        f"{quote(folder)} holds another tournament: {why}; choose another --out, or use --fresh "
        "to start over"
    )


def _difference(name: str, there: Tournament, tournament: Tournament) -> str:
    if name in ("key", "seed"):
        one, two = (
            "secret" if it.key is not None else str(it.seed) for it in (there, tournament)
        )  # fmt: skip
        return f"its seed is {one}, not {two if one != two else 'this one'}"
    old, new = there.to_stored()[name], tournament.to_stored()[name]
    verb = "are" if name.endswith("s") else "is"
    return f"its {name} {verb} {_text(old)}, not {_text(new)}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
