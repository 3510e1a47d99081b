"""`duels play` and `duels resume`: matches at the terminal, with rematches."""

from __future__ import annotations

import signal
from argparse import Namespace

from duels.cli.autosave import Autosave
from duels.cli.prompt import Quit, ask_step
from duels.cli.signals import Stopped, signals_as_exceptions, status_of
from duels.cli.table import TerminalMatch
from duels.cli.terminal import Terminal, drop_output
from duels.core.chance import first_player, new_seed
from duels.core.clock import TimeControl
from duels.core.errors import DuelsError, OptionError, RecordError, program
from duels.core.game import AnyGame
from duels.core.match import NO_CLOCK, Match
from duels.core.presentation import Step
from duels.games import find
from duels.players import (
    DEFAULT,
    HUMAN,
    OPPONENT,
    WITHOUT_SOLUTION,
    external_kind,
    needs_solution,
    parse_spec,
)

PIPE_CLOSED = 128 + signal.SIGPIPE


def play_matches(
    terminal: Terminal,
    game: AnyGame,
    players: tuple[str, str],
    seed: int | None = None,
    time_control: TimeControl = NO_CLOCK,
    save: str | None = None,
    secrets: bool = True,
) -> int:
    """Play, and on a terminal offer rematches with the seats swapped."""
    check_secrets(terminal, game, players, secrets)
    autosave = Autosave(save, terminal.note)
    while True:
        number = new_seed() if seed is None else seed
        match = Match(game, number, players=players, time_control=time_control)
        status = run_match(terminal, match, autosave, secrets)
        if status is not None:
            return status
        if not (terminal.interactive and HUMAN in players and _rematch(terminal, match)):
            return 0
        # A rematch is a new match with a new seed; the finished record is not overwritten.
        players, seed, autosave = (players[1], players[0]), None, autosave.next()
        terminal.say([""])


def check_secrets(
    terminal: Terminal, game: AnyGame, players: tuple[str, str], secrets: bool
) -> None:
    """Refuse secret hands for two people at a screen that cannot be cleared."""
    together = terminal.interactive and players == (HUMAN, HUMAN)
    if secrets and together and game.private and not terminal.clearable:
        raise OptionError(
            "hands cannot be kept secret because this terminal cannot clear its screen; use "
            "another terminal, or play with open hands: --no-secrets"
        )


def run_match(
    terminal: Terminal, match: Match, autosave: Autosave, secrets: bool = True
) -> int | None:
    """Play one match to its end; returns an exit status if the user left before."""
    try:
        with signals_as_exceptions(signal.SIGQUIT):
            TerminalMatch(match, terminal, autosave, secrets).run()
        return None
    except Quit:
        status, why = 0, "Left the game."
    except EOFError:
        status, why = 1, "The input ended before the game did."
    except KeyboardInterrupt as stop:
        why = "Stopped." if isinstance(stop, Stopped) else "Interrupted."
        status = status_of(stop)
    except BrokenPipeError:
        status, why = PIPE_CLOSED, "The output was closed."
        drop_output()
    except OSError as error:
        status, why = 1, f"The output cannot be written: {error.strerror}."
        drop_output()
    return _leave(terminal, match, autosave, status, why)


def _leave(terminal: Terminal, match: Match, autosave: Autosave, status: int, why: str) -> int:
    """Save an unfinished match, with its clocks paused, and show how to resume it."""
    from shlex import quote

    from duels.cli.files import shown

    if match.time_control and match.result is None:
        match.pause()
    try:
        path = autosave.leave(match)
    except RecordError as error:
        from duels.core.record import dumps

        terminal.note(f"{why} {error}. Keep its record:\n{dumps(match)}")
        return status or 1
    if match.result is not None:
        terminal.note(f"{why} The game was over; its record: {shown(path)}")
    else:
        go_on = f"{program()} resume {quote(path) if path.isprintable() else shown(path)}"
        for flag, name in zip(("p1", "p2"), match.players, strict=True):
            if external_kind(name):
                go_on += f" {start_option(flag, name)}"
        terminal.note(f"{why} The game is saved; continue with: {go_on}")
    return status


def _rematch(terminal: Terminal, match: Match) -> bool:
    step = Step(
        "Rematch with seats swapped? (yes, no or analyse):", ("yes", "no", "analyse")
    )  # fmt: skip
    try:
        while (answer := ask_step(terminal, step)) == "analyse":
            _analyse(terminal, match)
        return answer == "yes"
    except (EOFError, KeyboardInterrupt, Quit):
        return False


def _analyse(terminal: Terminal, match: Match) -> None:
    from duels.analysis.grade import grade
    from duels.analysis.report import text
    from duels.cli.progress import ProgressBar
    from duels.cli.report import only_human

    try:
        graded = grade(match, ProgressBar(f"Solving {match.game.title}"))
        terminal.say(text(graded, only_human(match), ascii_only=terminal.ascii))
    except DuelsError as error:
        terminal.say([f"This cannot be analysed: {error}"])


def play(terminal: Terminal, given: Namespace) -> int:
    """Run `duels play`."""
    if given.server is not None:
        from duels.cli.remote import play_remote

        return play_remote(terminal, given)
    if given.game is None:
        raise OptionError(f"name the game to play; list them with: {program()} games")
    options: dict[str, object] = dict(given.set)
    seed = given.seed
    if given.first == "random":
        seed = new_seed() if seed is None else seed
        options["first"] = first_player(seed)
    elif given.first is not None:
        options["first"] = given.first
    game = find(given.game)(**options)
    control = TimeControl(given.time_limit, given.time_budget, given.increment or 0.0)
    control.check()
    one = _recorded(given.p1) if given.p1 else HUMAN
    two = _recorded(given.p2) if given.p2 else default_opponent(terminal, game)
    prepare(game, one, two)
    return play_matches(terminal, game, (one, two), seed, control, given.save, given.secrets)


def _recorded(text: str) -> str:
    """The text of a player in the record; a built-in one goes by its own name there."""
    found = parse_spec(text)
    return found.name if found.kind == OPPONENT else found.text


def prepare(game: AnyGame, *players: str) -> None:
    """Solve a variant now if a player needs its solution and no table of it is shipped."""
    from duels.games import BUILT_IN

    shipped = game.slug in BUILT_IN and game.usual()
    if not shipped and needs_solution(*players):
        from duels.algorithms import solve
        from duels.cli.progress import ProgressBar

        solve(game, ProgressBar(f"Solving {game.title} with these options (only once)"))


def default_opponent(terminal: Terminal, game: AnyGame) -> str:
    """The default opponent, or one that needs no solution, with a note, if there is none."""
    try:
        prepare(game, DEFAULT)
    except DuelsError as error:
        terminal.note(f"{DEFAULT} cannot play this: {error}. {WITHOUT_SOLUTION} plays instead.")
        return WITHOUT_SOLUTION
    return DEFAULT


def start_option(flag: str, name: str) -> str:
    """The option that starts a program a record names."""
    from shlex import quote

    return f"--{flag} {quote(name)}"
