"""Rules and lists of games on screens of any width, and in a pager."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from duels.cli.pager import _paged, fit, row
from duels.cli.rules import listing
from duels.core.presentation import heading, tone
from duels.core.rules_text import rules
from duels.games import BUILT_IN, load
from tests.terminal_helpers import Screen, run

WIDTHS = (20, 21, 33, 40, 80, 200)


def words(lines: list[str]) -> list[str]:
    return " ".join(lines).split()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("slug", BUILT_IN)
def test_rules_fit_any_width(slug: str, width: int) -> None:
    lines = rules(load(slug))
    fitted = fit(lines, width)
    assert max(map(len, fitted)) <= width
    # Nothing is lost; only a word longer than the line is cut.
    assert "".join(words(fitted)) == "".join(words(lines))
    assert [line for line in fitted if tone(line)] == [line for line in lines if tone(line)]


@pytest.mark.parametrize("width", WIDTHS)
def test_rulings_keep_their_indentation(width: int) -> None:
    fitted = fit(rules(load("number-wars")), width)
    first = next(n for n, line in enumerate(fitted) if line.startswith("  W1. "))
    last = next(n for n, line in enumerate(fitted) if line.startswith("  W2. "))
    assert all(re.match(r" {6}\S", line) for line in fitted[first + 1 : last])


def test_paragraphs_are_filled_and_kept_apart() -> None:
    lines = ["One", "and two.", "  - a", "    b", "  - c", "Three.", "", heading("Four"), "Five."]
    assert fit(lines, 40) == ["One and two.", "  - a b", "  - c", "Three.", "", "Four", "Five."]


def test_a_list_hangs_beside_its_names_or_below_them() -> None:
    assert row("name  ", "one two three", 14) == ["name  one two", "      three"]
    assert row("a-long-name  ", "one two three", 20) == ["a-long-name", "  one two three"]


def test_rules_of_a_variant(tmp_path: Path) -> None:
    done = run(tmp_path, "rules firewall-breach --set strength=5")
    assert "firewall of strength 5." in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    wrong = run(tmp_path, "rules firewall-breach --set strength=none")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err.count("\n") == 1


def test_games_for_programs(tmp_path: Path) -> None:
    games = {game["slug"]: game for game in json.loads(run(tmp_path, "games --json").out)}
    assert [slug for slug, game in games.items() if game["private"]] == ["cipher-siege"]
    duel = games["digit-duel"]
    assert (duel["title"], duel["summary"]) == (load("digit").title, load("digit").summary)
    assert duel["options"]["hidden"] == {
        "default": "no",
        "takes": "yes or no",
        "about": "attacker and defender choose in secret",
    }


def test_games_are_a_line_each_through_a_pipe_and_fit_a_screen(tmp_path: Path) -> None:
    lines = run(tmp_path, "games").out.splitlines()
    assert [line.split()[0] for line in lines] == list(BUILT_IN)
    for width in WIDTHS:
        fitted = listing([(slug, load(slug).summary) for slug in BUILT_IN], width)
        assert max(map(len, fitted)) <= width
        assert words(fitted) == words(lines)


# In a pseudo-terminal of 50 lines


def test_a_long_text_goes_through_the_pager(tmp_path: Path) -> None:
    pager = "sh -c 'head -n 1; cat >/dev/null; echo [paged]'"
    screen = Screen(tmp_path, "rules cipher-siege", PAGER=pager)
    assert screen.end() == 0
    assert screen.text.split() == ["Cipher", "Siege", "[paged]"]


@pytest.mark.parametrize("pager", ["no-such-program", "'", "", "env no-such-program"])
def test_where_no_pager_starts_the_text_is_printed(pager: str, tmp_path: Path) -> None:
    screen = Screen(tmp_path, "rules cipher-siege", PAGER=pager)
    assert screen.end() == 0
    assert "A7." in screen.text


def test_a_pager_that_is_left_early_is_no_error(tmp_path: Path) -> None:
    screen = Screen(tmp_path, "rules cipher-siege", PAGER="true")
    assert screen.end() == 0
    assert screen.text == ""


@pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")
def test_no_file_is_written_from_the_prompt_of_the_pager(tmp_path: Path) -> None:
    screen = Screen.sized(tmp_path, "rules cipher-siege", 24, 80, PAGER="less -X")
    screen.wait("Cipher Siege")
    screen.wait(":")  # its prompt
    screen.child.send("s")  # saves what came through a pipe
    screen.child.send("written\n")
    screen.child.send("q")
    assert screen.end() == 0
    assert not (tmp_path / "written").exists()


def test_a_pager_takes_an_interrupt_for_itself(tmp_path: Path) -> None:
    # Short sleeps: a shell minds its trap only when the command that it waits for has ended.
    script = "trap 'echo [caught]; exit 0' INT; echo [here]; while :; do sleep 0.1; done"
    screen = Screen(tmp_path, "rules cipher-siege", PAGER=f'sh -c "{script}"')
    screen.wait(r"\[here\]")
    screen.child.sendintr()
    screen.wait(r"\[caught\]")
    assert screen.end() == 0


def test_an_interrupt_while_the_pager_starts_is_not_lost_on_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setenv("PAGER", "true")
    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    assert _paged(["line"], colour=False)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("games", {}),  # short
        ("rules cipher-siege", {"TERM": "dumb"}),  # no screen for a pager
    ],
)
def test_what_needs_no_pager_gets_none(command: str, more: dict[str, str], tmp_path: Path) -> None:
    screen = Screen(tmp_path, command, PAGER="echo [paged]", **more)
    assert screen.end() == 0
    assert "[paged]" not in screen.text


def test_pipes_get_no_pager(tmp_path: Path) -> None:
    assert "[paged]" not in run(tmp_path, "rules cipher-siege", PAGER="echo [paged]").out
