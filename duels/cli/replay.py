"""`duels replay`: shows a recorded match, all at once or step by step."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from duels.cli.files import read_from
from duels.cli.terminal import Terminal
from duels.core import narrator
from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.core.presentation import Lines, Shared
from duels.core.record import redacted, to_json

TABLE, SPECTATOR = "table", "spectator"


def replay(terminal: Terminal, given: Namespace) -> int:
    match = read_from(given.file)
    hidden = keeps_secrets(match) and not given.reveal
    if given.json:
        import json

        data = redacted(match, None) if hidden else to_json(match)
        terminal.say([json.dumps(data, indent=1)])
        return 0
    if hidden and given.view not in (None, SPECTATOR):
        raise DuelsError(
            "the match is not over, and this view would show hidden hands; --reveal does it anyway"
        )
    stepping = terminal.interactive and not given.print
    view = given.view or (SPECTATOR if hidden else TABLE)
    for lines in narrate_blocks(match, view):
        terminal.say(lines)
        if stepping and not _wants_more(terminal):
            break
    return 0


def keeps_secrets(match: Match) -> bool:
    """Whether the record of an unfinished match contains hidden information."""
    return match.game.private and match.result is None


def _wants_more(terminal: Terminal) -> bool:
    try:
        return not terminal.ask("[Enter: next, q: quit]").lower().startswith("q")
    except EOFError:
        return False


def narrate_blocks(match: Match, view: str) -> Iterator[Lines]:
    """Yield the narration in blocks: each choice with its consequences."""

    def viewpoint(player: int | None) -> int | None:
        if view == TABLE:
            return None if player is None else Shared(player)
        return None if view == SPECTATOR else int(view) - 1

    block: Lines = []
    for passage in narrator.narrate_to(match, viewpoint):
        if passage.kind == "status" and passage.number:
            yield block
            block = []
        block += passage.lines
    if block:
        yield block
