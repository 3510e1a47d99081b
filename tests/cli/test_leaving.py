"""Leaving a game in the middle, on purpose or not: exit codes, the record, and going on."""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.terminal_helpers import (
    COMMAND,
    GAMES,
    PATIENCE,
    PROMPT,
    Finished,
    Screen,
    environment,
    finish,
    read_until,
    record_at,
    run,
    saved_path,
    start,
)

FIREWALL = "play firewall-breach --p2 human --seed 1"
ACTION = "Choose your action ('attack' or 'bypass'):"
BYPASSED = [{"pick": {"1": "bypass"}}]


def record(path: Path) -> dict[str, Any]:
    return record_at(path)


def left(done: Finished, code: int, why: str, entries: list[dict[str, Any]]) -> None:
    """Left with this code, one line that says why and where, and this in the record."""
    assert done.code == code
    assert done.err.startswith(why)
    assert done.err.count("\n") == 1
    assert record(saved_path(done.err))["entries"] == entries


# Where to cut the games of GAMES: between two decisions, as half a decision is never kept.
CUTS = {
    "firewall-breach": 3,
    "number-clash": 6,
    "cipher-siege": 3,
    "digit-duel": 7,
    "number-wars": 9,
}


@pytest.mark.parametrize("slug", GAMES)
def test_end_of_input_and_resume(slug: str, tmp_path: Path) -> None:
    """Resumed, a game goes on to the very end it would have had."""
    game, cut = GAMES[slug], CUTS[slug]
    command = f"play {slug} {game.arguments}"
    played = run(tmp_path, command, "--save", "whole.json", typed=game.typed)
    whole = record(tmp_path / "whole.json")

    first = run(tmp_path, command, typed=game.typed[:cut])
    assert first.code == 1
    assert first.err.startswith("The input ended before the game did. ")
    path = saved_path(first.err)
    assert path.parent == tmp_path / "state" / "duels"
    assert 0 < len(record(path)["entries"]) < len(whole["entries"])

    second = run(tmp_path, "resume", str(path), typed=game.typed[cut:])
    assert (second.code, second.err) == (0, "")
    assert record(path) == whole
    assert played.out.endswith(second.out)


def test_resume_can_be_left_again(tmp_path: Path) -> None:
    """The record stays in the one file, and grows."""
    path = saved_path(run(tmp_path, FIREWALL, typed=["bypass"]).err)
    again = run(tmp_path, "resume", str(path), typed=["bypass", "quit"])
    assert again.code == 0
    assert saved_path(again.err) == path
    assert record(path)["entries"] == [*BYPASSED, {"pick": {"2": "bypass"}}]
    assert os.listdir(path.parent) == [path.name]


def test_a_lone_sealed_pick_is_not_kept(tmp_path: Path) -> None:
    done = run(tmp_path, "play number-clash --p2 human", typed=["7"])
    assert done.code == 1
    assert record(saved_path(done.err))["entries"] == []


def test_resume_in_a_defence_shows_the_attack(tmp_path: Path) -> None:
    """Ruling D1: the defender sees the attack before answering, after a break too."""
    path = saved_path(run(tmp_path, "play digit-duel --p2 human", typed=["7"]).err)
    again = run(tmp_path, "resume", str(path))
    assert "Player 1 attacks with 7\n" in again.out


def test_resume_shows_the_card_drawn(tmp_path: Path) -> None:
    first = run(tmp_path, "play cipher-siege --p2 human --seed 126764")
    again = run(tmp_path, "resume", str(saved_path(first.err)))
    assert again.out == first.out


def test_quit(tmp_path: Path) -> None:
    left(run(tmp_path, FIREWALL, typed=["bypass", "quit"]), 0, "Left the game. ", BYPASSED)


@pytest.mark.parametrize(
    ("number", "why"),
    [(signal.SIGTERM, "Stopped. "), (signal.SIGHUP, "Stopped. "), (signal.SIGINT, "Interrupted. ")],
)
def test_signals(number: signal.Signals, why: str, tmp_path: Path) -> None:
    process = start(tmp_path, FIREWALL)
    assert process.stdin is not None
    read_until(process, ACTION)
    process.stdin.write(b"bypass\n")
    process.stdin.flush()
    read_until(process, ACTION)
    process.send_signal(number)
    left(finish(process), 128 + number, why, BYPASSED)


def test_ctrl_c(tmp_path: Path) -> None:
    screen = Screen(tmp_path, FIREWALL)
    screen.wait(PROMPT)
    screen.type("bypass")
    screen.wait(PROMPT)
    screen.child.sendintr()
    assert screen.end() == 130
    assert record(saved_path(screen.text.replace("\r\n", "\n")))["entries"] == BYPASSED


