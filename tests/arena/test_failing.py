"""Players that fail in a tournament: it continues, and its results name them and the reasons."""

from __future__ import annotations

import csv
import html
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from duels.arena.archive import Archive
from duels.arena.scheduler import run
from tests.arena.helpers import HERE, make_tournament
from tests.arena.test_command import ENV, ROOT, duels

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="supervisors need POSIX")
QUICK = {**ENV, "DUELS_BOT_START": "0.5"}  # only where running out of it is tested
BOT = """
import json, os, sys, time
open(sys.argv[0] + ".starts", "a").write("x")
{at_start}
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "hello":
        print(json.dumps({{"type": "ready", **{ready!r}}}), flush=True)
    if asked["type"] == "choose":
        print(json.dumps({{"type": "move", "move": asked["view"]["options"][0]}}), flush=True)
"""
MODULE = """
import os, sys, time
{at_import}
from duels.core import Player

class Fine(Player):
    def choose(self, view):
        print("a line of a player")
        return view.options[0]
class Exits(Fine):
    def choose(self, view):
        os._exit(3)
class Hangs(Fine):
    def choose(self, view):
        time.sleep(600)
"""


def bot(folder: Path, name: str, *, at_start: str = "", ready: dict[str, Any] | None = None) -> str:
    place = folder / f"{name}.py"
    place.write_text(BOT.format(at_start=at_start, ready=ready or {}))
    return shlex.join([sys.executable, str(place)])


def starts(folder: Path, name: str) -> int:
    """How often a bot came to its first line; the host may end it before that."""
    place = folder / f"{name}.py.starts"
    return len(place.read_text()) if place.exists() else 0


def forfeits(told: dict[str, Any]) -> dict[str, int]:
    """The number of a player's games by the way they were lost."""
    found: dict[str, int] = {}
    for one in told["forfeits"]:
        found[one["by"]] = found.get(one["by"], 0) + len(one["records"])
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("jobs", "most"),
    [
        ("1", "2"),
        pytest.param("1", None, marks=pytest.mark.long),
        pytest.param("2", None, marks=[pytest.mark.extra("arena"), pytest.mark.long]),
    ],
)
def test_a_player_that_does_not_start_is_disqualified(
    tmp_path: Path, jobs: str, most: str | None
) -> None:
    name = bot(tmp_path, "hangs", at_start="time.sleep(600)")
    words = ["arena", "greedy", name, "--games", "number-clash,digit-duel", "-n", "12"]
    words += ["--jobs", jobs, "--out", str(tmp_path / "cup"), "--json"]
    words += ["--max-failures", most] if most else []
    done = duels(*words, env=QUICK)
    assert done.returncode == 0, done.stderr
    told, limit = json.loads(done.stdout), int(most or 3)
    lost = forfeits(told)
    assert lost["forfeit"] + lost["disqualified"] == 48
    assert limit <= lost["forfeit"] <= limit * int(jobs)
    assert starts(tmp_path, "hangs") <= lost["forfeit"] + 1  # once to ask which games it plays
    (why,) = {r["why"] for one in told["forfeits"] for r in one["reasons"] if "disq" in r["why"]}
    assert why == f"disqualified after {limit} failures in a row: it did not answer within 0.5 s"
    (standing,) = [s for s in told["overall"]["standings"] if s["player"] == name]
    assert (standing["score"]["mean"], standing["forfeits"]) == (0.0, 48)
    last = json.loads(duels("replay", f"{tmp_path / 'cup'}#48", "--json").stdout)
    assert [entry["type"] for entry in last["entries"]] == ["forfeit"]
    assert last["entries"][0]["why"] == why


@pytest.mark.slow
def test_a_disqualified_player_stays_so_when_a_tournament_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUELS_BOT_START", "0.5")
    name = bot(tmp_path, "hangs", at_start="time.sleep(600)")
    tournament = make_tournament("greedy random", "digit-duel", pairs=10)
    tournament = tournament._replace(players=("greedy", name), max_failures=1)

    def stop(part: float, what: str) -> None:
        if part > 0:
            raise KeyboardInterrupt

    with Archive.begin(str(tmp_path / "cup"), tournament) as archive:
        with pytest.raises(KeyboardInterrupt):
            run(archive, progress=stop)
        run(archive)
        assert starts(tmp_path, "hangs") <= 1
        (found,) = archive.encounters()
    assert [game.by for game in found.results] == ["forfeit", *["disqualified"] * 19]
    # Another run of the same tournament elsewhere begins anew.
    with Archive.begin(str(tmp_path / "again"), tournament) as archive:
        run(archive)
        (found,) = archive.encounters()
    assert found.results[0].by == "forfeit"


@pytest.mark.slow
def test_a_player_that_starts_sometimes_is_not_disqualified(tmp_path: Path) -> None:
    """Every second start fails, and each process ends after its first match."""
    at_start = 'if os.path.getsize(sys.argv[0] + ".starts") % 2 == 0: sys.exit("not today")'
    name = bot(tmp_path, "moody", at_start=at_start)
    text = (tmp_path / "moody.py").read_text()
    (tmp_path / "moody.py").write_text(text + '    if asked["type"] == "over": break\n')
    words = ("arena", "greedy", name, "--games", "digit-duel", "-n", "6", "--json")
    done = duels(*words, "--max-failures", "2", "--out", str(tmp_path / "cup"))
    assert done.returncode == 0, done.stderr
    found = forfeits(json.loads(done.stdout))
    assert found.get("disqualified", 0) == 0
    assert found["forfeit"] > 0


