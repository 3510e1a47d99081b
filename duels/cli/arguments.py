"""Argument types of the command line for argparse, with one-line errors."""

from __future__ import annotations

import argparse
import os

from duels.core.errors import OptionError, quote


def seed(text: str) -> int:
    """A whole number from 0 up, with 40 digits at most."""
    if text.isascii() and text.isdigit() and len(text) <= 40:
        return int(text)
    raise argparse.ArgumentTypeError(
        f"expected a whole number, 0 or more, with at most 40 digits; got {quote(text)}"
    )


def port(text: str) -> int:
    """A TCP port."""
    if text.isascii() and text.isdigit() and len(text) <= 5 and int(text) < 65536:
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535; got {quote(text)}")


def count(text: str) -> int:
    """A whole number from 1 to 999999."""
    if text.isascii() and text.isdigit() and 1 <= len(text) <= 6 and int(text):
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 999999; got {quote(text)}")


def seconds(text: str) -> float:
    """A number of seconds or minutes above 0."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= 1e6:
        raise argparse.ArgumentTypeError(
            f"expected a number above 0, at most 1000000; got {quote(text)}"
        )
    return seconds


def setting(text: str) -> tuple[str, str]:
    """A rule option and its value."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected OPTION=VALUE; got {quote(text)}")
    return name, value


def database(text: str) -> str:
    """A file or an address of PostgreSQL, which has no password: other users see command lines."""
    scheme, colon, rest = text.partition("://")
    if colon and scheme in ("postgresql", "postgres"):
        place, _, parameters = rest.partition("?")
        user = place.rpartition("@")[0]
        if ":" in user or any(pair.startswith("password=") for pair in parameters.split("&")):
            raise argparse.ArgumentTypeError(
                "a password in the address is visible in the list of processes; "
                "use --database-password-file FILE, PGPASSWORD or PGPASSFILE"
            )
    return text


def with_password_file(database: str, file: str) -> str:
    """The address of a database whose password is in a file.

    >>> with_password_file("postgresql://duels@db/duels", "/run/secrets/key")
    'postgresql://duels@db/duels?password_file=%2Frun%2Fsecrets%2Fkey'
    """
    from urllib.parse import quote as escape

    from duels.server.storage import is_postgres

    if not is_postgres(database):
        raise OptionError("--database-password-file needs --database postgresql://...")
    joint = "&" if "?" in database else "?"
    return f"{database}{joint}password_file={escape(os.path.abspath(file), safe='')}"
