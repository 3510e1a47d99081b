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


def analyse(terminal: Terminal, given: Namespace) -> int:
    match = read_from(given.file)
    if keeps_secrets(match) and not given.reveal:
        raise DuelsError(
            "the match is not over, and grading it would show both hands; --reveal does it anyway"
        )
    analysis = grade(match, ProgressBar(f"Analysing {match.game.title}"))
    if given.html is not None:
        write(given.html, page(analysis))
        terminal.note(f"Wrote {given.html}")
    if given.json:
        import json

        terminal.say([json.dumps(to_json(analysis), indent=1)])
    elif given.html is None:
        terminal.say(text(analysis, ascii_only=terminal.ascii))
    return 0
