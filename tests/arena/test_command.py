"""`duels arena` as a user has it: what it says and keeps, and that it goes on when interrupted."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.arena.helpers import HERE, contents
from tests.plugins import install

ROOT = Path(__file__).parents[2]
ENV = {**os.environ, "PYTHONPATH": str(ROOT)}
SMALL = ("arena", "greedy", "random", "--games", "number-clash", "-n", "8")
SEEDED = (*SMALL, "--seed", "1")
SLOW = ("arena", "greedy", HERE + "Slow", "--games", "number-wars", "-n", "25", "--seed", "1")
FILES = ("report.html", "results.csv", "results.json")


def duels(
    *words: str, cwd: Path = ROOT, env: dict[str, str] = ENV
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "duels", *words],
        cwd=cwd, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_results_in_every_form(tmp_path: Path) -> None:
    out = tmp_path / "cup"
    done = duels(*SMALL, "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "greedy" in done.stdout
    assert f"To see a game: python3 -m duels replay {out}#1" in done.stdout
    assert sorted(path.name for path in out.iterdir()) == sorted(("games.sqlite", *FILES))
    told = duels(*SMALL, "--out", str(out), "--json")
    assert json.loads(told.stdout) == json.loads((out / "results.json").read_text())
    assert list(csv.reader((out / "results.csv").open()))[1:]
    assert "<html" in (out / "report.html").read_text()


def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        assert duels(*SEEDED, "--out", str(tmp_path / folder)).returncode == 0
    for name in FILES:
        one, two = ((tmp_path / folder / name).read_bytes() for folder in ("one", "two"))
        assert one == two, name
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


@pytest.mark.slow
def test_without_a_folder_the_same_command_finds_its_own(tmp_path: Path) -> None:
    for _ in range(2):
        assert duels(*SMALL, cwd=tmp_path).returncode == 0
    assert duels(*SMALL, "--seed", "2", cwd=tmp_path).returncode == 0
    folders = list(tmp_path.iterdir())
    assert len(folders) == 2
    assert all(folder.name.startswith("arena-") for folder in folders)


@pytest.mark.slow
def test_any_game_is_a_record_for_every_command(tmp_path: Path) -> None:
    out = tmp_path / "cup"
    duels(*SMALL[:2], "tests.arena.players:Last", *SMALL[3:], "--out", str(out))
    replayed = duels("replay", f"{out}#3", "--print")
    assert replayed.returncode == 0
    assert "Round 1" in replayed.stdout
    kept = json.loads(duels("replay", f"{out}#3", "--json").stdout)
    assert kept["players"] == ["greedy", HERE + "Last"]
    assert duels("analyse", f"{out}#3").returncode == 0
    for wrong, said in (("#99", "numbered 1 to 16"), ("#0", "numbered"), ("#x", "cannot read")):
        refused = duels("replay", f"{out}{wrong}")
        assert (refused.returncode, len(refused.stderr.splitlines())) == (1, 1)
        assert said in refused.stderr


def wait_for_some(out: Path, process: subprocess.Popen[str]) -> None:
    """Wait until a few chunks are stored."""
    until = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
        try:
            if len(contents(out)) >= 2:
                return
        except Exception:  # not there yet
            continue
    raise AssertionError(f"ended too early: {process.communicate()}")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The slow tournament, played without a break."""
    out = tmp_path_factory.mktemp("arena") / "whole"
    assert duels(*SLOW, "--out", str(out)).returncode == 0
    return out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "jobs"),
    [
        (signal.SIGKILL, "1"),
        pytest.param(signal.SIGINT, "1", marks=pytest.mark.long),
        pytest.param(signal.SIGKILL, "2", marks=(pytest.mark.extra("arena"), pytest.mark.long)),
        pytest.param(signal.SIGINT, "2", marks=pytest.mark.extra("arena")),
    ],
)
def test_an_interrupted_run_goes_on(
    tmp_path: Path, whole: Path, how: signal.Signals, jobs: str
) -> None:
    out = tmp_path / "cup"
    words = [*SLOW, "--out", str(out), "--jobs", jobs]
    process = subprocess.Popen(
        [sys.executable, "-m", "duels", *words], cwd=ROOT, env=ENV, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    wait_for_some(out, process)
    os.killpg(process.pid, how)
    said = process.communicate()[1]
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert said.splitlines()[-1].startswith("duels: stopped; ")
        assert "Traceback" not in said
    before = contents(out)
    assert 2 <= len(before) < 5
    assert duels(*words).returncode == 0
    assert all(chunk in contents(out) for chunk in before)
    assert contents(out) == contents(whole)
    assert (out / "results.json").read_bytes() == (whole / "results.json").read_bytes()


@pytest.mark.cases(9)
@pytest.mark.parametrize(
    ("words", "said", "status"),
    [
        ("greedy", "at least two players", 2),
        ("greedy nobody", "there is no player 'nobody'", 2),
        ("greedy human", "a human cannot play", 2),
        ("greedy ./no-such-bot", "there is no program", 2),
        ("greedy no.such:Bot", "cannot be imported", 2),
        ("greedy random --games chess", "there is no game 'chess'", 2),
        ("greedy random --games fire,", "there is no game ''", 2),
        ("greedy random --set walls=3", "has an option 'walls'", 2),
        ("greedy random --games fire --set strength=x", "strength takes", 2),
        ("greedy random --count 0", "expected a whole number from 1 to 999999", 2),
        ("greedy random --count 1e9", "expected a whole number from 1 to 999999", 2),
        ("greedy random --sprt 5", "--sprt takes two", 2),
        ("greedy random --sprt 5,1", "--sprt takes two", 2),
        ("greedy random --cluster nowhere", "--cluster takes dask://", 2),
        ("greedy random --games fire --cluster dask://here", "takes dask://HOST:PORT", 2),
        ("greedy random --games fire --out /dev/null/x", "Not a directory", 1),
        ("greedy perfect --games cipher --set values=9", "solve", 1),
    ],
)
def test_errors_are_one_line(words: str, said: str, status: int, tmp_path: Path) -> None:
    done = duels("arena", *words.split(), cwd=tmp_path)
    assert done.returncode == status, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.slow
def test_another_tournament_in_the_folder_is_refused(tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "cup"))
    duels(*SEEDED, *out)
    done = duels(*SMALL, "--seed", "9", *out)
    assert done.returncode == 2
    assert "holds another tournament: its seed is 1, not 9; choose another --out" in done.stderr
    assert duels(*SMALL, *out).returncode == 0  # goes on with the seed that is there


