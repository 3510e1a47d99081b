"""A person at a terminal: spoken to, told what can be typed, and able to type it."""

from __future__ import annotations

import os
import re
import signal
import sys
import termios
import time
from pathlib import Path

import pytest

from duels.cli.keyboard import TICK, _alarm
from duels.cli.progress import ProgressBar
from duels.cli.terminal import PACE, Terminal
from duels.games import BUILT_IN
from tests.terminal_helpers import (
    CLEAR,
    HELP,
    PROMPT,
    READY,
    REMATCH,
    RESIGN,
    STOP,
    TAKE_KEYBOARD,
    Screen,
    job_control,
    record_at,
    run,
)

pytestmark = pytest.mark.slow

LEFT, HOME, DELETE = "\x1b[D", "\x01", "\x04"
FACE = r"\[ ?\d+:\d\d\] "
TICKS = rf"\x1b7\r{FACE}\x1b8"
FIRST_MOVE = {"cipher-siege": "defend", "firewall-breach": "bypass"}


def sized(home: Path, command: str, columns: int, rows: int = 50, **more: str) -> Screen:
    return Screen.sized(home, command, rows, columns, NO_COLOR="1", **more)


# The player who is addressed


@pytest.mark.cases(4)
@pytest.mark.parametrize("own", [1, 2])
@pytest.mark.parametrize("slug", BUILT_IN)
def test_alone_one_is_called_you_all_through(slug: str, own: int, tmp_path: Path) -> None:
    seats = "--p2 random" if own == 1 else "--p1 random --p2 human"
    if slug == "cipher-siege":  # no turn of the opponent ends the rematch, which has other dice
        seats += " --set integrity=60"
    screen = Screen(tmp_path, f"play {slug} {seats} --seed 4 --fast", NO_COLOR="1")
    screen.wait(PROMPT)
    screen.type(FIRST_MOVE.get(slug, "5"))
    screen.wait(PROMPT)
    if slug == "cipher-siege":
        screen.type(re.findall(r"\[(\d)\]", screen.text)[0])
        screen.wait(PROMPT)
        screen.type("swap")
        screen.wait(PROMPT)
    screen.type("resign")
    screen.wait(RESIGN)
    screen.type("yes")
    screen.wait(REMATCH)
    first = len(screen.text)
    assert screen.text.count(f"You are Player {own}; Player {3 - own} is random (") == 1
    assert screen.text.count(f"Player {own}") == 1
    assert "You resigned.\r\n" in screen.text
    assert f"Player {3 - own} " in screen.text.partition("You resigned.")[2]
    screen.type("yes")  # and the seats are named again
    screen.wait(PROMPT)
    again = screen.text[first:]
    assert again.count(f"You are Player {3 - own}; Player {own} is random (") == 1
    assert again.count(f"Player {3 - own}") == 1
    screen.type("quit")
    assert screen.end() == 0


@pytest.mark.parametrize(
    ("arguments", "typed", "ends"),
    [
        ("firewall --p2 random --set strength=1", "bypass", "You Win!"),
        ("firewall --p2 greedy --set strength=1 --first 2", "", "Your Firewall has reached zero."),
        ("wars --p2 random --set lp=1", "1", "You win the game!"),
        ("cipher --p1 greedy --p2 human --set integrity=1", "", "Your code has been cracked."),
        ("digit --p2 random --time-limit 0.2", None, "You ran out of time."),
    ],
)
def test_the_end_is_told_to_you(
    arguments: str, typed: str | None, ends: str, tmp_path: Path
) -> None:
    screen = Screen(tmp_path, f"play {arguments} --fast", NO_COLOR="1")
    if typed:
        screen.wait(PROMPT)
        screen.type(typed)
    screen.wait(REMATCH)
    assert ends in screen.text
    screen.type("no")
    assert screen.end() == 0


# What can be typed


def test_a_sealed_number_is_visible_where_no_player_looks(tmp_path: Path) -> None:
    screen = Screen(tmp_path, "play clash --p2 greedy --plain --fast")
    screen.wait(PROMPT)
    screen.type("7")
    screen.wait("You chose: 7")
    assert "[1,2,3,4,5,6,7,8,9,10] (? for help): 7\r\n" in screen.text
    screen.child.sendintr()
    assert screen.end() == 130


