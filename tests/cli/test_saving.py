"""Records and their files: --save, and what `resume` refuses."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from duels.core import Match
from duels.core.record import read, save, to_json
from duels.games import load
from tests.terminal_helpers import finish, read_until, record_at, run, start

FIREWALL = "play firewall-breach --p2 human --seed 1"
ACTION = "Choose your action ('attack' or 'bypass'):"


def test_the_file_follows_the_match(tmp_path: Path) -> None:
    """After every decision the file is a whole record of all that has happened."""
    path = tmp_path / "game.json"
    process = start(tmp_path, FIREWALL, "--save", str(path))
    assert process.stdin is not None
    for count in range(4):
        read_until(process, ACTION)
        match = read(str(path), load)
        assert [type(entry).__name__ for entry in match.events] == ["Pick"] * count
        assert match.result is None
        process.stdin.write(b"bypass\n")
        process.stdin.flush()
    done = finish(process, b"resign\n")
    assert (done.code, done.err) == (0, "")
    match = read(str(path), load)
    assert match.result is not None
    assert match.result.by == "resignation"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["game.json"]


def test_it_is_where_the_game_is_left(tmp_path: Path) -> None:
    done = run(tmp_path, f"{FIREWALL} --save game.json", typed=["bypass", "save", "quit"])
    assert done.err == (
        "Saved in game.json\n"
        "Left the game. The game is saved; continue with: python3 -m duels resume game.json\n"
    )
    assert sorted(file.name for file in tmp_path.iterdir()) == ["game.json"]


def test_a_finished_match_is_not_replaced_by_another(tmp_path: Path) -> None:
    run(tmp_path, f"{FIREWALL} --save game.json", typed=["bypass", "resign"])
    kept = (tmp_path / "game.json").read_bytes()
    done = run(tmp_path, f"{FIREWALL} --save game.json", typed=["attack", "resign"])
    assert (done.code, done.out) == (1, "")
    assert "game.json contains a match that is over; choose another file name" in done.err
    assert (tmp_path / "game.json").read_bytes() == kept


def test_an_unfinished_match_is_not_replaced(tmp_path: Path) -> None:
    run(tmp_path, f"{FIREWALL} --save game.json", typed=["bypass", "quit"])
    kept = (tmp_path / "game.json").read_bytes()
    done = run(tmp_path, "play number-wars --save game.json", typed=["5"])
    assert (done.code, done.out) == (1, "")
    assert "game.json contains a match that is not finished" in done.err
    assert (tmp_path / "game.json").read_bytes() == kept


def test_one_match_may_be_saved_again_and_again(tmp_path: Path) -> None:
    typed = ["bypass", "save a.json", "bypass", "save a.json", "quit"]
    done = run(tmp_path, FIREWALL, typed=typed)
    assert done.err.count("Saved in a.json") == 2


@pytest.mark.parametrize("content", ["Dear Ann", "{}", '{"format": "duels record"}', "\x00\x01"])
def test_what_is_no_record_is_left_alone(content: str, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text(content, encoding="utf-8")
    done = run(tmp_path, f"{FIREWALL} --save letter.txt", typed=["bypass"])
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "duels: letter.txt exists and is not a Duels record; choose another file name\n"
    )
    assert letter.read_text(encoding="utf-8") == content


@pytest.mark.parametrize("name", [".", "missing/game.json"])
def test_a_place_that_does_not_work(name: str, tmp_path: Path) -> None:
    """Said before the game begins, not after."""
    done = run(tmp_path, f"{FIREWALL} --save {name}", typed=["bypass"])
    assert (done.code, done.out) == (1, "")
    assert done.err.count("\n") == 1
    assert name in done.err


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    link.symlink_to(target)
    run(tmp_path, f"{FIREWALL} --save link.json", typed=["bypass", "quit"])
    assert link.is_symlink()
    assert read(str(target), load).state.strength == (10, 9)


def test_home_is_understood(tmp_path: Path) -> None:
    run(tmp_path, FIREWALL, "--save", "~/game.json", typed=["bypass", "quit"])
    assert read(str(tmp_path / "game.json"), load).state.strength == (10, 9)


def test_resume_where_home_is_understood(tmp_path: Path) -> None:
    """The command printed has the name as it was given, so resume must read it the same way."""
    done = run(tmp_path, FIREWALL, "--save", "~/game.json", typed=["bypass", "quit"])
    name = done.err.split()[-1]
    assert run(tmp_path, "resume", name, typed=["quit"]).code == 0


def test_same_seed_same_record(tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        run(tmp_path, f"play cipher-siege --p1 random --p2 greedy --seed 7 --save {name}")
    assert record_at(tmp_path / "one.json") == record_at(tmp_path / "two.json")


def test_resume_without_a_seed(tmp_path: Path) -> None:
    """A record whose chance was given from outside cannot roll here: refused, not waited on."""
    match = Match(load("firewall-breach"))
    match.submit(0, "attack")
    save(match, str(tmp_path / "seedless.json"))
    process = start(tmp_path, "resume seedless.json")
    assert process.stdout is not None
    try:
        shown = process.stdout.read(100_000)
    finally:
        process.kill()
        process.communicate()
    assert len(shown) < 100_000, "it goes round and round"
    assert process.returncode == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot read game.json"),
        ("", "this is not a Duels record"),
        ('{"format": "duels record"', "this is not a Duels record"),
        ("[]", "not a Duels record"),
        ('{"format": "duels record", "version": 99}', "version 99"),
        ('{"format": "duels record", "version": 1}', "version 1; this program reads 2 and 3"),
        ('{"format": "duels record", "version": 3}', "checksum"),
    ],
)
def test_resume_of_something_else(content: str | None, reason: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "game.json").write_text(content, encoding="utf-8")
    done = run(tmp_path, "resume game.json")
    assert (done.code, done.out) == (1, "")
    assert done.err.count("\n") == 1
    assert reason in done.err


def test_resume_of_a_finished_match(tmp_path: Path) -> None:
    run(tmp_path, f"{FIREWALL} --save over.json", typed=["resign"])
    done = run(tmp_path, "resume over.json")
    assert (done.code, done.out) == (1, "")
    assert "this match is over; see it with: python3 -m duels replay over.json" in done.err


@pytest.mark.parametrize(
    ("limit", "late", "winner", "reason"),
    [
        (None, [1], 2, "Player 1 ran out of time."),  # neither player has a clock
        (30, [1, 1], None, "Both players ran out of time."),  # it is one player's choice
    ],
)
def test_resume_of_a_timeout_that_cannot_have_been(
    limit: int | None, late: list[int], winner: int | None, reason: str, tmp_path: Path
) -> None:
    """The rules contradict the entry, though everything else about the record is in order."""
    data = to_json(Match(load("firewall-breach"), 1, time_limit=limit))
    del data["checksum"]
    data["entries"] = [{"timeout": late}]
    data["result"] = {"winner": winner, "by": "time", "reason": reason}
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    data["checksum"] = "sha256:" + sha256(text.encode()).hexdigest()
    (tmp_path / "game.json").write_text(json.dumps(data), encoding="utf-8")
    done = run(tmp_path, "replay game.json")
    assert (done.code, done.out) == (1, "")
    assert "entry 1" in done.err
