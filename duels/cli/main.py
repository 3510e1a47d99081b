"""The command line. Each command's code is imported only when it is called."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Any

from duels import __version__
from duels.cli.arguments import (
    count,
    database,
    port,
    seconds,
    seed,
    setting,
    with_password_file,
)
from duels.cli.terminal import Terminal, drop_output
from duels.core.errors import DuelsError, OptionError, UnknownName, program

USAGE_ERROR = 2
REQUIRED = None  # for `nargs`: exactly one argument
PLAYER = (
    "an opponent's name, './program' or MODULE:CLASS; NAME=PLAYER names it, "
    "PLAYER,time=SECONDS,memory=MB limits it"
)

# The function of each command, which takes the terminal and the parsed arguments.
COMMANDS = {
    None: "duels.cli.menu:menu",
    "play": "duels.cli.play:play",
    "resume": "duels.cli.resume:resume",
    "games": "duels.cli.rules:games",
    "rules": "duels.cli.rules:rules",
    "replay": "duels.cli.replay:replay",
    "value": "duels.cli.value:value",
    "exploit": "duels.cli.exploit:exploit",
    "arena": "duels.cli.arena:arena",
    "bot": "duels.cli.bot:bot",
    "join": "duels.cli.join:join",
    "positions": "duels.cli.positions:positions_command",
    "bench": "duels.cli.bench:bench",
    "analyse": "duels.cli.report:analyse",
    "explain": "duels.cli.explain:explain",
    "solve": "duels.cli.solve:solve_command",
    "verify": "duels.cli.verify:verify",
    "serve": "duels.cli.serve:serve",
    "export": "duels.cli.serve:export_records",
    "import": "duels.cli.serve:import_records",
    "admin": "duels.cli.admin:admin",
    "ratings": "duels.cli.serve:ratings",
    "backup": "duels.cli.serve:backup",
    "restore": "duels.cli.serve:restore",
    "completion": "duels.cli.completion:completion",
}
HELP = "help"


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit status is 0, 1 for failure, 2 for misuse, 128+n for signal n."""
    _open_streams()
    words = sys.argv[1:] if arguments is None else arguments
    first = words[0] if words else ""
    if first == HELP:
        words = [*words[1:2], "--help"]
        first = words[0]
    if words and first not in (*COMMANDS, HELP) and not first.startswith("-"):
        from duels.cli.help import unknown_command

        sys.stderr.write(f"duels: {unknown_command(program(), first, _summaries())}\n")
        return USAGE_ERROR
    given = _parser(first, helps=bool({"-h", "--help"} & {*words})).parse_args(words)
    plain, fast = (getattr(given, name, False) for name in ("plain", "fast"))
    terminal = Terminal(0, sys.stdout, sys.stderr, plain=plain, fast=fast)
    module, _, name = COMMANDS[given.command].partition(":")
    try:
        if getattr(given, "database_password_file", None):
            given.database = with_password_file(given.database, given.database_password_file)
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
            **settings,
            formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=88),
        )


class SkippedParser:
    """Stands in for the parser of a command that is not used, and keeps its arguments' names.

    Creating a real one takes half a millisecond.
    """

    def __init__(self, about: str) -> None:
        self.about, self.arguments = about, list[str]()

    def add_argument(self, *names: str, **settings: Any) -> None:
        self.arguments.append(names[-1])


def arguments_of_commands() -> dict[str, list[str]]:
    """The names of the arguments of each command."""
    skipped: dict[str, SkippedParser] = {}
    _parser("", skipped)
    return {name: parser.arguments for name, parser in skipped.items()}


def _summaries() -> dict[str, str]:
    """What each command does, in a line."""
    skipped: dict[str, SkippedParser] = {}
    _parser("", skipped)
    return {name: parser.about for name, parser in skipped.items()}