def test_a_choice_lists_its_words_and_a_line_tells_of_the_rest(tmp_path: Path) -> None:
    screen = Screen(tmp_path, "play cipher --p2 greedy --plain --fast")
    screen.wait(rf"Choose action \(attack, defend or swap; {HELP}\): ")
    assert "Type ? for the rules, hint for advice, quit to leave.\r\n" in screen.text
    screen.type("quit")
    assert screen.end() == 0


def test_two_with_secret_hands_can_read_that_line_too(tmp_path: Path) -> None:
    screen = Screen(tmp_path, "play cipher --p2 human")
    screen.wait(TAKE_KEYBOARD)
    assert "Type ? for the rules" in screen.text.rpartition(CLEAR)[2]
    screen.type("quit")
    assert screen.end() == 0


def test_arrow_keys_and_line_editing_work(tmp_path: Path) -> None:
    screen = Screen(tmp_path, "play firewall --p2 greedy --plain --fast")
    screen.wait(PROMPT)
    screen.type(f"xbss{LEFT}{LEFT}ypa{HOME}{DELETE}")
    screen.wait("You chose to Bypass.")
    screen.wait(PROMPT)
    screen.type("quit")
    assert screen.end() == 0


@job_control
def test_what_was_half_typed_is_there_again_after_a_stop(tmp_path: Path) -> None:
    screen = Screen.under_job_control(tmp_path, "play firewall --p2 greedy --plain --fast")
    screen.wait(PROMPT)
    screen.child.send("ypa")
    screen.wait("ypa")
    screen.child.send(STOP)
    screen.wait(READY)
    screen.type("echo as $(echo usual)")  # the shell in between is as one knows it
    screen.wait(r"echo as \$\(echo usual\)\r\n.*as usual\r\n")
    screen.wait(READY)
    screen.type("fg")
    screen.wait(rf"Choose your action \('attack' or 'bypass'; {HELP}\): ypa")
    screen.type(f"ss{HOME}b")
    screen.wait("You chose to Bypass.")
    screen.wait(PROMPT)
    screen.type("quit")
    screen.wait(READY)
    screen.type("exit")
    assert screen.end() == 0


# Time


def test_the_time_left_is_shown_counting_and_a_line_is_edited_meanwhile(tmp_path: Path) -> None:
    screen = Screen(tmp_path, "play firewall --p2 greedy --time-limit 600 --fast", NO_COLOR="1")
    screen.wait(rf"{FACE}Choose your action \('attack' or 'bypass'; {HELP}\): ")
    assert "Time: 600 s per choice.\r\n" in screen.text
    screen.child.send("ypass")
    screen.wait(TICKS)
    screen.child.send(HOME)
    screen.wait(TICKS)
    screen.type("b")
    screen.wait("You chose to Bypass.")
    screen.wait(PROMPT)
    screen.type("quit")
    assert screen.end() == 0


def test_a_budget_counts_too_while_a_secret_is_typed(tmp_path: Path) -> None:
    screen = Screen(tmp_path, "play clash --p2 human --time-budget 600 --increment 5", NO_COLOR="1")
    screen.wait(FACE)
    assert "Time: 600 s for the match + 5 s per choice.\r\n" in screen.text
    screen.wait(TICKS)
    screen.type("7", secret=True)
    screen.wait(FACE)
    screen.type("quit", secret=True)
    assert screen.end() == 0


@pytest.mark.parametrize("columns", [20, 40])
def test_the_clock_has_a_place_of_its_own_on_a_narrow_screen(columns: int, tmp_path: Path) -> None:
    """It is written at the beginning of the cursor's line, so the prompt must not wrap there."""
    screen = sized(tmp_path, "play clash --p2 greedy --time-limit 600 --fast", columns)
    screen.wait(TICKS)
    before = screen.text[: -len(screen.child.after)]
    line = before.rpartition("\n")[2]
    assert re.match(FACE, line)
    assert line.endswith(": ")
    assert len(line) < columns, line
    screen.child.send("1" * columns)  # more than fits: the clock stands still
    screen.wait("1" * 3)
    screen.child.sendintr()
    assert screen.end() == 130


def test_a_signal_between_the_prompt_and_the_waiting_is_not_lost() -> None:
    """readline waits on through a Ctrl-C that comes just then, unless something wakes it; about
    one of ten was lost on a busy machine."""
    for until in (None, time.monotonic() + 600):
        with _alarm(until, None):
            assert 0 < signal.getitimer(signal.ITIMER_REAL)[1] <= TICK
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


