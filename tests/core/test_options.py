"""Rule options: read from text or values, refused with what was expected."""

from __future__ import annotations

import pytest

from duels.core.errors import OptionError
from duels.games import BUILT_IN, load


@pytest.mark.parametrize("slug", BUILT_IN)
def test_settings_are_the_text_that_makes_the_same_game(slug: str) -> None:
    game = load(slug)
    again = load(slug, **game.settings())
    assert again == game
    assert hash(again) == hash(game)
    assert load(slug, first="2") == load(slug, first=1) != game


def test_values_and_text_mean_the_same() -> None:
    assert load("digit-duel", life="9/10", hidden="yes") == load(
        "digit-duel", life=(9, 10), hidden=True
    )
    assert load("digit-duel", life=7) == load("digit-duel", life="7/7")
    assert load("cipher-siege", swap="CHOSEN").settings()["swap"] == "chosen"


@pytest.mark.parametrize(
    ("slug", "options", "says"),
    [
        ("digit-duel", {"life": "0"}, "life takes a number from 1 to 999, or two such as 9/10"),
        ("digit-duel", {"life": "9/10/11"}, "got '9/10/11'"),
        ("digit-duel", {"life": "9/"}, "got '9/'"),
        ("digit-duel", {"life": 1.5}, "got 1.5"),
        ("digit-duel", {"life": True}, "got True"),
        ("digit-duel", {"digits": "9" * 5000}, "digits takes a number from 1 to 20"),
        ("digit-duel", {"digits": "٣"}, "digits takes a number"),
        ("digit-duel", {"hidden": "maybe"}, "hidden takes yes or no; got 'maybe'"),
        ("digit-duel", {"lives": "3"}, "no option 'lives'; it has life, digits, hidden, first"),
        ("cipher-siege", {"swap": "never"}, "swap takes random or chosen"),
        ("cipher-siege", {"copies": "1"}, "copies takes a number from 2"),
        ("cipher-siege", {"hand": "6"}, "hand=6 is more than limit=5 allows"),
        ("cipher-siege", {"values": "1", "copies": "2"}, "needs 6 cards; there are 2"),
        ("number-clash", {"points": "11"}, "points=11 is more than 10 numbers can earn"),
        ("number-wars", {"first": "3"}, "first takes 1 or 2; got '3'"),
        ("firewall-breach", {"hit": "0"}, "hit takes a number from 1"),
    ],
)
def test_wrong_options_are_refused(slug: str, options: dict[str, object], says: str) -> None:
    with pytest.raises(OptionError) as caught:
        load(slug, **options)
    assert says in str(caught.value)


def test_a_game_cannot_be_changed() -> None:
    game = load("digit-duel")
    with pytest.raises(AttributeError, match="make a new DigitDuel"):
        game.life = (1, 1)
    assert game.settings()["life"] == "10"


def test_a_subclass_may_replace_an_option() -> None:
    from tests.plugins.liars_dice import GreatLiarsDice, LiarsDice

    assert (LiarsDice().faces, GreatLiarsDice().faces) == (6, 20)
    assert list(GreatLiarsDice.options()) == list(LiarsDice.options())