@pytest.mark.slow
def test_more_jobs_without_joblib_say_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "joblib.py").write_text("raise ImportError('not here')\n")
    env = {**ENV, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    out = ("--out", str(tmp_path / "cup"))
    refused = duels(*SMALL, "--jobs", "2", *out, env=env)
    assert refused.returncode == 1
    assert "-m pip install -e '.[arena]', or --jobs 1" in refused.stderr
    assert duels(*SMALL, *out, env=env).returncode == 0


@pytest.mark.slow
def test_a_game_of_another_package(tmp_path: Path) -> None:
    install(tmp_path)
    env = {**ENV, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    words = ("arena", "greedy", "random", "-n", "6", "--set", "cards=4")
    done = duels(*words, "--games", "goof,bare", "--out", "cup", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert "Goofspiel" in done.stdout
    assert duels("replay", "cup#1", "--print", cwd=tmp_path, env=env).returncode == 0


@pytest.mark.slow
def test_an_option_is_for_the_games_that_have_it(tmp_path: Path) -> None:
    words = ("arena", "greedy", "random", "--games", "fire,number-wars", "-n", "1")
    done = duels(*words, "--set", "lp=9", "--set", "first=2", "--out", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    kept = json.loads(duels("replay", f"{tmp_path}#3", "--json").stdout)
    assert (kept["options"]["lp"], kept["options"]["first"]) == ("9", "2")
