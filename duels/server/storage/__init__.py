"""Storage of rooms, matches, responses and ratings: SQLite and PostgreSQL."""

from __future__ import annotations

from duels.core.folders import data_folder


def is_postgres(database: str) -> bool:
    """Whether a database is given by an address of PostgreSQL, not as a file of SQLite.

    >>> is_postgres("postgresql://duels@127.0.0.1/duels"), is_postgres("duels.sqlite")
    (True, False)
    """
    return database.startswith(("postgresql://", "postgres://"))


def default_path() -> str:
    """The file of SQLite that is used if no database is given."""
    return f"{data_folder()}/duels.sqlite"
