"""`duels bot check` and `duels bot new`: tools for bot authors."""

from __future__ import annotations

import os
from argparse import Namespace

from duels.cli.progress import PATIENCE, ProgressBar
from duels.cli.terminal import Terminal, program
from duels.core.errors import OptionError, RecordError, quote
from duels.games import catalogue, find
from duels.players import CLASS, COMMAND, HUMAN, named, player
from duels.players.check import Checked, CheckReport, check
from duels.players.isolated import isolated
from duels.players.process import ProcessLimits

TEMPLATES = os.path.join(os.path.dirname(os.path.dirname(__file__)), "players", "templates")
RUN_BY = {".py": "python3", ".js": "node"}


def bot(terminal: Terminal, given: Namespace) -> int:
    return new_bot(terminal, given.what) if given.action == "new" else check_bot(terminal, given)


def check_bot(terminal: Terminal, given: Namespace) -> int:
    """Play matches of every game with a bot and report errors; returns 1 if there are any."""
    kind, name = named(given.what)
    if kind == HUMAN:
        raise OptionError("a human cannot be checked")
    wanted = given.games.split(",") if given.games else list(catalogue())
    games = [find(slug) for slug in wanted]
    limits = ProcessLimits.usual()
    checked = isolated(name, "", limits) if kind == CLASS else player(name, "", limits)
    bar = ProgressBar(f"Checking {name}", PATIENCE)
    try:
        report = check(checked, games, limits, progress=bar)
    finally:
        checked.close()
        bar.done()
    if given.json:
        import json

        terminal.say([json.dumps({"bot": name} | report.to_json(), indent=1)])
    else:
        terminal.say(_told(report, kind == COMMAND))
    return 0 if report.fine else 1


def _told(report: CheckReport, program: bool) -> list[str]:
    if report.start is not None:
        return [f"It does not start: {report.start}"]
    lines = [line for game in report.games for line in _game(game)]
    if report.plays_none is not None:
        lines.append(
            f"WRONG: {report.plays_none}. Name other --games, or mend its answer to hello."
        )
    mixed = sum(game.mixed for game in report.games)
    choices = sum(game.choices for game in report.games)
    if program and choices:
        how = "mixes" if mixed == choices else "a mix here, a move there" if mixed else "moves"
        can = "measures it exactly" if mixed == choices else "can only sample it"
        lines.append(f"It answers with {how}: 'exploit' {can}.")
    if report.repeatable is False:
        lines.append(
            "Asked the same again it chose otherwise: its matches cannot be played again. Take "
            "randomness from the request's seed, or answer with a mix."
        )
    lines.append("All is fine." if report.fine else "Something is wrong: see above, or --json.")
    return lines


def _game(game: Checked) -> list[str]:
    if not game.played:
        return [f"{game.slug}: it says that it does not play this"]
    if game.failure is None:
        return [
            f"{game.slug}: fine in {game.matches} matches and {game.choices} choices, the slowest "
            f"in {1000 * game.slowest:.1f} ms"
        ]
    return [f"{game.slug}: WRONG: {game.failure.why}", f"    {game.failure.where()}"]


def new_bot(terminal: Terminal, path: str) -> int:
    """Write a bot that plays at random, as a template."""
    suffix = os.path.splitext(path)[1]
    if suffix not in RUN_BY:
        raise OptionError(f"expected a file that ends in .py or .js; got {quote(path)}")
    with open(os.path.join(TEMPLATES, f"bot{suffix}"), encoding="utf-8") as file:
        text = file.read().replace("FILE", os.path.basename(path))
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o777), "w") as made:
            made.write(text)
    except FileExistsError:
        raise OptionError(f"{quote(path)} is there already") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "invalid file name"
        raise RecordError(f"cannot write {quote(path)}: {why}") from None
    from shlex import quote as shell

    where = path if "/" in path else f"./{path}"
    terminal.say(
        [
            f"Wrote {path}, a bot that plays every game at random. Go on with:",
            f"  {program()} bot check {shell(where)}",
            f"  {program()} play GAME --p2 {shell(where)}",
        ],
        whole=True,
    )
    return 0
