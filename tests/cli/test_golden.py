"""Whole games through the real command, compared with transcripts kept in golden/.

The same games are played through a pipe and in a pseudo-terminal. After a wanted change of the
text, write the transcripts anew and look at the difference before keeping it:

    DUELS_WRITE_GOLDEN=1 python -m pytest tests/cli/test_golden.py
    git diff tests/cli/golden
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.terminal_helpers import (
    CLEAR,
    GAMES,
    HAND_OVER,
    PROMPT,
    REMATCH,
    TAKE_KEYBOARD,
    Screen,
    run,
)

GOLDEN = Path(__file__).parent / "golden"
# What a terminal adds to the prompts of a pipe.
ADDED = re.compile(
    r"; \? for help(?:; typing is invisible)?| \(\? for help(?:; typing is invisible)?\)"
)


@pytest.mark.parametrize("slug", GAMES)
def test_through_a_pipe(slug: str, tmp_path: Path) -> None:
    game = GAMES[slug]
    done = run(tmp_path, f"play {slug} {game.arguments}", typed=game.typed)
    golden = GOLDEN / f"{slug}.txt"
    if os.environ.get("DUELS_WRITE_GOLDEN"):
        golden.write_text(done.out, encoding="utf-8")
    assert done.out == golden.read_text(encoding="utf-8")
    assert (done.code, done.err) == (0, "")


def play_on_screen(slug: str, home: Path) -> Screen:
    """Answer every prompt in turn until the game is over; decline the rematch."""
    game = GAMES[slug]
    screen = Screen(home, f"play {slug} {game.arguments}", "--plain")
    answers = iter(game.typed)
    while (which := screen.wait(PROMPT, TAKE_KEYBOARD, HAND_OVER, REMATCH)) != 3:
        if which == 1:
            screen.take_keyboard()
        else:
            screen.type("" if which else next(answers), secret=game.secret)
    assert next(answers, None) is None
    screen.type("no")
    assert screen.end() == 0
    return screen


@pytest.mark.parametrize("slug", [slug for slug in GAMES if slug != "cipher-siege"])
def test_in_a_terminal(slug: str, tmp_path: Path) -> None:
    """The screen shows the transcript of a pipe, as the terminal echoes the typing.

    The names of the players come before it, the summary after it, and a single human is "you".
    """
    screen = play_on_screen(slug, tmp_path)
    assert "\x1b" not in screen.text
    golden = GOLDEN / "terminal" / f"{slug}.txt"
    shown = "\n".join(screen.lines)
    if os.environ.get("DUELS_WRITE_GOLDEN"):
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")
    piped = (GOLDEN / f"{slug}.txt").read_text(encoding="utf-8")
    assert (piped.strip() in ADDED.sub("", shown)) == ("--p2 human" in GAMES[slug].arguments)


class Glance(NamedTuple):
    """What one player of a private game sees from taking the keyboard to handing it over."""

    player: int
    recap: list[str]  # the other's turn, told again from this seat
    turn: list[str]


def glances(screen: Screen) -> list[Glance]:
    """A private game cut at the screens cleared between its players, which show nothing else."""
    before, start, *rest = screen.text.replace("\r\n", "\n").split(CLEAR)
    welcome, first = start.rsplit("\n\n", 1)
    assert before == ""
    assert welcome.splitlines()[0] == "Cipher Siege. Player 1 and Player 2 share this keyboard."
    rest.insert(0, first)
    found = []
    for asked, shown in zip(rest[::2], rest[1::2], strict=True):
        who = re.fullmatch(r"Player ([12]), take the keyboard and type \1: \1\n", asked)
        assert who, asked
        lines = [line.rstrip() for line in shown.splitlines()]
        own = lines.index(f"=== Player {who[1]} Turn ===")
        turn = [line for line in lines[own:] if not line.startswith("Press Enter to clear")]
        found.append(Glance(int(who[1]), lines[:own], turn))
    return found


def test_in_a_terminal_with_hands_to_hide(tmp_path: Path) -> None:
    """Each player's own turns, put together, are the pipe's transcript."""
    screen = play_on_screen("cipher-siege", tmp_path)
    found = glances(screen)
    assert [glance.player for glance in found] == [1, 2] * 4
    turns = [line for glance in found for line in glance.turn if line]
    end = next(n for n, line in enumerate(turns) if "expected score" in line)
    turns = [ADDED.sub("", line) for line in turns]
    words = " (attack, defend or swap)"
    assert words in "".join(turns)
    golden = (GOLDEN / "cipher-siege.txt").read_text(encoding="utf-8").splitlines()
    assert [line.replace(words, "") for line in turns[:end]] == [*filter(None, golden)]
    assert turns[-1] == "Rematch with seats swapped? (yes, no or analyse): no"
    assert "\x1b" not in screen.text.replace(CLEAR, "")


def test_the_hand_is_gone_before_the_other_looks(tmp_path: Path) -> None:
    """Ruling C6 at one keyboard: after the clearing, of the first player's hand only its size and
    the cards played in the open are there; of a swap, the viewer's own two cards."""
    found = glances(play_on_screen("cipher-siege", tmp_path))
    assert found[0].recap == []
    for glance in found[1:]:
        text = "\n".join(glance.recap)
        assert f"=== Player {3 - glance.player} Turn ===" in text
        assert re.search(r"Hand: \d cards?\nDraws a card\nNew Hand: \d cards?\n", text)
        assert "[" not in text
        assert "Draws card" not in text
    by_attack = "\n".join(found[1].recap)
    assert "Chooses action: Attack\nPlays cards: 2, 3\nAttack Value: 5\n" in by_attack
    by_swap = "\n".join(found[2].recap)
    assert re.search(r"Chooses action: Swap\nYou give card: \d\nYou receive card: 1\n", by_swap)


