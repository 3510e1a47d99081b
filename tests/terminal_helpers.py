"""Running the real command, through pipes and in a pseudo-terminal, and reading what it shows."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from io import BytesIO, TextIOWrapper
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pexpect
import pytest

import duels
from duels.cli.main import main
from duels.core import Chance
from duels.core.chance import draw
from duels.core.game import AnyGame

ROOT = Path(duels.__file__).resolve().parent.parent
COMMAND = (sys.executable, "-m", "duels")

# Nothing here ever takes this long; a test that hangs fails instead.
PATIENCE = 120

WIDE = (50, 200)  # rows and columns of a screen on which no line wraps
CLEAR = "\x1b[2J\x1b[3J\x1b[H"
HELP = r"\? for help"
PROMPT = r"(?:Choose (?!one of|some of)|Select |[Ee]nter )[^\r\n]*: "
TAKE_KEYBOARD = r"Player ([12]), take the keyboard and type [12]: "
HAND_OVER = r"Press Enter to clear the screen for Player [12]\. "
RESIGN = r"Resign\? \(yes or no\): "
REMATCH = r"Rematch with seats swapped\? \(yes, no or analyse\): "


SHELL, READY = shutil.which("bash"), "ready> "
STOP = "\x1a"  # Ctrl-Z
job_control = pytest.mark.skipif(SHELL is None, reason="needs a shell with job control")


class Played(NamedTuple):
    """A whole game: arguments after the slug, and the lines typed, one a prompt."""

    arguments: str
    typed: list[str]
    secret: bool = False


# One whole game per rulebook.
GAMES = {
    # Against the computer, which wins.
    "firewall-breach": Played(
        "--p2 greedy --seed 176",
        ["attack", "BYPASS", "a", "att", "b", "attack", "attack"],
    ),
    # A tie, a plain win, underdogs both ways, a spent number refused, and three points at last.
    "number-clash": Played(
        "--p2 human --seed 1",
        ["4", "4", "7", "8", "10", "6", "4", "1", "9", "3", "2", "5", "1"],
        secret=True,
    ),
    # Every action, in one line and in two, with a sequence and with cards in any order.
    "cipher-siege": Played(
        "--p2 human --seed 2029",
        [
            *("attack", "2, 3"),
            "swap 1",
            *("def", "4"),
            "attack 4 3 2 1",
            "Attack 1,2",
            *("swap", "1"),
            "d 3",
            *("a", "3 1"),
        ],
    ),
    # Nine turns: all digits used.
    "digit-duel": Played(
        "--p2 human --seed 1 --first 2",
        [*"75", *"98", *"66", *"85", *"43", *"79", *"34", *"21", *"21"],
    ),
    # Against the computer; a repeat costs a turn and with it the race.
    "number-wars": Played(
        "--p2 greedy --seed 1",
        ["10", "9", "8", "9", "7", "6", "5", "4", "3", "2", "1", "10", "9", "8", "7", "6"],
    ),
}


def environment(home: Path, **more: str) -> dict[str, str]:
    """A user of one's own: nothing of the person who runs the tests leaks in or out."""
    fixed = {
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", ""),  # compiled code is shared
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
    }
    return fixed | more


class Finished(NamedTuple):
    out: str
    err: str
    code: int


