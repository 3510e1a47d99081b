"""A real PostgreSQL for the tests, Debian's or whichever is on the path, in its own folder."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

PLACES = ("/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin")


def programs() -> Path | None:
    """The folder of `initdb` and `pg_ctl`; None where there is no PostgreSQL."""
    found = [path for place in PLACES for path in sorted(Path("/").glob(place.lstrip("/")))]
    if (here := shutil.which("pg_ctl")) is not None:
        found.append(Path(here).resolve().parent)
    usable = [path for path in found if (path / "initdb").exists() and (path / "pg_ctl").exists()]
    return usable[-1] if usable else None


class Postgres:
    """A cluster that is made, started, restarted and thrown away."""

    def __init__(self, inside: str | None = None) -> None:
        """In a folder of its own, which is made inside the one that is given."""
        bin_folder = programs()
        assert bin_folder is not None
        self.bin = bin_folder
        # Not in pytest's folder, which is closed to the user that PostgreSQL runs as.
        self.folder = Path(tempfile.mkdtemp(prefix="duels-postgres-", dir=inside))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        if os.getuid() == 0:  # it refuses to run as root
            shutil.chown(self.folder, "postgres", "postgres")
        self._run("initdb", "-D", str(self.folder), "-U", "duels", "-A", "trust", "-N")
        self.start()
        self._reach = ("-h", "127.0.0.1", "-p", str(self.port), "-U", "duels")
        self._run("createdb", *self._reach, "duels")
        self.url = f"postgresql://duels@127.0.0.1:{self.port}/duels"

    def _run(self, program: str, *words: str) -> None:
        command = [str(self.bin / program), *words]
        if os.getuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")

    def start(self) -> None:
        options = f"-p {self.port} -h 127.0.0.1 -k {self.folder} -c max_connections=60"
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.folder), "-w", "-l", log, "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", str(self.folder), "-w", "-m", mode, "stop")

    def reload(self) -> None:
        """Read the configuration again."""
        self._run("pg_ctl", "-D", str(self.folder), "reload")

    def new_database(self) -> str:
        """The address of a new, empty database."""
        name = f"made_{os.urandom(4).hex()}"
        self._run("createdb", *self._reach, name)
        return f"{self.url.rpartition('/')[0]}/{name}"

    def restored(self, dump: bytes) -> str:
        """The address of a new database with the contents of a dump."""
        url = self.new_database()
        subprocess.run(
            [str(self.bin / "psql"), "-q", "-v", "ON_ERROR_STOP=1", url],
            input=dump, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        return url

    def check(self) -> None:
        """Fail if a table or an index is not as it should be."""
        self._run("pg_amcheck", *self._reach, "--install-missing", "--heapallindexed", "duels")

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder)

    def restart(self, mode: str = "immediate") -> None:
        """As after a crash: what was not written is gone."""
        self.stop(mode)
        self.start()
