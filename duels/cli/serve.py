"""`duels serve`, and the commands for its operator."""

from __future__ import annotations

from argparse import Namespace
from importlib.util import find_spec

from duels.cli.terminal import Terminal
from duels.core.errors import MissingExtra, OptionError
from duels.core.extras import install_command

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

    from duels.server.import_export import try_store
    from duels.server.serve import address, listen, run
    from duels.server.settings import Limits, Settings

    limits = Limits()
    if given.max_per_address is not None:
        limits = replace(limits, connections_per_address=given.max_per_address)
    if given.no_limits:
        much = (1e9, 10**9)
        limits = replace(
            limits, connections_per_address=10**6, messages=much, requests=much, creations=much,
            connections=10**6,
        )  # fmt: skip
    settings = Settings(
        given.database, given.host, given.port, tuple(given.origin), given.proxy, limits=limits
    )
    if given.claim_after is not None:
        settings = replace(settings, claim_after=given.claim_after)
    if given.computer_delay is not None:
        settings = replace(settings, computer_delay=given.computer_delay)
    postgres = given.database.startswith(("postgresql://", "postgres://"))
    if given.workers > 1 and not postgres:
        raise OptionError("--workers: several processes need --database postgresql://...")
    asyncio.run(try_store(given.database))
    listening = listen(settings)
    where = address(settings, listening)
    terminal.say([f"Duels is served on {where} (Ctrl-C stops it)"])
    if given.open and not open_page(where):
        terminal.say(["No browser was found here: open the address yourself."])
    if given.workers > 1:
        from duels.server.workers import run_workers

        return run_workers(settings, listening, given.workers)
    return run(settings, listening)


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

    from duels.server.import_export import export

    count, damaged = asyncio.run(export(given.database, given.file))
    terminal.note(f"{count} record{'' if count == 1 else 's'} written")
    if damaged:
        terminal.note(f"{damaged} left out, which cannot be read")
    return 1 if damaged else 0


def import_records(terminal: Terminal, given: Namespace) -> int:
    check_extra()
    import asyncio

    from duels.server.import_export import take

    new, known = asyncio.run(take(given.database, given.file))
    terminal.note(f"{new} record{'' if new == 1 else 's'} taken, {known} known already")
    return 0


def ratings(terminal: Terminal, given: Namespace) -> int:
    check_extra()
    import asyncio

    from duels.server.import_export import rate_again

    count = asyncio.run(rate_again(given.database))
    terminal.note(f"ratings computed from {count} match{'' if count == 1 else 'es'}")
    return 0
