"""Keeping a match safe, with real files: what works, and what may be written over."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from duels.cli import files
from duels.cli.autosave import Autosave
from duels.cli.files import read_from
from duels.core.errors import RecordError
from duels.core.folders import state_folder
from duels.core.record import redacted, save
from tests.cli.autosave_helpers import bypass, home, in_file, new_match, state_file
from tests.terminal_helpers import ROOT

__all__ = ["home"]


# A file that works


def test_the_file_follows_the_match() -> None:
    match, said = new_match(), list[str]()
    autosave = Autosave("war.json", said.append)
    autosave.begin(match)
    for count in range(3):
        assert in_file("war.json") == (match.id, count)
        bypass(match)
        autosave.keep(match)
    assert autosave.leave(match) == autosave.path == "war.json"
    assert (said, os.listdir()) == ([], ["war.json"])


def test_without_a_file_a_match_is_kept_when_it_is_left() -> None:
    match, said = new_match(), list[str]()
    autosave = Autosave(None, said.append)
    autosave.begin(match)
    autosave.keep(match)
    assert autosave.path is None
    assert not os.path.exists(state_folder())
    place = autosave.leave(match)
    assert place == autosave.path == state_file(match)
    assert in_file(place) == (match.id, 0)
    assert said == []


def test_what_is_kept_for_the_user_is_for_no_other_user() -> None:
    os.makedirs(state_folder(), 0o755)
    place = Autosave(None, print).leave(new_match())
    assert os.stat(place).st_mode & 0o777 == 0o600
    assert os.stat(state_folder()).st_mode & 0o777 == 0o700
    autosave = Autosave(place, print)  # resumed
    autosave.begin(read_from(place))
    assert os.stat(place).st_mode & 0o777 == 0o600


def test_two_matches_never_share_a_file() -> None:
    one, two = new_match(), new_match()  # of the same game, seed and day
    assert Autosave(None, print).leave(one) != Autosave(None, print).leave(two)


@pytest.mark.parametrize("id", ["../../gone", "a/b", "x" * 200, "naïve"])
def test_an_id_cannot_lead_anywhere_else(id: str) -> None:
    match = new_match(id=id)
    assert os.path.dirname(Autosave(None, print).leave(match)) == state_folder()


def test_the_permissions_of_a_file_stay() -> None:
    match = new_match()
    autosave = Autosave("war.json", print)
    autosave.begin(match)
    os.chmod("war.json", 0o640)
    bypass(match)
    autosave.keep(match)
    assert os.stat("war.json").st_mode & 0o777 == 0o640
    assert in_file("war.json") == (match.id, 1)


def test_a_link_stays_a_link() -> None:
    Path("link.json").symlink_to("target.json")
    match = new_match()
    Autosave("link.json", print).begin(match)
    assert os.path.islink("link.json")
    assert in_file("target.json") == (match.id, 0)


def test_a_name_that_just_fits_fits() -> None:
    """The file that is written first does not need a longer name."""
    Autosave("w" * 250 + ".json", print).begin(new_match())
    assert os.listdir() == ["w" * 250 + ".json"]


# What may be written over


def test_a_finished_record_is_never_replaced_by_another_match() -> None:
    """Not even by one with the same seed."""
    over = new_match()
    over.resign(0)
    save(over, "war.json")
    with pytest.raises(RecordError, match=r"^war.json contains a match that is over; choose"):
        Autosave("war.json", print).begin(new_match())
    assert in_file("war.json") == (over.id, 1)


def test_an_unfinished_match_is_not_replaced() -> None:
    left = new_match()
    save(left, "war.json")
    with pytest.raises(RecordError, match=r"^war.json contains a match that is not finished"):
        Autosave("war.json", print).begin(new_match())
    assert in_file("war.json") == (left.id, 0)


@pytest.mark.parametrize(
    "content",
    ["Dear Ann", "{}", "[]", "\x00\x01", '{"format": "duels record"}', "[" * 100_000,
     '{"format": "duels record", "version": 2, "id": "x", "entries": [7]}',
     '{"format": "duels record", "version": 99, "id": "x", "entries": []}'],
)  # fmt: skip
def test_what_is_no_record_is_left_alone(content: str) -> None:
    Path("letter.txt").write_text(content, encoding="utf-8")
    with pytest.raises(RecordError, match=r"^letter.txt exists and is not a Duels record; choose"):
        Autosave("letter.txt", print).begin(new_match())
    assert Path("letter.txt").read_text(encoding="utf-8") == content


def test_what_a_viewer_saw_of_the_same_match_is_left_alone() -> None:
    match = new_match()
    Path("seen.json").write_text(json.dumps(redacted(match, 0)), encoding="utf-8")
    with pytest.raises(RecordError, match="is not a Duels record"):
        Autosave("seen.json", print).begin(match)


@pytest.mark.parametrize("place", [".", "pipe", "/dev/null", "/dev/full"])
def test_what_is_no_plain_file_is_refused(place: str) -> None:
    os.mkfifo("pipe")
    with pytest.raises(RecordError, match="is not a regular file; choose"):
        Autosave(place, print).begin(new_match())


def test_an_empty_file_may_be_filled() -> None:
    Path("war.json").touch()
    match = new_match()
    Autosave("war.json", print).begin(match)
    assert in_file("war.json") == (match.id, 0)


@pytest.mark.parametrize("place", ["gone/war.json", "file/war.json", "w" * 300])
def test_a_place_that_does_not_work_is_told_before_play(place: str) -> None:
    Path("file").touch()
    with pytest.raises(RecordError, match=r"^cannot write ") as refusal:
        Autosave(place, print).begin(new_match())
    assert "\n" not in str(refusal.value)
    assert os.listdir() == ["file"]


def test_a_match_goes_on_in_its_own_file() -> None:
    match = new_match()
    bypass(match)
    save(match, "war.json")
    again = read_from("war.json")
    autosave = Autosave("war.json", print)
    autosave.begin(again)
    bypass(again)
    autosave.keep(again)
    assert in_file("war.json") == (match.id, 2)


# Two processes that resume one file


def test_two_processes_that_resume_one_file_do_not_overwrite_each_other() -> None:
    save(new_match(), "war.json")
    said: tuple[list[str], list[str]] = ([], [])
    matches = [read_from("war.json"), read_from("war.json")]
    autosaves = [Autosave("war.json", lines.append) for lines in said]
    for autosave, match in zip(autosaves, matches, strict=True):
        autosave.begin(match)
    bypass(matches[0])
    autosaves[0].keep(matches[0])
    matches[1].submit(0, "attack")
    for _ in range(3):
        autosaves[1].keep(matches[1])
    assert in_file("war.json")[1] == 1
    assert in_file(state_file(matches[1]))[1] == 2
    assert autosaves[1].path == autosaves[1].leave(matches[1]) == state_file(matches[1])
    assert said[0] == []
    assert said[1] == [
        "war.json contains another continuation of this match. "
        f"The match is kept in {state_file(matches[1])} instead"
    ]


def test_a_file_that_has_gone_further_is_not_put_back() -> None:
    match = new_match()
    save(match, "old.json")
    bypass(match, 2)
    save(match, "war.json")
    with pytest.raises(RecordError, match=r"^war.json contains another continuation of this match"):
        Autosave("war.json", print).begin(read_from("old.json"))
    assert in_file("war.json") == (match.id, 2)


def test_no_process_writes_while_another_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes in the same moment: the lock of the first keeps the second out."""
    monkeypatch.setattr(files, "TRIES", 2)
    match, said = new_match(), list[str]()
    autosave = Autosave("war.json", said.append)
    autosave.begin(match)
    folder = os.open(".", os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    bypass(match)
    autosave.keep(match)
    assert in_file("war.json") == (match.id, 0)
    assert "the folder is locked by another process" in said[0]
    os.close(folder)
    autosave.keep(match)
    assert in_file("war.json") == (match.id, 1)


def test_where_locks_do_not_work_matches_are_still_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(handle: int, how: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    match = new_match()
    Autosave("war.json", print).begin(match)
    assert in_file("war.json") == (match.id, 0)


RACER = """
import sys
from duels.cli.files import read_from
from duels.cli.autosave import Autosave
match = read_from("war.json")
match.clock = lambda: 1e9 + int(sys.argv[1])  # the same choice, but not in the same moment
autosave = Autosave("war.json", print)
print("ready", flush=True)
sys.stdin.readline()
match.submit(0, "attack")
autosave.keep(match)
"""


def test_many_at_once_and_one_gets_the_file(home: Path) -> None:
    save(new_match(), "war.json")
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(number)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(home / str(number))},
        )
        for number in range(4)
    ]  # fmt: skip
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("\n")
        racer.stdin.flush()
    said = [racer.communicate()[0] for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * 4
    assert said.count("") == 1
    assert sum("another continuation" in text for text in said) == 3
    assert os.listdir() == ["war.json"]
