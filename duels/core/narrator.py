"""The narrator, which turns a match into lines of text for one viewer.

Terminal, replay, environments and servers all use it. The text is divided into passages: the
opening, the effect of each event, the status before each choice, the ending.

>>> from duels.core import Match
>>> from duels.games import load
>>> match = Match(load("firewall-breach"), seed=2024)
>>> match.submit(0, "bypass")
>>> for passage in narrate(match, viewer=0):
...     print(passage.kind, passage.number, passage.lines[:2])
opening 0 ['[Game Start]']
status 0 ['', 'Your Turn:']
event 0 ['You chose to Bypass.', "Opponent's firewall reduced by 1."]
status 1 ['', "Player 2's Turn:"]
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which slows start-up.

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from duels.core.entries import Entry, Limit, Pause, Resume, Undo
from duels.core.game import AnyGame, Decide, Event, History, Outcome, Pick, Result
from duels.core.presentation import Caption, Lines, Names, player_name

# Maps the player that a passage is about (None: both players) to the viewer it is written for.
ViewerOf = Callable[[int | None], int | None]


class Passage(NamedTuple):
    """Lines that belong together, and the viewer they are written for."""

    kind: str  # opening, event, status or ending
    number: int  # of the event; for a status, of the event that the choice will become
    viewer: int | None
    lines: Lines


if TYPE_CHECKING:  # creating a Protocol takes longer than the rest of this module
    from typing import Protocol

    class MatchLike(Protocol):
        """The part of `Match` that the narrator uses; also an episode of an environment."""

        @property
        def game(self) -> AnyGame: ...
        @property
        def events(self) -> Sequence[Entry]: ...
        @property
        def result(self) -> Result | None: ...
        def state_before(self, number: int) -> Any: ...
        def state_after(self, number: int) -> Any: ...
        def observed_event(self, number: int, viewer: int | None) -> Event | None: ...
        def history(self, viewer: int | None, before: int | None = None) -> History: ...


def narrate(match: "MatchLike", viewer: int | None, since: int = 0) -> Iterator[Passage]:
    """The passages of one viewer from event `since` on; the ending has the next number."""
    return narrate_to(match, lambda player: viewer, since)


def narrate_to(match: "MatchLike", viewer_of: ViewerOf, since: int = 0) -> Iterator[Passage]:
    """As `narrate`, for a shared keyboard, where the viewer depends on whose move it is."""
    if since <= 0:
        yield opening(match, viewer_of)
        yield from status(match, 0, viewer_of)
    for number in range(max(0, since), len(match.events)):
        yield tell(match, number, viewer_of)
        yield from status(match, number + 1, viewer_of)
    if match.result is not None and since <= len(match.events):
        yield ending(match, viewer_of)


def opening(match: "MatchLike", viewer_of: ViewerOf) -> Passage:
    """The lines before the first turn."""
    viewer = viewer_of(None)
    seen = match.game.observe(match.state_after(-1), viewer)
    return Passage("opening", 0, viewer, match.game.opening(seen, viewer))


def tell(match: "MatchLike", number: int, viewer_of: ViewerOf) -> Passage:
    """The lines of an event; no lines if it ends the match, since the ending describes it."""
    game, entry = match.game, match.events[number]
    viewer = viewer_of(concerned(entry))
    lines: Lines = []
    event = match.observed_event(number, viewer)
    if event is not None:
        before = game.observe(match.state_before(number), viewer)
        lines = game.tell(before, event, game.observe(match.state_after(number), viewer), viewer)
    elif isinstance(entry, Undo):
        who = "You take" if viewer == entry.player else f"{player_name(entry.player)} takes"
        lines = [f"({who} back a move.)"]
    elif isinstance(entry, Pause):
        lines = ["(The clocks were stopped.)"]
    elif isinstance(entry, Resume):
        lines = ["(The clocks run again.)"]
    return Passage("event", number, viewer, lines)


def concerned(entry: Entry) -> int | None:
    """The player that an event concerns; None if it concerns both."""
    if isinstance(entry, Outcome):
        return entry.by
    if isinstance(entry, Pick):
        return entry.moves[0][0] if len(entry.moves) == 1 else None
    return None


def status(match: "MatchLike", number: int, viewer_of: ViewerOf) -> Iterator[Passage]:
    """The lines before event `number`, if it was or will be a choice."""
    last = number == len(match.events)
    if last and match.result is not None:
        return
    if not last and isinstance(match.events[number], Limit):
        return
    state = match.state_after(number - 1) if last else match.state_before(number)
    turn = match.game.turn(state)
    if isinstance(turn, Decide):
        viewer = viewer_of(min(turn.options) if len(turn.options) == 1 else None)
        history = match.history(viewer, None if last else number)
        lines = match.game.status(match.game.observe(state, viewer), viewer, history)
        yield Passage("status", number, viewer, lines)


def captions(
    match: "MatchLike", names: Names, since: int = 0, before: int | None = None
) -> Iterator[tuple[int, Caption]]:
    """Events in a few words for a viewer, by number; the result has the next number."""
    count = len(match.events)
    for number in range(since, count if before is None else before):
        if (found := caption(match, number, names)) is not None:
            yield number, found
    if match.result is not None and before is None and since <= count:
        yield count, outcome(match.result, names)


def caption(
    match: "MatchLike", number: int, names: Names, revealed: bool = False
) -> Caption | None:
    """An event in a few words; None if it ends the match, which `outcome` describes.

    It tells what the viewer knows of the event, or if hands are `revealed` what its player does.
    """
    entry = match.events[number]
    viewer = concerned(entry) if revealed else names.viewer
    event = match.observed_event(number, viewer)
    if event is not None:
        game = match.game
        before = game.observe(match.state_before(number), viewer)
        after = game.observe(match.state_after(number), viewer)
        return game.caption(before, event, after, names)
    if isinstance(entry, Undo):
        return Caption(names.does(entry.player, "takes") + " back a move")
    if isinstance(entry, Pause | Resume):
        return Caption(f"The clocks {'stop' if isinstance(entry, Pause) else 'run again'}")
    return None


def outcome(result: Result, names: Names) -> Caption:
    """A result in a few words."""
    reason = names.put(result.reason)
    reason = reason and reason[0].upper() + reason[1:] + "." * (reason[-1] not in ".!?…")
    if result.winner is None:
        return Caption("There is no winner" if result.by == "limit" else "Draw", reason)
    return Caption(names.does(result.winner, "wins"), reason, result.winner)


def ending(match: "MatchLike", viewer_of: ViewerOf) -> Passage:
    """The lines after the last turn of a match that is over."""
    assert match.result is not None
    viewer, number = viewer_of(None), len(match.events)
    seen = match.game.observe(match.state_after(number - 1), viewer)
    return Passage("ending", number, viewer, match.game.ending(seen, match.result, viewer))