def run(home: Path, command: str, *last: str, typed: Sequence[str] = (), **more: str) -> Finished:
    """Run a command to its end with lines on its input; it must never show a traceback."""
    done = subprocess.run(
        [*COMMAND, *command.split(), *last],
        input="".join(f"{line}\n" for line in typed).encode(),
        capture_output=True,
        env=environment(home, **more),
        cwd=home,
        timeout=PATIENCE,
        check=False,
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in err, err
    return Finished(out, err, done.returncode)


def run_here(home: Path, command: str, *last: str) -> Finished:
    """As `run`, in this process and without input: what was loaded or solved before is there."""
    streams = [TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(home).items():
            patch.setenv(name, value)
        patch.chdir(home)
        for name, stream in zip(("stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        try:
            code = main([*command.split(), *last])
        except SystemExit as error:
            code = int(error.code or 0)
    out, err = (stream.buffer.getvalue().decode() for stream in streams)
    return Finished(out, err, code)


def start(home: Path, command: str, *last: str, **more: str) -> subprocess.Popen[bytes]:
    """A command that runs on, with pipes held open."""
    return subprocess.Popen(
        [*COMMAND, *command.split(), *last],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(home, **more),
        cwd=home,
    )


def read_until(process: subprocess.Popen[bytes], text: str) -> str:
    """What a running command writes until some text has come."""
    assert process.stdout is not None
    seen = b""
    while text.encode() not in seen:
        more = os.read(process.stdout.fileno(), 65536)
        assert more, f"the output ended before {text!r}: {seen.decode()!r}"
        seen += more
    return seen.decode()


def finish(process: subprocess.Popen[bytes], typed: bytes | None = None) -> Finished:
    """Close a running command's input and wait for its end."""
    out, err = process.communicate(typed, timeout=PATIENCE)
    assert b"Traceback" not in err, err.decode()
    return Finished(out.decode(), err.decode(), process.returncode)


def saved_path(err: str) -> Path:
    """The file that the last line of the notes says to continue from."""
    found = re.search(r"continue with: \S.* resume (.+)\n\Z", err)
    assert found, f"no path in {err!r}"
    path = Path(*shlex.split(found[1]))
    assert path.is_file()
    return path


def record_at(path: Path) -> dict[str, Any]:
    """A record without what no other match has, its entries in short: {"pick": {"1": "attack"}}."""
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for key in ("id", "begun", "checksum"):
        del data[key]
    data["entries"] = [_short(values) for values in data["entries"]]
    return data


def _short(values: dict[str, Any]) -> dict[str, Any]:
    kind = values["type"]
    if kind == "undo":
        return {"undo": values["to"], "player": values["player"]}
    keys = {"pick": "moves", "chance": "outcome", "timeout": "players", "resign": "player"}
    return {kind: values[keys[kind]]} if kind in keys else values


def spawn(home: Path, words: list[str], size: tuple[int, int] = WIDE, /, **more: str) -> Any:
    """A program in a pseudo-terminal of so many rows and columns."""
    return pexpect.spawn(
        words[0],
        words[1:],
        env=environment(home, **more),
        cwd=str(home),
        timeout=PATIENCE,
        encoding="utf-8",
        dimensions=size,
    )


class Screen:
    """A pseudo-terminal being used, and everything that has appeared on it."""

    def __init__(self, home: Path, command: str, *last: str, **more: str) -> None:
        self._open(spawn(home, [*COMMAND, *command.split(), *last], **more))

    @classmethod
    def sized(cls, home: Path, command: str, rows: int, columns: int, /, **more: str) -> Screen:
        """A smaller screen."""
        screen = cls.__new__(cls)
        screen._open(spawn(home, [*COMMAND, *command.split()], (rows, columns), **more))
        return screen

    @classmethod
    def shell(cls, home: Path, script: Path) -> Screen:
        """A shell script that runs the command among others."""
        screen = cls.__new__(cls)
        screen._open(spawn(home, ["sh", str(script)]))
        return screen

    @classmethod
    def under_job_control(cls, home: Path, command: str) -> Screen:
        """A command started by an interactive shell, which can stop it and go on with it."""
        assert SHELL is not None
        screen = cls.__new__(cls)
        screen._open(spawn(home, [SHELL, "--norc", "--noprofile", "-i"], PS1=READY))
        screen.wait(READY)
        screen.type(f"{' '.join(COMMAND)} {command}")
        return screen

    def _open(self, child: Any) -> None:
        self.child = child
        # The prompt is on the screen before an answer is sent, so no delay is needed.
        self.child.delaybeforesend = None
        self.text = ""

    def wait(self, *patterns: str) -> int:
        """Wait for one of the patterns; which one it was."""
        which: int = self.child.expect(list(patterns))
        self.text += self.child.before + self.child.after
        return which

    def type(self, line: str, secret: bool = False) -> None:
        if secret:
            assert self.child.waitnoecho(PATIENCE), "what is typed would be shown"
        self.child.sendline(line)

    def take_keyboard(self) -> None:
        """Answer the question that a hand-over asks, once it is on the screen."""
        self.type(self.child.match.group(1))

    def end(self) -> int:
        """Wait for the end; the exit status, as a shell gives it."""
        self.child.expect(pexpect.EOF)
        self.text += self.child.before
        self.child.close()
        assert "Traceback" not in self.text, self.text
        if self.child.signalstatus is not None:
            return 128 + int(self.child.signalstatus)
        return int(self.child.exitstatus)

    def hang_up(self) -> int:
        """Close the terminal under the program and wait for its end; the exit status."""
        terminal = self.child.ptyproc
        terminal.fileobj.close()
        self.child.closed = terminal.closed = True
        self.child.wait()
        if self.child.signalstatus is not None:
            return 128 + int(self.child.signalstatus)
        return int(self.child.exitstatus)

    @property
    def lines(self) -> list[str]:
        """The text as pipes have it: plain line ends, no space at the end of a line."""
        return [line.rstrip() for line in self.text.replace("\r\n", "\n").split("\n")]


def fits(game: AnyGame, seed: int, script: Sequence[str]) -> bool:
    """Whether this seed's chance outcomes are the script's; the other words of it are moves."""
    state, drawn = game.start(), 0
    for word in script:
        turn = game.turn(state)
        if isinstance(turn, Chance):
            drawn += 1
            if draw(seed, drawn, turn.odds) != word:
                return False
        state = game.play(state, word)
    return True


def first_seed(game: AnyGame, script: Sequence[str]) -> int:
    """The smallest seed with which a game goes as the script says."""
    return next(seed for seed in count() if fits(game, seed, script))
