"""The command line. Each command's code is imported only when it is called."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Any

from duels import __version__
from duels.cli.arguments import count, port, seconds, seed, setting
from duels.cli.terminal import Terminal, drop_output, program
from duels.core.errors import DuelsError, OptionError, UnknownName

USAGE_ERROR = 2
REQUIRED = None  # for `nargs`: exactly one argument

# The function of each command, which takes the terminal and the parsed arguments.
COMMANDS = {
    None: "duels.cli.menu:menu",
    "play": "duels.cli.play:play",
    "resume": "duels.cli.play:resume",
    "games": "duels.cli.rules:games",
    "rules": "duels.cli.rules:rules",
    "replay": "duels.cli.replay:replay",
    "value": "duels.cli.value:value",
    "exploit": "duels.cli.exploit:exploit",
    "arena": "duels.cli.arena:arena",
    "bot": "duels.cli.bot:bot",
    "join": "duels.cli.join:join",
    "positions": "duels.cli.positions:positions_command",
    "analyse": "duels.cli.report:analyse",
    "explain": "duels.cli.explain:explain",
    "solve": "duels.cli.solve:solve_command",
    "verify": "duels.cli.verify:verify",
    "serve": "duels.cli.serve:serve",
    "export": "duels.cli.serve:export_records",
    "import": "duels.cli.serve:import_records",
    "ratings": "duels.cli.serve:ratings",
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit status is 0, 1 for failure, 2 for misuse, 128+n for signal n."""
    _open_streams()
    words = sys.argv[1:] if arguments is None else arguments
    given = _parser(words[0] if words else "").parse_args(words)
    plain, fast = (getattr(given, name, False) for name in ("plain", "fast"))
    terminal = Terminal(0, sys.stdout, sys.stderr, plain=plain, fast=fast)
    module, _, name = COMMANDS[given.command].partition(":")
    try:
        status: int = getattr(import_module(module), name)(terminal, given)
        return status
    except DuelsError as error:
        terminal.note(f"duels: {error}")
        return USAGE_ERROR if isinstance(error, OptionError | UnknownName) else 1
    except KeyboardInterrupt as left:
        if left.args:  # what was stored, and how to continue
            terminal.note(f"duels: stopped; {left}")
        return 130
    except BrokenPipeError:
        drop_output()
        return 141
    except OSError as error:
        drop_output()
        terminal.note(f"duels: reading or writing failed: {error.strerror}")
        return 1


def _open_streams() -> None:
    """Open the standard streams that are closed, and make all of them encode any text."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if stream is None:  # `open` uses the lowest free descriptor, which is the missing one
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


class Parser(argparse.ArgumentParser):
    """A parser with a fixed width, so that argparse need not import shutil to find it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            **settings, formatter_class=lambda prog: argparse.HelpFormatter(prog, width=88)
        )


class Unasked:
    """Placeholder for the parser of a command that is not used.

    Creating a real one takes half a millisecond.
    """

    def add_argument(self, *names: str, **settings: Any) -> None:
        pass


