"""Keeping a match safe when a place fails, by command, over rematches, and finding it again."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from duels.cli.autosave import Autosave
from duels.cli.files import read_from, unfinished
from duels.core import Match
from duels.core.errors import DuelsError, RecordError
from duels.core.folders import state_folder
from duels.core.record import dumps, save
from duels.games import load
from tests.cli.autosave_helpers import bypass, home, in_file, new_match, state_file
from tests.terminal_helpers import ROOT

__all__ = ["home"]


# Trouble in the middle of a match


def test_a_folder_that_goes_and_comes_back(home: Path) -> None:
    os.mkdir("there")
    match, said = new_match(), list[str]()
    autosave = Autosave("there/war.json", said.append)
    autosave.begin(match)
    os.rename("there", "elsewhere")
    for _ in range(2):
        bypass(match)
        autosave.keep(match)
    place = state_file(match)
    assert autosave.path == place
    assert in_file(place) == (match.id, 2)
    assert said == [
        "cannot write there/war.json: No such file or directory. "
        f"The match is kept in {place} instead"
    ]
    os.rename("elsewhere", "there")
    for _ in range(2):
        bypass(match)
        autosave.keep(match)
    assert autosave.path == autosave.leave(match) == "there/war.json"
    assert in_file("there/war.json") == (match.id, 4)
    assert said[1:] == ["The match is kept in there/war.json again"]
    assert os.listdir(state_folder()) == []


def test_without_a_state_directory_the_temporary_one_serves(home: Path) -> None:
    (home / "state").touch()  # a file stands in the way
    match, said = new_match(), list[str]()
    place = Autosave(None, said.append).leave(match)
    assert os.path.dirname(place) == str(home / "tmp")
    assert os.stat(place).st_mode & 0o777 == 0o600
    assert in_file(place) == (match.id, 0)
    assert len(said) == 1
    assert said[0].endswith(f"The match is kept in {place} instead")


def test_when_nothing_works_the_match_goes_on_and_the_user_knows(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "state").touch()
    monkeypatch.setattr("tempfile.tempdir", str(home / "nowhere"))
    os.mkdir("there")
    match, said = new_match(), list[str]()
    autosave = Autosave("there/war.json", said.append)
    autosave.begin(match)
    os.rename("there", "elsewhere")
    for _ in range(2):
        bypass(match)
        autosave.keep(match)
    assert len(said) == 1
    assert said[0].startswith("The match cannot be saved anywhere: ")
    with pytest.raises(RecordError, match="The match cannot be saved anywhere"):
        autosave.leave(match)
    with pytest.raises(RecordError, match="The match cannot be saved anywhere"):
        autosave.save(match)
    os.rename("elsewhere", "there")
    autosave.keep(match)
    assert said[1:] == ["The match is kept in there/war.json again"]
    assert in_file("there/war.json") == (match.id, 2)


FULL = """
import os, resource, sys
from duels.cli.files import read_from
from duels.cli.autosave import Autosave
match = read_from("war.json")
autosave = Autosave("war.json", print)
size = os.path.getsize("war.json")
resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
match.submit(0, "bypass")
autosave.keep(match)
autosave.keep(match)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
autosave.keep(match)
"""


def test_a_disk_that_is_full_and_then_is_not(home: Path) -> None:
    """Half a record is never left behind, and the one that was there stays whole."""
    if resource.getrlimit(resource.RLIMIT_FSIZE)[1] != resource.RLIM_INFINITY:
        pytest.skip("files may not grow here anyway")
    match = new_match()
    save(match, "war.json")
    done = subprocess.run(
        [sys.executable, "-c", FULL], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert "The match cannot be saved anywhere: cannot write war.json: File too large" in lines[0]
    assert lines[1] == "The match is kept in war.json again"
    assert in_file("war.json") == (match.id, 1)
    assert os.listdir() == ["war.json"]
    assert os.listdir(state_folder()) == os.listdir(home / "tmp") == []


def test_a_copy_that_is_the_named_file_itself_is_not_removed(home: Path) -> None:
    """The state directory under another name."""
    match, said = new_match(), list[str]()
    place = Autosave(None, said.append).leave(match)
    os.symlink(state_folder(), "by-link")
    autosave = Autosave(f"by-link/{os.path.basename(place)}", said.append)
    autosave.begin(match)
    os.rename("by-link", "away")
    bypass(match)
    autosave.keep(match)
    os.rename("away", "by-link")
    bypass(match)
    autosave.keep(match)
    assert in_file(place) == (match.id, 2)


def test_a_copy_that_another_process_goes_on_with_is_not_removed() -> None:
    os.mkdir("there")
    match, said = new_match(), list[str]()
    autosave = Autosave("there/war.json", said.append)
    autosave.begin(match)
    os.rename("there", "elsewhere")
    autosave.keep(match)
    place = state_file(match)
    other = read_from(place)
    bypass(other)
    Autosave(place, said.append).begin(other)
    os.rename("elsewhere", "there")
    autosave.keep(match)
    assert in_file(place) == (match.id, 1)


# Saving by command


def test_the_file_that_is_named_becomes_the_file() -> None:
    match, said = new_match(), list[str]()
    autosave = Autosave("war.json", said.append)
    autosave.begin(match)
    assert autosave.save(match, "peace.json") == autosave.path == "peace.json"
    bypass(match)
    autosave.keep(match)
    assert autosave.save(match) == "peace.json"
    assert in_file("war.json") == (match.id, 0)
    assert in_file("peace.json") == (match.id, 1)


def test_saving_without_a_name_keeps_the_match_from_then_on() -> None:
    match, said = new_match(), list[str]()
    autosave = Autosave(None, said.append)
    autosave.begin(match)
    place = autosave.save(match)
    bypass(match)
    autosave.keep(match)
    assert in_file(place) == (match.id, 1)
    autosave.save(match, "war.json")  # and then the copy there has served
    assert os.listdir(state_folder()) == []
    assert said == []


def test_home_is_understood(home: Path) -> None:
    match = new_match()
    assert Autosave(None, print).save(match, "~/war.json") == str(home / "home" / "war.json")
    Autosave("~/war.json", print).begin(match)


@pytest.mark.parametrize(
    "name",
    ["a\0b", "~\0", "~nobody-of-that-name", "~nobody-of-that-name/war.json", ".", "folder/", "~",
     "w" * 300, "folder/\udc00\ud800", "gone/war.json", "letter.txt", "\x1b[2J\0"],
)  # fmt: skip
def test_a_name_that_cannot_be_changes_nothing(name: str) -> None:
    Path("letter.txt").write_text("Dear Ann", encoding="utf-8")
    match, said = new_match(), list[str]()
    autosave = Autosave("war.json", said.append)
    autosave.begin(match)
    with pytest.raises(DuelsError) as refusal:
        autosave.save(match, name)
    assert str(refusal.value).isprintable()
    assert autosave.path == "war.json"
    assert sorted(os.listdir()) == ["letter.txt", "war.json"]
    assert Path("letter.txt").read_text(encoding="utf-8") == "Dear Ann"
    with pytest.raises(DuelsError):
        Autosave(name, print).begin(match)


def test_a_name_outside_a_narrow_locale_is_refused_in_one_line() -> None:
    script = (
        "from duels.cli.autosave import Autosave\n"
        "from duels.core import Match\n"
        "from duels.core.errors import DuelsError\n"
        "from duels.games import load\n"
        "try: Autosave(None, print).save(Match(load('firewall-breach'), 1), '\\u00e9.json')\n"
        "except DuelsError as error: print(ascii(str(error)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", script],
        capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(ROOT), "LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0",
             "HOME": os.environ["HOME"]},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "'\\xe9.json is not a valid file name here; choose another'\n"
    assert os.listdir() == []


# Rematches


def test_a_rematch_goes_to_the_next_free_name() -> None:
    said: list[str] = []
    first, second, third = new_match(), new_match(), new_match()
    autosave = Autosave("war.json", said.append)
    autosave.begin(first)
    autosave = autosave.next()
    autosave.begin(second)
    assert autosave.path == "war-2.json"
    Path("war-3.json").write_text("Dear Ann", encoding="utf-8")
    autosave = autosave.next()
    autosave.begin(third)
    assert autosave.path == "war-4.json"
    held = [in_file(f"war{number}.json")[0] for number in ("", "-2", "-4")]
    assert held == [first.id, second.id, third.id]
    assert said == []


def test_a_rematch_begins_even_where_its_file_cannot_be() -> None:
    os.mkdir("there")
    said: list[str] = []
    autosave = Autosave("there/war.json", said.append)
    autosave.begin(new_match())
    os.rename("there", "elsewhere")
    rematch = new_match()
    autosave = autosave.next()
    autosave.begin(rematch)
    assert in_file(state_file(rematch)) == (rematch.id, 0)
    assert len(said) == 1


def test_without_a_named_file_a_rematch_has_none_either() -> None:
    autosave = Autosave(None, print)
    autosave.save(new_match())
    assert autosave.next().path is None
    assert autosave.path is not None
    assert Autosave(autosave.path, print).next().path is None  # resumed from the state directory


def test_a_file_named_in_play_is_numbered_too() -> None:
    autosave = Autosave(None, print)
    autosave.save(new_match(), "war.json")
    assert autosave.next().path == "war-2.json"


# What can be resumed


def test_nothing_is_unfinished_at_first() -> None:
    assert (unfinished(), unfinished().damaged) == ([], 0)


def test_unfinished_matches_newest_first() -> None:
    left, over = [new_match(players=("human", "hard")) for _ in range(3)], new_match()
    over.resign(0)
    bypass(left[1], 3)
    left[1].undo(0)
    for number, match in enumerate([*left, over]):
        place = Autosave(None, print).leave(match)
        os.utime(place, (1000 + number, 1000 + number))
    found = unfinished()
    assert [match.path for match in found] == [state_file(match) for match in reversed(left)]
    assert found[1] == (state_file(left[1]), "Firewall Breach", ("human", "hard"), 2, 1001.0)
    assert found[1].line.startswith("Firewall Breach, human against hard, 2 moves, 1970-01-01 ")
    assert found.damaged == 0


def test_damaged_files_are_counted_and_the_rest_is_found() -> None:
    match = new_match()
    place = Path(Autosave(None, print).leave(match))
    text = dumps(match)
    for number, content in enumerate(
        [
            text[:-20],
            "",
            "[]",
            text.replace('"human"', "7", 1),
            text.replace('"human"', '"\\u001b[2J"', 1),
            text.replace("firewall-breach", "chess"),
            text.replace('"entries": []', '"entries": [[]]'),
        ]
    ):
        (place.parent / f"{number}.json").write_text(content, encoding="utf-8")
    (place.parent / "folder.json").mkdir()
    (place.parent / "gone.json").symlink_to("nowhere")
    (place.parent / "notes.txt").touch()
    found = unfinished()
    assert [left.path for left in found] == [str(place)]
    assert found.damaged == 9


def test_a_match_without_a_seed_cannot_be_resumed() -> None:
    Autosave(None, print).leave(Match(load("firewall-breach")))
    assert (unfinished(), unfinished().damaged) == ([], 0)


def test_the_keeper_imports_nothing_heavy() -> None:
    script = (
        "import sys, duels.cli.autosave\n"
        "duels.cli.autosave.Autosave(None, print).keep(None)\n"
        "print(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    heavy = {"json", "hashlib", "shutil", "tempfile", "pathlib", "duels.core.record"}
    assert not heavy & set(done.stdout.split())
