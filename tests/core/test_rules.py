"""The rules as they are shown: with the values in force, and each ruling once."""

from __future__ import annotations

import re

import pytest

from duels.core.game import AnyGame
from duels.core.presentation import HEADING, tone
from duels.core.rules_text import rules
from duels.games import BUILT_IN, load
from tests.variants import VARIANTS


def text_of(game: AnyGame, **more: int) -> str:
    """The whole text in one line, so that it does not matter where lines end."""
    return re.sub(r"\s+", " ", " ".join(rules(game, **more)))


@pytest.mark.parametrize("slug", BUILT_IN)
def test_every_ruling_stands_there_once(slug: str) -> None:
    ids = [m[1] for line in rules(load(slug)) if (m := re.match(r"  ([A-Z]\d+)\. ", line))]
    own = [ruling for ruling in ids if not ruling.startswith("A")]
    assert len(ids) == len(set(ids))
    assert own == [f"{own[0][0]}{number}" for number in range(1, len(own) + 1)]
    assert ids[len(own) :] == [f"A{number}" for number in range(1, 8)]


@pytest.mark.parametrize("slug", BUILT_IN)
def test_headings_are_marked_as_such(slug: str) -> None:
    game = load(slug)
    found = [line for line in rules(game) if tone(line) == HEADING]
    assert found == [game.title, "Rulings", "All games", "Options (name=value)"]


@pytest.mark.parametrize(
    ("slug", "options", "there", "not_there"),
    [
        ("firewall-breach", {"strength": 5}, ["of strength 5."], ["strength 10"]),
        ("firewall-breach", {"strength": "7/8"}, ["7 (Player 1) or 8 (Player 2)"], []),
        (
            "firewall-breach",
            {"hit": 4, "bypass": 2},
            ["loses 4.", "loses 2,", "a hit of 4 breaks any firewall of 4 or less"],
            ["loses 3", "loses 1", "hit of 3"],
        ),
        ("number-clash", {}, ["9 beats 10.", "10 beats 1.", "3 points wins"], []),
        (
            "number-clash",
            {"numbers": 7, "points": 1},
            ["the numbers 1 to 7,", "reach 1 point wins", "6 beats 7.", "7 beats 1."],
            ["1 to 10", "9 beats 10", "3 points", "1 points"],
        ),
        ("number-clash", {"numbers": 3}, ["1 beats 2, and 2 beats 3.", "3 beats 1."], []),
        ("number-clash", {"numbers": 2, "points": 1}, ["1 beats 2."], ["2 beats 1", "wrap"]),
        ("number-clash", {"numbers": 1, "points": 1}, ["cannot happen"], ["0 beats 1", "wrap"]),
        ("cipher-siege", {}, ["2 + 3 + 4 = 9, and 3 more make 12", "20 cards: the ace to 5"], []),
        (
            "cipher-siege",
            {"values": 3, "copies": 2, "limit": 3, "integrity": 9},
            ["(CI): 9.", "2 cards of each value from 1 to 3", "hold 3 cards", "hold 4 until",
             "1 + 2 + 3 = 6, and 3 more make 9", "2, 3, 3 and 1, 1 earn none", "has 6 cards. "],
            ["15.", "2 + 3 + 4", "4, 4, 4", "2, 3, 5", "20 cards", "twenty", "ordinary pack"],
        ),
        ("cipher-siege", {"limit": 1, "hand": 1}, ["1 + 2 = 3, and 2 more make 5", "1 card at"],
         ["1 cards", "2, 3, 5"]),
        ("cipher-siege", {"values": 1, "hand": 1}, ["per card. ", "1, 1 earn none"], ["ace to 1"]),
        ("cipher-siege", {"swap": "chosen"}, ["a card that the opponent chooses"], ["at random"]),
        ("digit-duel", {}, ["after exactly 9 turns", "two choices in a row"], []),
        (
            "digit-duel",
            {"digits": 7, "life": 12},
            ["points: 12.", "digits 1 to 7,", "exactly 7 turns"],
            ["points: 10", "1 to 9", "9 turns"],
        ),
        ("digit-duel", {"digits": 1}, ["exactly 1 turn."], ["1 turns"]),
        (
            "digit-duel",
            {"hidden": "yes"},
            ["digit in secret", "The defender does the same", "Now: hidden=yes"],
            ["announces it", "two choices in a row"],
        ),
        ("number-wars", {}, ["(LP): 100.", "There are no draws.", "deal 55"], []),
        (
            "number-wars",
            {"numbers": 7, "lp": 40},
            ["(LP): 40.", "from 1 to 7 ", "deal 28", "outside 1 to 7 "],
            ["1 to 10", "55", "100."],
        ),
        ("number-wars", {"refresh": "no"}, ["equal LP are a draw", "Now: refresh=no"],
         ["There are no draws"]),
        ("number-wars", {"first": "2"}, ["Player 2 moves first."], ["Player 1 moves first"]),
    ],
)  # fmt: skip
def test_the_values_in_force_are_told(
    slug: str, options: dict[str, object], there: list[str], not_there: list[str]
) -> None:
    """Also the examples are such as the variant can have."""
    told = text_of(load(slug, **options)).partition(" Options (")[0]
    told = told.partition(" A7. ")[0]  # which shows how a pair is written
    assert [words for words in there if words not in told] == []
    assert [words for words in not_there if words in told] == []


@pytest.mark.parametrize("slug", BUILT_IN)
def test_time_is_told_once_and_as_it_is(slug: str) -> None:
    """The common ruling used to contradict the game whose turns can be lost."""
    game = load(slug)
    told = text_of(game)
    assert told.count("A player who overruns a limit for each choice") == 1
    loses_turn = "a limit for each choice loses the turn; one who has used up a budget" in told
    assert loses_turn == (game.timeout_move is not None)
    assert ("Both late in a sealed choice: a draw." in told) == (game.timeout_move is None)


def test_the_turn_limit_in_force() -> None:
    game = load("number-clash")
    assert "After 500 resolved choices" in text_of(game)
    told = text_of(game, turn_limit=40)
    assert "After 40 resolved choices the match ends without a winner. A sealed pair" in told
    assert "500" not in told


@pytest.mark.parametrize("slug", BUILT_IN)
def test_options_have_their_values_and_defaults(slug: str) -> None:
    lines = rules(load(slug, first=1))
    shown = lines[lines.index("Options (name=value)") + 1 :]
    assert [line.split()[0] for line in shown] == list(load(slug).options())
    assert all(" (default: " in line for line in shown[:-1])
    assert shown[-1].endswith(" (now 2, default: 1)")


def test_a_pair_is_explained_where_there_is_one() -> None:
    assert "such as life=9/10." in text_of(load("digit-duel"))
    assert "handicap" not in text_of(load("number-clash"))


@pytest.mark.parametrize("game", VARIANTS, ids=repr)
def test_every_variant_has_rules_without_gaps(game: AnyGame) -> None:
    told = text_of(game)
    assert not re.search(r"[{}]|\.\.| ,| \.", told)