# Computers


def test_a_computer_takes_a_moment(tmp_path: Path) -> None:
    screen = Screen(tmp_path, "play firewall --p2 greedy")
    screen.wait(PROMPT)
    began = time.monotonic()
    screen.type("bypass")
    screen.wait("Opponent chose")
    assert time.monotonic() - began >= PACE
    screen.child.sendintr()
    assert screen.end() == 130


def test_unless_it_is_to_be_fast_or_not_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    ours, theirs = os.openpty()
    try:
        with open(theirs, "w", closefd=False) as out:
            assert Terminal(theirs, out, out).paced
            assert not Terminal(theirs, out, out, fast=True).paced
        with open(os.devnull, "w") as out:
            assert not Terminal(theirs, out, out).paced
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("limit", ["--time-limit 0.01", "--time-budget 0.01"])
def test_a_computer_never_loses_on_time_to_a_person(limit: str, tmp_path: Path) -> None:
    numbers = [str(number) for number in range(1, 11)]
    done = run(tmp_path, f"play clash --p2 ismcts {limit}", typed=numbers)
    assert done.code == 0
    assert "Player 2 ran out of time" not in done.out
    assert "Both players" not in done.out


# What is shown


@pytest.mark.parametrize(
    ("game", "move", "written", "drawn"),
    [
        ("firewall", "bypass", "Your Firewall: 10", "You       ██"),
        ("clash", "7", "Current Scores:", "You       1 2 3 4 5 6 7 8 9 10   ○○○"),
        ("wars", "7", "Your LP: 100", "100   1 2 3"),
        ("wars", "7", "Your Used Numbers: 7", "1 2 3 4 5 6 · 8 9 10"),
        ("cipher", "defend 1", "Opponent's Hand: 3 cards", "[░] [░] [░]"),
        ("digit", "7", "Available Digits: 1", "10   1 2 3"),
    ],
)
def test_what_is_drawn_is_not_written_too(
    game: str, move: str, written: str, drawn: str, tmp_path: Path
) -> None:
    shown = []
    for option in ("", "--plain"):
        screen = Screen(tmp_path, f"play {game} --p2 random --fast {option}", NO_COLOR="1")
        screen.wait(PROMPT)
        screen.type(move)
        screen.wait(PROMPT)
        screen.type("quit")
        assert screen.end() == 0
        shown.append(screen.text)
    on_screen, plain = shown
    assert written not in on_screen
    assert drawn in on_screen
    assert written in plain
    assert drawn not in plain


def test_the_end_sums_up_and_offers_to_analyse(tmp_path: Path) -> None:
    screen = Screen(tmp_path, "play wars --p2 random --set lp=10 --plain --fast")
    screen.wait(PROMPT)
    screen.type("1")
    while screen.wait(PROMPT, REMATCH) == 0:
        screen.type("1")
    assert re.search(r"Your expected score  [▁▂▃▄▅▆▇█]+\r\n", screen.text)
    assert "You: accuracy 0 %. Costliest: 1 gave away " in screen.text
    assert "was better.\r\n" in screen.text
    screen.type("analyse")
    screen.wait(REMATCH)
    assert "blunder" in screen.child.before
    screen.type("yes")
    screen.wait("You are Player 2; Player 1 is random")
    over = screen.wait(PROMPT, REMATCH)  # one move of the computer's may be enough to win
    screen.child.sendintr()
    assert screen.end() == (0 if over else 130)


@pytest.mark.cases(4)
@pytest.mark.parametrize(("columns", "rows"), [(20, 5), (40, 10)])
@pytest.mark.parametrize("slug", BUILT_IN)
def test_a_small_screen_is_enough(slug: str, columns: int, rows: int, tmp_path: Path) -> None:
    """No line is wider than the screen, whether the terminal breaks it or not."""
    screen = sized(tmp_path, f"play {slug} --p2 random --fast", columns, rows)
    screen.wait(r"help\): ")
    screen.type("hint")
    screen.wait(r"Hint: [^:]*: ")
    shown = screen.text.replace("\r\n", "\n")
    assert max(map(len, re.sub(r"\x1b\[\??\w+", "", shown).split("\n"))) <= columns
    screen.type("quit")
    assert screen.end() == 0


