"""`duels analyse`: a graded match as text, as JSON and as a page of its own."""

from __future__ import annotations

import sys
from argparse import Namespace

from duels.analysis.grade import grade
from duels.analysis.page import page
from duels.analysis.report import SPARKS, text, to_json
from duels.cli.files import read_from, write
from duels.cli.progress import ProgressBar, can_show
from duels.cli.terminal import Terminal


def analyse(terminal: Terminal, given: Namespace) -> int:
    match = read_from(given.file)
    analysis = grade(match, ProgressBar(f"Solving {match.game.title}"))
    if given.html is not None:
        write(given.html, page(analysis))
        terminal.note(f"Wrote {given.html}")
    if given.json:
        import json

        terminal.say([json.dumps(to_json(analysis), indent=1)])
    elif given.html is None:
        terminal.say(text(analysis, ascii_only=not can_show(SPARKS, sys.stdout)))
    return 0
