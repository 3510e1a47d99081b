"""`duels bot check` and `duels bot new`: tools for bot authors."""

from __future__ import annotations

import os
from argparse import Namespace

from duels.cli.progress import PATIENCE, ProgressBar
from duels.cli.terminal import Terminal
from duels.core.errors import OptionError, RecordError, file_error, program, quote
from duels.games import catalogue, find
from duels.players import COMMAND, HUMAN, make_player, parse_spec
from duels.players.check import CheckReport, GameCheck, check

TEMPLATES = os.path.join(os.path.dirname(os.path.dirname(__file__)), "players", "templates")
SILENT = "it did not answer"  # how the reason for silence begins
RUN_BY = {".py": "python3", ".js": "node"}


def bot(terminal: Terminal, given: Namespace) -> int:
    if given.action == "new":
        return new_bot(terminal, given.what)
    return check_bot(terminal, given) if given.action == "check" else describe_game(terminal, given)


def describe_game(terminal: Terminal, given: Namespace) -> int:
    """Show the observation and the moves of a game, with an example of each kind of choice."""
    from duels.players.describe import describe

    found = describe(find(given.what))
    if given.json:
        import json

        terminal.say([json.dumps(found.to_json(), indent=1)])
    else:
        terminal.say(found.text(), whole=True)
    return 0


def check_bot(terminal: Terminal, given: Namespace) -> int:
    """Play matches of every game with a bot and report errors; returns 1 if there are any."""
    found = parse_spec(given.what)
    if found.kind == HUMAN:
        raise OptionError("a human cannot be checked; name a bot")
    wanted = given.games.split(",") if given.games else list(catalogue())
    games = [find(slug) for slug in wanted]
    limits = found.limits()
    checked = make_player(found.text, "", own_process=True)
    bar = ProgressBar(f"Checking {found.title}", PATIENCE)
    try:
        report = check(checked, games, limits, progress=bar)
    finally:
        checked.close()
        bar.done()
    if given.json:
        import json

        terminal.say([json.dumps({"bot": found.title} | report.to_json(), indent=1)])
    else:
        terminal.say(_told(report, found.kind == COMMAND))
    return 0 if report.fine else 1


def _told(report: CheckReport, program: bool) -> list[str]:
    if report.start is not None:
        return [f"It does not start: {report.start}", *_flush(report.start)]
    lines = [line for game in report.games for line in _game(game)]
    if report.plays_none is not None:
        lines.append(
            f"WRONG: {report.plays_none}. Choose other --games, or correct its answer to hello."
        )
    mixed = sum(game.mixed for game in report.games)
    choices = sum(game.choices for game in report.games)
    if program and choices:
        some = "sometimes with a mixed strategy and sometimes with a move"
        how = "with mixed strategies" if mixed == choices else some if mixed else "with moves"
        can = "measures it exactly" if mixed == choices else "can only sample it"
        lines.append(f"It answers {how}: 'exploit' {can}.")
    if report.repeatable is False:
        lines.append(
            "It gave different answers to the same request, so its matches cannot be replayed. "
            "Take randomness from the request's seed, or answer with a mix."
        )
    lines.append("No errors found." if report.fine else "It has errors: see above, or use --json.")
    return lines


def _game(game: GameCheck) -> list[str]:
    if not game.played:
        return [f"{game.slug}: not checked, because it says that it does not play this game"]
    if game.failure is None:
        return [
            f"{game.slug}: fine in {game.matches} matches and {game.choices} choices, the slowest "
            f"in {1000 * game.slowest:.1f} ms"
        ]
    where = f"    {game.failure.where()}"
    return [f"{game.slug}: WRONG: {game.failure.why}", where, *_flush(game.failure.why)]


def _flush(why: str) -> list[str]:
    """Advice for a bot that did not answer: buffered output is the most common cause."""
    return ["    Does it flush its output after each line?"] if why.startswith(SILENT) else []


def new_bot(terminal: Terminal, path: str) -> int:
    """Write a bot that plays at random, as a template."""
    suffix = os.path.splitext(path)[1]
    if suffix not in RUN_BY:
        raise OptionError(f"expected a file that ends in .py or .js; got {quote(path)}")
    with open(os.path.join(TEMPLATES, f"bot{suffix}"), encoding="utf-8") as file:
        text = file.read().replace("PROGRAM", program()).replace("FILE", os.path.basename(path))
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o777), "w") as made:
            made.write(text)
    except FileExistsError:
        raise OptionError(f"{quote(path)} already exists") from None
    except (OSError, ValueError) as error:
        raise RecordError(f"cannot write {quote(path)}: {file_error(error)}") from None
    from shlex import quote as shell

    where = path if "/" in path else f"./{path}"
    terminal.say(
        [
            f"Wrote {path}, a bot that plays every game at random. Next steps:",
            f"  {program()} bot check {shell(where)}",
            f"  {program()} play GAME --p2 {shell(where)}",
        ],
        whole=True,
    )
    return 0
