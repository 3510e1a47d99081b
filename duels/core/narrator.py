"""The narrator: a match as lines of text for one viewer, the same for every client.

Terminal, replay, environments and servers all use it. Text is divided into passages: the opening,
the effect of each event, the status before each choice, the ending.

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
from duels.core.presentation import Lines, player_name

Eyes = Callable[[int | None], int | None]  # the viewer of a passage about a player or both (None)


class Passage(NamedTuple):
    """Lines that belong together, and the viewer they are written for."""

    kind: str  # opening, event, status or ending
    number: int  # of the event, or of the next one for a status: the moment of the choice
    viewer: int | None
    lines: Lines


if TYPE_CHECKING:  # creating a Protocol takes longer than the rest of this module
    from typing import Protocol

    class Story(Protocol):
        """What can be narrated: a match, or an episode of an environment."""

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


def narrate(story: "Story", viewer: int | None, since: int = 0) -> Iterator[Passage]:
    """The passages of one viewer from event `since` on; the ending has the next number."""
    return narrate_to(story, lambda player: viewer, since)


def narrate_to(story: "Story", eyes: Eyes, since: int = 0) -> Iterator[Passage]:
    """As `narrate`, for a shared keyboard, where the viewer depends on whose move it is."""
    if since <= 0:
        yield opening(story, eyes)
        yield from status(story, 0, eyes)
    for number in range(max(0, since), len(story.events)):
        yield tell(story, number, eyes)
        yield from status(story, number + 1, eyes)
    if story.result is not None and since <= len(story.events):
        yield ending(story, eyes)


def opening(story: "Story", eyes: Eyes) -> Passage:
    """The lines before the first turn."""
    viewer = eyes(None)
    seen = story.game.observe(story.state_after(-1), viewer)
    return Passage("opening", 0, viewer, story.game.opening(seen, viewer))


def tell(story: "Story", number: int, eyes: Eyes) -> Passage:
    """The lines of an event; none for one that ends the match, which the ending tells."""
    game, entry = story.game, story.events[number]
    viewer = eyes(concerned(entry))
    lines: Lines = []
    event = story.observed_event(number, viewer)
    if event is not None:
        before = game.observe(story.state_before(number), viewer)
        lines = game.tell(before, event, game.observe(story.state_after(number), viewer), viewer)
    elif isinstance(entry, Undo):
        who = "You take" if viewer == entry.player else f"{player_name(entry.player)} takes"
        lines = [f"({who} back a move.)"]
    elif isinstance(entry, Pause):
        lines = ["(The clocks were stopped.)"]
    elif isinstance(entry, Resume):
        lines = ["(The clocks run again.)"]
    return Passage("event", number, viewer, lines)


def concerned(entry: Entry) -> int | None:
    """The one player an event concerns; None for both."""
    if isinstance(entry, Outcome):
        return entry.by
    if isinstance(entry, Pick):
        return entry.moves[0][0] if len(entry.moves) == 1 else None
    return None


def status(story: "Story", number: int, eyes: Eyes) -> Iterator[Passage]:
    """The lines before a choice, if event `number` was or will be one."""
    last = number == len(story.events)
    if last and story.result is not None:
        return
    if not last and isinstance(story.events[number], Limit):
        return
    state = story.state_after(number - 1) if last else story.state_before(number)
    turn = story.game.turn(state)
    if isinstance(turn, Decide):
        viewer = eyes(min(turn.options) if len(turn.options) == 1 else None)
        history = story.history(viewer, None if last else number)
        lines = story.game.status(story.game.observe(state, viewer), viewer, history)
        yield Passage("status", number, viewer, lines)


def ending(story: "Story", eyes: Eyes) -> Passage:
    """The lines after the last turn of a match that is over."""
    assert story.result is not None
    viewer, number = eyes(None), len(story.events)
    seen = story.game.observe(story.state_after(number - 1), viewer)
    return Passage("ending", number, viewer, story.game.ending(seen, story.result, viewer))
