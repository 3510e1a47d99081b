"""What pages say when something was refused, has ended or is not there."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("playwright", reason="needs the extra: pip install 'duels[dev]'")

from playwright.sync_api import WebSocketRoute, expect

from tests.server.browser.people import Person, Site
from tests.server.browser.test_never_lost import seated

pytestmark = pytest.mark.slow
PHONE = (390, 844)


def resign(person: Person) -> None:
    person.type("resign")
    person.page.get_by_role("dialog").get_by_role("button", name="Resign", exact=True).click()


def test_why_a_match_cannot_be_created_is_said_in_the_dialog(site: Site) -> None:
    ada = site.person(PHONE).go()
    ada.expected = "400"
    dialog, alert = ada.page.get_by_role("dialog"), ada.page.get_by_role("alert")
    ada.card("Number Wars").get_by_role("button", name="More ways").click()
    dialog.get_by_label("lp:").fill("0")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("alert")).to_contain_text("got '0'")
    expect(dialog.get_by_role("alert")).to_be_in_viewport()
    expect(alert).to_have_count(1)
    ada.page.keyboard.press("Escape")
    expect(alert).to_have_count(0)
    ada.card("Number Clash").get_by_role("button", name="More ways").click()
    expect(dialog).to_be_visible()
    expect(alert).to_have_count(0)


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_a_reaction_is_shown_for_some_seconds(site: Site, motion: str) -> None:
    ada, bob = site.person(reduced_motion=motion), site.person(reduced_motion=motion)
    bob.join(ada.invite("Firewall Breach"))
    reactions = ada.page.get_by_role("group", name="Reactions").get_by_role("button")
    for number in (0, 1):
        reactions.nth(number).click()
        for person in (ada, bob):
            expect(person.page.locator(".floating")).to_have_text(
                reactions.nth(number).inner_text()
            )
    for person in (ada, bob):
        expect(person.page.locator(".floating")).to_have_count(0, timeout=10_000)


def test_the_ratings_page_says_which_matches_count(site: Site) -> None:
    ada = site.person(PHONE).go("/ratings")
    expect(ada.page.get_by_text("There are no ratings in this game yet.")).to_be_visible()
    expect(ada.page.get_by_text("A finished match counts if")).to_contain_text("without hints")


def test_times_are_written_in_minutes_and_seconds(site: Site) -> None:
    script = "async (time) => (await import('/static/js/invite.js')).timeWords(time)"
    page = site.person().go().page
    for limit, budget, increment, words in (
        (None, None, None, "No clock."),
        (1, None, 0, "1 second for each choice."),
        (30, None, 0, "30 seconds for each choice."),
        (None, 50, 0, "50 seconds in all."),
        (None, 60, 1, "1 minute in all, and 1 second more for each choice."),
        (10, 90.5, 0, "10 seconds for each choice, 1 minute 30.5 seconds in all."),
        (None, 600, 2, "10 minutes in all, and 2 seconds more for each choice."),
    ):
        time = {"limit": limit, "budget": budget, "increment": increment}
        assert page.evaluate(script, None if increment is None else time) == words


def test_the_replay_of_a_match_that_was_not_played_says_so(site: Site) -> None:
    ada = site.person(PHONE)
    ada.expected = "404|409"
    link = ada.invite("Number Clash")
    ada.go(f"{link}/replay")
    expect(ada.page.get_by_role("alert")).to_have_text("The match is not over.")
    ada.go(link).page.get_by_role("button", name="Withdraw").click()
    ada.page.get_by_role("heading", name="This match was not played").wait_for()
    ada.go(f"{link}/replay")
    expect(ada.page.get_by_role("alert")).to_have_text("The match was not played.")
    expect(ada.page.get_by_role("link", name="Go to the match")).to_be_visible()
    ada.go("/match/AAAAAAAAAAAAAAAAAAAAAA/replay")
    expect(ada.page.get_by_role("alert")).to_have_text("There is no such match.")
    expect(ada.page.get_by_role("link", name="Go to the match")).to_have_count(0)
    ada.page.get_by_role("main").get_by_role("link", name="All games").click()
    expect(ada.card("Number Wars")).to_be_visible()


def test_the_reason_of_a_result_is_a_sentence(site: Site) -> None:
    one, two = seated(site, "Number Clash")
    for mine, others in (("10", "3"), ("9", "2"), ("8", "1")):
        one.click_move(mine)
        two.click_move(others)
    name = one.page.locator(".side.below .name").inner_text()
    reason = f"{name} has reached 3 points."
    expect(
        two.page.get_by_role("region", name="Result").get_by_text(reason, exact=True)
    ).to_be_visible()
    two.page.get_by_role("link", name="Replay and analysis").click()
    expect(two.page.get_by_role("heading", level=1)).to_contain_text(f"you lost. {reason}")


def test_a_rematch_that_was_refused_can_be_requested_again(site: Site) -> None:
    ada = site.person()

    def refuse(page: WebSocketRoute) -> None:
        server = page.connect_to_server()

        def said(text: str | bytes) -> None:
            command = json.loads(text)
            if command["type"] == "rematch" and not refused:
                refused.append(command)
                answer = {"type": "answer", "id": command["id"], "ok": False, "reason": "not now"}
                page.send(json.dumps(answer))
            else:
                server.send(text)

        page.on_message(said)

    refused: list[object] = []
    ada.page.route_web_socket(re.compile("/ws/"), refuse)
    ada.against("Number Wars", "random")
    ada.page.get_by_text("your turn", exact=True).wait_for()
    resign(ada)
    rematch, address = ada.page.get_by_role("button", name="Rematch"), ada.page.url
    rematch.click()
    expect(ada.page.get_by_role("alert")).to_have_text("Not now.")
    expect(ada.page.get_by_text("Waiting for")).to_have_count(0)
    rematch.click()
    ada.page.wait_for_url(lambda url: url != address)


def test_a_link_preview_names_the_computer(site: Site) -> None:
    ada = site.person().against("Number Wars", "easy")
    page = ada.context.request.get(ada.page.url).text()
    assert "Computer (easy)" in page
    image = ada.context.request.get(f"{ada.page.url}/picture.png")
    assert image.body().startswith(b"\x89PNG")
