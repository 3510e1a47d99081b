"""`duels resume`: continue an unfinished match, chosen from a list."""

from __future__ import annotations

import os
from argparse import Namespace

from duels.cli.autosave import Autosave
from duels.cli.files import UnfinishedMatch, UnfinishedMatches, read_from, shown, unfinished
from duels.cli.pager import columns, fit, row
from duels.cli.play import check_secrets, prepare, run_match, start_option
from duels.cli.prompt import QUIT, Quit
from duels.cli.terminal import Terminal
from duels.core.errors import DuelsError, OptionError, RecordError, program
from duels.core.presentation import Lines
from duels.players import external_kind, parse_spec

DELETE = "delete"


def resume(terminal: Terminal, given: Namespace) -> int:
    """Run `duels resume`."""
    path = given.file
    if path is None:
        found = unfinished()
        if not (found and terminal.interactive):
            return _list(terminal, found)
        try:
            path = choose(terminal, found).path
        except (EOFError, Quit):
            return 0
    match = read_from(path)
    if match.seed is None:
        raise RecordError(f"{path}: this match has no seed, so it cannot be resumed here")
    if match.result is not None:
        raise RecordError(f"{path}: this match is over; see it with: {program()} replay {path}")
    for flag, name in zip(("p1", "p2"), match.players, strict=True):
        named_again = getattr(given, flag, None)
        if external_kind(name) and not (named_again and parse_spec(named_again).text == name):
            raise OptionError(
                f"{path}: a program in a record is not started automatically; if you trust it, add "
                f"{start_option(flag, name)}"
            )
        parse_spec(name)
    prepare(match.game, *match.players)
    check_secrets(terminal, match.game, match.players, given.secrets)
    status = run_match(terminal, match, Autosave(path, terminal.note), given.secrets)
    return 0 if status is None else status


def choose(terminal: Terminal, found: UnfinishedMatches) -> UnfinishedMatch:
    """Ask for one of several matches; the user may delete some."""
    ask = f"Which match? (number, {DELETE} NUMBER or quit; Enter for the newest)"
    terminal.say(matches(columns(terminal), found))
    while found:
        *above, last = fit([ask], columns(terminal))
        terminal.say(above)
        word, _, rest = terminal.ask(last).strip().lower().partition(" ")
        if word in QUIT and not rest:
            raise Quit
        deletes = len(word) > 1 and DELETE.startswith(word)
        number = rest.strip() if deletes else word or "1"
        if not (number.isascii() and number.isdigit() and 1 <= int(number[:9]) <= len(found)):
            terminal.say([f"Type a number from 1 to {len(found)}."])
        elif not deletes:
            return found[int(number) - 1]
        else:
            gone = found.pop(int(number) - 1)
            try:
                os.unlink(gone.path)
            except OSError as error:
                raise DuelsError(f"cannot delete {shown(gone.path)}: {error.strerror}") from None
            terminal.say([f"Deleted: {gone.line}", *matches(columns(terminal), found)])
    raise Quit


def matches(width: int, saved: list[UnfinishedMatch]) -> Lines:
    """The matches that can be resumed."""
    return [
        "",
        *(
            line
            for number, match in enumerate(saved, 1)
            for line in row(f"  {number}. ", match.line, width)
        ),
        "",
    ]


def _list(terminal: Terminal, found: UnfinishedMatches) -> int:
    """List the matches that can be resumed, newest first."""
    from shlex import quote

    if not found:
        terminal.say([f"There is no unfinished match. Start one with: {program()} play GAME"])
    for kept in found:
        terminal.say([kept.line])
        terminal.say([f"  {program()} resume {quote(kept.path)}"], whole=True)
    if found.damaged:
        files = "1 more file is" if found.damaged == 1 else f"{found.damaged} more files are"
        terminal.note(f"{files} damaged and not listed.")
    return 0
