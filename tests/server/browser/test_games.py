"""Every game, the plugged-in one too, played to its end by two people while a third looks on."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs the extra: pip install 'duels[dev]'")

from playwright.sync_api import expect

from duels.core.match import Match
from duels.core.record import loads
from duels.core.wire import dump
from duels.games import BUILT_IN, find
from tests.plugins.goofspiel import Goofspiel
from tests.server.browser.people import NARROW, WIDE, Person, Site

pytestmark = pytest.mark.slow
SHARES_SERVER = True

SLUGS = [*BUILT_IN, "goofspiel"]
Act = Callable[[Person, str], None]


def by_mouse(person: Person, move: str) -> None:
    person.click_move(move)


def by_keyboard() -> Act:
    """With Tab and Enter, and with typing, in turns."""
    ways = cycle((Person.tab_move, Person.type_move))

    def act(person: Person, move: str) -> None:
        next(ways)(person, move)

    return act


def game_of(slug: str, **options: str) -> Any:
    return Goofspiel(**options) if slug == "goofspiel" else find(slug)(**options)


def marks(slug: str) -> tuple[pytest.MarkDecorator, ...]:
    """The second way of testing a game is long, except of one with steps."""
    return () if slug == "cipher-siege" else (pytest.mark.long,)


def play_out(players: list[Person], act: Act, most: int = 1000) -> None:
    """Both choose at random until the match is over, or until so many choices are made.

    Then both pages show the same moment, in which it is over or a player can choose.
    """
    chance = random.Random(1)
    while most > 0 and not all(player.over for player in players):
        for player in players:
            if options := player.options:
                act(player, chance.choice(options))
                most -= 1
        players[0].page.wait_for_timeout(10)
    while not _settled(players):
        players[0].page.wait_for_timeout(10)


def _settled(players: list[Person]) -> bool:
    views = [player.view for player in players]
    if any(view is None for view in views) or len({view["moment"] for view in views if view}) > 1:
        return False
    return all(player.over for player in players) or any(player.options for player in players)


@pytest.mark.parametrize(
    ("slug", "size", "act"),
    [
        *(pytest.param(slug, WIDE, by_mouse, id=f"{slug}-mouse") for slug in SLUGS),
        *(
            pytest.param(slug, NARROW, by_keyboard(), id=f"{slug}-keyboard", marks=marks(slug))
            for slug in SLUGS
        ),
    ],
)
def test_two_people_and_a_spectator_play_a_game_to_its_end(
    site: Site, slug: str, size: tuple[int, int], act: Act
) -> None:
    game = game_of(slug)
    ada, bob, eve = (site.person(size) for _ in range(3))
    ada.keyboard = bob.keyboard = size == NARROW
    link = ada.invite(game.title)
    bob.join(link)
    eve.go(link)
    ada.table.wait_for()
    eve.table.wait_for()
    play_out([ada, bob], act)

    match = record_of(ada, link)
    assert match.result is not None
    winner = None if match.result.winner is None else match.result.winner + 1
    for person in (ada, bob, eve):
        assert person.view is not None
        told = verdict(winner, person.view["player"])
        expect(person.page.get_by_role("heading", name=told)).to_be_visible()
        nothing_secret_was_sent(person, match)
        assert fits(person)


def verdict(winner: int | None, viewer: int | None) -> str:
    if winner is None:
        return "There is no winner"
    if viewer is None:
        return "has won"
    return "You have won" if viewer == winner else "You have lost"


def record_of(person: Person, link: str) -> Match:
    """The record of a match that is over, played again by the rules."""
    id = link.rpartition("/")[2]
    text = person.context.request.get(f"{person.url}/api/matches/{id}/record").text()
    return loads(text, lambda slug, **options: game_of(slug, **options))


def nothing_secret_was_sent(person: Person, match: Match) -> None:
    """All that a page was told of events and hands is what its viewer may know, until the end."""
    view = person.view
    assert view is not None
    viewer = None if view["player"] is None else view["player"] - 1
    may_know = [untimed(dump(logged)) for logged in match.log(viewer)]
    for message in person.messages:
        if message["type"] != "update":
            continue
        for event in message["events"]:
            assert untimed(event) == may_know[event["number"]]
        if message["view"]["result"] is None:
            assert "revealed" not in message
            for part in message["view"]["table"]:
                if (
                    part["type"] == "hand"
                    and match.game.private
                    and part["owner"] != view["player"]
                ):
                    assert part["cards"] == []


def untimed(event: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in event.items() if key != "at"}


def fits(person: Person) -> bool:
    """Whether nothing has to be scrolled sideways."""
    return bool(person.page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
