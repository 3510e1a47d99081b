"""Files of tournaments that are damaged, or of another version: one line that says what to do."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.arena.test_command import duels

CUP = (
    "arena", "greedy", "random", "--games", "number-clash", "-n", "40", "--seed", "1",
    "--engine", "python",
)  # fmt: skip


def truncated(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2 // 4096 * 4096])


def cut_in_a_page(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def not_sqlite(path: Path) -> None:
    path.write_bytes(b"no database at all\n" * 1000)


def overwritten(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for page in range(1, len(data) // 4096):
        data[page * 4096 : page * 4096 + 200] = b"\xff" * 200
    path.write_bytes(data)


def does(*statements: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        base = sqlite3.connect(path, isolation_level=None)
        for statement in statements:
            base.execute(statement)
        base.close()

    damage.__name__ = statements[0][:40]
    return damage


def says(**changes: object) -> Callable[[Path], None]:
    """A tournament with other values in its description."""

    def damage(path: Path) -> None:
        base = sqlite3.connect(path, isolation_level=None)
        ((text,),) = base.execute("SELECT data FROM tournament").fetchall()
        base.execute("UPDATE tournament SET data = ?", (json.dumps(json.loads(text) | changes),))
        base.close()

    damage.__name__ = f"says {changes}"
    return damage


def short_games(path: Path) -> None:
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("UPDATE portions SET played = ?", (zlib.compress(b"\x02" * 40),))
    base.close()


def unknown_ending(path: Path) -> None:
    base = sqlite3.connect(path, isolation_level=None)
    rows = base.execute("SELECT start, played FROM portions").fetchall()
    for start, played in rows:
        data = bytearray(zlib.decompress(played))
        data[10:20] = b"\x7f" * 10  # how games ended
        base.execute("UPDATE portions SET played = ? WHERE start = ?", (zlib.compress(data), start))
    base.close()


DAMAGES = [
    truncated, cut_in_a_page, not_sqlite, overwritten, short_games, unknown_ending,
    does("DROP TABLE portions"), does("DROP TABLE tournament"),
    does("ALTER TABLE portions RENAME COLUMN played TO games"),
    does("DROP TABLE tournament", "CREATE TABLE tournament (name TEXT)"),
    does("UPDATE tournament SET data = '{'"), does("UPDATE tournament SET data = '[]'"),
    does("UPDATE tournament SET data = '{}'"), does("UPDATE tournament SET data = '7'"),
    does("UPDATE tournament SET version = 99"), does("UPDATE tournament SET version = 'x'"),
    does("UPDATE portions SET played = x'00'"), does("UPDATE portions SET played = 7"),
    does("UPDATE portions SET stop = 'x'"),
    says(players=[1, 2]), says(games=[{"slug": "chess", "options": {}}]), says(games=7),
    says(pairs="many"), says(seed=None), says(sprt=["a", "b"]), says(turn_limit="x"),
    says(games=[{"slug": "number-clash", "options": {"colour": "red"}}]),
]  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("arena") / "cup"
    assert duels(*CUP, "--out", str(out)).returncode == 0
    return out


@pytest.mark.cases(12)
@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_one_line(
    damage: Callable[[Path], None], sound: Path, tmp_path: Path
) -> None:
    out = tmp_path / "cup"
    shutil.copytree(sound, out)
    damage(out / "games.sqlite")
    done = duels(*CUP, "--out", str(out))
    assert done.returncode in (1, 2), done.stderr
    assert "Traceback" not in done.stderr
    (said,) = (line for line in done.stderr.splitlines() if line.startswith("duels: "))
    assert "--out" in said
    assert done.stdout == ""
    replayed = duels("replay", f"{out}#3", "--print")
    assert "Traceback" not in replayed.stderr
    assert replayed.returncode in (0, 1)


@pytest.mark.slow
def test_damaged_records_are_one_line(sound: Path, tmp_path: Path) -> None:
    for number, records in enumerate((b"", zlib.compress(b"["), zlib.compress(b"[7]"), 7)):
        out = tmp_path / str(number)
        shutil.copytree(sound, out)
        base = sqlite3.connect(out / "games.sqlite", isolation_level=None)
        base.execute("UPDATE portions SET records = ?", (records,))
        base.close()
        done = duels("replay", f"{out}#3", "--print")
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
        assert "cannot be read: games in it are damaged" in done.stderr


@pytest.mark.slow
def test_fresh_is_the_way_out_of_a_damaged_file(sound: Path, tmp_path: Path) -> None:
    out = tmp_path / "cup"
    shutil.copytree(sound, out)
    not_sqlite(out / "games.sqlite")
    assert duels(*CUP, "--out", str(out), "--fresh").returncode == 0
    assert (out / "results.json").read_bytes() == (sound / "results.json").read_bytes()


def test_a_tournament_of_version_1_can_be_read_and_is_not_gone_on_with(
    sound: Path, tmp_path: Path
) -> None:
    out = tmp_path / "cup"
    shutil.copytree(sound, out)
    base = sqlite3.connect(out / "games.sqlite", isolation_level=None)
    ((text,),) = base.execute("SELECT data FROM tournament").fetchall()
    data = json.loads(text)
    for name in ("engine", "key", "programs"):
        del data[name]
    data["compiled"] = False
    base.execute("UPDATE tournament SET version = 1, data = ?", (json.dumps(data),))
    base.close()
    assert duels("replay", f"{out}#3", "--print").returncode == 0
    done = duels(*CUP, "--out", str(out))
    assert done.returncode == 2
    assert "an earlier version of this program played it; choose another --out" in done.stderr
