"""Failures of players in a tournament, with their reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from duels.arena.model import DISQUALIFIED, GameResult, Tournament
from duels.players.runner import reasons_by_player

# Kinds of ends for which the record has the failed players and the reason.
FAILED = ("forfeit", "time", DISQUALIFIED)
REASONS = 10  # the most that are listed separately


class Reason(NamedTuple):
    """A reason for failures, and the number of games with it."""

    why: str
    games: int


def with_reasons(
    games: Iterable[GameResult], records: Iterable[Mapping[str, Any]]
) -> list[GameResult]:
    """The results, with the failed seats and the reasons added from their records."""
    return [
        game._replace(failed=_failures(record)) if game.by in FAILED else game
        for game, record in zip(games, records, strict=True)
    ]


def _failures(record: Mapping[str, Any]) -> tuple[tuple[int, str], ...]:
    """The failed seats of a record, each with its reason."""
    last = record["entries"][-1]
    why = last.get("why") or record["result"]["reason"]
    players = tuple(number - 1 for number in last["players"])
    return tuple(reasons_by_player(players, why).items())


def failures(game: GameResult) -> tuple[tuple[int, str], ...]:
    """The seats that failed in a game, each with its reason or a reference to the record."""
    if game.failed or game.loser is None:
        return game.failed
    return ((game.loser, "its record says why"),)


def disqualified(tournament: Tournament, games: Iterable[GameResult]) -> dict[str, str]:
    """The players that were disqualified in some games, each with the reason."""
    return {
        tournament.players[tournament.pairings[game.pairing][seat ^ game.seat]]: why
        for game in games
        if game.by == DISQUALIFIED
        for seat, why in game.failed
    }


def reasons(texts: Iterable[str]) -> tuple[Reason, ...]:
    """Count equal reasons, the most frequent first; those after the first nine are combined.

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
