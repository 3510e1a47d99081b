"""The commands around play: games, rules, replay, the menu, and what misuse says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import duels
from duels.core.chance import first_player
from duels.players import DEFAULT, HUMAN
from tests.terminal_helpers import GAMES, Finished, Screen, run

RULINGS = {
    "firewall-breach": [f"F{n}" for n in range(1, 4)],
    "number-clash": [f"N{n}" for n in range(1, 7)],
    "cipher-siege": [f"C{n}" for n in range(1, 10)],
    "digit-duel": [f"D{n}" for n in range(1, 7)],
    "number-wars": [f"W{n}" for n in range(1, 6)],
}
OPTIONS = {  # ruling A7
    "firewall-breach": ["strength", "hit", "bypass", "first"],
    "number-clash": ["numbers", "points", "first"],
    "cipher-siege": ["integrity", "values", "copies", "hand", "limit", "swap", "first"],
    "digit-duel": ["life", "digits", "hidden", "first"],
    "number-wars": ["lp", "numbers", "refresh", "memory", "first"],
}


def test_version(tmp_path: Path) -> None:
    assert run(tmp_path, "--version") == Finished(f"duels {duels.__version__}\n", "", 0)


def test_games(tmp_path: Path) -> None:
    done = run(tmp_path, "games")
    assert done.code == 0
    assert {line.split()[0] for line in done.out.splitlines()} == set(OPTIONS)


def test_games_for_programs(tmp_path: Path) -> None:
    listed = json.loads(run(tmp_path, "games --json").out)
    assert {game["slug"]: list(game["options"]) for game in listed} == OPTIONS
    by_slug = {game["slug"]: game for game in listed}
    assert by_slug["digit-duel"]["title"] == "Digit Duel"
    assert by_slug["digit-duel"]["options"]["life"]["default"] == "10"
    assert by_slug["cipher-siege"]["options"]["swap"]["takes"] == "random or chosen"


@pytest.mark.parametrize("slug", RULINGS)
def test_rules(slug: str, tmp_path: Path) -> None:
    """The numbered rulings, each once, and every option, for each name that can only mean this."""
    done = run(tmp_path, f"rules {slug}")
    assert done.code == 0
    words = [line.split()[0] for line in done.out.splitlines() if line.startswith("  ")]
    for ruling in (*RULINGS[slug], "A1", "A2", "A3", "A5"):
        assert words.count(f"{ruling}.") == 1
    assert [word for word in words if word in OPTIONS[slug]][-len(OPTIONS[slug]) :] == OPTIONS[slug]
    shortest = slug[: len("number-") + 1] if slug.startswith("number") else slug[0]
    for name in (shortest, slug.upper(), slug.replace("-", "_")):
        assert run(tmp_path, f"rules {name}").out == done.out


@pytest.mark.parametrize("slug", GAMES)
def test_replay(slug: str, tmp_path: Path) -> None:
    """Told from the table, the match ends as it was played."""
    game = GAMES[slug]
    played = run(
        tmp_path, f"play {slug} {game.arguments}", "--save", "game.json", typed=game.typed
    ).out
    done = run(tmp_path, "replay game.json")
    assert done.code == 0
    assert done.out == run(tmp_path, "replay game.json --print --view table").out
    assert done.out.splitlines()[-2:] == played.splitlines()[-2:]
    data = json.loads((tmp_path / "game.json").read_text(encoding="utf-8"))
    assert json.loads(run(tmp_path, "replay game.json --json").out) == data


@pytest.mark.parametrize(
    ("command", "typed"),
    [
        ("digit-duel --first 2", GAMES["digit-duel"].typed),
        ("number-wars --set lp=10", ["7", "7", "7", "2", "3"]),
        (
            "cipher-siege --seed 2029",
            [
                *("attack", "2, 3", "swap", "1", "defend", "4", "attack", "1, 2, 3, 4"),
                *("attack", "1, 2", "swap", "1", "defend", "3", "attack", "1, 3"),
            ],
        ),
    ],
)
def test_a_replay_shows_every_choice(command: str, typed: list[str], tmp_path: Path) -> None:
    """The prompts with their answers, so that it is the transcript of two people."""
    played = run(tmp_path, f"play {command} --p2 human --save game.json", typed=typed)
    assert played.code == 0
    assert run(tmp_path, "replay game.json").out == played.out


def test_a_replay_shows_sealed_choices_and_those_of_one_seat(tmp_path: Path) -> None:
    run(tmp_path, "play clash --p2 human --set points=1 --save game.json", typed=["7", "9"])
    prompt = (
        "Player {}, enter your chosen number from your available numbers [1,2,3,4,5,6,7,8,9,10]: {}"
    )
    one, two = prompt.format(1, 7), prompt.format(2, 9)
    assert f"{one}\n{two}\nPlayer 1 chose: 7\n" in run(tmp_path, "replay game.json").out
    seen = run(tmp_path, "replay game.json --view 2").out
    assert two in seen
    assert one not in seen
    spectator = run(tmp_path, "replay game.json --view spectator").out
    assert "enter your" not in spectator


def test_replay_of_a_spectator_and_of_a_player(tmp_path: Path) -> None:
    game = GAMES["cipher-siege"]
    run(tmp_path, f"play cipher-siege {game.arguments} --save game.json", typed=game.typed)
    spectator = run(tmp_path, "replay game.json --view spectator").out
    assert "[" not in spectator
    assert "You" not in spectator
    assert "Player 2's CI reduced to 8\n" in spectator
    for view, other in ((1, 2), (2, 1)):
        shown = run(tmp_path, f"replay game.json --view {view}").out
        turns = re.findall(r"=== (Your|Player \d) Turn ===(.*?)(?==== |\Z)", shown, re.DOTALL)
        assert len(turns) == 8
        for whose, turn in turns:
            assert whose in ("Your", f"Player {other}")
            assert ("Hand: [" in turn) == (whose == "Your")
            assert ("Draws a card" in turn) == (whose != "Your")


def test_replay_of_an_undo_and_of_an_unfinished_match(tmp_path: Path) -> None:
    command = "play firewall-breach --p2 greedy --seed 1 --save game.json"
    run(tmp_path, command, typed=["bypass", "undo", "attack", "quit"])
    done = run(tmp_path, "replay game.json")
    assert done.code == 0
    assert done.out.count("(Player 1 takes back a move.)\n") == 1
    assert "Wins!" not in done.out


def step_through(home: Path) -> Screen:
    run(home, "play firewall-breach --p1 greedy --p2 greedy --seed 1 --save game.json")
    screen = Screen(home, "replay game.json --plain")
    screen.wait(r"\[Enter: next, q: quit\] ")
    return screen


def test_replay_step_by_step(tmp_path: Path) -> None:
    screen = step_through(tmp_path)
    assert screen.text.count("'s Turn:") == 1
    screen.type("")
    screen.wait(r"\[Enter: next, q: quit\] ")
    assert screen.text.count("'s Turn:") == 2
    screen.type("q")
    assert screen.end() == 0


def test_replay_is_left_by_ctrl_d(tmp_path: Path) -> None:
    screen = step_through(tmp_path)
    screen.child.sendeof()
    assert screen.end() == 0


def test_replay_is_left_by_ctrl_c(tmp_path: Path) -> None:
    screen = step_through(tmp_path)
    screen.child.sendintr()
    assert screen.end() == 130


def test_menu(tmp_path: Path) -> None:
    """Number or name for the game and the opponent, Enter for the defaults."""
    for choice in ("1", "f", "Firewall-Breach"):
        done = run(tmp_path, "", typed=[choice, "", "", "bypass", "quit"])
        assert done.code == 0
        assert "You chose to Bypass.\n" in done.out
        assert "Opponent chose to " in done.out
    for opponent in ("8", "hu"):
        done = run(tmp_path, "", typed=["5", opponent, "7", "8", "quit"])
        assert "Player 1 attacks with 7!\n" in done.out
        assert "Player 2 attacks with 8!\n" in done.out
    done = run(tmp_path, "", typed=["5", "greedy", "2", "7", "quit"])
    assert "Player 1 attacks with 10!\n" in done.out
    assert "Player 2 attacks with 7!\n" in done.out


def test_menu_asks_again(tmp_path: Path) -> None:
    done = run(tmp_path, "", typed=["chess", "number", "2", "wat", "9", "random", "3", "", "quit"])
    assert done.code == 0
    assert done.out.count("Which game?") == 3
    assert done.out.count("Who is your opponent?") == 3
    assert done.out.count("Are you Player 1 or Player 2?") == 2


def test_menu_left_at_the_end_of_input(tmp_path: Path) -> None:
    """Nothing was begun, so nothing is left behind."""
    for typed in ([], ["1"], ["1", "easy"]):
        done = run(tmp_path, "", typed=typed)
        assert (done.code, done.err) == (0, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("typed", [["quit"], ["1", "quit"]])
def test_menu_left_with_quit(typed: list[str], tmp_path: Path) -> None:
    """The word that leaves a game leaves the menu: nothing is asked after it."""
    done = run(tmp_path, "", typed=typed)
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(" quit\n")


def test_menu_left_by_ctrl_c(tmp_path: Path) -> None:
    screen = Screen(tmp_path, "")
    screen.wait(r"Which game\? \(number or name, rules GAME or quit\) ")
    screen.child.sendintr()
    assert screen.end() == 130


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("play", "name the game to play"),
        ("frobnicate", "there is no command 'frobnicate'"),
        ("play chess", "there is no game 'chess'; choose from firewall-breach, number-clash, "),
        ("play number", "'number' could be number-clash or number-wars"),
        ("rules n", "'n' could be number-clash or number-wars"),
        ("play fire --p1 nobody", "there is no player 'nobody'; choose from human, "),
        ("play fire --first 3", "argument --first: invalid choice: '3'"),
        ("play fire --seed -1", "argument --seed: expected"),
        (
            "play fire --seed x",
            "expected a whole number, 0 or more, with at most 40 digits; got 'x'",
        ),
        ("play fire --set strength", "expected OPTION=VALUE; got 'strength'"),
        ("play fire --set life=9", "has no option 'life'; it has strength, hit, bypass, first"),
        ("play fire --set self=9", "has no option 'self'; it has strength, hit, bypass, first"),
        ("play fire --set strength=0", "strength takes a number from 1 to 999, or two such as"),
        ("play fire --set first=3", "first takes 1 or 2; got '3'"),
        ("play cipher --set hand=9", "hand=9 is more than limit=5 allows"),
        ("play fire --time-limit 0", "expected a number above 0, at most 1000000; got '0'"),
        ("play fire --time-limit nan", "expected a number above 0, at most 1000000; got 'nan'"),
        ("play fire --time-limit soon", "expected a number above 0, at most 1000000; got 'soon'"),
        ("replay game.json --view 3", "argument --view: invalid choice: '3'"),
    ],
)
def test_misuse(command: str, reason: str, tmp_path: Path) -> None:
    """Exit code 2, nothing played, and the last line says what was wrong."""
    done = run(tmp_path, command, typed=["attack"])
    assert (done.code, done.out) == (2, "")
    assert reason in done.err.splitlines()[-1]


def test_first(tmp_path: Path) -> None:
    for first in (1, 2):
        done = run(tmp_path, f"play firewall-breach --p2 human --first {first}")
        assert done.out.startswith(f"[Game Start]\n\nPlayer {first}'s Turn:\n")


def test_first_at_random(tmp_path: Path) -> None:
    """Resolved once, from the seed, and recorded, so a resumed match knows it."""
    seen = set()
    for seed in range(6):
        player = first_player(seed) + 1
        seen.add(player)
        command = f"play firewall-breach --p2 human --first random --seed {seed} --save {seed}.json"
        done = run(tmp_path, command, typed=["bypass"])
        assert done.out.startswith(f"[Game Start]\n\nPlayer {player}'s Turn:\n")
        data = json.loads((tmp_path / f"{seed}.json").read_text(encoding="utf-8"))
        assert data["options"]["first"] == str(player)
        resumed = run(tmp_path, f"resume {seed}.json")
        assert resumed.out.startswith(f"Player {3 - player}'s Turn:\n")
    assert seen == {1, 2}


def test_settings_reach_the_game(tmp_path: Path) -> None:
    done = run(tmp_path, "play digit-duel --p2 human --set life=9/10 --set digits=3")
    assert "Available Digits: 1,2,3\nLife Points: Player 1 - 9, Player 2 - 10\n" in done.out


def test_the_default_opponent_is_medium(tmp_path: Path) -> None:
    done = run(tmp_path, "play number-wars --save game.json", typed=["1"])
    assert "Player 2 attacks with " in done.out
    data = json.loads((tmp_path / "game.json").read_text(encoding="utf-8"))
    assert data["players"] == [HUMAN, DEFAULT] == ["human", "medium"]


def test_colours_are_not_for_pipes(tmp_path: Path) -> None:
    assert "\x1b" not in run(tmp_path, "play firewall-breach", typed=["attack", "quit"]).out
