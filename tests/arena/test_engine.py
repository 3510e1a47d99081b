"""The engine of a tournament: named, never mixed, and compiled only where that is faster."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from duels.algorithms.compiled import cache
from duels.arena.archive import Archive
from duels.arena.engine import AUTO, COMPILED, PYTHON, chosen, encounters, is_ready, set_ready
from duels.arena.scheduler import run
from duels.core.errors import OptionError
from duels.games import BUILT_IN
from tests.arena.helpers import contents, make_tournament
from tests.arena.test_command import ENV, SMALL, duels

NUMBA = pytest.mark.extra("solve")


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Nothing is compiled."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cache.directory.cache_clear()
    yield tmp_path / "cache"
    cache.directory.cache_clear()


@NUMBA
@pytest.mark.usefixtures("cold")
def test_what_is_compiled_counts_when_an_engine_is_chosen() -> None:
    tournament = make_tournament("greedy random", "firewall-breach", key=1)
    assert list(encounters(tournament)) == [(0, 0)]
    assert not chosen(tournament._replace(pairs=20), AUTO)
    assert not chosen(tournament._replace(pairs=200), AUTO)
    assert chosen(tournament._replace(pairs=2000), AUTO)
    assert not is_ready(tournament, 0, 0)
    set_ready(tournament, 0, 0)
    assert is_ready(tournament, 0, 0)
    assert not chosen(tournament._replace(pairs=20), AUTO)
    assert chosen(tournament._replace(pairs=200), AUTO)
    assert not chosen(
        tournament._replace(pairs=200, key=None), AUTO
    )  # a public seed: the same anywhere
    assert chosen(tournament._replace(pairs=20), COMPILED)
    assert not chosen(tournament._replace(pairs=10**6), PYTHON)
    assert not chosen(make_tournament("greedy Last", "firewall-breach", 10**6), AUTO)


@NUMBA
@pytest.mark.slow
def test_progress_of_players_made_of_a_tree_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILT_IN, "goofspiel", "tests.plugins.goofspiel:Goofspiel")
    told: list[str] = []
    tournament = make_tournament("greedy random", "goofspiel", 10**4)
    assert chosen(tournament, AUTO, lambda part, what: told.append(what))
    assert {what.partition(",")[2][4:] for what in told} == {"positions found", "positions"}


@NUMBA
def test_a_small_tournament_compiles_nothing(tmp_path: Path) -> None:
    env = {**ENV, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = duels(*SMALL, "--out", str(tmp_path / "cup"), "--json", env=env)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tournament"]["engine"] == "python"
    assert "Engine: python." in done.stderr
    assert not list((tmp_path / "cache").rglob("*.nbc"))


@NUMBA
@pytest.mark.slow
def test_compiling_is_announced_once(tmp_path: Path, cold: Path) -> None:
    tournament = make_tournament("greedy random", "firewall-breach", pairs=3, compiled=True)
    for folder, expected in (("one", ["compiling firewall-breach, greedy - random"]), ("two", [])):
        told: list[str] = []

        def tell(part: float, what: str, told: list[str] = told) -> None:
            told.append(what)

        with Archive.begin(str(tmp_path / folder), tournament) as archive:
            assert run(archive, progress=tell) == 6
        assert [what for what in told if "compiling" in what] == expected
    assert list(cold.rglob("*.mark"))


@NUMBA
def test_a_tournament_stays_with_its_engine(tmp_path: Path) -> None:
    out = ("--out", str(tmp_path))
    assert duels(*SMALL, *out, "--engine", "python").returncode == 0
    refused = duels(*SMALL, *out, "--engine", "compiled")
    assert refused.returncode == 2
    assert "its engine is python, not compiled" in refused.stderr
    more = duels(*SMALL[:-1], "3000", "--sprt", "0,1", *out)
    assert "its sprt is null" in more.stderr
    done = duels(*SMALL[:-1], "20", *out)
    assert "Engine: python." in done.stderr
    assert {chunk.chunk.compiled for chunk in contents(tmp_path)} == {False}


@NUMBA
@pytest.mark.slow
def test_compiled_games_grow_too(tmp_path: Path) -> None:
    tournament = make_tournament("greedy random", "firewall-breach", pairs=30, compiled=True)
    with Archive.begin(str(tmp_path / "parts"), tournament) as archive:
        run(archive)
    with Archive.begin(str(tmp_path / "parts"), tournament._replace(pairs=50)) as archive:
        assert run(archive) == 40
        parts = archive.results(0, 0)
    with Archive.begin(str(tmp_path / "whole"), tournament._replace(pairs=50)) as archive:
        run(archive)
        assert archive.results(0, 0) == parts
    with pytest.raises(OptionError, match="its engine is compiled, not python"):
        Archive.begin(str(tmp_path / "whole"), tournament._replace(pairs=50, compiled=False))


def test_a_tournament_by_the_rules_starts_without_numba(tmp_path: Path) -> None:
    """Its import takes longer than a small tournament."""
    arguments = [*SMALL, "--out", str(tmp_path / "cup")]
    program = f"""
import sys
from duels.cli.main import main
assert main({arguments!r}) == 0
print("numba" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=ENV, check=True
    )
    assert done.stdout.splitlines()[-1] == "False"


def test_without_numba_the_engine_is_python(tmp_path: Path) -> None:
    """And what was begun in compiled code cannot go on."""
    (tmp_path / "numba.py").write_text("raise ImportError('not here')\n")
    env = {**ENV, "PYTHONPATH": f"{tmp_path}:{ENV['PYTHONPATH']}"}
    out = ("--out", str(tmp_path / "cup"))
    refused = duels(*SMALL, *out, "--engine", "compiled", env=env)
    assert (refused.returncode, len(refused.stderr.splitlines())) == (1, 1)
    assert "-m pip install -e '.[rl]'" in refused.stderr
    assert not (tmp_path / "cup").exists()
    done = duels(*SMALL, *out, "--json", env=env)
    assert json.loads(done.stdout)["tournament"]["engine"] == "python"
    tournament = make_tournament("greedy random", "number-clash", 8)
    with Archive.begin(str(tmp_path / "fast"), tournament._replace(compiled=True)):
        pass
    refused = duels(*SMALL, "--out", str(tmp_path / "fast"), env=env)
    assert refused.returncode == 2
    assert "begun with the engine 'compiled', which needs numba" in refused.stderr
