"""What the players of a tournament say of themselves before it begins: which games they play.

>>> entrants(["greedy", "perfect"])["perfect"]
Entrant(games=None, needs_solution=True)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from duels.core.errors import Misbehaved, OptionError, UnknownName
from duels.core.show import listed
from duels.players import CLASS, OPPONENT, class_of, named, player
from duels.players.hosting import guarded
from duels.players.isolated import isolated


class Entrant(NamedTuple):
    """A player of a tournament."""

    games: tuple[str, ...] | None = None  # the slugs of the games it plays; None: all
    needs_solution: bool = False  # plays only games that are solved


def entrants(names: Sequence[str]) -> dict[str, Entrant]:
    """Every player by its name. Programs and classes from outside are started once to be asked."""
    return {name: _entrant(name) for name in names}


def _entrant(name: str) -> Entrant:
    kind = named(name).kind
    if kind == OPPONENT:
        return Entrant(None, class_of(name).needs_solution)
    asked = isolated(name, "") if kind == CLASS else player(name, "")
    try:
        guarded(asked, asked.prepare)
        games = getattr(asked, "games", None)
        return Entrant(None if games is None else tuple(games), asked.needs_solution)
    except Misbehaved as error:
        if kind == CLASS:
            why = str(error)
            raise UnknownName(why if name in why else f"{name} does not start: {why}") from None
        return Entrant()  # a program may fail now and start later: its games show it
    finally:
        asked.close()


def plays(
    found: Mapping[str, Entrant], slugs: Sequence[str]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """`Tournament.plays`: which of these games they play who do not play all.

    A player with no game to play is refused.
    """
    known = {
        name: tuple(slug for slug in slugs if games is None or slug in games)
        for name, (games, _) in found.items()
    }
    for name, some in known.items():
        if not some:
            own = listed(found[name].games or ["no game"])
            raise OptionError(
                f"{name} plays none of {listed(slugs)}; it says that it plays {own}. Leave it out, "
                "or choose other --games"
            )
    return tuple((name, some) for name, some in known.items() if len(some) < len(slugs))
