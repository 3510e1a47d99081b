"""Pages of the log of a match: an update has at most one page, and clients request earlier ones."""

from __future__ import annotations

from typing import Any

from duels.core import narrator
from duels.core.entries import Logged
from duels.core.match import Match
from duels.core.wire import dump

PAGE = 200  # events


def first_sent(match: Match, since: int) -> int:
    """The first event that is sent to a client that has `since` of them: at most one page."""
    count = len(match.events)
    return max(since if since <= count else 0, count - PAGE)


def page(match: Match, viewer: int | None, before: int) -> dict[str, Any]:
    """The page of events before event number `before`, with their passages, for one viewer."""
    before = min(before, len(match.events))
    since = max(0, before - PAGE)
    passages = [narrator.opening(match, lambda player: viewer)] if since == 0 else []
    passages += [narrator.tell(match, n, lambda player: viewer) for n in range(since, before)]
    return {
        "since": since,
        "events": [
            dump(Logged(number, match.redact(number, viewer), match.stamps[number].at))
            for number in range(since, before)
        ],
        "passages": [dump(passage) for passage in passages],
    }
