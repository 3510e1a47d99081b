"""The command-line sample of each rulebook, through the real command.

Ruling A6 names the only lines that may stand between a sample's own. Seeds are the ones that bring
the dice and cards of the sample: `first_seed` finds them, and each test checks its own.
"""

from __future__ import annotations

from pathlib import Path

from duels.games import load
from tests.terminal_helpers import first_seed, fits, run

FIREWALL = """\
[Game Start]

Player 1's Turn:
Your Firewall: 10
Opponent's Firewall: 10
Choose your action ('attack' or 'bypass'): attack
You chose to Attack.
Rolling dice...
You rolled a 5.
Attack successful! Opponent's firewall reduced by 3.

Player 2's Turn:
Your Firewall: 10
Opponent's Firewall: 7
Opponent chose to Attack.
Opponent rolled a 2.
Attack failed! Your firewall remains the same.

Player 1's Turn:
Your Firewall: 10
Opponent's Firewall: 7
Choose your action ('attack' or 'bypass'): bypass
You chose to Bypass.
Opponent's firewall reduced by 1.
"""


def test_firewall_breach(tmp_path: Path) -> None:
    """firewall-breach.txt:156-179: Player 1 at the screen, Player 2 elsewhere."""
    script = ["attack", "5", "attack", "2", "bypass", "attack", "1"]
    seed = 176
    assert fits(load("firewall-breach"), seed, script)
    assert first_seed(load("firewall-breach"), script) == seed
    done = run(
        tmp_path,
        f"play firewall-breach --p1 human --p2 greedy --seed {seed}",
        typed=["attack", "bypass", "quit"],
    )
    rest = """
Player 2's Turn:
Your Firewall: 10
Opponent's Firewall: 6
Opponent chose to Attack.
Opponent rolled a 1.
Attack failed! Your firewall remains the same.

Player 1's Turn:
Your Firewall: 10
Opponent's Firewall: 6
Choose your action ('attack' or 'bypass'): quit
"""
    assert done.out == FIREWALL + rest


def test_number_clash(tmp_path: Path) -> None:
    """number-clash.txt:226-261 as round 3 of the game of lines 126-183, with 9 against 10 for the
    illegal 6 (ruling N5). The rounds are numbered, and the sealed picks not shown (A6)."""
    done = run(
        tmp_path,
        "play number-clash --p1 human --p2 human --seed 1",
        typed=["7", "8", "10", "6", "9", "10"],
    )
    assert done.code == 0
    assert done.err == ""
    assert (
        done.out
        == """\
Round 1
Player 1, enter your chosen number from your available numbers [1,2,3,4,5,6,7,8,9,10]:
Player 2, enter your chosen number from your available numbers [1,2,3,4,5,6,7,8,9,10]:
Player 1 chose: 7
Player 2 chose: 8
Underdog Rule Activated! Player 1 wins the round!
Current Scores:
Player 1: 1
Player 2: 0

Round 2
Player 1, enter your chosen number from your available numbers [1,2,3,4,5,6,8,9,10]:
Player 2, enter your chosen number from your available numbers [1,2,3,4,5,6,7,9,10]:
Player 1 chose: 10
Player 2 chose: 6
Round Result: Player 1 wins the round!
Current Scores:
Player 1: 2
Player 2: 0

Round 3
Player 1, enter your chosen number from your available numbers [1,2,3,4,5,6,8,9]:
Player 2, enter your chosen number from your available numbers [1,2,3,4,5,7,9,10]:
Player 1 chose: 9
Player 2 chose: 10
Underdog Rule Activated! Player 1 wins the round!
Current Scores:
Player 1: 3
Player 2: 0

Player 1 has reached 3 points and wins the game!
Thank you for playing Number Clash.
"""
    )


SIEGE = """\
=== Player 1 Turn ===
CI: 15
Hand: [2, 3, 5]
Draws card: 3
New Hand: [2, 3, 5, 3]
Choose action: Attack
Select cards to play: 2, 3, 5
Attack Value: 10
Opponent's CI reduced to 5
Discards used cards: 2, 3, 5
End of turn.

=== Player 2 Turn ===
CI: 5
Hand: [1, 4, 4]
Draws card: 4
New Hand: [1, 4, 4, 4]
Choose action: Attack
Select cards to play: 4, 4, 4
Attack Value: 12
Opponent's CI reduced to 3
Discards used cards: 4, 4, 4
End of turn.
"""


PUBLIC = ("Opponent's CI: ", "Opponent's Hand: ", "Deck: ", "Discards: ")


def without_public(text: str) -> tuple[str, list[str]]:
    """The public facts are told before each choice (A6); what is left is the sample's."""
    lines = text.splitlines(keepends=True)
    told = [line for line in lines if line.startswith(PUBLIC)]
    return "".join(line for line in lines if line not in told), [line.rstrip() for line in told]


def test_cipher_siege(tmp_path: Path) -> None:
    """cipher-siege.txt:180-202, typed just as it is there; then the next turn and its end."""
    seed = 126764  # first_seed of this deal and these draws
    script = ["2", "1", "3", "4", "5", "4", "3", "attack 2 3 5", "4", "attack 4 4 4"]
    assert fits(load("cipher-siege"), seed, script)
    done = run(
        tmp_path,
        f"play cipher-siege --p1 human --p2 human --seed {seed}",
        typed=["Attack", "2, 3, 5", "Attack", "4, 4, 4", "quit"],
    )
    shown, told = without_public(done.out)
    assert told[:4] == [
        "Opponent's CI: 15",
        "Opponent's Hand: 3 cards",
        "Deck: 13",
        "Discards: none",
    ]
    assert told[4:8] == [
        "Opponent's CI: 15",
        "Opponent's Hand: 1 card",
        "Deck: 12",
        "Discards: 2 3 5",
    ]
    assert shown.startswith(SIEGE)
    rest = shown.removeprefix(SIEGE).splitlines()
    assert rest[:4] == ["", "=== Player 1 Turn ===", "CI: 3", "Hand: [3]"]
    assert rest[-1] == "Choose action: quit"


