"""Pages of the log of a match: an update has at most one page, and clients request earlier ones."""

from __future__ import annotations

from typing import Any

from duels.core import narrator
from duels.core.entries import Logged
from duels.core.match import Match
from duels.core.presentation import Names
from duels.core.wire import dump

PAGE = 200  # events


def first_sent(match: Match, since: int) -> int:
    """The first event that is sent to a client that has `since` of them: at most one page."""
    count = len(match.events)
    return max(since if since <= count else 0, count - PAGE)


def captioned(
    match: Match, names: Names, since: int, before: int | None = None
) -> list[dict[str, Any]]:
    """The captions of events for one viewer, with their numbers; those without one are left out."""
    found = narrator.captions(match, names, since, before)
    return [{**dump(caption), "number": number} for number, caption in found]


def page(match: Match, viewer: int | None, before: int, names: Names | None) -> dict[str, Any]:
    """The page of events before event number `before` for one viewer.

    It has their passages, or with the `names` of the players their captions.
    """
    before = min(before, len(match.events))
    since = max(0, before - PAGE)
    told: dict[str, Any] = {}
    if names is not None:
        told["captions"] = captioned(match, names, since, before)
    else:
        passages = [narrator.opening(match, lambda player: viewer)] if since == 0 else []
        passages += [narrator.tell(match, n, lambda player: viewer) for n in range(since, before)]
        told["passages"] = [dump(passage) for passage in passages]
    return {
        "since": since,
        "events": [
            dump(Logged(number, match.redact(number, viewer), match.stamps[number].at))
            for number in range(since, before)
        ],
        **told,
    }