def test_the_menu_fits_a_narrow_screen(tmp_path: Path) -> None:
    screen = sized(tmp_path, "", 20, 10)
    screen.wait(r"or quit\) ")
    screen.type("digit")
    screen.wait(r"medium\) ")
    screen.type("")
    screen.wait(r"for 1\) ")
    shown = screen.text.replace("\r\n", "\n")
    assert max(map(len, re.sub(r"\x1b\[\??\w+", "", shown).split("\n"))) <= 20
    assert "    use only once." in shown
    screen.type("quit")
    assert screen.end() == 0


def test_a_pager_that_fails_does_not_swallow_the_rules(tmp_path: Path) -> None:
    screen = sized(tmp_path, "rules clash", 80, 10, PAGER="false")
    assert screen.end() == 0
    assert "(default: 3)" in screen.text


def test_a_long_analysis_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one line of the screen, and without a guess from next to nothing."""
    ours, theirs = os.openpty()
    with open(theirs, "w", encoding="utf-8") as stream, open(ours, "rb") as screen:
        termios.tcsetwinsize(theirs, (24, 60))
        monkeypatch.setattr(sys, "stderr", stream)
        show = ProgressBar("Solving Number Clash")
        show(0.0001, "12 numbers left")
        show(0.5, "6 numbers left")
        show(1.0, "done")
        shown = screen.readline().decode()
    begun, half, done = shown.replace("\r\n", "").split("\r")[1:]
    assert max(map(len, (begun, half, done))) < 60
    assert "s left" not in begun.replace("numbers left", "")
    assert "██" in half


# Files


def test_what_can_be_resumed_is_listed_on_a_pipe(tmp_path: Path) -> None:
    assert "no unfinished match" in run(tmp_path, "resume").out
    run(tmp_path, "play digit --p2 greedy", typed=["quit"])
    first, second = run(tmp_path, "resume").out.splitlines()
    assert first.startswith("Digit Duel, human against greedy, 0 moves, ")
    assert re.match(r"  python3 -m duels resume \S+/digit-duel-\S+\.json$", second)


def test_a_match_is_picked_or_deleted_by_its_number(tmp_path: Path) -> None:
    for slug in ("digit", "clash"):
        run(tmp_path, f"play {slug} --p2 greedy", typed=["quit"])
    saved = tmp_path / "state" / "duels"
    os.utime(next(saved.glob("digit-duel-*")), (1, 1))  # the older one
    screen = Screen(tmp_path, "resume")
    which = r"Which match\? \(number, delete NUMBER or quit; Enter for the newest\) "
    screen.wait(which)
    assert "  1. Number Clash, human against greedy" in screen.text
    for wrong in ("3", "0", "delete", "delete x", "9999999999999999999999"):
        screen.type(wrong)
        screen.wait(r"Type a number from 1 to 2\.")
        screen.wait(which)
    screen.type("delete 1")
    screen.wait("Deleted: Number Clash, human against greedy")
    screen.wait("  1. Digit Duel")
    screen.wait(which)
    screen.type("")
    screen.wait(PROMPT)
    assert "Digit Duel. You are Player 1; Player 2 is greedy" in screen.text
    screen.type("q")
    assert screen.end() == 0
    assert [path.name.partition("-20")[0] for path in saved.glob("*.json")] == ["digit-duel"]


def test_saving_under_a_name_is_where_the_match_stays(tmp_path: Path) -> None:
    screen = Screen(tmp_path, "play wars --p2 greedy --plain --fast")
    screen.wait(PROMPT)
    for typed in ("save war.json", "9", "8", "quit"):
        screen.type(typed)
        if typed != "quit":
            screen.wait(PROMPT)
    assert screen.end() == 0
    assert "Saved in war.json" in screen.text
    assert "continue with: python3 -m duels resume war.json" in screen.text
    assert len(record_at(tmp_path / "war.json")["entries"]) == 4
    assert not (tmp_path / "state").exists()


def test_a_name_cannot_steer_the_terminal(tmp_path: Path) -> None:
    done = run(tmp_path, "play firewall --p2 greedy", typed=["save a\x1b[2Jb", "quit"])
    assert (tmp_path / "a\x1b[2Jb").exists()
    assert "\x1b" not in done.out + done.err
    assert r"Saved in 'a\x1b[2Jb'" in done.err
