"""The password of PostgreSQL: from a file or the environment, and seen in no other place."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")
pytest.importorskip("asyncpg", reason="needs the extra: pip install 'duels[postgres]'")

import asyncpg
import httpx

from tests.server.postgres import Postgres
from tests.server.server import ROOT, Process, run
from tests.server.test_stores import workers_of

PASSWORD = "a b@c/d?e%25é"  # with characters that are special in an address


@pytest.fixture(scope="module")
def guarded(postgres: Postgres) -> Iterator[str]:
    """The address of a database that asks for a password."""

    async def make() -> None:
        connection = await asyncpg.connect(postgres.url)
        await connection.execute(f"CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}'")
        await connection.execute("CREATE DATABASE guarded OWNER guarded")
        await connection.close()

    run(make)
    rules = postgres.folder / "pg_hba.conf"
    usual = rules.read_text()
    rules.write_text("host all guarded 127.0.0.1/32 scram-sha-256\n" + usual)
    postgres.reload()
    yield f"postgresql://guarded@127.0.0.1:{postgres.port}/guarded"
    rules.write_text(usual)
    postgres.reload()


def command(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return subprocess.run(
        [sys.executable, "-m", "duels", *words], capture_output=True, text=True, check=False,
        cwd=ROOT, env={**env, "HOME": "/nonexistent", **variables},
    )  # fmt: skip


def test_the_password_is_read_from_a_file_or_the_environment(guarded: str, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\n", "utf-8")
    wrong = tmp_path / "wrong"
    wrong.write_text("wrong")
    known = tmp_path / "pgpass"
    known.write_text(f"127.0.0.1:*:guarded:guarded:{PASSWORD}\n")
    known.chmod(0o600)
    reached = ["ratings", "--database", guarded]
    for words, variables in (
        (["--database-password-file", str(file)], {}),
        ([], {"PGPASSWORD": PASSWORD}),
        ([], {"PGPASSFILE": str(known)}),
        (["--database-password-file", str(file)], {"PGPASSWORD": "wrong"}),
    ):
        done = command(*reached, *words, **variables)
        assert done.returncode == 0, done.stderr
        dump = tmp_path / f"{len(words)} {len(variables)}"
        done = command("backup", str(dump), *reached[1:], *words, **variables)
        assert done.returncode == 0, done.stderr
        dump.unlink()
    for words, variables in (
        ([], {}),
        (["--database-password-file", str(wrong)], {"PGPASSWORD": PASSWORD}),
        (["--database-password-file", str(tmp_path / "none")], {}),
    ):
        done = command(*reached, *words, **variables)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert PASSWORD not in done.stderr


def test_a_password_in_the_address_is_refused_and_not_shown(postgres: Postgres) -> None:
    at = f"127.0.0.1:{postgres.port}/duels"
    for address in (
        f"postgresql://duels:hunter2@{at}", f"postgres://duels:hunter2@{at}",
        f"postgresql://duels:x/hunter2@{at}", f"postgresql://duels@{at}?password=hunter2",
        f"postgresql://duels@{at}?sslmode=disable&password=hunter2",
    ):  # fmt: skip
        done = command("export", "--database", address)
        assert done.returncode == 2
        assert "--database-password-file FILE" in done.stderr
        assert "hunter2" not in done.stderr + done.stdout
    done = command("export", "--database", f"postgresql://duels:hunter2?x@{at}")
    assert done.returncode == 1
    assert "is not valid" in done.stderr
    assert "hunter2" not in done.stderr
    done = command("export", "--database", "x.sqlite", "--database-password-file", "x")
    assert done.returncode == 2
    assert "needs --database postgresql://" in done.stderr


@pytest.mark.slow
def test_the_password_is_in_no_command_line_environment_or_log(
    guarded: str, tmp_path: Path, postgres: Postgres
) -> None:
    file, log = tmp_path / "password", tmp_path / "log"
    file.write_text(PASSWORD, "utf-8")
    words = ("--workers", "2", "--database-password-file", str(file))
    server = Process(guarded, *words, log=log)
    try:
        while httpx.get(f"{server.url}/readyz", timeout=60).status_code != 200:
            pass
        for pid in [server.process.pid, *workers_of(server)]:
            for name in ("cmdline", "environ"):
                assert PASSWORD.encode() not in Path(f"/proc/{pid}/{name}").read_bytes()

        # The file is read for each connection: a new password needs no restart.
        async def change() -> None:
            connection = await asyncpg.connect(postgres.url)
            await connection.execute("ALTER ROLE guarded PASSWORD 'rotated-word'")
            await connection.close()

        try:
            run(change)
            file.write_text("rotated-word\n")
            postgres.restart("immediate")
            while httpx.get(f"{server.url}/readyz", timeout=60).status_code != 200:
                pass
        finally:

            async def restore() -> None:
                connection = await asyncpg.connect(postgres.url)
                await connection.execute(f"ALTER ROLE guarded PASSWORD '{PASSWORD}'")
                await connection.close()

            run(restore)
        assert server.stop() == 0
    finally:
        server.kill()
    assert PASSWORD not in log.read_text()
    assert "rotated-word" not in log.read_text()