def _parser(
    first: str, skipped: dict[str, SkippedParser] | None = None, helps: bool = False
) -> argparse.ArgumentParser:
    """A parser with the command that the first word names.

    The other commands are only described, in `skipped` if it is given. `helps`: with the texts that
    help shows.
    """
    known = first in (*COMMANDS, HELP)
    parser = Parser(
        prog=program(), usage=f"{program()} [-h] [--version] COMMAND ...",
        description="Play and study five two-player number games. Without a command, a menu opens.",
        add_help=known or not helps,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"duels {__version__}")
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", prog=parser.prog, help=argparse.SUPPRESS
    )
    others = {} if skipped is None else skipped

    def command(name: str, about: str, *, game: bool = False, file: str | None = "") -> Any:
        if name == first:
            made: Any = commands.add_parser(name, description=about[0].upper() + about[1:] + ".")
            if helps:
                from duels.cli.help import examples

                made.epilog = examples(program(), name)
        else:
            made = others[name] = SkippedParser(about)
        if game:
            made.add_argument("game", metavar="GAME", help="a game's name, or the beginning of it")
        if file != "":
            record = "a record (default: choose from a list)" if file == "?" else "a record"
            made.add_argument("file", metavar="FILE", nargs=file, help=record)
        return made

    def options(made: Any) -> None:
        made.add_argument(
            "--set", type=setting, action="append", default=[], metavar="OPTION=VALUE",
            help=f"set a rule option, as listed by '{program()} rules GAME'; may be repeated",
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

    def json(made: Any, about: str = "print JSON, for programs") -> None:
        made.add_argument("--json", action="store_true", help=about)

    def number(made: Any, what: str, default: int | None = None) -> None:
        usual = "" if default is None else f" (default: {default})"
        made.add_argument(
            "-n", "--count", type=count, default=default, metavar="N", help=f"{what}{usual}"
        )

    play = command("play", "play a game")
    play.add_argument(
        "game", metavar="GAME", nargs="?", help="a game's name, or the beginning of it"
    )
    play.add_argument(
        "--server", metavar="URL",
        help="play on a server: its address, or the address of a match to join",
    )  # fmt: skip
    play.add_argument(
        "--p1", metavar="PLAYER", help=f"Player 1: human, or {PLAYER} (default: human)"
    )
    play.add_argument("--p2", metavar="PLAYER", help="Player 2, as for --p1 (default: medium)")
    play.add_argument("--first", choices=("1", "2", "random"), help="who starts (default: 1)")
    play.add_argument(
        "--seed",
        type=seed,
        metavar="N",
        help="seed of the dice and draws, to play the same ones again (default: random)",
    )
    options(play)
    play.add_argument(
        "--time-limit",
        type=seconds,
        metavar="SECONDS",
        help="time for each choice (default: no limit)",
    )
    play.add_argument(
        "--time-budget", type=seconds, metavar="SECONDS",
        help="time each player has for the whole match (default: no limit)",
    )  # fmt: skip
    play.add_argument(
        "--increment", type=seconds, metavar="SECONDS",
        help="time added to the budget for each choice (default: 0)",
    )  # fmt: skip
    play.add_argument("--save", metavar="FILE", help="write the record of the match to this file")
    table(play)
    plain(play)

    resume = command("resume", "continue an unfinished match", file="?")
    for seat in ("1", "2"):
        resume.add_argument(
            f"--p{seat}", metavar="PLAYER",
            help=f"program to start as Player {seat}; must be the one that the record names",
        )  # fmt: skip
    table(resume)
    plain(resume)

    json(command("games", "list the games"), "print JSON, with every option")
    rules = command("rules", "show the rules of a game", game=True)
    options(rules)

    replay = command("replay", "watch a recorded match again", file=REQUIRED)
    replay.add_argument(
        "--view", choices=("table", "1", "2", "spectator"),
        help="whose view to show: that of the player to move (table), of Player 1 or 2, or of a "
        "spectator (default: table, or spectator while hands are hidden)",
    )  # fmt: skip
    replay.add_argument(
        "--print", action="store_true", help="print everything at once, without stepping"
    )
    json(replay, "print the checked record as JSON, for programs")
    reveal(replay)
    plain(replay)

    value = command("value", "show the value of a position and of each option", game=True)
    options(value)
    value.add_argument(
        "--after", nargs="+", default=[], metavar="PICK",
        help="the moves and chance outcomes that lead to the position, in order; write two sealed "
        "moves as 7/8",
    )  # fmt: skip
    json(value)

    exploit = command("exploit", "measure how exploitable a player is", game=True)
    exploit.add_argument("player", metavar="PLAYER", help=PLAYER)
    options(exploit)
    exploit.add_argument(
        "--turn-limit", type=count, metavar="N",
        help="hidden hands: end a game as a draw after N choices, so that small variants can be "
        "measured exactly",
    )  # fmt: skip
    exploit.add_argument(
        "--seconds", type=seconds, metavar="N",
        help="hidden hands: train a new responder for each seat for N seconds "
        "(default: use stored scores, if there are any)",
    )  # fmt: skip
    number(exploit, "games to sample for each figure, if a program states no mixed strategy", 1000)
    json(exploit)

    arena = command("arena", "run a tournament of seat-swapped pairs of games")
    arena.add_argument("players", metavar="PLAYER", nargs="+", help=PLAYER)
    arena.add_argument("--games", metavar="GAME,…", help="only these games (default: all)")
    options(arena)
    number(arena, "pairs of games for each pairing in each game", 100)
    arena.add_argument(
        "--gauntlet",
        action="store_true",
        help="only the first player meets the others",
    )
    arena.add_argument(
        "--sprt", metavar="ELO0,ELO1",
        help="stop a pairing as soon as a sequential test decides between two Elo differences; "
        "--count is the limit",
    )  # fmt: skip
    arena.add_argument(
        "--time-limit",
        type=seconds,
        metavar="SECONDS",
        help="time for each choice (default: no limit, except that of programs)",
    )
    arena.add_argument(
        "--max-failures", type=count, default=3, metavar="N",
        help="disqualify a player that fails to start or to answer N times in a row (default: 3)",
    )  # fmt: skip
    arena.add_argument(
        "--seed", type=seed, metavar="N",
        help="seed of the games, to play the same ones again; for trusted players only "
        "(default: a secret seed)",
    )  # fmt: skip
    arena.add_argument(
        "--engine", choices=("auto", "compiled", "python"), default="auto",
        help="engine for games between built-in players (default: the faster one)",
    )  # fmt: skip
    arena.add_argument(
        "--jobs", type=count, default=1, metavar="N", help="parallel processes (default: 1)"
    )
    arena.add_argument(
        "--cluster", metavar="URL", help="run on a cluster: dask://HOST:PORT or ray://HOST:PORT"
    )
    arena.add_argument(
        "--out", metavar="DIR",
        help="folder for results and games; an interrupted tournament continues from it "
        "(default: arena-…, by players and games)",
    )  # fmt: skip
    arena.add_argument(
        "--export", metavar="FILE", help="also write the record of every game, as JSON lines"
    )
    arena.add_argument(
        "--fresh", action="store_true", help="start over, keeping the old games in games-old.sqlite"
    )
    json(arena, "print the results as JSON, for programs")
    plain(arena)

    bot = command("bot", "write a first bot, check one, or describe what bots see in a game")
    bot.add_argument("action", choices=("new", "check", "describe"), help="what to do")
    bot.add_argument(
        "what", metavar="FILE|PLAYER|GAME",
        help="new: a .py or .js file to write; check: the bot; describe: the game",
    )  # fmt: skip
    bot.add_argument("--games", metavar="GAME,…", help="check: only these games (default: all)")
    json(bot)

    join = command("join", "let a bot play on a server")
    join.add_argument(
        "url", metavar="URL",
        help="address of a match, or of a server whose open challenges the bot accepts",
    )  # fmt: skip
    join.add_argument("--bot", required=True, metavar="PLAYER", help=PLAYER)
    join.add_argument(
        "--game", metavar="GAME",
        help="create open challenges in this game instead of accepting those of others",
    )  # fmt: skip
    number(join, "leave after this many matches (default: never)")
    join.add_argument(
        "--key", metavar="FILE",
        help="keep the bot's identity in this file, for its ratings and unfinished matches "
        "(default: a new identity)",
    )  # fmt: skip

    positions = command("positions", "write positions of a game with their exact values", game=True)
    options(positions)
    number(positions, "number of positions", 1000)
    positions.add_argument(
        "--format", choices=("jsonl", "npz", "parquet"), default="jsonl",
        help="file format (default: jsonl)",
    )  # fmt: skip
    positions.add_argument(
        "--seed",
        type=seed,
        default=1,
        metavar="N",
        help="seed for the choice of positions (default: 1)",
    )
    positions.add_argument(
        "--split", choices=("train", "test"),
        help="write only training positions or only test positions; the two sets do not overlap "
        "(default: write both)",
    )  # fmt: skip
    positions.add_argument(
        "--out", metavar="FILE",
        help="file to write, or - for standard output (default: GAME-positions.FORMAT)",
    )  # fmt: skip

    bench = command("bench", "measure a language model by exact regret or exploitability")
    bench.add_argument(
        "action", nargs="?", choices=("compare", "leaderboard"), metavar="compare|leaderboard",
        help="compare two runs, or write one page of many runs (default: measure a model)",
    )  # fmt: skip
    bench.add_argument("folders", nargs="*", metavar="DIR", help="folders of runs")
    bench.add_argument("--model", metavar="NAME", help="the model's name on the server")
    bench.add_argument(
        "--base-url", metavar="URL",
        help="address of an OpenAI-compatible server (default: OPENAI_BASE_URL, else OpenAI's)",
    )  # fmt: skip
    bench.add_argument(
        "--player", metavar="NAME", help="measure a built-in player instead, as a baseline"
    )
    bench.add_argument(
        "--baselines", action="store_true",
        help="measure the built-in players too, and write a leaderboard",
    )  # fmt: skip
    bench.add_argument(
        "--mode", choices=("positions", "matches", "policy", "quiz", "code"), default="positions",
        help="positions: skill and regret; matches: score without luck; policy: exploitability; "
        "quiz: the rules; code: the model writes a bot (default: positions)",
    )  # fmt: skip
    bench.add_argument(
        "--games",
        metavar="GAME,…",
        help="only these games (default: all that the mode can measure)",
    )
    options(bench)
    bench.add_argument(
        "--variants", type=count, default=0, metavar="N",
        help="instead of the usual rules, N variants of each game with random options",
    )  # fmt: skip
    number(
        bench, "positions, pairs of matches or questions of each game; with --mode code pairs "
        "against each opponent (default: 100 positions, 50 pairs, 60 questions, 20 pairs)",
    )  # fmt: skip
    bench.add_argument(
        "--opponent", metavar="LEVEL", default="perfect",
        help="the built-in player of --mode matches (default: perfect)",
    )  # fmt: skip
    bench.add_argument(
        "--samples", type=count, default=1, metavar="K", help="answers per position (default: 1)"
    )
    bench.add_argument(
        "--answer", choices=("move", "mix"),
        help="ask for a move or for a mixed strategy (default: move; with --mode policy: mix)",
    )  # fmt: skip
    bench.add_argument(
        "--legal-moves", choices=("yes", "no"), default="yes",
        help="whether prompts list the legal moves (default: yes)",
    )  # fmt: skip
    bench.add_argument(
        "--allow-code", action="store_true",
        help="let --mode code run programs that the model writes, with your rights",
    )  # fmt: skip
    bench.add_argument(
        "--param", type=setting, action="append", default=[], metavar="NAME=VALUE",
        help="a parameter of the request, such as temperature=0; may be repeated",
    )  # fmt: skip
    bench.add_argument(
        "--timeout", type=seconds, default=600.0, metavar="SECONDS",
        help="time for one answer before the request is repeated (default: 600)",
    )  # fmt: skip
    bench.add_argument(
        "--concurrency",
        type=count,
        default=8,
        metavar="N",
        help="calls in progress at a time (default: 8)",
    )
    bench.add_argument(
        "--price", metavar="FILE",
        help='JSON with US dollars per million tokens: {"MODEL": {"input": 1, "output": 4}}',
    )  # fmt: skip
    bench.add_argument(
        "--budget", type=seconds, metavar="USD", help="stop when this much is spent; needs --price"
    )
    bench.add_argument(
        "--dry-run", action="store_true",
        help="only show calls, tokens, cost and the smallest difference that can be detected",
    )  # fmt: skip
    bench.add_argument(
        "--seed", type=seed, default=1, metavar="N",
        help="seed for positions, matches, questions and variants (default: 1)",
    )  # fmt: skip
    bench.add_argument(
        "--out", metavar="DIR",
        help="folder for answers and results, from which an interrupted run continues (default: "
        "bench-MODEL); with leaderboard the page (default: leaderboard.html)",
    )  # fmt: skip
    json(bench)

    analyse = command("analyse", "grade every move of a recorded match", file=REQUIRED)
    analyse.add_argument(
        "--out", metavar="FILE",
        help="write to this file: a page if it ends in .html, JSON if in .json, else text",
    )  # fmt: skip
    reveal(analyse)
    json(analyse)

    explain = command("explain", "show what perfect play looks like", game=True)
    options(explain)
    explain.add_argument(
        "--out", metavar="FILE.svg",
        help="write the picture to this file, a second one to FILE-2.svg (default: print text)",
    )  # fmt: skip

    solve = command("solve", "solve a game or a variant", game=True)
    options(solve)
    solve.add_argument(
        "--minutes", type=seconds, metavar="N",
        help="how long to train, for a game solved by training (default: set by the game)",
    )  # fmt: skip
    solve.add_argument(
        "--jobs", type=count, metavar="N",
        help="cores to use, for a game solved by training (default: 1)",
    )  # fmt: skip
    solve.add_argument("--out", metavar="FILE", help="write the table of values to this file")

    verify = command("verify", "check the dice of a recorded match", file=REQUIRED)
    verify.add_argument(
        "--saw", action="append", default=[], metavar="HASH",
        help="a commitment or hash that you saw before the match; the check fails unless the "
        "record has it; may be repeated",
    )  # fmt: skip
    json(verify)

    def stored(made: Any) -> None:
        made.add_argument(
            "--database", type=database, default="", metavar="WHERE",
            help="a file or postgresql://... (default: a file in the user's data directory)",
        )  # fmt: skip
        made.add_argument(
            "--database-password-file", metavar="FILE",
            help="file with the password of PostgreSQL (default: PGPASSWORD or PGPASSFILE)",
        )  # fmt: skip

    def keep(made: Any) -> None:
        made.add_argument(
            "--keep", type=setting, action="append", default=[], metavar="KIND=DAYS",
            help="how long to keep closed, abandoned or finished matches, analyses, or names, in "
            "days or 'forever'; may be repeated (default: closed=7, abandoned=90, "
            "finished=forever, analyses=30, names=365)",
        )  # fmt: skip

    serve = command("serve", "start a server for playing in the browser")
    serve.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on; 0.0.0.0 for all (default: 127.0.0.1)",
    )
    serve.add_argument(
        "--port", type=port, default=8000, metavar="N", help="port to listen on (default: 8000)"
    )
    stored(serve)
    serve.add_argument(
        "--workers", type=count, default=1, metavar="N",
        help="processes; more than one needs PostgreSQL (default: 1)",
    )  # fmt: skip
    serve.add_argument(
        "--origin", action="append", default=[], metavar="URL",
        help="another origin from which pages may connect; may be repeated",
    )  # fmt: skip
    serve.add_argument(
        "--proxy", action="store_true",
        help="trust the X-Forwarded-For header of a reverse proxy",
    )  # fmt: skip
    serve.add_argument(
        "--worker-ports", action="store_true",
        help="let worker N also listen on port + N, so that a proxy can send all requests about a "
        "match to the same worker",
    )  # fmt: skip
    serve.add_argument(
        "--max-per-address", type=count, metavar="N",
        help="WebSockets allowed from one address (default: 60)",
    )  # fmt: skip
    serve.add_argument(
        "--max-matches", type=count, metavar="N",
        help="matches in progress per process, beyond which new ones are refused (default: 20000)",
    )  # fmt: skip
    serve.add_argument(
        "--claim-after", type=seconds, metavar="SECONDS",
        help="how long a player may be absent on their turn before the opponent can claim the win "
        "(default: 60)",
    )  # fmt: skip
    serve.add_argument(
        "--computer-delay", type=seconds, metavar="SECONDS",
        help="shortest time a computer player takes for a move (default: 0.6)",
    )  # fmt: skip
    serve.add_argument(
        "--blocked-words", default="", metavar="FILE",
        help="file of words that names must not contain, one per line; * matches any characters",
    )  # fmt: skip
    serve.add_argument(
        "--max-undos", type=count, metavar="N",
        help="undos allowed in one match (default: 50)",
    )  # fmt: skip
    keep(serve)
    serve.add_argument(
        "--no-limits", action="store_true", help="lift all rate limits, for load tests"
    )
    serve.add_argument("--open", action="store_true", help="open the start page in a browser")

    export = command("export", "write all records of a server as JSON lines")
    export.add_argument(
        "--out", default="-", metavar="FILE", help="file to write (default: standard output)"
    )
    stored(export)
    taken = command("import", "add records from JSON lines to a server's database")
    taken.add_argument("file", metavar="FILE", help="file to read, or - for standard input")
    stored(taken)
    stored(command("ratings", "recompute all ratings from a server's records"))
    backup = command("backup", "write a server's database to a file, while the server runs")
    backup.add_argument("file", metavar="FILE", help="new file to write")
    stored(backup)
    restore = command("restore", "restore a backup as a new database, and check it")
    restore.add_argument("file", metavar="FILE", help="file written by duels backup")
    stored(restore)
    admin = command("admin", "operate a server: players, matches, bans, reports, old data")
    if first == "admin":
        from duels.cli.admin import add_actions

        add_actions(admin, stored, keep)
    else:
        admin.add_argument("action")

    named = command(HELP, "show the help of a command")
    named.add_argument("topic", metavar="COMMAND", nargs="?")
    shell = command("completion", "print a script that completes commands in a shell")
    shell.add_argument("shell", choices=("bash", "zsh", "fish"), help="your shell")
    if helps and not known:
        from duels.cli.help import overview

        summaries = {name: other.about for name, other in others.items()}
        parser.epilog = overview(program(), summaries)
        parser.add_argument("-h", "--help", action="help", help="show this help and exit")
    return parser