def _parser(first: str) -> argparse.ArgumentParser:
    """A parser with the command that the first word names, or with all if it names none."""
    parser = Parser(
        prog=program(), description="Five two-player number games. Without a command: a menu."
    )
    parser.add_argument("--version", action="version", version=f"duels {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", prog=parser.prog)

    def command(name: str, about: str, *, game: bool = False, file: str | None = "") -> Any:
        if first in COMMANDS and name != first:
            return Unasked()
        made = commands.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".")
        if game:
            made.add_argument("game", metavar="GAME", help="its name or the beginning of it")
        if file != "":
            made.add_argument("file", metavar="FILE", nargs=file, help="a record")
        return made

    def options(made: Any) -> None:
        made.add_argument(
            "--set", type=setting, action="append", default=[], metavar="OPTION=VALUE",
            help="a rule option, see 'duels rules GAME'",
        )  # fmt: skip

    def plain(made: Any) -> None:
        made.add_argument("--plain", action="store_true", help="no colour, no drawing")

    def table(made: Any) -> None:
        made.add_argument("--fast", action="store_true", help="computers move without a pause")
        made.add_argument(
            "--no-secrets", dest="secrets", action="store_false",
            help="two people at one keyboard play with open hands",
        )  # fmt: skip

    def reveal(made: Any) -> None:
        made.add_argument(
            "--reveal", action="store_true", help="show hidden hands of an unfinished match"
        )

    def json(made: Any, about: str = "for programs") -> None:
        made.add_argument("--json", action="store_true", help=about)

    play = command("play", "play a game")
    play.add_argument("game", metavar="GAME", nargs="?", help="its name or the beginning of it")
    play.add_argument(
        "--server", metavar="URL",
        help="play on a server: its address, or the address of a match to join",
    )  # fmt: skip
    play.add_argument(
        "--p1", metavar="WHO", help="human, an opponent's name, a program ('./bot') or MODULE:CLASS"
    )
    play.add_argument("--p2", metavar="WHO", help="likewise; usually the strongest opponent")
    play.add_argument("--first", choices=("1", "2", "random"), help="who starts")
    play.add_argument("--seed", type=seed, metavar="N", help="for the same dice and draws again")
    options(play)
    play.add_argument("--time-limit", type=seconds, metavar="SECONDS", help="for each choice")
    play.add_argument("--time-budget", type=seconds, metavar="SECONDS", help="for the whole match")
    play.add_argument(
        "--increment", type=seconds, metavar="SECONDS", help="added to the budget for each choice"
    )
    play.add_argument("--save", metavar="FILE", help="keep the record of the match there")
    table(play)
    plain(play)

    resume = command("resume", "continue an unfinished match; without FILE, list them", file="?")
    for flag in ("--p1", "--p2"):
        resume.add_argument(
            flag, metavar="WHO", help="a program that the record names, to start it"
        )
    table(resume)
    plain(resume)

    json(command("games", "list the games"), "JSON, with every option")
    rules = command("rules", "the rules of a game", game=True)
    options(rules)

    replay = command("replay", "see a recorded match again", file=REQUIRED)
    replay.add_argument(
        "--view", choices=("table", "1", "2", "spectator"),
        help="the viewer: each mover in turn (table), one player or a spectator",
    )  # fmt: skip
    replay.add_argument("--print", action="store_true", help="all at once, without stepping")
    json(replay, "the checked record, for programs")
    reveal(replay)
    plain(replay)

    value = command("value", "what a position is worth, and each option in it", game=True)
    options(value)
    value.add_argument(
        "--after", nargs="+", default=[], metavar="PICK",
        help="a record's picks in order, chance outcomes included; a sealed pair is written 7/8",
    )  # fmt: skip
    json(value)

    exploit = command("exploit", "how far a player can be exploited, exactly", game=True)
    exploit.add_argument(
        "player", metavar="PLAYER", help="an opponent's name, a program ('./bot') or MODULE:CLASS"
    )
    options(exploit)
    exploit.add_argument(
        "--turn-limit", type=count, metavar="N",
        help="hidden hands: a draw after N choices, which keeps small variants exact",
    )  # fmt: skip
    exploit.add_argument(
        "--seconds", type=seconds, metavar="N",
        help="hidden hands: how long to train a new responder for each seat",
    )  # fmt: skip
    exploit.add_argument(
        "--games", type=count, default=1000, metavar="N",
        help="games behind each figure for a program that states no mixed strategy; usually 1000",
    )  # fmt: skip
    json(exploit)

    arena = command("arena", "a tournament: players meet in seat-swapped pairs of games")
    arena.add_argument(
        "players", metavar="PLAYER", nargs="+",
        help="an opponent's name, a program as './mybot', or a MODULE:CLASS",
    )  # fmt: skip
    arena.add_argument("--games", default="all", metavar="GAME,…", help="some games; usually 'all'")
    options(arena)
    arena.add_argument(
        "--pairs", type=count, default=100, metavar="N",
        help="of games for each two players in each game; usually 100",
    )  # fmt: skip
    arena.add_argument(
        "--gauntlet",
        action="store_true",
        help="the first player meets all others, who do not meet each other",
    )
    arena.add_argument(
        "--sprt", metavar="ELO0,ELO1",
        help="end a pairing when it is decided which difference is likelier; --pairs at the most",
    )  # fmt: skip
    arena.add_argument("--time-limit", type=seconds, metavar="SECONDS", help="for each choice")
    arena.add_argument(
        "--max-failures", type=count, default=3, metavar="N",
        help="disqualify a player that fails to start or to answer N times in a row; usually 3",
    )  # fmt: skip
    arena.add_argument(
        "--seed", type=seed, metavar="N", help="for the same games again, among trusted players"
    )
    arena.add_argument(
        "--engine", choices=("auto", "compiled", "python"), default="auto",
        help="what plays between built-in players; usually the faster of the two",
    )  # fmt: skip
    arena.add_argument("--jobs", type=count, default=1, metavar="N", help="usually 1")
    arena.add_argument(
        "--cluster", metavar="URL", help="of workers: dask://HOST:PORT or ray://HOST:PORT"
    )
    arena.add_argument(
        "--out", metavar="DIR", help="where it is kept, and goes on if it was interrupted"
    )
    arena.add_argument("--fresh", action="store_true", help="start over; put old games aside")
    json(arena, "the results, for programs")
    plain(arena)

    bot = command("bot", "check a bot in every game, or write a new one to begin with")
    bot.add_argument("action", choices=("check", "new"))
    bot.add_argument("what", metavar="CMD|FILE", help="'./bot' to check; a .py or .js to write")
    bot.add_argument("--games", metavar="GAME,…", help="check only these")
    json(bot)

    join = command("join", "let a bot play at a server")
    join.add_argument("url", metavar="URL", help="of a match, or of a server for open challenges")
    join.add_argument("--bot", required=True, metavar="CMD", help="'./bot', MODULE:CLASS or a name")
    join.add_argument("--game", metavar="GAME", help="open challenges of this game, and wait")
    join.add_argument("--matches", type=count, metavar="N", help="leave after so many")
    join.add_argument(
        "--key", metavar="FILE", help="keep the bot's key there: its ratings and unfinished matches"
    )
    join.add_argument("--name", metavar="NAME", help="what the server calls it")

    positions = command("positions", "positions with exact values, to learn from", game=True)
    options(positions)
    positions.add_argument("--n", type=count, default=1000, metavar="N", help="usually 1000")
    positions.add_argument("--format", choices=("jsonl", "npz", "parquet"), default="jsonl")
    positions.add_argument("--seed", type=seed, default=1, metavar="N", help="usually 1")
    positions.add_argument(
        "--split", choices=("train", "test"), help="one of them, which share no position"
    )
    positions.add_argument("--out", metavar="FILE", help="to write; - for the output (jsonl)")

    analyse = command("analyse", "grade every move of a recorded match", file=REQUIRED)
    analyse.add_argument("--html", metavar="FILE", help="write a page instead")
    reveal(analyse)
    json(analyse)

    explain = command("explain", "what perfect play looks like, in pictures", game=True)
    explain.add_argument(
        "--svg", metavar="FILE", help="write the picture there; a second one beside it as FILE-2"
    )

    solve = command("solve", "solve a game anew", game=True)
    options(solve)
    solve.add_argument(
        "--minutes", type=seconds, metavar="N", help="how long, for a game that is learned"
    )
    solve.add_argument(
        "--jobs", type=count, metavar="N", help="cores, for a game that is learned; usually 1"
    )
    solve.add_argument("--out", metavar="FILE", help="write the table there")

    verify = command("verify", "check every roll, deal and draw of a record", file=REQUIRED)
    verify.add_argument(
        "--saw", action="append", default=[], metavar="HASH",
        help="a commitment or hash you were shown before the match: the record must have it",
    )  # fmt: skip
    verify.add_argument("--json", action="store_true", help="for programs")

    def database(made: Any) -> None:
        made.add_argument(
            "--database", default="", metavar="WHERE",
            help="a file or postgresql://...; usually a file in the user's data directory",
        )  # fmt: skip

    serve = command("serve", "play in the browser: a server on this machine")
    serve.add_argument("--host", default="127.0.0.1", help="usually 127.0.0.1; 0.0.0.0 for all")
    serve.add_argument("--port", type=port, default=8000, metavar="N", help="usually 8000")
    database(serve)
    serve.add_argument("--workers", type=count, default=1, metavar="N", help="with PostgreSQL")
    serve.add_argument(
        "--origin", action="append", default=[], metavar="URL", help="another origin of the pages"
    )
    serve.add_argument(
        "--proxy", action="store_true", help="trust the X-Forwarded-For header of a proxy"
    )
    serve.add_argument(
        "--max-per-address", type=count, metavar="N", help="connections of one address"
    )
    serve.add_argument(
        "--claim-after", type=seconds, metavar="SECONDS",
        help="absence during an own choice after which the opponent may claim the win",
    )  # fmt: skip
    serve.add_argument(
        "--computer-delay", type=seconds, metavar="SECONDS", help="computers take at least that"
    )
    serve.add_argument("--no-limits", action="store_true", help="for measuring: no rates")
    serve.add_argument("--open", action="store_true", help="open the page in a browser")

    export = command("export", "all records of a server as JSON lines")
    export.add_argument("file", metavar="FILE", help="to write; - for the output")
    database(export)
    taken = command("import", "take records from JSON lines into a server's store")
    taken.add_argument("file", metavar="FILE", help="to read; - for the input")
    database(taken)
    database(command("ratings", "compute all ratings again from a server's records"))
    return parser
