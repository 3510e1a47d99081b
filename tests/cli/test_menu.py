"""The menu: what it shows at any width, and what it understands."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duels.cli.autosave import Autosave
from duels.cli.files import UnfinishedMatch
from duels.cli.menu import Chosen, MenuEntry, greeting, opponents, question, read
from duels.cli.resume import matches
from duels.core import Match
from duels.core.errors import DuelsError
from duels.games import BUILT_IN, find, load
from duels.players import BUILT_IN as OPPONENTS
from tests.terminal_helpers import run

GAMES = [MenuEntry(slug, find(slug).title, find(slug).summary) for slug in BUILT_IN]
LEFT = [
    UnfinishedMatch("/a/1.json", "Number Wars", ("human", "perfect"), 12, 1e9),
    UnfinishedMatch("/a/2.json", "Digit Duel", ("human", "human"), 1, 1e8),
]
WIDTHS = (20, 40, 80, 200)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("left", [[], LEFT[:1], LEFT])
def test_everything_is_said_and_fits(width: int, left: list[UnfinishedMatch]) -> None:
    lines = greeting(width, GAMES, left)
    asked = question(width, left)
    assert max(map(len, [*lines, *asked, *opponents(width), *matches(width, left)])) <= width
    shown = " ".join(" ".join(lines).split())
    for number, game in enumerate(GAMES, 1):
        assert f"{number}. {game.title} {game.summary}" in shown
    assert ("resumed" in shown) == bool(left)
    prompt = " ".join(asked)
    assert ("resume" in prompt) == bool(left)
    assert all(word in prompt for word in ("number", "name", "rules GAME", "quit"))


@pytest.mark.parametrize("width", WIDTHS)
def test_opponents_are_explained(width: int) -> None:
    shown = " ".join(" ".join(opponents(width)).split())
    for name, opponent in OPPONENTS.items():
        assert f". {name} {opponent.about}" in shown
    assert shown.startswith("1. easy")
    assert "8. human another person" in shown


@pytest.mark.parametrize("width", WIDTHS)
def test_matches_are_told_apart(width: int) -> None:
    shown = " ".join(" ".join(matches(width, LEFT)).split())
    assert "1. Number Wars, human against perfect, 12 moves, 2001-09-" in shown
    assert "2. Digit Duel, human against human, 1 move, 1973-03-" in shown


@pytest.mark.parametrize(
    ("typed", "chosen"),
    [
        ("5", Chosen("play", "number-wars")),
        ("Digit Duel", Chosen("play", "digit-duel")),
        ("clash", Chosen("play", "number-clash")),
        ("rules 3", Chosen("rules", "cipher-siege")),
        ("R fire", Chosen("rules", "firewall-breach")),
        ("? number wars", Chosen("rules", "number-wars")),
        ("re", Chosen("resume")),
        ("resume", Chosen("resume")),
        ("q", Chosen("quit")),
        ("EXIT", Chosen("quit")),
    ],
)
def test_answers_are_understood(typed: str, chosen: Chosen) -> None:
    assert read(typed, GAMES, LEFT) == chosen


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("", "Nothing was typed"),
        ("0", "type a number from 1 to 5"),
        ("6", "type a number from 1 to 5"),
        ("99999999", "there is no game '99999999'"),
        ("number", "could be number-clash or number-wars"),
        ("chess", "there is no game 'chess'"),
        ("rules", "The rules of which game"),
        ("rules chess", "there is no game 'chess'"),
        ("resume", "no match to resume"),
        ("\x1b[2J", "there is no game"),
    ],
)
def test_other_answers_are_refused_with_the_reason(typed: str, says: str) -> None:
    with pytest.raises(DuelsError, match=says) as refusal:
        read(typed, GAMES, [])
    assert str(refusal.value).isprintable()


def test_rules_from_the_menu_come_back_to_it(tmp_path: Path) -> None:
    done = run(tmp_path, "", typed=["rules 1", "nonsense", "quit"])
    assert (done.code, done.err) == (0, "")
    assert done.out.count("Which game?") == 3
    assert "  F3. With the default options" in done.out


def test_resuming_from_the_menu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One match at once; of several, the one that is asked for."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    old = Autosave(None, print).leave(Match(load("digit-duel"), 1))
    assert old in run(tmp_path, "", typed=["resume", "quit"]).err
    new = Autosave(None, print).leave(Match(load("firewall-breach"), 1))
    for typed, place in (("", new), ("2", old)):
        os.utime(old, (1, 1))
        done = run(tmp_path, "", typed=["resume", typed, "quit"])
        assert done.code == 0
        assert place in done.err