def test_cipher_siege_sequence(tmp_path: Path) -> None:
    """cipher-siege.txt:100-104 on the screen: the bonus and the total stand between (A6)."""
    seed = 83264  # first_seed of this deal and this draw
    script = ["2", "1", "3", "4", "4", "4", "1"]
    assert fits(load("cipher-siege"), seed, script)
    done = run(
        tmp_path,
        f"play cipher-siege --p1 human --p2 human --seed {seed}",
        typed=["attack 2 3 4", "quit"],
    )
    assert without_public(done.out)[0].splitlines()[:12] == [
        "=== Player 1 Turn ===",
        "CI: 15",
        "Hand: [2, 3, 4]",
        "Draws card: 1",
        "New Hand: [2, 3, 4, 1]",
        "Choose action: attack 2 3 4",
        "Attack Value: 9",
        "Sequence Bonus: +3",
        "Total Attack: 12",
        "Opponent's CI reduced to 3",
        "Discards used cards: 2, 3, 4",
        "End of turn.",
    ]


DUEL = """\
--- Player 1's Turn ---
Available Digits: 1,2,3,4,9
Life Points: Player 1 - 6, Player 2 - 8
Enter your Attack Value: 4
Player 1 attacks with 4

--- Player 2's Defense ---
Available Digits: 1,2,3,4,7
Life Points: Player 2 - 8
Enter your Defense Value: 3

--- Turn Resolution ---
Player 1 attacked with 4
Player 2 defended with 3
Damage Dealt: 4 - 3 = 1
Player 2 Life Points: 8 - 1 = 7

--- End of Turn ---
"""


def test_digit_duel(tmp_path: Path) -> None:
    """digit-duel.txt:161-177 as turn 5 of the game of lines 95-150. The attack is announced before
    the defence is asked for (A6), and the 4 that Player 2 still has is listed (D5)."""
    done = run(
        tmp_path,
        "play digit-duel --p1 human --p2 human --seed 1",
        typed=["7", "5", "9", "8", "6", "6", "8", "5", "4", "3", "quit"],
    )
    before, found, after = done.out.partition(DUEL)
    assert found
    assert (
        after
        == """
--- Player 2's Turn ---
Available Digits: 1,2,4,7
Life Points: Player 1 - 6, Player 2 - 7
Enter your Attack Value: quit
"""
    )
    # digit-duel.txt:125-135: the words for a blocked attack come from the example's turn 3.
    assert (
        """
--- Turn Resolution ---
Player 1 attacked with 6
Player 2 defended with 6
No damage dealt

--- End of Turn ---
"""
        in before
    )


WARS_START = """\
--- Number Wars Game Start ---

Player 1 LP: 100
Player 2 LP: 100

Player 1, enter your attack number (1-10): 7
Player 1 attacks with 7!
Player 2 LP is now 93.

Player 2, enter your attack number (1-10): 5
Player 2 attacks with 5!
Player 1 LP is now 95.

Player 1, enter your attack number (1-10): 9
Player 1 attacks with 9!
Player 2 LP is now 84.

Player 2, enter your attack number (1-10): 5
Invalid move! You have already used the number 5.
You lose your turn.

Player 1, enter your attack number (1-10): 4
Player 1 attacks with 4!
Player 2 LP is now 80.
"""
WARS_END = """
Player 2, enter your attack number (1-10): 10
Player 2 attacks with 10!
Player 1 LP is now -5.

Player 2 wins the game!

--- Game Over ---
"""

# Player 2 goes on through the record, clears it and brings Player 1 from 95 to 5 before the 10;
# Player 1 loses every turn after the sample's third by repeating the 7.
TWO = ["1", "2", "3", "4", "6", "7", "8", "9", "10", "9", "8", "7", "6", "5", "4", "1", "10"]
WARS = ["7", "5", "9", "5", "4", *[word for number in TWO for word in (number, "7")][:-1]]


def test_number_wars_without_records(tmp_path: Path) -> None:
    """number-wars.txt:182-215 exactly: with `memory` nothing is added to the sample."""
    done = run(
        tmp_path,
        "play number-wars --p1 human --p2 human --seed 1 --set memory=yes",
        typed=WARS,
    )
    assert done.code == 0
    assert done.out.startswith("Options: memory=yes\n" + WARS_START)
    assert done.out.endswith(WARS_END)
    assert "Used Numbers" not in done.out


def test_number_wars(tmp_path: Path) -> None:
    """number-wars.txt:182-215 with both records before each choice, as A6 and W4 have it."""
    done = run(tmp_path, "play number-wars --p1 human --p2 human --seed 1", typed=WARS)
    lines = done.out.splitlines(keepends=True)
    records = [line for line in lines if " Used Numbers: " in line]
    assert len(records) == 2 * len(WARS)
    assert records[6:8] == ["Player 1 Used Numbers: 7, 9\n", "Player 2 Used Numbers: 5\n"]
    rest = "".join(line for line in lines if line not in records)
    assert rest.startswith(WARS_START)
    assert rest.endswith(WARS_END)
    for number, line in enumerate(lines):
        if "enter your attack number" in line:
            assert lines[number - 3] == "\n"
            assert lines[number - 2] in records
            assert lines[number - 1] in records