def classes(folder: Path, at_import: str = "") -> dict[str, str]:
    (folder / "contestants.py").write_text(MODULE.format(at_import=at_import))
    return {**ENV, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}", "DUELS_BOT_SECONDS": "1"}


@pytest.mark.slow
def test_a_class_can_spoil_neither_the_output_nor_the_tournament(tmp_path: Path) -> None:
    env = classes(tmp_path, "print('a line at import')")
    names = [f"contestants:{kind}" for kind in ("Fine", "Exits", "Hangs")]
    words = ("arena", "greedy", *names, "--games", "number-clash", "-n", "2", "--json")
    done = duels(*words, "--gauntlet", "--out", "cup", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    why = {(f["player"], f["by"]): f["reasons"][0]["why"] for f in told["forfeits"]}
    assert why.keys() == {(names[1], "forfeit"), (names[2], "forfeit"), (names[2], "disqualified")}
    assert why[names[1], "forfeit"].startswith("its program ended with exit status 3")
    assert why[names[2], "forfeit"].startswith("it did not answer within 1 s")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("at_import", "why"),
    [
        ("raise OSError('no data')", "contestants:Fine cannot be imported: OSError: no data"),
        ("sys.exit('bye')", "contestants:Fine does not start: SystemExit: bye"),
        ("os._exit(3)", "contestants:Fine does not start: its program ended with exit status 3"),
        ("time.sleep(600)", "contestants:Fine does not start: it did not answer within 1 s"),
    ],
)
def test_a_class_that_cannot_be_imported_is_named(tmp_path: Path, at_import: str, why: str) -> None:
    env = classes(tmp_path, at_import) | ({"DUELS_BOT_START": "1"} if "sleep" in at_import else {})
    words = ("arena", "greedy", "contestants:Fine", "--games", "number-clash")
    done = duels(*words, cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"duels: {why}\n"


@pytest.mark.slow
def test_forfeits_are_told_with_their_reasons_in_every_form(tmp_path: Path) -> None:
    """Two that fail in a sealed choice both do, each for a reason of its own."""
    one, two = HERE + "Crashes", HERE + "Cheats"
    words = ("arena", one, two, "greedy", "--games", "number-clash", "-n", "2")
    done = duels(*words, "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    crash, cheat = "ValueError: no idea", "'win' is not an option; the options are 1, 2, 3, 4,"
    assert f"8 x {crash}" in done.stdout.replace("no  idea", "no idea")
    assert f"8 x {cheat}" in done.stdout
    told = json.loads((tmp_path / "results.json").read_text())
    assert [(f["player"], len(f["records"])) for f in told["forfeits"]] == [(two, 8), (one, 8)]
    for failed, why in zip(told["forfeits"], (cheat, crash), strict=True):
        (found,) = failed["reasons"]
        assert found["games"] == 8
        assert " ".join(found["why"].split()).startswith(why)
    page = html.unescape((tmp_path / "report.html").read_text())
    assert "8 × 'win' is not an option" in page
    with (tmp_path / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    (both,) = [row for row in rows if (row["game"], row["two"]) == ("number-clash", two)]
    assert (both["one_forfeits"], both["two_forfeits"]) == ("4", "4")
    assert both["one_reasons"].startswith("4 x ValueError")
    assert both["two_reasons"].startswith("4 x 'win' is not an option")


@pytest.mark.slow
def test_a_bot_is_scheduled_only_where_it_plays(tmp_path: Path) -> None:
    name = bot(tmp_path, "some", ready={"games": ["digit-duel", "chess"]})
    words = ("arena", "greedy", name, "random", "--games", "digit-duel,number-clash")
    done = duels(*words, "-n", "2", "--out", str(tmp_path / "cup"))
    assert done.returncode == 0, done.stderr
    said = "does not play number-clash: 2 meetings are left out"
    assert f"{name} {said}" in done.stderr
    assert said in done.stdout
    assert f"{html.escape(name)} {said}" in (tmp_path / "cup" / "report.html").read_text()
    told = json.loads((tmp_path / "cup" / "results.json").read_text())
    assert (told["played"], told["forfeits"]) == (16, [])
    assert told["left_out"] == [
        {"game": "number-clash", "one": "greedy", "two": name, "because": name},
        {"game": "number-clash", "one": name, "two": "random", "because": name},
    ]
    again = duels(*words, "-n", "2", "--out", str(tmp_path / "cup"), "--json")
    assert json.loads(again.stdout) == told


@pytest.mark.slow
def test_a_bot_with_nothing_to_play_is_refused_up_front(tmp_path: Path) -> None:
    one = bot(tmp_path, "one", ready={"games": ["digit-duel"]})
    two = bot(tmp_path, "two", ready={"games": ["number-clash"]})
    for names, games, said in (
        ((one, "greedy"), "number-clash,number-wars", f"{one} plays none of number-clash, number-"),
        ((one, two), "digit-duel,number-clash", "no two of the players that meet play the same"),
    ):
        done = duels("arena", *names, "--games", games, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
