"""`duels replay`: a recorded match told again, all at once or step by step."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from duels.cli.files import read_from
from duels.cli.terminal import Terminal
from duels.core.game import Decide, Outcome, Pick
from duels.core.match import Match, Undo
from duels.core.record import to_json

VIEWS = ("table", "1", "2", "spectator")


def replay(terminal: Terminal, given: Namespace) -> int:
    match = read_from(given.file)
    if given.json:
        import json

        terminal.say([json.dumps(to_json(match), indent=1)])
        return 0
    stepping = terminal.interactive and not given.print
    for lines in told(match, given.view):
        terminal.say(lines)
        if stepping and not _wants_more(terminal):
            break
    return 0


def _wants_more(terminal: Terminal) -> bool:
    try:
        return not terminal.ask("[Enter: next, q: quit]").lower().startswith("q")
    except EOFError:
        return False


def told(match: Match, view: str) -> Iterator[list[str]]:
    """The match in text, a block for each choice with what followed from it."""
    game = match.game

    def viewer(player: int | None) -> int | None:
        return player if view == "table" else None if view == "spectator" else int(view) - 1

    def seen(number: int, player: int | None) -> tuple[Any, Any, Any]:
        return match.shown(number, viewer(player))

    lines = game.opening(game.observe(game.start(), viewer(None)))
    for number, entry in enumerate(match.events):
        player: int | None = None
        if isinstance(entry, Outcome):
            player = entry.by
        elif isinstance(entry, Pick):
            turn = game.turn(match.state_before(number))
            assert isinstance(turn, Decide)
            player = entry.moves[0][0] if len(entry.moves) == 1 else None
            lines += game.status(seen(number, player)[0], viewer(player))
        elif isinstance(entry, Undo):
            lines += [f"(Player {entry.player + 1} takes back a move.)"]
        before, event, after = seen(number, player)
        if event is not None:
            lines += game.tell(before, event, after, viewer(player))
        if isinstance(entry, Pick):
            yield lines
            lines = []
    if match.result is not None:
        lines += game.ending(game.observe(match.state, viewer(None)), match.result)
    if lines:
        yield lines
