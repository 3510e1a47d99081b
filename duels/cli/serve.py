"""`duels serve`, and the commands for its operator."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from duels.cli.terminal import Terminal
from duels.core.errors import MissingExtra, OptionError, quote
from duels.core.extras import install_command

if TYPE_CHECKING:
    from duels.server.settings import Retention

FOREVER = "forever"
NEEDED = ("starlette", "uvicorn", "msgspec", "websockets", "httptools")


def check_extra() -> None:
    """Raise `MissingExtra`, which names the extra, if a module of the server is missing."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise MissingExtra(f"the server needs {', '.join(missing)}: {install_command('web')}")


def serve(terminal: Terminal, given: Namespace) -> int:
    """Serve until Ctrl-C."""
    check_extra()
    import asyncio
    from dataclasses import replace

    from duels.client.names import blocked_words
    from duels.server.import_export import try_store
    from duels.server.serve import address, listen, run
    from duels.server.settings import UNLIMITED, Limits, Settings
    from duels.server.storage import is_postgres

    limits = UNLIMITED if given.no_limits else Limits()
    if given.max_per_address is not None:
        limits = replace(limits, connections_per_address=given.max_per_address)
    if given.max_matches is not None:
        limits = replace(limits, rooms=given.max_matches)
    settings = Settings(
        given.database, given.host, given.port, tuple(given.origin), given.proxy, limits=limits
    )
    if given.claim_after is not None:
        settings = replace(settings, claim_after=given.claim_after)
    if given.computer_delay is not None:
        settings = replace(settings, computer_delay=given.computer_delay)
    if given.blocked_words:
        blocked_words(given.blocked_words)  # raises if it cannot be read
        settings = replace(settings, blocked_words=given.blocked_words)
    if given.max_undos is not None:
        settings = replace(settings, undos=given.max_undos)
    settings = replace(settings, retention=retention(given.keep), worker_ports=given.worker_ports)
    if given.workers > 1 and not is_postgres(given.database):
        raise OptionError("--workers: several processes need --database postgresql://...")
    if given.worker_ports and given.workers == 1:
        raise OptionError("--worker-ports needs --workers 2 or more")
    asyncio.run(try_store(given.database))
    listening = listen(settings)
    where = address(settings, listening)
    terminal.say([f"Serving Duels on {where} (press Ctrl-C to stop)"])
    if given.open and not open_page(where):
        terminal.say(["No browser was found: open the address yourself."])
    if given.workers > 1:
        from duels.server.workers import run_workers

        return run_workers(settings, listening, given.workers)
    return run(settings, [listening])


def retention(given: Iterable[tuple[str, str]]) -> Retention:
    """The retention times of the options --keep."""
    from dataclasses import fields, replace

    from duels.server.settings import DAY, Retention

    found = Retention()
    kinds = [field.name for field in fields(Retention)]
    for name, text in given:
        if name not in kinds:
            raise OptionError(f"--keep: expected one of {', '.join(kinds)}; got {quote(name)}")
        try:
            days = None if text == FOREVER else float(text)
        except ValueError:
            days = -1.0
        if days is not None and not 0 <= days < 1e6:
            raise OptionError(f"--keep {name}: expected days or '{FOREVER}'; got {quote(text)}")
        changed: dict[str, Any] = {name: None if days is None else days * DAY}
        found = replace(found, **changed)
    return found


def open_page(where: str) -> bool:
    """Open the page in a browser as soon as it is served; returns whether there is a browser.

    A browser may block the process that starts it, and browsers in the terminal are not supported.
    """
    import os
    import threading
    import webbrowser

    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    if type(browser) is webbrowser.GenericBrowser and "BROWSER" not in os.environ:
        return False
    threading.Thread(target=browser.open, args=(where,), daemon=True).start()
    return True


def export_records(terminal: Terminal, given: Namespace) -> int:
    check_extra()
    import asyncio

    from duels.server.import_export import export_records as export

    count, damaged = asyncio.run(export(given.database, given.out))
    terminal.note(f"{count} record{'' if count == 1 else 's'} written")
    if damaged:
        terminal.note(f"{damaged} damaged record{'' if damaged == 1 else 's'} left out")
    return 1 if damaged else 0


def import_records(terminal: Terminal, given: Namespace) -> int:
    check_extra()
    import asyncio

    from duels.server.import_export import import_records as load_records

    new, known = asyncio.run(load_records(given.database, given.file))
    terminal.note(f"{new} record{'' if new == 1 else 's'} imported, {known} already there")
    return 0


def ratings(terminal: Terminal, given: Namespace) -> int:
    check_extra()
    import asyncio

    from duels.server.import_export import recompute_ratings

    count = asyncio.run(recompute_ratings(given.database))
    terminal.note(f"ratings computed from {count} match{'' if count == 1 else 'es'}")
    return 0


def backup(terminal: Terminal, given: Namespace) -> int:
    check_extra()
    import asyncio

    from duels.server.backup import back_up

    contents = asyncio.run(back_up(given.database, given.file))
    terminal.note(f"{given.file} written: {contents}")
    return 0


def restore(terminal: Terminal, given: Namespace) -> int:
    """Restore a backup; the exit status is 1 if a match in it is damaged."""
    check_extra()
    import asyncio

    from duels.server.backup import restore as restore_backup

    contents = asyncio.run(restore_backup(given.file, given.database))
    terminal.note(f"restored: {contents}")
    return 1 if contents.damaged else 0
