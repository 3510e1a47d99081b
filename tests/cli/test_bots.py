"""Bots at the command line: in a seat, checked, begun; and never started by a record."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from duels.core import record
from duels.games import load
from tests.players.zoo import command
from tests.terminal_helpers import COMMAND, ROOT


def run(
    home: Path, *words: str, typed: str = "", status: int = 0
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_DATA_HOME": str(home), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*COMMAND, *words], input=typed, capture_output=True, text=True, check=False, cwd=home,
        env=environment,
    )  # fmt: skip
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def kept(home: Path) -> dict[str, Any]:
    text = (home / "match.json").read_text(encoding="utf-8")
    record.loads(text, load)
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.slow
def test_a_bot_sits_in_either_seat_or_both(tmp_path: Path) -> None:
    for seats in (("--p1", "greedy", "--p2", command("plays")), ("--p1", command("mixes"))):
        done = run(tmp_path, "play", "wars", *seats, "--seed", "3", "--save", "match.json")
        assert "wins the game!" in done.stdout
        assert kept(tmp_path)["result"]["by"] == "rules"
        (tmp_path / "match.json").unlink()
    assert run(tmp_path, "play", "clash", "--p1", command("plays"), "--p2", command("mixes")).stdout


def test_misbehaviour_is_told_in_one_line_and_in_the_record(tmp_path: Path) -> None:
    words = ("play", "fire", "--p2", command("unlisted"), "--save", "match.json")
    done = run(tmp_path, *words, typed="attack\n")
    why = "'surrender' is not an option; the options are attack, bypass"
    assert f"\nPlayer 2 forfeits: {why}.\nPlayer 1 Wins!\n" in done.stdout
    assert kept(tmp_path)["entries"][-1]["why"] == why


def test_a_program_that_is_not_there_is_told_before_the_game(tmp_path: Path) -> None:
    done = run(tmp_path, "play", "fire", "--p2", "./nothing", status=2)
    assert (done.stdout, done.stderr) == ("", "duels: there is no program './nothing'\n")


def test_a_match_with_a_bot_is_resumed_only_if_the_bot_is_named(tmp_path: Path) -> None:
    """A record may come from anywhere; what it names is not run."""
    trap = tmp_path / "trap.py"
    trap.write_text(
        f"import sys; open({str(tmp_path / 'sprung')!r}, 'a').close()\n"
        + (ROOT / "duels" / "players" / "templates" / "bot.py").read_text()
    )
    bot = f"{sys.executable} {trap}"
    words = ("play", "fire", "--p1", "human", "--p2", bot, "--save", "match.json")
    left = run(tmp_path, *words, typed="attack\n", status=1)
    assert f"resume match.json --p2 {shlex.quote(bot)}" in left.stderr
    (tmp_path / "sprung").unlink()
    for asked in ((), ("--p1", bot), ("--p2", "greedy")):
        done = run(tmp_path, "resume", "match.json", *asked, status=2)
        assert "a program in a record is not started automatically" in done.stderr
        assert f"--p2 {shlex.quote(bot)}" in done.stderr
    assert not (tmp_path / "sprung").exists()
    run(tmp_path, "resume", "match.json", "--p2", bot, typed="resign\n")
    assert kept(tmp_path)["result"]["by"] == "resignation"


def test_a_bot_that_is_gone_does_not_lose_the_match_of_the_other(tmp_path: Path) -> None:
    """A player who leaves gets the record even if the program was deleted meanwhile."""
    bot = tmp_path / "bot"
    bot.write_text(
        f"#!{sys.executable}\nimport os; os.remove(__file__)\n"
        + (ROOT / "duels" / "players" / "templates" / "bot.py").read_text()
    )
    bot.chmod(0o755)
    words = ("play", "fire", "--p1", "human", "--p2", str(bot), "--save", "match.json")
    assert "is saved" in run(tmp_path, *words, typed="attack\n", status=1).stderr
    assert (
        "there is no program"
        in run(tmp_path, "resume", "match.json", "--p2", str(bot), status=2).stderr
    )


@pytest.mark.parametrize("suffix", [".py", ".js"])
def test_a_new_bot_is_fine_at_once(suffix: str, tmp_path: Path) -> None:
    if suffix == ".js" and shutil.which("node") is None:
        pytest.skip("needs node")
    done = run(tmp_path, "bot", "new", f"my{suffix}")
    assert f"bot check ./my{suffix}" in done.stdout
    done = run(tmp_path, "bot", "check", f"./my{suffix}")
    assert done.stdout.endswith("No errors found.\n")
    assert done.stdout.count(": fine in ") == 5
    assert run(tmp_path, "bot", "new", f"my{suffix}", status=2).stderr.endswith("already exists\n")
    run(tmp_path, "play", "digit", "--p1", f"./my{suffix}", "--p2", "random")


def test_a_new_bot_needs_a_name_that_says_what_it_is(tmp_path: Path) -> None:
    assert ".py or .js" in run(tmp_path, "bot", "new", "my.c", status=2).stderr
    assert "cannot write" in run(tmp_path, "bot", "new", "no/such/folder/my.py", status=1).stderr


@pytest.mark.slow
def test_the_check_says_what_is_wrong_and_its_status_too(tmp_path: Path) -> None:
    done = run(tmp_path, "bot", "check", command("half_mix"), "--games", "fire,digit", status=1)
    assert (
        "firewall-breach: WRONG: mix: expected probabilities that add up to 1; got 0.5"
        in done.stdout
    )
    assert "as Player 1, seed 1, moment 0" in done.stdout
    words = ("bot", "check", command("unlisted"), "--games", "clash", "--json")
    data = json.loads(run(tmp_path, *words, status=1).stdout)
    assert data["fine"] is False
    (game,) = data["games"]
    assert game["failure"]["request"]["view"]["options"] == [str(n) for n in range(1, 11)]
    done = run(tmp_path, "bot", "check", command("crashes_at_once"), status=1)
    assert done.stdout == "It does not start: its program ended with exit status 3\n"
    assert run(tmp_path, "bot", "check", "human", status=2).stderr


def test_a_bot_for_none_of_the_games_fails_the_check(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps({'type': 'ready', 'games': ['chess']}), flush=True)\n"
    )
    words = ("bot", "check", f"{sys.executable} bot.py", "--games", "fire,digit")
    done = run(tmp_path, *words, status=1)
    assert "WRONG: it plays chess, and none of firewall-breach, digit-duel" in done.stdout
    data = json.loads(run(tmp_path, *words, "--json", status=1).stdout)
    assert data["fine"] is False
    assert data["plays_none"] == "it plays chess, and none of firewall-breach, digit-duel"


LISTENER = """
import os
from duels.core import Player

class Listens(Player):
    def __init__(self):
        self.heard = 0
    def on_event(self, number, entry):
        self.heard += 1
    def choose(self, view):
        print("to the output")
        assert self.heard == view.version, f"heard {self.heard} of {view.version}"
        return view.options[0]

class Exits(Player):
    def choose(self, view):
        os._exit(3)
"""


@pytest.mark.slow
def test_the_check_of_a_class_that_listens_prints_or_exits(tmp_path: Path) -> None:
    (tmp_path / "players.py").write_text(LISTENER)
    words = ("bot", "check", "players:Listens", "--games", "clash,cipher", "--json")
    assert json.loads(run(tmp_path, *words).stdout)["fine"] is True
    done = run(tmp_path, "bot", "check", "players:Exits", "--games", "fire", status=1)
    assert "WRONG: its program ended with exit status 3" in done.stdout
