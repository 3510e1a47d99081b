"""Errors a user can cause. Each message says what was wrong and what was expected.

The commands print these in one line and never show a traceback for them.

>>> from duels.games import load
>>> load("digit-duel", life="many")
Traceback (most recent call last):
duels.core.errors.OptionError: life takes a number from 1 to 999, or two such as 9/10; got 'many'
"""

import sys


class DuelsError(Exception):
    """Base class of errors that the user or the caller can correct."""


class OptionError(DuelsError, ValueError):
    """A rule option that does not exist, or an invalid value."""


class MalformedMove(DuelsError, ValueError):
    """Text that cannot be parsed as a move."""


class IllegalMove(DuelsError, ValueError):
    """A well-formed move that is not possible now."""


class StaleMove(IllegalMove):
    """A move for another version of the match."""


class RecordError(DuelsError, ValueError):
    """A record that is damaged or contradicts the rules or its seed."""


class UnknownName(DuelsError, LookupError):
    """A game or an opponent that is not in the catalogue."""


class Misbehaved(DuelsError):
    """A player crashed, took too long or returned an invalid move: it loses that match.

    The message is the reason for the record, where it follows "Player 2 forfeits:".
    """


class MissingExtra(DuelsError, ModuleNotFoundError):
    """An optional library is not installed; the message names the extra that contains it."""


def program() -> str:
    """The command that runs this program, which may not be installed, for use in messages."""
    return "python3 -m duels" if sys.argv[0].endswith("__main__.py") else "duels"


def quote(text: object) -> str:
    """The representation of a value for an error message: short and without control characters.

    >>> quote("seven\\x1b[2J")
    "'seven\\\\x1b[2J'"
    >>> quote(10**5000)
    '<int too large to show>'
    """
    try:
        shown = repr(text)
    except (ValueError, RecursionError):  # too many digits, or too deep
        return f"<{type(text).__name__} too large to show>"
    return shown if len(shown) <= 42 else shown[:40] + "…" + shown[0]


def plain(name: str, text: object, longest: int = 1000) -> str:
    """Check that a text is printable and not too long; returns it.

    >>> plain("players", "Ada")
    'Ada'
    >>> plain("players", "\\x1b[2J")
    Traceback (most recent call last):
    duels.core.errors.OptionError: players: expected printable text; got '\\x1b[2J'
    """
    if not isinstance(text, str) or not text.isprintable() or len(text) > longest:
        raise OptionError(f"{name}: expected printable text; got {quote(text)}")
    return text


def file_error(error: OSError | ValueError) -> str:
    """Why a file cannot be read or written; ValueError is raised for an invalid name."""
    return getattr(error, "strerror", None) or "invalid file name"


def one_line(error: BaseException) -> str:
    """An error raised by a player's code, as one line that a record can hold.

    >>> one_line(KeyError("a plan"))
    "KeyError: 'a plan'"
    """
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception:  # even showing it may fail
        text = type(error).__name__
    return "".join(c if c.isprintable() else " " for c in text)[:300].rstrip(" .:")
