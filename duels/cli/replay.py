"""`duels replay`: shows a recorded match, all at once or step by step."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from duels.cli.files import read_from
from duels.cli.terminal import Terminal
from duels.core import narrator
from duels.core.errors import DuelsError
from duels.core.game import Pick
from duels.core.match import Match
from duels.core.presentation import Lines, Shared, listed, pile_lines
from duels.core.record import redacted, to_json
from duels.core.views import table_of

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
            "the match is not over, and this view would show hidden hands; --reveal shows them"
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


def narrate_blocks(match: Match, seat: str) -> Iterator[Lines]:
    """Yield the narration in blocks: each choice with its consequences."""

    def viewpoint(player: int | None) -> int | None:
        if seat == TABLE:
            return None if player is None else Shared(player)
        return None if seat == SPECTATOR else int(seat) - 1

    block: Lines = [options] if (options := match.game.differing_line()) else []
    for passage in narrator.narrate_to(match, viewpoint):
        if passage.kind == "status" and passage.number:
            yield block
            block = []
        if passage.kind == "event":
            block += _typed(match, passage.number, passage.viewer, both=seat == TABLE)
        block += passage.lines
        if passage.kind == "status":
            last = passage.number == len(match.events)
            viewer = passage.viewer
            view = match.view(viewer) if last else match.view_before(passage.number, viewer)
            block += pile_lines(table_of(view))
    if block:
        yield block


def _typed(match: Match, number: int, viewer: int | None, both: bool) -> Lines:
    """The prompts of a choice with their answers; those of others than the viewer with `both`."""
    entry = match.events[number]
    if not isinstance(entry, Pick):
        return []
    state, lines = match.state_before(number), []
    for player, move in entry.moves:
        if player == viewer or both:
            seen, so_far = match.game.observe(state, player), ""
            while (step := match.game.ask(seen, player, so_far)) is not None:
                words = move[len(so_far) :].split()
                answer = words if step.many else words[:1]
                lines.append(f"{step.prompt} {listed(answer)}")
                so_far = f"{so_far} {listed(answer, ' ')}".strip()
    return lines
