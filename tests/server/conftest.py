"""What the tests of the server share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from tests.server.postgres import Postgres, programs

# Helpers, which need the extra.
collect_ignore = [
    "server.py",
    "crashing.py",
    "faults.py",
    "postgres.py",
    "hidden.py",
    "raw.py",
    "fixed.py",
    "proxy.py",
    "dying.py",
    "sandboxed.py",
    "asgi_app.py",
]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real PostgreSQL; skipped where there is none, but not where DUELS_CI is set."""
    missing = "PostgreSQL (initdb, pg_ctl)" if programs() is None else ""
    missing = missing or (
        "asyncpg: pip install 'duels[postgres]'" if not find_spec("asyncpg") else ""
    )
    if missing:
        assert not os.environ.get("DUELS_CI"), f"the tests need {missing}"
        pytest.skip(f"needs {missing}")
    cluster = Postgres()
    yield cluster
    cluster.remove()
