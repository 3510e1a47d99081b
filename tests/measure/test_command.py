"""`duels exploit`: text, JSON for programs, and errors in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from duels.games import load
from duels.measure import exploitability

ROOT = Path(__file__).parent.parent.parent


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "duels", "exploit", *words],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_json_has_the_figures_by_seat_and_the_worst_positions() -> None:
    done = run("fire", "greedy", "--set", "strength=5/6", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    data = json.loads(done.stdout)
    found = exploitability(load("firewall-breach", strength="5/6"), "greedy")
    assert data == json.loads(json.dumps(found.to_json()))
    for name in ("value_vs_perfect", "value_vs_best_response", "exploitability"):
        assert list(data[name]) == ["1", "2"]
    assert data["worst"]
    assert {position["player"] for position in data["worst"]} <= {1, 2}
    assert data["options"]["strength"] == "5/6"
    about = (data["format"], data["version"], data["game"])
    assert about == ("duels exploitability", 1, "firewall-breach")


def test_text_says_the_same() -> None:
    done = run("firewall-breach", "greedy")
    assert done.returncode == 0
    assert "Player 1: perfect play scores 0.569959 in this seat" in done.stdout
    assert "against its best response   0.560185" in done.stdout
    assert "gives away 0.027778, occurs 0.2963 times per game" in done.stdout


@pytest.mark.parametrize(
    ("words", "said", "status"),
    [
        ("fire nobody", "there is no player 'nobody'", 2),
        ("fire human", "a human chooses at a keyboard", 2),
        ("fire ismcts", "does not state how likely each is", 1),
        ("chess greedy", "chess", 2),
        ("fire greedy --set walls=3", "no option 'walls'", 2),
        ("cipher greedy --set swap=chosen", "turn_limit=N", 1),
        ("fire greedy --turn-limit 0", "expected a whole number from 1 to 999999", 2),
    ],
)
def test_errors_are_one_line(words: str, said: str, status: int) -> None:
    done = run(*words.split())
    assert done.returncode == status
    assert said in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_hidden_hands_can_be_measured_in_small() -> None:
    small = "cipher random --set values=2 --set copies=2 --set integrity=3 --set hand=1"
    done = run(*small.split(), "--set", "limit=2", "--turn-limit", "3", "--json")
    data = json.loads(done.stdout)
    assert data["kind"] == "exact, from self-play"
    assert data["value_vs_perfect"] == {"1": None, "2": None}
