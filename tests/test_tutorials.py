"""The tutorials, done as they are written: every command and every block of code, in order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "tutorials"
TYPED = "help\nhint\n" + "attack\n" * 60  # until the match is over


def blocks(page: str) -> list[tuple[str, str]]:
    """The language and the text of each block."""
    text = (PAGES / page).read_text(encoding="utf-8")
    return re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def run(command: str, place: Path) -> str:
    """What a line of a `sh` block prints, in a directory of its own."""
    words = command.split("#")[0].split()
    words[0] = {"python3": sys.executable, ".venv/bin/python": sys.executable}[words[0]]
    words += ["--fast"] if "play" in words else []  # no pauses
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_DATA_HOME": str(place / "data")}
    done = subprocess.run(
        words, cwd=place, env=environment, input=TYPED, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def follow(page: str, place: Path, program: Path | None = None) -> list[str]:
    """Do a tutorial; the output of each command. Code goes into the program that it changes."""
    outputs: list[str] = []
    for language, text in blocks(page):
        if language == "sh":
            lines = [line for line in text.splitlines() if "pip install" not in line]
            outputs += [run(line, place) for line in lines]
        elif language == "text":
            shown = [line for line in text.splitlines() if line.strip()]
            told = "".join(outputs)
            if page != "first-game.md":  # whose dice differ each time
                assert all(line in told for line in shown), text
        elif program is not None:
            old = program.read_text(encoding="utf-8")
            before, _, rest = old.partition("def choose")
            new = f"{before}{text}\n\ndef say{rest.partition('def say')[2]}"
            assert new != old
            program.write_text(new, encoding="utf-8")
    return outputs


def test_the_first_game(tmp_path: Path) -> None:
    played, analysed = follow("first-game.md", tmp_path)
    screen, hint, columns = (
        text for language, text in blocks("first-game.md") if language == "text"
    )
    assert screen.strip() in played
    assert hint.strip().splitlines()[0].split(":")[0] in played
    assert "Hint: perfect play chooses" in played
    assert columns.splitlines()[0] in analysed


def test_the_first_bot(tmp_path: Path) -> None:
    outputs = follow("first-bot.md", tmp_path, tmp_path / "mybot.py")
    first, last = (text for text in outputs if "exploitable by" in text)
    assert first.count("0.000000") == 0
    assert len(re.findall(r"exploitable by +0\.000000", last)) == 2
    assert "./mybot.py" in outputs[-1]


@pytest.mark.extra("rl")
def test_training_and_measuring(tmp_path: Path) -> None:
    code = [text for language, text in blocks("train-and-measure.md") if language == "python"]
    (tmp_path / "train.py").write_text("\n".join(code), encoding="utf-8")
    (output,) = follow("train-and-measure.md", tmp_path)
    assert output.count("regret") == 3
