"""The command line. Each command's code is imported only when it is called."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from duels import __version__
from duels.cli.terminal import Terminal, program
from duels.core.errors import DuelsError, OptionError, UnknownName

USAGE_ERROR = 2


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit status is 0, 1 for failure, 2 for misuse, 128+n for signal n."""
    parser = _parser()
    given = parser.parse_args(arguments)
    terminal = Terminal(0, sys.stdout, sys.stderr, plain=getattr(given, "plain", False))
    try:
        return _run(given, terminal)
    except DuelsError as error:
        terminal.note(f"duels: {error}")
        return USAGE_ERROR if isinstance(error, OptionError | UnknownName) else 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _run(given: argparse.Namespace, terminal: Terminal) -> int:
    if given.command == "play":
        return _play(given, terminal)
    if given.command == "games":
        from duels.cli.show_rules import show_games

        return show_games(terminal, given.json)
    if given.command == "rules":
        from duels.cli.show_rules import show_rules

        return show_rules(terminal, given.game)
    if given.command == "replay":
        from duels.cli.replay import replay

        return replay(terminal, given.file, given.view, given.print, given.json)
    if given.command == "resume":
        from duels.cli.play import resume

        return resume(terminal, given.file)
    from duels.cli.menu import menu

    return menu(terminal)


def _play(given: argparse.Namespace, terminal: Terminal) -> int:
    from duels.cli.play import play_matches
    from duels.core.chance import first_player, new_seed
    from duels.games import find
    from duels.players import HUMAN, STRONGEST
    from duels.players import find as find_player

    options: dict[str, object] = dict(given.set)
    seed = given.seed
    if given.first == "random":
        seed = new_seed() if seed is None else seed
        options["first"] = first_player(seed)
    elif given.first is not None:
        options["first"] = given.first
    game = find(given.game)(**options)
    one = find_player(given.p1) if given.p1 else HUMAN
    two = find_player(given.p2) if given.p2 else STRONGEST
    return play_matches(terminal, game, (one, two), seed, given.time_limit, given.save)


class Parser(argparse.ArgumentParser):
    """A fixed width spares argparse the import that asks the terminal for its own."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            **settings, formatter_class=lambda prog: argparse.HelpFormatter(prog, width=88)
        )


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=program(), description="Five two-player number games. Without a command: a menu."
    )
    parser.add_argument("--version", action="version", version=f"duels {__version__}")
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", prog=parser.prog,
    )  # fmt: skip

    play = commands.add_parser("play", help="play a game")
    play.add_argument("game", metavar="GAME", help="its name or the beginning of it")
    play.add_argument("--p1", metavar="WHO", help="human or an opponent's name")
    play.add_argument("--p2", metavar="WHO", help="likewise; usually the strongest opponent")
    play.add_argument("--first", choices=("1", "2", "random"), help="who starts")
    play.add_argument("--seed", type=_seed, metavar="N", help="for the same dice and draws again")
    play.add_argument(
        "--set", type=_setting, action="append", default=[], metavar="OPTION=VALUE",
        help="a rule option, see 'duels rules GAME'",
    )  # fmt: skip
    play.add_argument("--time-limit", type=_seconds, metavar="SECONDS", help="for each choice")
    play.add_argument("--save", metavar="FILE", help="keep the record of the match there")
    play.add_argument("--plain", action="store_true", help="no colour, no drawing")

    games = commands.add_parser("games", help="list the games")
    games.add_argument("--json", action="store_true", help="for programs, with every option")

    rules = commands.add_parser("rules", help="the rules of a game")
    rules.add_argument("game", metavar="GAME")

    replay = commands.add_parser("replay", help="see a recorded match again")
    replay.add_argument("file", metavar="FILE")
    replay.add_argument(
        "--view", choices=("table", "1", "2", "spectator"), default="table",
        help="whose eyes: each mover's (table), one player's or a spectator's",
    )  # fmt: skip
    replay.add_argument("--print", action="store_true", help="all at once, without stepping")
    replay.add_argument("--json", action="store_true", help="the checked record, for programs")

    resume = commands.add_parser("resume", help="go on with a match that was left")
    resume.add_argument("file", metavar="FILE")
    for command in (replay, resume):
        command.add_argument("--plain", action="store_true", help="no colour, no drawing")
    return parser


def _seed(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 40:
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a whole number from 0 up, got {text[:40]!r}")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= 1e6:
        raise argparse.ArgumentTypeError(f"expected seconds above 0, got {text[:40]!r}")
    return seconds


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected OPTION=VALUE, got {text[:40]!r}")
    return name, value
