"""Which games the players of a tournament play, and the meetings that are left out for it.

>>> entrants({"greedy": "greedy", "perfect": "perfect"})["perfect"]
Entrant(games=None, needs_solution=True)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from duels.arena.model import Tournament
from duels.core.errors import Misbehaved, OptionError, UnknownName
from duels.core.presentation import listed
from duels.players import CLASS, OPPONENT, class_of, make_player, parse_spec
from duels.players.runner import guarded


class Entrant(NamedTuple):
    """A player of a tournament."""

    games: tuple[str, ...] | None = None  # slugs of the games it plays; None: all
    needs_solution: bool = False  # plays only games that are solved


def entrants(texts: Mapping[str, str]) -> dict[str, Entrant]:
    """Every player by name. External programs and classes are started once to be asked."""
    return {name: _entrant(name, text) for name, text in texts.items()}


def _entrant(name: str, text: str) -> Entrant:
    kind, known, *_ = parse_spec(text)
    if kind == OPPONENT:
        return Entrant(None, class_of(known).needs_solution)
    candidate = make_player(text, "", own_process=True)
    try:
        guarded(candidate, candidate.prepare)
        games = getattr(candidate, "games", None)
        return Entrant(None if games is None else tuple(games), candidate.needs_solution)
    except Misbehaved as error:
        if kind == CLASS:
            why = str(error)
            raise UnknownName(why if name in why else f"{name} does not start: {why}") from None
        return Entrant()  # a program that fails now may start later; its games will show it
    finally:
        candidate.close()


class LeftOut(NamedTuple):
    """A meeting that is not played, because one of the two does not play the game."""

    game: str
    one: str
    two: str
    because: str  # the player that does not play it


def plays(
    found: Mapping[str, Entrant], slugs: Sequence[str]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """`Tournament.plays`: for players that do not play all games, those that they play.

    Raises `OptionError` for a player that plays none of them.
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


def left_out(tournament: Tournament) -> tuple[LeftOut, ...]:
    """The meetings that are left out of a tournament."""
    found = []
    for game, (slug, _) in enumerate(tournament.games):
        for pairing, (one, two) in enumerate(tournament.pairings):
            if not tournament.meets(game, pairing):
                names = tournament.players[one], tournament.players[two]
                lacking = (
                    who for who, slugs in tournament.plays if who in names and slug not in slugs
                )
                found.append(LeftOut(slug, *names, next(lacking)))
    return tuple(found)


def left_out_lines(left: Sequence[LeftOut]) -> list[tuple[str, str]]:
    """The meetings left out, by player and game: the player, and the rest of a sentence.

    >>> left = [LeftOut("game", "ann", "bob", "bob"), LeftOut("game", "bob", "cat", "bob")]
    >>> left_out_lines(left)
    [('bob', 'does not play game: 2 meetings are left out')]
    """
    counts: dict[tuple[str, str], int] = {}
    for one in left:
        counts[one.because, one.game] = counts.get((one.because, one.game), 0) + 1
    return [
        (who, f"does not play {slug}: {n} meeting{' is' if n == 1 else 's are'} left out")
        for (who, slug), n in counts.items()
    ]
