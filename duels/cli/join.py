"""`duels join URL --bot CMD`: lets a bot play on a server, one match after the other."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from duels.cli.remote import check_dice
from duels.cli.serve import check_extra
from duels.cli.signals import signals_as_exceptions, status_of
from duels.cli.terminal import Terminal, printable
from duels.core.entries import Logged
from duels.core.errors import Misbehaved, OptionError, RecordError, file_error, program, quote
from duels.core.player import Player
from duels.core.wire import load as load_wire
from duels.core.wire import load_view
from duels.games import find, load
from duels.players import HUMAN, LONGEST_LABEL, make_player, parse_spec
from duels.players.runner import choice, guarded

if TYPE_CHECKING:
    from duels.client.connection import Client, MatchConnection

LEAVING = 10.0  # seconds to wait for the state of a match in order to resign it
WAIT = 2.0  # seconds between two requests for the open challenges


def join(terminal: Terminal, given: Namespace) -> int:
    """Play the match with the given address or, given a server, one challenge after another."""
    check_extra()
    from duels.client.connection import Client
    from duels.client.identity import new_key

    server, slash, id = given.url.rstrip("/").partition("/match/")
    if not server.startswith(("http://", "https://")):
        raise OptionError(
            f"expected an address such as http://127.0.0.1:8000; got {quote(given.url)}"
        )
    found = parse_spec(given.bot)
    if found.kind == HUMAN:
        raise OptionError(f"--bot takes a bot; to play yourself: {program()} play --server URL")
    game = find(given.game).slug if given.game else None
    bot = make_player(found.text, os.urandom(16).hex())
    # Each process is a separate player on the server: two of them can play each other, and neither
    # plays the other's matches.
    key, lock = (new_key(), None) if given.key is None else kept_key(given.key)
    client = Client(server, key, keeps=given.key is not None)
    try:
        with signals_as_exceptions():
            guarded(bot, bot.prepare)
            shown = found.label or f"bot {os.path.basename(found.name.split()[-1])}"[:LONGEST_LABEL]
            client.ask("PUT", "/api/me", {"name": shown})
            if slash:
                return _play(terminal, client, client.join(id.partition("/")[0])["id"], bot)
            return _serve(terminal, client, bot, game, given.count)
    except Misbehaved as error:
        raise Misbehaved(f"{found.title} failed: {error}") from None
    except KeyboardInterrupt as stop:
        terminal.note(_leave(client, returning=given.key is not None))
        return status_of(stop)
    finally:
        bot.close()
        if lock is not None:
            os.close(lock)


def kept_key(path: str) -> tuple[str, int]:
    """The key in a file, created if there is none, and the descriptor that locks the file."""
    from duels.client.identity import is_key, new_key

    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        _lock(handle)
        text = os.read(handle, 1000).decode("ascii", "replace").strip()
        key = text or new_key()
        if not text:
            os.write(handle, f"{key}\n".encode())
    except BlockingIOError:
        raise OptionError(
            f"the key in {quote(path)} is in use by another process: give each its own --key"
        ) from None
    except (OSError, ValueError) as error:
        raise RecordError(f"the key cannot be kept in {quote(path)}: {file_error(error)}") from None
    if not is_key(key):
        raise OptionError(f"{quote(path)} holds no key; choose a file that does not exist yet")
    return key, handle


def _lock(handle: int) -> None:
    """Lock a file for this process; BlockingIOError if another process has locked it."""
    try:
        import fcntl
    except ImportError:  # not on this system
        return
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _leave(client: Client, returning: bool) -> str:
    """Withdraw challenges and resign matches, unless the key is stored and can continue them.

    The list comes from the server: a challenge may exist although its response did not arrive.
    """
    from duels.client.connection import Refused

    withdrawn = resigned = waiting = 0
    try:
        for match in client.ask("GET", "/api/matches")["mine"]:
            if match["state"] in ("waiting", "starting"):
                with suppress(Refused):  # it has just started
                    client.ask("POST", f"/api/matches/{match['id']}/leave", {})
                    withdrawn += 1
                    continue
            if returning:
                waiting += 1
            elif _resign(client, match["id"]):
                resigned += 1
    except Refused as error:
        return f"The bot has left; its challenges and matches may still be on the server: {error}"
    said = ["The bot has left."]
    said += ["Its challenge was withdrawn."] * bool(withdrawn)
    said += ["It has resigned its match."] * bool(resigned)
    said += ["Its match stays open: the same --key continues it."] * bool(waiting)
    return " ".join(said)


def _resign(client: Client, id: str) -> bool:
    """Resign a match, unless it has ended; returns whether it was resigned."""
    table = client.connect(id)
    try:
        while table.view is None and not table.over:
            table.receive(LEAVING)
        return not table.over and bool(table.command("resign", at=table.version)["ok"])
    except TimeoutError:
        return False
    finally:
        table.close()


def _serve(
    terminal: Terminal, client: Client, bot: Player, game: str | None, matches: int | None
) -> int:
    """Play unfinished matches, then challenges: open ones, or own ones of the given game."""
    from duels.client.connection import Refused

    played = 0
    terminal.say([f"Waiting for matches on {client.server} (press Ctrl-C to stop)."])
    while matches is None or played < matches:
        there = client.ask("GET", "/api/matches")
        mine = [match["id"] for match in there["mine"]]
        plays = getattr(bot, "games", None)
        others = [
            match["id"]
            for match in there["open"]
            if match["you"] is None and (plays is None or match["game"]["slug"] in plays)
        ]
        if not mine and game is not None:
            mine = [client.create(game, open=True)["id"]]
        elif not mine and others:
            with suppress(Refused):  # another client was faster
                mine = [client.join(others[-1])["id"]]
        if mine:
            if _play(terminal, client, mine[0], bot):
                return 1
            played += 1
        else:
            time.sleep(WAIT)
    return 0


def _play(terminal: Terminal, client: Client, id: str, bot: Player) -> int:
    """Play one match to its end; returns 1 if the bot failed, in which case it resigns."""
    table = client.connect(id)
    announced = False
    try:
        while not table.over:
            if not announced and table.match.get("state") == "playing":
                terminal.say([_introduced(table.match)])
                announced = True
            view = table.view
            if view is not None and view["offer"] not in (None, view["player"]):
                table.command("decline", at=table.version)
            elif view is not None and view["options"] and table.version == view["moment"]:
                _move(table, view, bot)
            else:
                with suppress(TimeoutError):
                    table.receive(30.0)
    except Misbehaved as error:
        table.command("resign", at=table.version)
        terminal.note(f"The bot failed and has resigned: {error}")
        return 1
    finally:
        table.close()
    result = table.view and table.view["result"]
    terminal.say([printable(result["reason"] if result else "The match was closed.")])
    return check_dice(terminal, table)


def _introduced(match: dict[str, Any]) -> str:
    names = [printable(seat["name"]) if seat else "(no player yet)" for seat in match["seats"]]
    who = f"the bot is Player {match['you']}"
    return f"{match['game']['title']}: {names[0]} against {names[1]}; {who}."


def _move(table: MatchConnection, view: dict[str, Any], bot: Player) -> None:
    from duels.client.connection import history

    seen = load_view(view, load)
    log = [entry for entry in load_wire(table.log) if isinstance(entry, Logged)]
    move = choice(bot, seen._replace(history=history(seen.game, log)))
    answer = table.command("move", at=seen.version, move=move)
    if not answer["ok"] and table.version == seen.version and not table.over:
        raise Misbehaved(f"the server refuses {move!r}: {answer['reason']}")
