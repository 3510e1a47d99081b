"""--time-limit, on a pipe and in a pseudo-terminal (ruling A4).

Limits are short so that the tests are; nothing here says how long a thing may take.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.terminal_helpers import (
    PROMPT,
    REMATCH,
    TAKE_KEYBOARD,
    Screen,
    finish,
    read_until,
    record_at,
    start,
)

pytestmark = pytest.mark.slow

LIMIT = "--time-limit 0.3"

# What the game says when Player 1 is out of time.
LOST = {
    "firewall-breach": "\nPlayer 1 ran out of time.\nPlayer 2 Wins!\n",
    "cipher-siege": "\nPlayer 1 ran out of time.\nPlayer 2 wins!\n",
    "digit-duel": (
        "\nPlayer 1 ran out of time.\nPlayer 2 wins the game!\n"
        "Total Damage: Player 1 - 0, Player 2 - 0\n"
    ),
}


@pytest.mark.parametrize("slug", LOST)
def test_pipe_out_of_time_loses_the_game(slug: str, tmp_path: Path) -> None:
    process = start(tmp_path, f"play {slug} --p2 human {LIMIT} --save late.json")
    shown = read_until(process, LOST[slug])
    done = finish(process)
    assert (shown + done.out).endswith(LOST[slug])
    assert (done.code, done.err) == (0, "")
    record = record_at(tmp_path / "late.json")
    assert record["entries"][-1] == {"timeout": [1]}
    assert (record["result"]["winner"], record["result"]["by"]) == (2, "time")


@pytest.mark.parametrize("slug", LOST)
def test_terminal_out_of_time_loses_the_game(slug: str, tmp_path: Path) -> None:
    """At a hand-over the clock waits until the player has taken the keyboard."""
    screen = Screen(tmp_path, f"play {slug} --p2 human {LIMIT} --plain")
    while screen.wait(TAKE_KEYBOARD, REMATCH) == 0:
        screen.take_keyboard()
    screen.type("no")
    assert screen.end() == 0
    assert LOST[slug] in "\n".join(screen.lines)


def test_pipe_number_wars_loses_the_turn(tmp_path: Path) -> None:
    """Number Wars: a failed attack, told to the player who was late; then the other moves."""
    process = start(tmp_path, f"play number-wars --p2 greedy {LIMIT} --set lp=10 --save late.json")
    shown = read_until(process, "--- Game Over ---\n")
    done = finish(process)
    assert done.code == 0
    assert shown.endswith(
        "Player 1, enter your attack number (1-10):\n"
        "Time is up!\n"
        "You lose your turn.\n"
        "\n"
        "Player 1 Used Numbers: none\n"
        "Player 2 Used Numbers: none\n"
        "Player 2 attacks with 10!\n"
        "Player 1 LP is now 0.\n"
        "\n"
        "Player 2 wins the game!\n"
        "\n"
        "--- Game Over ---\n"
    )
    record = record_at(tmp_path / "late.json")
    assert record["entries"] == [{"timeout": [1]}, {"pick": {"2": "10"}}]


def test_pipe_half_a_line_goes_with_its_turn(tmp_path: Path) -> None:
    """What came without its line end is not the beginning of the other player's number."""
    process = start(tmp_path, "play number-wars --p2 human --time-limit 1")
    assert process.stdin is not None
    process.stdin.write(b"1")
    process.stdin.flush()
    read_until(process, "Player 2, enter your attack number")
    process.stdin.write(b"7\n")
    process.stdin.flush()
    read_until(process, "Player 2 attacks with 7!")
    assert finish(process, b"quit\n").code == 0


def test_terminal_number_wars_loses_the_turn(tmp_path: Path) -> None:
    """What was half typed belongs to the turn that is over, and is not the other player's."""
    screen = Screen(tmp_path, "play number-wars --p2 human --time-limit 1 --plain")
    screen.wait(PROMPT)
    screen.child.send("1")
    screen.wait("Player 1 loses the turn.")
    screen.wait(PROMPT)
    screen.type("7")
    screen.wait("Player 2 attacks with 7!")
    screen.wait(PROMPT)
    screen.type("quit")
    assert screen.end() == 0


def test_pipe_both_late_is_a_draw(tmp_path: Path) -> None:
    process = start(tmp_path, f"play number-clash --p2 human {LIMIT} --save late.json")
    shown = read_until(process, "Thank you for playing Number Clash.\n")
    assert finish(process).code == 0
    assert shown.endswith(
        "\nBoth players ran out of time.\nThe game is a draw.\n"
        "Thank you for playing Number Clash.\n"
    )
    record = record_at(tmp_path / "late.json")
    assert record["entries"] == [{"timeout": [1, 2]}]
    assert record["result"]["winner"] is None


def test_terminal_both_late_is_a_draw(tmp_path: Path) -> None:
    screen = Screen(tmp_path, f"play number-clash --p2 human {LIMIT} --plain")
    screen.wait(REMATCH)
    screen.type("no")
    assert screen.end() == 0
    assert "Both players ran out of time.\nThe game is a draw.\n" in "\n".join(screen.lines)
    # The secret prompts have given the echo back.
    assert screen.lines[-2] == "Rematch with seats swapped? (yes, no or analyse): no"


@pytest.mark.parametrize("late", [1, 2])
def test_one_late_in_a_sealed_choice_loses(late: int, tmp_path: Path) -> None:
    """The other still chooses; nothing of that choice is shown."""
    process = start(tmp_path, "play number-clash --p2 human --time-limit 1 --save late.json")
    assert process.stdin is not None
    shown = ""
    if late == 1:
        shown = read_until(process, "Player 2, enter your chosen number")
    process.stdin.write(b"7\n")
    process.stdin.flush()
    shown += read_until(process, "Thank you for playing Number Clash.\n")
    assert finish(process).code == 0
    assert "chose:" not in shown
    assert f"\nPlayer {late} ran out of time.\nPlayer {3 - late} wins the game!\n" in shown
    record = record_at(tmp_path / "late.json")
    assert record["entries"] == [{"timeout": [late]}]


def test_in_time(tmp_path: Path) -> None:
    """Answers in time are played as without a limit; the clock starts anew for each choice."""
    process = start(tmp_path, "play firewall-breach --p2 human --time-limit 100 --seed 1")
    done = finish(process, b"bypass\nbypass\nquit\n")
    assert done.code == 0
    assert "ran out of time" not in done.out
    assert done.out.count("You chose to Bypass.\n") == 2


def test_refused_input_does_not_stop_the_clock(tmp_path: Path) -> None:
    process = start(tmp_path, f"play firewall-breach --p2 human {LIMIT}")
    assert process.stdin is not None
    process.stdin.write(b"fire\nhint\n")
    process.stdin.flush()
    shown = read_until(process, LOST["firewall-breach"])
    assert finish(process).code == 0
    assert "I don't know 'fire'." in shown


def test_the_limit_is_kept_in_the_record(tmp_path: Path) -> None:
    process = start(tmp_path, "play firewall-breach --p2 human --time-limit 0.5 --save late.json")
    finish(process, b"bypass\nquit\n")
    process = start(tmp_path, "resume late.json")
    shown = read_until(process, "Wins!\n")
    assert finish(process).code == 0
    assert shown.endswith("\nPlayer 2 ran out of time.\nPlayer 1 Wins!\n")