def test_sealed_picks_are_not_echoed(tmp_path: Path) -> None:
    """Ruling N1: from the first prompt to the reveal the screen shows the two prompts and, for
    what was refused, a reason that does not repeat it. No key pressed is on it."""
    rules = "--set numbers=3 --set points=1"
    screen = Screen(tmp_path, f"play number-clash --p2 human {rules} --plain")
    for line in ("77", "3", "seven", "2"):
        screen.wait(PROMPT)
        screen.type(line, secret=True)
    screen.wait("Player 1 chose: 3")
    one, two = (
        f"Player {player}, enter your chosen number from your available numbers [1,2,3] "
        "(? for help; typing is invisible):"
        for player in (1, 2)
    )
    refusal = "That is not possible. Choose one of: 1, 2, 3."
    shown = ["Round 1", one, refusal, one, two, refusal, two, "Player 1 chose: 3"]
    assert screen.lines[screen.lines.index("Round 1") :] == shown
    # Afterwards typing shows again.
    screen.wait(REMATCH)
    screen.type("no")
    assert screen.end() == 0
    assert screen.lines[-2] == "Rematch with seats swapped? (yes, no or analyse): no"


def test_rematch_swaps_the_seats(tmp_path: Path) -> None:
    """The player who starts wins here, so the human wins first and loses the rematch."""
    screen = Screen(tmp_path, "play firewall --p2 greedy --set strength=1 --plain")
    screen.wait(PROMPT)
    screen.type("bypass")
    screen.wait(REMATCH)
    screen.type("perhaps")
    screen.wait(REMATCH)
    screen.type("Y")
    first = len(screen.text)
    screen.wait(REMATCH)
    assert "You are Player 1; Player 2 is greedy" in screen.text[:first]
    assert "You chose to Bypass." in screen.text[:first]
    assert "You Win!" in screen.text[:first]
    again = screen.text[first:]
    assert "You are Player 2; Player 1 is greedy" in again
    assert "[Game Start]" in again
    assert "Player 1's Turn:" in again
    assert "Opponent chose to Bypass." in again
    assert "Player 1 Wins!" in again
    screen.type("n")
    assert screen.end() == 0


COLOUR = "\x1b["


@pytest.mark.parametrize("slug", GAMES)
def test_colour(slug: str, tmp_path: Path) -> None:
    game = GAMES[slug]
    screen = Screen(tmp_path, f"play {slug} {game.arguments}")
    while screen.wait(PROMPT, TAKE_KEYBOARD) == 1:
        screen.take_keyboard()
    assert COLOUR in screen.text.replace(CLEAR, "")
    screen.child.close(force=True)


def first_choice(home: Path, *option: str, **more: str) -> list[str]:
    screen = Screen(home, "play firewall --p2 greedy --seed 1 --fast", *option, **more)
    screen.wait(PROMPT)
    screen.type("bypass")
    screen.wait(PROMPT)
    screen.type("quit")
    assert screen.end() == 0
    assert COLOUR not in screen.text
    return screen.lines


def test_no_colour_removes_colour_and_nothing_else(tmp_path: Path) -> None:
    coloured = Screen(tmp_path, "play firewall --p2 greedy --seed 1 --fast")
    coloured.wait(PROMPT)
    coloured.child.close(force=True)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", coloured.text)
    plain = "\n".join(first_choice(tmp_path, NO_COLOR="1"))
    assert plain.startswith("\n".join(line.rstrip() for line in shown.splitlines()))
    assert "You       ████████████████████  10" in plain


@pytest.mark.parametrize("more", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
def test_bars_are_ascii_where_nothing_else_can_be_shown(
    more: dict[str, str], tmp_path: Path
) -> None:
    lines = first_choice(tmp_path, NO_COLOR="1", **more)
    assert "  You       ####################  10" in lines
    assert "\n".join(lines).isascii()


@pytest.mark.parametrize(
    ("option", "more"), [(["--plain"], {}), ([], {"TERM": "dumb"})], ids=["--plain", "TERM=dumb"]
)
def test_plain_text_has_nothing_drawn_around_it(
    option: list[str], more: dict[str, str], tmp_path: Path
) -> None:
    lines = first_choice(tmp_path, *option, **more)
    piped = run(tmp_path, "play firewall --p2 greedy --seed 1", typed=["bypass", "quit"])
    told = [line.replace("Player 1's Turn", "Your Turn") for line in piped.out.splitlines()]
    lines = [ADDED.sub("", line) for line in lines]
    assert lines[lines.index("[Game Start]") : -2] == told


def test_everything_public_is_told_in_plain_text_too(tmp_path: Path) -> None:
    """The opponent's CI and hand, deck and discards, which no sample of the rulebook shows."""
    done = run(tmp_path, "play cipher --p2 human --seed 126764", typed=["attack 2", "quit"])
    before, after = done.out.split("End of turn.")
    assert "\nOpponent's CI: 15\nOpponent's Hand: 3 cards\nDeck: 13\nDiscards: none\n" in before
    assert "\nOpponent's CI: 15\nOpponent's Hand: 3 cards\nDeck: 12\nDiscards: 2\n" in after


def test_the_whole_table_can_be_shown_in_plain_text(tmp_path: Path) -> None:
    done = run(tmp_path, "play cipher --p2 human --seed 126764", typed=["table", "quit"])
    assert (
        """Choose action: table
Player 1 Code Integrity: 15 of 15
Player 1 Hand: 2 3 3 5
Player 2 Code Integrity: 15 of 15
Player 2 Hand: 3 hidden
Deck: 13
Discards: none
Choose action: quit
"""
        in done.out
    )
