"""The address of a PostgreSQL database. Its password is not part of the address.

The parameter `password_file` of the address names a file with the password, which is read for each
connection, so that the password can be changed while the server runs. Otherwise PGPASSWORD,
PGPASSFILE and ~/.pgpass apply, as in every program of PostgreSQL.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import asyncpg

from duels.server.storage.base import Unavailable

PARAMETER = "password_file"
HOST = re.compile(r"(\[[^]]*\]|[^][:]*)(:\d*)?")


class PostgresAddress:
    """An address with its parameter `password_file` split off.

    >>> address = PostgresAddress("postgresql://duels@db/duels?password_file=%2Fkey&sslmode=require")
    >>> address.url, address.password_file
    ('postgresql://duels@db/duels?sslmode=require', '/key')
    """

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        hosts = parts.netloc.rpartition("@")[2].split(",")
        if not all(HOST.fullmatch(host) for host in hosts):
            # Without the address: a password that is not quoted is read as a port.
            raise Unavailable(
                "the address of the database is not valid: "
                "expected postgresql://USER@HOST:PORT/DATABASE"
            )
        self.url, self.password_file = address, ""
        if PARAMETER not in address:
            return
        given = parse_qsl(parts.query)
        self.password_file = dict(given).get(PARAMETER, "")
        rest = urlencode([pair for pair in given if pair[0] != PARAMETER])
        self.url = urlunsplit(parts._replace(query=rest))

    def password(self) -> str:
        """The password in the file, without the end of its line."""
        return Path(self.password_file).read_text(encoding="utf-8", errors="replace").rstrip("\r\n")

    def options(self) -> dict[str, Any]:
        """The arguments of asyncpg that name the database."""
        return {"dsn": self.url, "password": self.password if self.password_file else None}

    async def connect(self, **more: Any) -> Any:
        """A new connection."""
        return await asyncpg.connect(**self.options(), **more)

    async def pool(self, **more: Any) -> Any:
        """A pool of connections, which are made when they are needed."""
        return await asyncpg.create_pool(**self.options(), **more)
