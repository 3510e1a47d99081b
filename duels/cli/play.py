"""`duels play` and `duels resume`: one match after another until nobody wants a rematch."""

from __future__ import annotations

import os
import signal
from argparse import Namespace
from types import FrameType

from duels.cli.table import Quit, Table
from duels.cli.terminal import Terminal, drop_output, program
from duels.core.chance import first_player, new_seed
from duels.core.errors import DuelsError, RecordError
from duels.core.game import AnyGame
from duels.core.match import Match
from duels.core.show import Step, read_move
from duels.games import find
from duels.players import HUMAN, NEXT_STRONGEST, STRONGEST, needs_solution, ships_solved
from duels.players import full_name as find_player

INTERRUPTED = 128 + signal.SIGINT
PIPE_CLOSED = 128 + signal.SIGPIPE


class Stopped(BaseException):
    """The system asks the program to end."""

    def __init__(self, number: int) -> None:
        self.number = number


def _stop(number: int, frame: FrameType | None) -> None:
    raise Stopped(number)


class Keeper:
    """Keeps a match safe: in the file the user named, or in the state directory when needed."""

    def __init__(self, path: str | None) -> None:
        self.path = None if path is None else os.path.expanduser(path)

    def save(self, match: Match) -> str:
        from duels.cli.files import new_path, save_to

        if self.path is None:
            self.path = new_path(match)
        save_to(match, self.path)
        return self.path


def play_matches(
    terminal: Terminal,
    game: AnyGame,
    players: tuple[str, str],
    seed: int | None,
    time_limit: float | None,
    save: str | None,
) -> int:
    """Play, and on a terminal offer rematches with the seats swapped."""
    if save is not None:
        from duels.cli.files import check_target

        check_target(save)
    while True:
        number = new_seed() if seed is None else seed
        match = Match(game, number, players=players, time_limit=time_limit)
        status = sit_down(terminal, match, Keeper(save))
        if status is not None:
            return status
        if not (terminal.interactive and HUMAN in players and _rematch(terminal)):
            return 0
        # A rematch is a new match: other dice, and the finished record stays where it is.
        players, seed, save = (players[1], players[0]), None, None
        terminal.say([""])


def sit_down(terminal: Terminal, match: Match, keeper: Keeper) -> int | None:
    """Play one match to its end; an exit status if it was left before."""
    usual = {number: signal.signal(number, _stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    table = Table(match, terminal, keeper.save, autosave=keeper.path is not None)
    try:
        table.run()
        return None
    except Quit:
        status, why = 0, "Left the game."
    except EOFError:
        status, why = 1, "The input ended before the game did."
    except KeyboardInterrupt:
        status, why = INTERRUPTED, "Interrupted."
    except Stopped as stopped:
        status, why = 128 + stopped.number, "Stopped."
    except BrokenPipeError:
        status, why = PIPE_CLOSED, "The output was closed."
        drop_output()
    except OSError as error:
        status, why = 1, f"The output cannot be written: {error.strerror}."
        drop_output()
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
    from shlex import quote

    path = keeper.save(match)
    terminal.note(f"{why} The game is saved; continue with: {program()} resume {quote(path)}")
    return status


def _rematch(terminal: Terminal) -> bool:
    step = Step("Rematch with seats swapped? (yes or no):", ("yes", "no"))
    try:
        return ask_step(terminal, step) == "yes"
    except (EOFError, KeyboardInterrupt, Quit):
        return False


def ask_step(terminal: Terminal, step: Step, default: str = "") -> str:
    """The answer to one question; asked again until it makes sense."""
    while True:
        text = terminal.ask(step.prompt)
        if not text and default:
            return default
        if text.lower() in ("quit", "exit"):
            raise Quit
        try:
            return read_move(lambda so_far: None if so_far else step, text)[0]
        except DuelsError as error:
            terminal.say([str(error)])


def play(terminal: Terminal, given: Namespace) -> int:
    """Play the game, the players and the options of the command line."""
    options: dict[str, object] = dict(given.set)
    seed = given.seed
    if given.first == "random":
        seed = new_seed() if seed is None else seed
        options["first"] = first_player(seed)
    elif given.first is not None:
        options["first"] = given.first
    game = find(given.game)(**options)
    one = find_player(given.p1) if given.p1 else HUMAN
    two = find_player(given.p2) if given.p2 else _strongest(terminal, game)
    if needs_solution(one, two):
        prepare(game)
    return play_matches(terminal, game, (one, two), seed, given.time_limit, given.save)


def prepare(game: AnyGame) -> None:
    """Solve a variant before play if its solution does not ship, and say so; or say why not."""
    from duels.games import BUILT_IN

    if game.slug not in BUILT_IN or not ships_solved(game):
        from duels.cli.progress import ProgressBar
        from duels.solve import solve

        solve(game, ProgressBar(f"Solving {game.title} with these options, once"))


def _strongest(terminal: Terminal, game: AnyGame) -> str:
    try:
        prepare(game)
    except DuelsError as error:
        terminal.note(f"{STRONGEST} cannot play this: {error}. {NEXT_STRONGEST} plays instead.")
        return NEXT_STRONGEST
    return STRONGEST


def resume(terminal: Terminal, given: Namespace) -> int:
    """Go on with a match that was left."""
    from duels.cli.files import read_from

    path = given.file
    match = read_from(path)
    if needs_solution(*match.players):
        prepare(match.game)
    if match.seed is None:
        raise RecordError(f"{path}: this match has no seed of its own, so it cannot go on here")
    if match.result is not None:
        raise RecordError(f"{path}: this match is over; see it with: {program()} replay {path}")
    status = sit_down(terminal, match, Keeper(path))
    return 0 if status is None else status
