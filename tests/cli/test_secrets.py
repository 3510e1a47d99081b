"""Two people at one keyboard: what one holds or picks is never before the other's eyes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.terminal_helpers import (
    CLEAR,
    COMMAND,
    HAND_OVER,
    PATIENCE,
    PROMPT,
    READY,
    REMATCH,
    RESIGN,
    STOP,
    TAKE_KEYBOARD,
    Screen,
    job_control,
    run,
    saved_path,
)

pytestmark = pytest.mark.slow

SIEGE = "play cipher --p2 human --seed 126764 --plain"  # Player 2 has 1, 4, 4
CLASH = "play clash --p2 human --seed 1 --plain"
REASON = "hands cannot be kept secret because this terminal cannot clear its screen"
HAND, NEW_HAND = "Hand: [2, 3, 5]", "New Hand: [2, 3, 5, 3]"


def through_a_pipe(home: Path, command: str) -> Screen:
    """A person at a terminal whose output goes elsewhere, as with `| tee log`."""
    script = home / "piped.sh"
    script.write_text(f"{' '.join(COMMAND)} {command} | tee log\n")
    return Screen.shell(home, script)


def first_hand(home: Path, command: str = SIEGE) -> Screen:
    screen = Screen(home, command)
    screen.wait(TAKE_KEYBOARD)
    screen.take_keyboard()
    screen.wait(PROMPT)
    return screen


def shown_last(screen: Screen) -> str:
    """What the screen shows now: all that came after it was last cleared."""
    return screen.text.rpartition(CLEAR)[2]


# 1 and 3. A screen that keeps what it has shown


def test_output_to_a_pipe_cannot_hide_hands(tmp_path: Path) -> None:
    screen = through_a_pipe(tmp_path, SIEGE)
    screen.end()
    assert REASON in screen.text
    assert "--no-secrets" in screen.text
    assert "Hand" not in screen.text
    assert (tmp_path / "log").read_text() == ""


@pytest.mark.parametrize("kind", ["dumb", "", "unknown"])
def test_a_terminal_that_only_scrolls_cannot_hide_hands(kind: str, tmp_path: Path) -> None:
    screen = Screen(tmp_path, SIEGE, TERM=kind)
    assert screen.end() == 2
    assert REASON in screen.text
    assert "Hand" not in screen.text


def test_hands_may_be_open(tmp_path: Path) -> None:
    screen = Screen(tmp_path, f"{SIEGE} --no-secrets", TERM="dumb")
    screen.wait(PROMPT)
    assert NEW_HAND in screen.text
    screen.type("attack 2")
    screen.wait(PROMPT)
    assert "=== Player 2 Turn ===" in screen.text
    screen.type("quit")
    assert screen.end() == 0


def test_a_match_that_is_resumed_hides_hands_too(tmp_path: Path) -> None:
    path = saved_path(run(tmp_path, SIEGE, typed=["attack 2", "quit"]).err)
    screen = Screen(tmp_path, "resume", str(path), TERM="dumb")
    assert screen.end() == 2
    assert REASON in screen.text
    screen = through_a_pipe(tmp_path, f"resume {path}")
    screen.end()
    assert REASON in screen.text
    screen = Screen(tmp_path, "resume --no-secrets --plain", str(path), TERM="dumb")
    screen.wait(PROMPT)
    screen.type("quit")
    assert screen.end() == 0


def test_sealed_numbers_need_no_clearing(tmp_path: Path) -> None:
    """Nothing is held in secret there, and nothing that is typed shows."""
    screen = through_a_pipe(tmp_path, CLASH)
    for number in "75":
        screen.wait(PROMPT)
        screen.type(number, secret=True)
    screen.wait("Player 1 chose: 7")
    screen.wait(PROMPT)
    screen.child.sendintr()
    screen.end()


# 2. Ctrl-Z, and what was typed too early


@job_control
def test_a_sealed_choice_is_sealed_after_a_stop_too(tmp_path: Path) -> None:
    screen = Screen.under_job_control(tmp_path, CLASH)
    screen.wait(PROMPT)
    assert screen.child.waitnoecho(PATIENCE)
    screen.child.send(f"8{STOP}")
    screen.wait(READY)
    screen.type("stty -a; echo as usual")  # in between the terminal is the shell's
    screen.wait(r"\Was usual\r\n")
    assert re.search(r"(?<!-)\becho\b(?! as)", screen.child.before)
    screen.wait(READY)
    screen.type("fg")
    screen.wait(PROMPT)
    screen.type("3", secret=True)
    screen.wait(PROMPT)
    screen.type("9", secret=True)
    screen.wait("Player 1 chose: 3")
    after_stop = screen.text.rpartition("fg\r\n")[2]
    assert not re.search(r": [389]\b", after_stop.replace("chose: 3", ""))
    screen.wait(PROMPT)
    screen.type("quit", secret=True)
    screen.wait(READY)
    screen.type("exit")
    assert screen.end() == 0


def test_a_hand_is_not_shown_by_enter_too_many(tmp_path: Path) -> None:
    """Nor by anything else that was typed before the hand-over asked for it."""
    screen = first_hand(tmp_path)
    screen.type("attack 2")
    screen.wait(HAND_OVER)
    screen.child.send("\r\r2\r2\r")
    screen.wait(TAKE_KEYBOARD)
    screen.type("")  # had anything been kept, this would answer a question of the game
    screen.wait(TAKE_KEYBOARD)
    screen.type("1")
    screen.wait(TAKE_KEYBOARD)
    assert "Player 2 Turn" not in screen.text
    screen.type("2")
    screen.wait(PROMPT)
    assert "=== Player 2 Turn ===" in screen.text
    screen.type("quit")
    assert screen.end() == 0


def test_lines_that_are_pasted_stop_at_the_hand_over(tmp_path: Path) -> None:
    screen = first_hand(tmp_path)
    screen.child.send("attack 2\r\r2\rdefend 1\r")
    screen.wait(HAND_OVER)
    screen.type("")
    screen.wait(TAKE_KEYBOARD)
    screen.type("")
    screen.wait(TAKE_KEYBOARD)
    assert "Player 2 Turn" not in screen.text
    screen.type("quit")
    assert screen.end() == 0


def test_a_sealed_pick_is_not_typed_by_the_other(tmp_path: Path) -> None:
    screen = Screen(tmp_path, CLASH)
    screen.wait(PROMPT)
    assert screen.child.waitnoecho(PATIENCE)
    screen.child.send("7\r8\r")
    screen.wait(PROMPT)
    screen.type("3", secret=True)
    screen.wait("Player 2 chose: 3")
    screen.child.sendintr()
    assert screen.end() == 130


# 3. What is asked for in front of both


def test_no_hint_in_a_sealed_choice_of_two(tmp_path: Path) -> None:
    screen = Screen(tmp_path, CLASH)
    for _ in range(2):
        screen.wait(PROMPT)
        screen.type("hint", secret=True)
        screen.wait("There are no hints when two people play.")
        screen.wait(PROMPT)
        screen.type("7", secret=True)
    screen.wait("Player 1 chose: 7")
    assert "Hint" not in screen.text
    screen.child.sendintr()
    assert screen.end() == 130


@pytest.mark.parametrize("agrees", ["yes", "no"])
def test_the_other_answers_an_undo_without_seeing_the_hand(agrees: str, tmp_path: Path) -> None:
    screen = first_hand(tmp_path)
    for player, move in (("2", "attack 2"), ("1", "attack 1")):
        screen.type(move)
        screen.wait(HAND_OVER)
        screen.type("")
        screen.wait(TAKE_KEYBOARD)
        screen.type(player)
        screen.wait(PROMPT)
    screen.type("undo")
    screen.wait(r"Player 2, may Player 1 take back the last move\? \(yes or no\): ")
    assert "Hand" not in shown_last(screen)
    screen.type(agrees)
    screen.wait(TAKE_KEYBOARD)
    assert "Hand" not in shown_last(screen)
    screen.type("1")
    screen.wait(PROMPT)
    assert (NEW_HAND in shown_last(screen)) == (agrees == "yes")
    screen.type("quit")
    assert screen.end() == 0


@pytest.mark.parametrize("leave", ["quit\r", "\x03", "\x04", "\x1c"], ids=ascii)
def test_no_hand_stays_on_the_screen_when_a_match_is_left(leave: str, tmp_path: Path) -> None:
    screen = first_hand(tmp_path)
    assert HAND in shown_last(screen)
    screen.child.send(leave)
    screen.end()
    assert "Hand" not in shown_last(screen)
    assert "continue with: " in shown_last(screen)


def test_a_screen_without_a_hand_is_not_cleared(tmp_path: Path) -> None:
    (tmp_path / "taken.json").write_text("something else")
    screen = Screen(tmp_path, f"{SIEGE} --save taken.json")
    assert screen.end() == 1
    assert "taken.json exists and is not a Duels record" in screen.text
    assert CLEAR not in screen.text


def test_hands_are_hidden_no_longer_than_the_match_lasts(tmp_path: Path) -> None:
    screen = first_hand(tmp_path)
    screen.type("resign")
    screen.wait(RESIGN)
    screen.type("no")
    screen.wait(PROMPT)
    screen.type("resign")
    screen.wait(RESIGN)
    screen.type("yes")
    screen.wait(REMATCH)
    screen.type("no")
    assert screen.end() == 0
    assert "Player 1 resigned." in screen.text


# 4. The record of an unfinished match


@pytest.fixture
def unfinished(tmp_path: Path) -> Path:
    return saved_path(run(tmp_path, SIEGE, typed=["attack 2", "quit"]).err)


def test_an_unfinished_match_is_replayed_as_a_spectator_sees_it(
    unfinished: Path, tmp_path: Path
) -> None:
    for view in ([], ["--view", "spectator"]):
        shown = run(tmp_path, "replay --print", str(unfinished), *view)
        assert shown.code == 0
        assert "Hand: 3 cards" in shown.out
        assert "[" not in shown.out
    revealed = run(tmp_path, "replay --print --reveal", str(unfinished)).out
    assert HAND in revealed
    assert "=== Player 2 Turn ===\nCI: 13\nHand: [" in revealed


@pytest.mark.parametrize("view", ["table", "1", "2"])
def test_other_views_of_it_have_to_be_meant(view: str, unfinished: Path, tmp_path: Path) -> None:
    refused = run(tmp_path, "replay --print", str(unfinished), "--view", view)
    assert (refused.code, refused.out) == (1, "")
    assert "--reveal" in refused.err
    assert run(tmp_path, "replay --print --reveal", str(unfinished), "--view", view).code == 0


def test_for_programs_it_is_redacted_too(unfinished: Path, tmp_path: Path) -> None:
    hidden = json.loads(run(tmp_path, "replay --json", str(unfinished)).out)
    drawn = [entry["outcome"] for entry in hidden["entries"] if entry["type"] == "chance"]
    assert set(drawn) == {"?"}
    assert hidden.get("seed") is None
    revealed = json.loads(run(tmp_path, "replay --json --reveal", str(unfinished)).out)
    assert revealed == json.loads(unfinished.read_text())


@pytest.mark.parametrize("how", [[], ["--json"], ["--out", "page.html"]], ids=str)
def test_it_is_graded_only_if_that_is_meant(
    how: list[str], unfinished: Path, tmp_path: Path
) -> None:
    refused = run(tmp_path, "analyse", str(unfinished), *how)
    assert (refused.code, refused.out) == (1, "")
    assert "--reveal" in refused.err
    assert not (tmp_path / "page.html").exists()
    assert run(tmp_path, "analyse --reveal", str(unfinished), *how).code == 0


def test_a_finished_match_is_shown_whole(unfinished: Path, tmp_path: Path) -> None:
    assert run(tmp_path, "resume", str(unfinished), typed=["resign"]).code == 0
    assert HAND in run(tmp_path, "replay --print", str(unfinished)).out
    assert run(tmp_path, "analyse", str(unfinished)).code == 0