def test_ctrl_c_in_a_secret_choice_gives_the_echo_back(tmp_path: Path) -> None:
    """In a shell whose terminal this is, what is typed afterwards shows."""
    command = shlex.join([*COMMAND, "play", "number-clash", "--p2", "human", "--plain"])
    script = tmp_path / "script.sh"
    script.write_text(f"trap : INT\n{command}\nprintf '[%s] ' $?\nread line\n", encoding="utf-8")
    screen = Screen.shell(tmp_path, script)
    screen.wait(PROMPT)
    assert screen.child.waitnoecho(PATIENCE)
    screen.child.sendintr()
    screen.wait(r"\[130\] ")
    screen.type("visible")
    assert screen.end() == 0
    assert "visible" in screen.text


def test_ctrl_d(tmp_path: Path) -> None:
    screen = Screen(tmp_path, FIREWALL)
    screen.wait(PROMPT)
    screen.child.sendeof()
    assert screen.end() == 1
    assert record(saved_path(screen.text.replace("\r\n", "\n")))["entries"] == []


def test_the_terminal_window_is_closed(tmp_path: Path) -> None:
    """A note cannot be read then, but the game is not lost."""
    screen = Screen(tmp_path, FIREWALL)
    screen.wait(PROMPT)
    screen.type("bypass")
    screen.wait(PROMPT)
    assert screen.hang_up() == 128 + signal.SIGHUP
    (path,) = (tmp_path / "state" / "duels").iterdir()
    assert record(path)["entries"] == BYPASSED


def test_closed_output(tmp_path: Path) -> None:
    process = start(tmp_path, FIREWALL)
    assert process.stdin is not None
    assert process.stdout is not None
    read_until(process, ACTION)
    process.stdout.close()
    process.stdin.write(b"bypass\n")
    process.stdin.close()
    assert process.stderr is not None
    err = process.stderr.read().decode()
    process.stderr.close()
    left(Finished("", err, process.wait(PATIENCE)), 141, "The output was closed. ", BYPASSED)


@pytest.mark.parametrize("command", ["rules firewall-breach", "games", "games --json"])
def test_closed_output_of_other_commands(command: str, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = with_streams(tmp_path, command, stdin=subprocess.DEVNULL, stdout=writer)
    assert done == Finished("", "", 141)


def with_streams(
    home: Path, command: str, *, stdin: int, stdout: int, prepare: Callable[[], None] | None = None
) -> Finished:
    """Run with the given streams."""
    done = subprocess.run(
        [*COMMAND, *command.split()],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=environment(home),
        cwd=home,
        timeout=PATIENCE,
        preexec_fn=prepare,
        check=False,
    )
    err = done.stderr.decode()
    assert "Traceback" not in err, err
    return Finished("", err, done.returncode)


@pytest.mark.parametrize("command", [FIREWALL, "games"])
def test_full_disk(command: str, tmp_path: Path) -> None:
    """An output that cannot be written ends the program with one line about it. Here no file may
    grow beyond a hundred bytes, so there is nowhere to save either."""

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    with open(tmp_path / "out.txt", "wb") as out:
        done = with_streams(
            tmp_path, command, stdin=subprocess.DEVNULL, stdout=out.fileno(), prepare=no_room
        )
    assert done.code == 1
    assert re.match(".*(?i:too large)", done.err)
    if command == FIREWALL:  # there is no place for the record but here
        kept = json.loads(done.err.partition("Keep its record:\n")[2])
        assert kept["game"] == "firewall-breach"
    else:
        assert done.err.count("\n") == 1


def test_no_input_at_all(tmp_path: Path) -> None:
    """A closed standard input is an input that has ended."""
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *COMMAND, *FIREWALL.split()],
        capture_output=True,
        env=environment(tmp_path),
        cwd=tmp_path,
        timeout=PATIENCE,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == 1


def test_narrow_output_encoding(tmp_path: Path) -> None:
    """Where the output cannot show a character, something else stands for it."""
    typed = ["☃", "x" * 100, "bypass", "quit"]
    done = run(tmp_path, FIREWALL, typed=typed, PYTHONIOENCODING="ascii")
    left(done, 0, "Left the game. ", BYPASSED)


def test_the_printed_command_works_as_it_stands(tmp_path: Path) -> None:
    """Pasted into a shell, whatever the folder is called."""
    home = tmp_path / "my games; and more"
    home.mkdir()
    done = run(home, FIREWALL, typed=["bypass", "quit"])
    words = shlex.split(done.err.partition("continue with: ")[2])
    assert words[-2] == "resume"
    assert Path(words[-1]).is_file()


def test_nowhere_to_save(tmp_path: Path) -> None:
    """The usual place does not work: it says so, and keeps the match in another one."""
    (tmp_path / "state").write_text("not a folder", encoding="utf-8")
    (tmp_path / "spare").mkdir()
    done = run(tmp_path, FIREWALL, typed=["bypass"], TMPDIR=str(tmp_path / "spare"))
    assert done.code == 1
    assert done.err.startswith("cannot write ")
    path = saved_path(done.err)
    assert path.parent == tmp_path / "spare"
    assert record(path)["entries"] == BYPASSED
