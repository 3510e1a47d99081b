"""Who failed in a tournament and why; and which meetings it leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from duels.arena.played import DISQUALIFIED, Played, Tournament
from duels.players.hosting import reasons as apart

FAILED = ("forfeit", "time", DISQUALIFIED)  # ends whose records say who failed, and why
REASONS = 10  # that are told apart


class Reason(NamedTuple):
    """Why games were forfeited, and how many."""

    why: str
    games: int


class LeftOut(NamedTuple):
    """A meeting that is not played, because one of the two does not play the game."""

    game: str
    one: str
    two: str
    because: str  # the player that does not play it


def with_reasons(games: Iterable[Played], records: Iterable[Mapping[str, Any]]) -> list[Played]:
    """Finished games with who failed in them and why, as their records say."""
    return [
        game._replace(failed=_failures(record)) if game.by in FAILED else game
        for game, record in zip(games, records, strict=True)
    ]


def _failures(record: Mapping[str, Any]) -> tuple[tuple[int, str], ...]:
    last = record["entries"][-1]
    why = last.get("why") or record["result"]["reason"]
    players = tuple(number - 1 for number in last["players"])
    return tuple(apart(players, why).items())


def failures(game: Played) -> tuple[tuple[int, str], ...]:
    """The seats that failed in a game and why; games that were kept without a reason have none."""
    if game.failed or game.loser is None:
        return game.failed
    return ((game.loser, "its record says why"),)


def disqualified(cup: Tournament, games: Iterable[Played]) -> dict[str, str]:
    """The players that were disqualified in some games, and why."""
    return {
        cup.players[cup.pairings[game.pairing][seat ^ game.seat]]: why
        for game in games
        if game.by == DISQUALIFIED
        for seat, why in game.failed
    }


def reasons(texts: Iterable[str]) -> tuple[Reason, ...]:
    """How often each reason was given, the most frequent first; the rare ones of many together.

    >>> reasons(["late", "crashed", "late"])
    (Reason(why='late', games=2), Reason(why='crashed', games=1))
    """
    counts: dict[str, int] = {}
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
    found = sorted((Reason(*item) for item in counts.items()), key=lambda one: (-one[1], one[0]))
    if len(found) > REASONS:
        rest = sum(games for _, games in found[REASONS - 1 :])
        found[REASONS - 1 :] = [Reason("other reasons", rest)]
    return tuple(found)


def left_out(cup: Tournament) -> tuple[LeftOut, ...]:
    """The meetings that are not played."""
    found = []
    for game, (slug, _) in enumerate(cup.games):
        for pairing, (one, two) in enumerate(cup.pairings):
            if not cup.meets(game, pairing):
                names = cup.players[one], cup.players[two]
                lacking = (who for who, slugs in cup.plays if who in names and slug not in slugs)
                found.append(LeftOut(slug, *names, next(lacking)))
    return tuple(found)


def told(left: Sequence[LeftOut]) -> list[tuple[str, str]]:
    """Meetings that are left out: the player that does not play, and the rest of the sentence.

    >>> told([LeftOut("some-game", "ann", "bob", "bob"), LeftOut("some-game", "bob", "cat", "bob")])
    [('bob', 'does not play some-game: 2 meetings are left out')]
    """
    counts: dict[tuple[str, str], int] = {}
    for one in left:
        counts[one.because, one.game] = counts.get((one.because, one.game), 0) + 1
    return [
        (who, f"does not play {slug}: {n} meeting{' is' if n == 1 else 's are'} left out")
        for (who, slug), n in counts.items()
    ]
