"""`duels admin`: commands for the operator of a server, which work on its database.

Commands for moderation also work while the server runs.
"""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from duels.cli.help import examples
from duels.cli.serve import check_extra, retention
from duels.cli.terminal import Terminal
from duels.core.errors import OptionError, program

if TYPE_CHECKING:
    from duels.server.moderation import KnownPlayer, Moderation
    from duels.server.storage.base import Row

STATES = ("waiting", "starting", "playing", "over", "closed")
LISTED = 50
Result = tuple[Any, list[str]]  # as JSON, and as lines for people


def add_actions(parser: Any, database: Callable[[Any], None], keep: Callable[[Any], None]) -> None:
    """Add the actions to the parser of `duels admin`.

    `database` and `keep` add the options of these names, which `duels serve` has too.
    """
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def add(name: str, about: str) -> Any:
        made = actions.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".")
        made.epilog = examples(program(), f"admin {name}")
        return made

    def action(name: str, about: str, *names: tuple[str, str]) -> Any:
        made = add(name, about)
        for argument, help in names:
            made.add_argument(argument, metavar=argument.upper(), help=help)
        made.add_argument("--json", action="store_true", help="print JSON, for programs")
        database(made)
        return made

    def number(made: Any) -> None:
        made.add_argument(
            "-n", "--count", type=int, default=LISTED, metavar="N",
            help=f"maximum number of lines (default: {LISTED})",
        )  # fmt: skip

    player = "player", "the public id of a player, as listed by search"
    listing = action("list", "list the most recently changed matches")
    listing.add_argument("--state", choices=STATES, help="only matches in this state")
    number(listing)
    number(
        action("search", "find players", ("text", "a part of a name, or the beginning of an id"))
    )
    action("rename", "rename a player, also in matches and ratings", player, ("name", "new name"))
    ban = action("ban", "ban a player, and end the player's matches", player)
    ban.add_argument("--reason", default="", metavar="TEXT", help="shown to the player")
    ban.add_argument(
        "--days", type=float, metavar="N", help="length of the ban (default: permanent)"
    )
    action("unban", "lift a player's ban", player)
    close = action("close", "close a match that is not over", ("match", "the id of a match"))
    close.add_argument("--reason", default="", metavar="TEXT", help="shown to the players")
    action(
        "delete", "delete a match, or all data of a player",
        ("id", "the id of a match, or the public id of a player"),
    )  # fmt: skip
    number(action("reports", "list the reports of players"))
    suspects = action("suspects", "list the players who make suspiciously few mistakes")
    suspects.add_argument(
        "--than", choices=("easy", "medium", "hard"), default="hard", metavar="LEVEL",
        help="players significantly better than this level (default: hard)",
    )  # fmt: skip
    made = add("prune", "delete expired data, as a running server does by itself")
    keep(made)
    made.add_argument("--dry-run", action="store_true", help="only count, delete nothing")
    database(made)


def admin(terminal: Terminal, given: Namespace) -> int:
    """Run one action on the database."""
    check_extra()
    if given.action == "prune":
        return prune(terminal, given)
    from duels.server.import_export import open_store
    from duels.server.moderation import Moderation

    async def run() -> Result:
        async with open_store(given.database, beside=True) as store:
            return await ACTIONS[given.action](Moderation(store), given)

    data, lines = asyncio.run(run())
    terminal.say([json.dumps(data, ensure_ascii=False)] if given.json else lines)
    return 0


def prune(terminal: Terminal, given: Namespace) -> int:
    """Delete what is older than its retention time."""
    import time
    from collections import Counter

    from duels.server.import_export import open_store
    from duels.server.retention import KINDS
    from duels.server.retention import prune as prune_store

    times = retention(given.keep)

    async def run() -> Counter[str]:
        async with open_store(given.database, reading=given.dry_run) as store:
            return await prune_store(store, times, time.time(), given.dry_run)

    found = asyncio.run(run())
    verb = "would be deleted" if given.dry_run else "deleted"
    terminal.say([f"{kind}: {found[kind]} {verb}" for kind in KINDS])
    return 0


async def _list(moderation: Moderation, given: Namespace) -> Result:
    rows = await moderation.store.latest(given.state, given.count)
    return _matches(rows)


def _matches(rows: list[Row]) -> Result:
    data = [
        {
            "id": row.id, "state": row.state, "game": row.game, "updated": row.updated,
            "seats": [seat and {"id": seat.id, "name": seat.name} for seat in row.seats],
        }
        for row in rows
    ]  # fmt: skip
    lines = [
        f"{row.id}  {row.state:<8}  {row.game:<15}  {_when(row.updated)}  "
        + " - ".join("(free)" if seat is None else f"{seat.name} ({seat.id})" for seat in row.seats)
        for row in rows
    ]
    return data, lines or ["No matches."]


