"""Views as clients display them: the whole view, or its differences from an earlier one."""

from __future__ import annotations

from typing import Any, NamedTuple

from duels.core import narrator
from duels.core.game import Decide
from duels.core.match import Match
from duels.core.player import View
from duels.core.presentation import ON_TABLE, Part, Tree, tone
from duels.core.views import choice_of, table_of
from duels.core.wire import dump, dump_fields, dump_table, dump_view, part_id
from duels.server.encoded import encodable, encoded_part

Json = dict[str, Any]


class DisplayedView(NamedTuple):
    """A view with what a client displays of it."""

    view: View
    choice: Tree | None
    table: dict[str, Part]  # by id


def displayed(match: Match, viewer: int | None) -> DisplayedView:
    """The current view of a viewer."""
    view = match.view(viewer)
    counts: dict[str, int] = {}
    table = {part_id(part, counts): part for part in table_of(view)}
    return DisplayedView(view, choice_of(view), table)


def view_json(now: DisplayedView) -> Json:
    """The JSON of `dump_view` without the history; encoded parts are cached."""
    data = dump_view(now.view, history=False, display=False)
    data["choice"] = encodable(now.choice)
    data["table"] = [encoded_part(part, id) for id, part in now.table.items()]
    return data


def changes(before: DisplayedView, now: DisplayedView) -> Json:
    """The fields of a view that differ from those of an earlier view of the same viewer.

    Of the observation only the fields that differ, and of the table only the parts that do, by id;
    the whole table as a list if it has other parts than before.
    """
    old, new = before.view, now.view
    data: Json = {}
    if (seen := new.observation) != (known := old.observation):
        pairs = zip(seen._fields, seen, known, strict=True)
        data["observation"] = dump_fields(seen, [name for name, a, b in pairs if a != b])
    if new.options != old.options:
        data["options"] = new.options
    if now.choice != before.choice:
        data["choice"] = encodable(now.choice)
    if now.table.keys() != before.table.keys():
        data["table"] = [encoded_part(part, id) for id, part in now.table.items()]
    elif different := {id: part for id, part in now.table.items() if part != before.table[id]}:
        data["table"] = {id: encoded_part(part, id) for id, part in different.items()}
    if new.clocks != (None, None) or old.clocks != (None, None):
        data["clock"], data["clocks"] = new.clock, new.clocks
    if new.sealed != old.sealed:
        data["sealed"] = [player + 1 for player in new.sealed]
    if new.offer != old.offer:
        data["offer"] = None if new.offer is None else new.offer + 1
    if new.result != old.result:
        data["result"] = dump(new.result)
    return data


def open_table(match: Match, number: int | None = None) -> list[Json]:
    """The table without hidden information, now or before an event.

    Never for clients of a match that is not over.
    """

    def view(player: int) -> View:
        return match.view(player) if number is None else match.view_before(number, player)

    one, two = (dump_table(view(player)) for player in (0, 1))
    theirs = {part["id"]: part for part in two}
    return [theirs.get(part["id"], part) if part["owner"] == 2 else part for part in one]


def passages(
    match: Match, now: DisplayedView, since: int, table_shown: bool = False
) -> list[narrator.Passage]:
    """The passages of the narrator from event `since` on; only the last of the statuses.

    For a client whose table is shown, without what the table shows.
    """
    view, version = now.view, now.view.version

    def viewpoint(player: int | None) -> int | None:
        return view.player

    found = [narrator.opening(match, viewpoint)] if since == 0 else []
    found += [narrator.tell(match, number, viewpoint) for number in range(since, version)]
    if match.result is not None:
        found.append(narrator.ending(match, viewpoint))
    elif isinstance(match.turn, Decide) and not (table_shown and match.game.status_on_table):
        lines = match.game.status(view.observation, view.player, view.history)
        found.append(narrator.Passage("status", version, view.player, lines))
    if not table_shown:
        return found
    return [passage for passage in map(_off_the_table, found) if passage.lines]


def _off_the_table(passage: narrator.Passage) -> narrator.Passage:
    """A passage without empty lines and those that the table shows."""
    lines = [line for line in passage.lines if line.strip() and tone(line) != ON_TABLE]
    return narrator.Passage(passage.kind, passage.number, passage.viewer, lines)
