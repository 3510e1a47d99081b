"""`duels analyse`: a graded match as text, as JSON and as a page of its own."""

from __future__ import annotations

from argparse import Namespace

from duels.analysis.grade import grade
from duels.analysis.page import page
from duels.analysis.report import text, to_json
from duels.cli.files import read_from, write
from duels.cli.progress import ProgressBar
from duels.cli.replay import keeps_secrets
from duels.cli.terminal import Terminal
from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.players import HUMAN


def analyse(terminal: Terminal, given: Namespace) -> int:
    match = read_from(given.file)
    if keeps_secrets(match) and not given.reveal:
        raise DuelsError(
            "the match is not over, and grading it would show both hands; --reveal shows them"
        )
    analysis = grade(match, ProgressBar(f"Analysing {match.game.title}"))
    viewer = only_human(match)
    path = given.out or ""
    if path.endswith(".html"):
        lines = page(analysis, viewer).splitlines()
    elif given.json or path.endswith(".json"):
        import json

        lines = [json.dumps(to_json(analysis), indent=1)]
    else:
        lines = text(analysis, viewer, ascii_only=terminal.ascii and not path)
    if path:
        write(path, "\n".join([*lines, ""]))
        terminal.note(f"Wrote {path}")
    else:
        terminal.say(lines)
    return 0


def only_human(match: Match) -> int | None:
    """The seat of the only person of a match, who is addressed as "you"; None if there is none."""
    humans = [seat for seat, name in enumerate(match.players) if name == HUMAN]
    return humans[0] if len(humans) == 1 else None
