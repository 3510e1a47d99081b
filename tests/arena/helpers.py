"""Small tournaments, played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from duels.arena.archive import Archive
from duels.arena.model import Encounter, Setting, Tournament
from duels.arena.schedule import checked
from duels.arena.scheduler import run

HERE = "tests.arena.players:"


def make_tournament(players: str, games: str, pairs: int = 12, **settings: Any) -> Tournament:
    """By names with spaces between; a capital letter begins a player of the tests."""
    names = tuple(HERE + name if name[0].isupper() else name for name in players.split())
    slugs = tuple(Setting(slug) for slug in games.split())
    return checked(Tournament(names, slugs, pairs, **{"seed": 5, **settings}))


def played(folder: Path, tournament: Tournament, **how: Any) -> list[Encounter]:
    """All encounters of a tournament, which is played first."""
    with Archive.begin(str(folder), tournament) as archive:
        run(archive, **how)
        return list(archive.encounters())


def contents(folder: Path) -> list[Any]:
    """Everything an archive holds, in order."""
    with Archive.open(str(folder)) as archive:
        return sorted(archive.everything())
