"""Typing at the terminal: what is understood, what is refused, and the words that are no moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.terminal_helpers import Finished, record_at, run, saved_path

# With this seed Player 1 acts first with 2, 3, 3 and 5: cipher-siege.txt:146-149.
SIEGE = "play cipher-siege --p2 human --seed 126764"
FIREWALL = "play firewall-breach --p2 human --seed 1"
DUEL = "play digit-duel --p2 human --seed 1"
WARS = "play number-wars --p2 human --seed 1"
CLASH = "play number-clash --p2 human --seed 1"


def play(home: Path, command: str, *typed: str) -> Finished:
    """Play, leave with `quit` and give what was shown."""
    done = run(home, command, typed=[*typed, "quit"])
    assert done.code == 0
    return done


def entries(done: Finished) -> list[dict[str, Any]]:
    """What the record of a match that was left says has happened."""
    found: list[dict[str, Any]] = record_at(saved_path(done.err))["entries"]
    return found


@pytest.mark.parametrize("word", ["attack", "ATTACK", "aTTack", "a", "att", "  Attack\t", "A,"])
def test_words_in_any_case_and_shortened(word: str, tmp_path: Path) -> None:
    done = play(tmp_path, FIREWALL, word)
    assert entries(done)[0] == {"pick": {"1": "attack"}}


@pytest.mark.parametrize(
    "lines",
    [
        ["attack 2 3 5"],
        ["Attack 5,3,2"],
        ["a 2, 3 ,5"],
        ["attack", "2,3,5"],
        ["ATT", "5 2 3"],
        ["attack 02 3 5"],
        ["defend", "attack 2 3 5"],  # a whole other move instead of the card asked for
        ["swap", "back", "attack", "2 3 5"],
        ["defend", "cancel", "a 2 3 5"],
    ],
    ids=" / ".join,
)
def test_cards_with_commas_or_spaces(lines: list[str], tmp_path: Path) -> None:
    done = play(tmp_path, SIEGE, *lines)
    assert {"pick": {"1": "attack 2 3 5"}} in entries(done)
    assert "Discards used cards: 2, 3, 5\n" in done.out


def test_numbers_are_never_shortened(tmp_path: Path) -> None:
    """1 is not the beginning of 10, and 010 is 10."""
    done = play(tmp_path, WARS, "1", "010")
    assert entries(done) == [{"pick": {"1": "1"}}, {"pick": {"2": "10"}}]


WRONG = [
    (FIREWALL, "fire", "I don't know 'fire'. Choose one of: attack, bypass."),
    (FIREWALL, "", "Nothing was typed. Choose one of: attack, bypass."),
    (FIREWALL, " , ", "Nothing was typed. Choose one of: attack, bypass."),
    (FIREWALL, "attack bypass", "'attack' is a complete move; leave out 'bypass'."),
    (FIREWALL, "1", "'1' is not available. Choose one of: attack, bypass."),
    (WARS, "0", "'0' is not available. Choose one of: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10."),
    (WARS, "11", "'11' is not available. Choose one of: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10."),
    (WARS, "-1", "I don't know '-1'. Choose one of: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10."),
    (WARS, "seven", "I don't know 'seven'. Choose one of: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10."),
    (WARS, "7 8", "'7' is a complete move; leave out '8'."),
    (WARS, "timeout", "I don't know 'timeout'. Choose one of: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10."),
    (DUEL, "10", "'10' is not available. Choose one of: 1, 2, 3, 4, 5, 6, 7, 8, 9."),
    (SIEGE, "attack 4", "'4' is not available. Choose some of: 2, 3, 5."),
    (SIEGE, "attack 2 2", "You can use 2 only once."),
    (SIEGE, "attack 3 3 3", "You can use 3 only twice."),
    (SIEGE, "defend 2 3", "'defend 2' is a complete move; leave out '3'."),
    (SIEGE, "hold", "I don't know 'hold'. Choose one of: attack, defend, swap."),
]


@pytest.mark.parametrize(("command", "wrong", "reason"), WRONG, ids=lambda value: str(value)[:30])
def test_wrong_input_says_why_and_asks_again(
    command: str, wrong: str, reason: str, tmp_path: Path
) -> None:
    """Ruling A2: the transcript differs by the refusal alone, and the record not at all."""
    untouched, refused = play(tmp_path, command), play(tmp_path, command, wrong)
    head, prompt, tail = untouched.out[:-1].rpartition("\n")[0], *last_prompt(untouched)
    echo = f" {wrong.strip()}" if wrong.strip() else ""
    assert refused.out == f"{head}\n{prompt}{echo}\n{reason}\n{prompt}{tail}"
    assert entries(refused) == entries(untouched)


def last_prompt(done: Finished) -> tuple[str, str]:
    """The prompt that was answered with `quit`, and that answer."""
    line = done.out.splitlines()[-1]
    assert line.endswith(" quit")
    return line.removesuffix(" quit"), " quit\n"


def test_a_used_digit_says_so(tmp_path: Path) -> None:
    done = play(tmp_path, DUEL, "7", "5", "5")
    assert "You have used that digit already. Choose one of: 1, 2, 3, 4, 6, 7, 8, 9.\n" in done.out


def test_a_swap_with_six_cards_says_why_not(tmp_path: Path) -> None:
    """Ruling C2. With one value only, every swap leaves the hands as they are."""
    command = f"{SIEGE} --set values=1 --set copies=20"
    done = play(tmp_path, command, *["swap 1"] * 4, "swap")
    reason = "With 6 cards you must attack or defend. Choose one of: attack, defend.\n"
    assert reason in done.out
    assert len([entry for entry in entries(done) if "pick" in entry]) == 4


def test_what_is_piped_in_cannot_steer_the_terminal(tmp_path: Path) -> None:
    done = play(tmp_path, FIREWALL, "\x1b[2J\x07bell\x9b1m")
    assert all(char.isprintable() or char == "\n" for char in done.out)
    assert "\x1b" not in done.out + done.err


def test_question_mark_shows_the_rules(tmp_path: Path) -> None:
    done = play(tmp_path, FIREWALL, "?")
    rules = run(tmp_path, "rules firewall-breach").out
    assert rules in done.out
    before = done.out.split(rules)[0].split("At any prompt")[1]
    words = [line.split()[0] for line in before.strip().splitlines()]
    assert words == ["undo", "table", "resign", "save", "quit", "back"]  # no hints for two people
    alone = play(tmp_path, AGAINST_COMPUTER, "?")
    assert "At any prompt\n\n  hint " in alone.out
    assert done.out.count("Choose your action") == 2


def test_no_hint_where_both_would_read_it(tmp_path: Path) -> None:
    """In a sealed choice of two people it would tell the other what to expect."""
    done = play(tmp_path, CLASH, "hint", "7", "hint", "8")
    assert done.out.count("There are no hints when two people play.\n") == 2
    assert "perfect play" not in done.out


@pytest.mark.parametrize("command", [FIREWALL, DUEL, WARS, SIEGE, CLASH])
def test_hint_is_a_move_and_changes_nothing(command: str, tmp_path: Path) -> None:
    command += " --p2 random"
    done = play(tmp_path, command, "Hint")
    advice = done.out.partition("Hint: perfect play chooses ")[2].partition(".\n")[0]
    advice = advice.partition(" (")[0]
    assert advice
    assert entries(done) == entries(play(tmp_path, command))
    after = entries(play(tmp_path, command, advice, "1"))
    assert any(advice in entry.get("pick", {}).values() for entry in after)


AGAINST_COMPUTER = "play firewall-breach --p2 greedy --seed 1"


def test_undo(tmp_path: Path) -> None:
    """Back to before the last move, with everything kept in the record."""
    done = play(tmp_path, AGAINST_COMPUTER, "bypass", "UNDO")
    before, after = done.out.split("Your last move was taken back.\n")
    assert "Opponent's Firewall: 9\n" in before
    assert after == (
        "\nPlayer 1's Turn:\nYour Firewall: 10\nOpponent's Firewall: 10\n"
        "Choose your action ('attack' or 'bypass'): quit\n"
    )
    assert entries(done)[0] == {"pick": {"1": "bypass"}}
    assert entries(done)[-1] == {"undo": 0, "player": 1}


def test_undo_again_and_again(tmp_path: Path) -> None:
    done = play(tmp_path, AGAINST_COMPUTER, "bypass", "bypass", "undo", "undo", "undo")
    assert done.out.count("Your last move was taken back.\n") == 2
    assert done.out.count("There is nothing to undo.\n") == 1
    assert done.out.splitlines()[-4] == "Opponent's Firewall: 10"


def test_undo_does_not_show_what_the_computer_will_seal(tmp_path: Path) -> None:
    """After a reveal and an undo the computer chooses anew: with six seeds and ten numbers it would
    hardly ever repeat itself in all of them by chance."""
    repeated = []
    for seed in range(6):
        command = f"play number-clash --p2 random --seed {seed}"
        done = play(tmp_path, command, "5", "undo", "5")
        first, second = (
            line for line in done.out.splitlines() if line.startswith("Player 2 chose: ")
        )
        repeated.append(first == second)
    assert not all(repeated)


def test_between_two_people_an_undo_is_an_offer(tmp_path: Path) -> None:
    """Player 1 has no move to take back when Player 2 is asked; then the other has to agree."""
    done = play(tmp_path, FIREWALL, "bypass", "bypass", "undo", "perhaps", "no", "undo", "yes")
    question = "Player 2, may Player 1 take back the last move? (yes or no): "
    assert done.out.count(question) == 3
    assert "Player 2 does not agree.\n" in done.out
    assert "Player 1's last move was taken back.\n" in done.out
    bypassed = [{"pick": {"1": "bypass"}}, {"pick": {"2": "bypass"}}]
    assert entries(done) == [*bypassed, {"undo": 0, "player": 1}]


def test_undo_does_not_reroll(tmp_path: Path) -> None:
    typed = ["attack", "undo"] * 4 + ["attack"]
    done = play(tmp_path, "play firewall-breach --p2 greedy --seed 3", *typed)
    rolls = {line for line in done.out.splitlines() if line.startswith("You rolled")}
    assert len(rolls) == 1


def test_undo_of_a_defence_shows_the_attack_again(tmp_path: Path) -> None:
    """Ruling D1: the defender sees the attack before answering, this time too."""
    command = "play digit-duel --p2 greedy --first 2 --seed 1"
    done = play(tmp_path, command, "5", "undo")
    again = done.out.partition("Your last move was taken back.\n")[2]
    assert "Enter your Defense Value: quit" in again
    assert "Player 2 attacks with " in again


def test_resign(tmp_path: Path) -> None:
    done = run(tmp_path, FIREWALL, typed=["bypass", "Resign"])
    assert done.code == 0
    assert done.out.endswith("\nPlayer 2 resigned.\nPlayer 1 Wins!\n")


@pytest.mark.parametrize(("typed", "loser"), [(["resign"], 1), (["7", "resign"], 2)])
def test_resign_from_a_sealed_choice(typed: list[str], loser: int, tmp_path: Path) -> None:
    """The game is over at once: no player is asked anything more."""
    done = run(tmp_path, CLASH, typed=[*typed, "3"])
    assert done.out.count("enter your chosen number") == loser
    assert done.out.endswith(
        f"\nPlayer {loser} resigned.\nPlayer {3 - loser} wins the game!\n"
        "Thank you for playing Number Clash.\n"
    )
    assert (done.code, done.err) == (0, "")


def test_save(tmp_path: Path) -> None:
    """The path is told, and the game goes on."""
    done = play(tmp_path, FIREWALL, "bypass", "save", "bypass")
    note = done.err.splitlines()[0]
    assert note.startswith(f"Saved in {tmp_path}")
    assert Path(note.removeprefix("Saved in ")) == saved_path(done.err)
    assert len(entries(done)) == 2


def test_save_under_a_name(tmp_path: Path) -> None:
    name = "My game, one.json"
    done = play(tmp_path, FIREWALL, "bypass", f"SAVE {name}", "bypass")
    assert f"Saved in {name}\n" in done.err
    record = record_at(tmp_path / name)
    assert len(record["entries"]) == 2
    assert done.err.endswith(f"resume '{name}'\n"), "a match is kept where it was saved"


@pytest.mark.parametrize("name", ["letter.txt", ".", "missing/file.json"])
def test_save_where_it_must_not(name: str, tmp_path: Path) -> None:
    """Something that is no record is not written over; the reason is told and the game goes on."""
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Ann", encoding="utf-8")
    done = play(tmp_path, FIREWALL, f"save {name}", "bypass")
    assert letter.read_text(encoding="utf-8") == "Dear Ann"
    assert name in done.out.splitlines()[5]
    assert "Saved in" not in done.err
    assert entries(done) == [{"pick": {"1": "bypass"}}]


@pytest.mark.parametrize("word", ["quit", "QUIT", "exit"])
def test_quit(word: str, tmp_path: Path) -> None:
    done = run(tmp_path, FIREWALL, typed=["bypass", word, "attack"])
    assert done.code == 0
    assert entries(done) == [{"pick": {"1": "bypass"}}]