async def _search(moderation: Moderation, given: Namespace) -> Result:
    players = (await moderation.search(given.text))[: given.count]
    bans = {ban.player: ban for ban in await moderation.store.bans()}
    data, lines = [], []
    for player in players:
        ban = bans.get(player.id)
        data.append(
            {
                "id": player.id, "name": player.name,
                "ban": ban and {"reason": ban.reason, "since": ban.since, "until": ban.until},
            }
        )  # fmt: skip
        banned = "" if ban is None else f"  banned {_until(ban.until)}{_because(ban.reason)}"
        lines.append(f"{player.id}  {player.name}{banned}")
    return data, lines or ["No players."]


async def _rename(moderation: Moderation, given: Namespace) -> Result:
    name = await moderation.rename(given.player, given.name)
    return {"id": given.player, "name": name}, [f"{given.player} is now called {name}."]


async def _ban(moderation: Moderation, given: Namespace) -> Result:
    if given.days is not None and not 0 < given.days < 1e6:
        raise OptionError(f"--days: expected a number above 0; got {given.days:g}")
    ban = await moderation.ban(given.player, given.reason, given.days)
    data = {"id": ban.player, "reason": ban.reason, "since": ban.since, "until": ban.until}
    return data, [f"{given.player} is banned {_until(ban.until)}{_because(ban.reason)}."]


async def _unban(moderation: Moderation, given: Namespace) -> Result:
    await moderation.unban(given.player)
    return {"id": given.player}, [f"{given.player} is no longer banned."]


async def _close(moderation: Moderation, given: Namespace) -> Result:
    row = await moderation.close(given.match, given.reason)
    return {"id": row.id, "state": row.state}, [f"{row.id} is closed."]


async def _delete(moderation: Moderation, given: Namespace) -> Result:
    from duels.client.identity import is_room_id

    if is_room_id(given.id):
        await moderation.delete(given.id)
        return {"match": given.id}, [f"The match {given.id} is deleted."]
    player: KnownPlayer = await moderation.player(given.id)
    await moderation.forget(player.digest)
    return {"player": given.id}, [f"The data of {player.name} ({given.id}) is deleted."]


async def _reports(moderation: Moderation, given: Namespace) -> Result:
    data, lines = [], []
    for report in await moderation.store.reports(given.count):
        row = await moderation.store.row(report.room)
        seats = [] if row is None else [seat for seat in row.seats if seat is not None]
        about = next((seat for seat in seats if seat.id != report.player), None)
        reporter = next((seat.name for seat in seats if seat.id == report.player), "")
        data.append(
            {
                "match": report.room, "at": report.at, "reason": report.reason,
                "by": {"id": report.player, "name": reporter},
                "about": about and {"id": about.id, "name": about.name},
            }
        )  # fmt: skip
        whom = "a deleted match" if about is None else f"{about.name} ({about.id})"
        lines.append(
            f"{_when(report.at)}  {report.room}  {reporter} ({report.player}) about {whom}"
            f"{_because(report.reason)}"
        )
    return data, lines or ["No reports."]


async def _suspects(moderation: Moderation, given: Namespace) -> Result:
    from duels.server.suspects import suspects

    found = await suspects(moderation.store, given.than)
    data = [
        {
            "id": one.id, "name": one.name, "matches": one.matches, "choices": one.choices,
            "mistakes": one.mistakes, "expected": one.expected, "evidence": one.highest,
        }
        for one in found
    ]  # fmt: skip
    lines = [
        f"{one.id}  {one.name}: {one.mistakes} mistakes at {one.choices} choices in {one.matches} "
        f"matches; {given.than} would make {one.expected:.1f}; evidence {one.highest:.1f}"
        for one in found
    ]
    return data, lines or ["No suspects."]


ACTIONS: dict[str, Callable[[Moderation, Namespace], Awaitable[Result]]] = {
    "list": _list,
    "search": _search,
    "rename": _rename,
    "ban": _ban,
    "unban": _unban,
    "close": _close,
    "delete": _delete,
    "reports": _reports,
    "suspects": _suspects,
}


def _when(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}"


def _until(at: float | None) -> str:
    return "without end" if at is None else f"until {_when(at)} UTC"


def _because(reason: str) -> str:
    return f": {reason}" if reason else ""
