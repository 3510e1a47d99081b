"""The append-only list of entries of a match, and the tree of its lines of play.

An undo erases no entry: the list only grows, and a line of play is a path in a tree. A line that is
repeated after an undo follows the same path and has the same chance outcomes; a new line is a new
branch with new chance outcomes.

>>> timeline = Timeline("start")
>>> timeline.append(Pick(((0, "attack"),)), Stamp())
>>> timeline.move_to("rolling")
>>> timeline.draw_number()
1
>>> timeline.go_back(Undo(0, 0), Stamp())
>>> timeline.append(Pick(((0, "attack"),)), Stamp())
>>> timeline.draw_number(), timeline.line
(1, (2,))
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which slows start-up.

from bisect import bisect_left
from typing import Any, NamedTuple

from duels.core.entries import Entry, Pause, Resume, Stamp, Undo
from duels.core.game import Outcome, Pick

OFF_THE_LINE = (Undo, Pause, Resume)  # a tuple: making a union each time takes longer


class TimelineState(NamedTuple):
    """A point of a match: its state, the number of resolved decisions, its node in the tree."""

    state: Any
    decisions: int
    node: int


class LineTree:
    """The tree of the lines of play of a match, created at the first undo.

    Before that the nodes of the single line are numbered; most matches have no other line.
    """

    def __init__(self, line: "Timeline") -> None:
        self.parents: list[tuple[int, int]] = [(-1, -1)]  # by node: parent node and entry number
        self.children: dict[tuple[int, Entry], int] = {}
        self.draws: dict[int, int] = {}  # by node: the number of its chance outcome in the match
        for number in line.live:
            entry, place = line.entries[number], line.before[number].node
            self.child(place, entry, number)
            if isinstance(entry, Outcome):
                self.draws[place] = len(self.draws) + 1

    def child(self, parent: int, entry: Entry, number: int) -> int:
        """The node that an entry leads to; a new one if the entry is new at the parent."""
        node = self.children.setdefault((parent, entry), len(self.parents))
        if node == len(self.parents):
            self.parents.append((parent, number))
        return node


class Timeline:
    """The list of entries, the state before each, and the tree of lines."""

    def __init__(self, start: Any) -> None:
        self.entries: list[Entry] = []
        self.stamps: list[Stamp] = []
        self.now = TimelineState(start, 0, 0)
        self.before: list[TimelineState] = []  # one for each entry
        self.live: list[int] = []  # numbers, ascending, of the entries that were not undone
        self.undone = 0  # number of undos
        self._drawn = 0  # number of chance outcomes
        self._tree: LineTree | None = None

    def append(self, entry: Entry, stamp: Stamp) -> None:
        """Append an entry; if it is part of a line of play, move to its node of the tree."""
        number = len(self.entries)
        self.before.append(self.now)
        self.entries.append(entry)
        # A deal is many entries with the same time: they share one stamp.
        self.stamps.append(self.stamps[-1] if number and self.stamps[-1] == stamp else stamp)
        if isinstance(entry, OFF_THE_LINE):
            return
        self.live.append(number)
        self._drawn += isinstance(entry, Outcome)
        state, decisions, parent = self.now
        node = parent + 1 if self._tree is None else self._tree.child(parent, entry, number)
        self.now = TimelineState(state, decisions, node)

    def move_to(self, state: Any, decisions: int = 0) -> None:
        """Set the state that the last entry led to."""
        self.now = TimelineState(state, self.now.decisions + decisions, self.now.node)

    def go_back(self, undo: Undo, stamp: Stamp) -> None:
        """Append an undo and return to the point before its target."""
        if self._tree is None:
            self._tree = LineTree(self)
        self.append(undo, stamp)
        del self.live[bisect_left(self.live, undo.to) :]
        self.undone += 1
        self.now = self.before[undo.to]

    def draw_number(self) -> int:
        """The number of the next chance outcome; equal for equal lines."""
        if self._tree is None:
            return self._drawn + 1
        draws = self._tree.draws
        return draws.setdefault(self.now.node, len(draws) + 1)

    @property
    def line(self) -> tuple[int, ...]:
        """The numbers of the entries that were not undone."""
        return tuple(self.live)

    def line_before(self, number: int) -> tuple[int, ...]:
        """The line that an entry was added to, as numbers of equal entries."""
        found: list[int] = []
        node = self.before[number].node
        tree = self._tree or LineTree(self)
        while node > 0:
            node, entry = tree.parents[node]
            found.append(entry)
        return tuple(reversed(found))

    def is_live(self, number: int) -> bool:
        """Whether an entry is part of the current line."""
        at = bisect_left(self.live, number)
        return at < len(self.live) and self.live[at] == number

    def last_pick(self, player: int) -> int | None:
        """The number of a player's last pick that was not undone."""
        for number in reversed(self.live):
            entry = self.entries[number]
            if isinstance(entry, Pick) and any(mover == player for mover, _ in entry.moves):
                return number
        return None

    def after(self, number: int) -> TimelineState:
        """The point after an entry."""
        return self.before[number + 1] if number + 1 < len(self.before) else self.now
