"""Names of all kinds, and a server that is gone: what a page still shows."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright", reason="needs the extra: pip install 'duels[dev]'")

from playwright.sync_api import expect

from tests.server.browser.people import NARROW, Person, Site
from tests.server.browser.test_games import fits

pytestmark = pytest.mark.slow

LONG, HEBREW = "W" * 24, "\u05e9\u05dc\u05d5\u05dd (12)!"


def named(site: Site, name: str) -> Person:
    person = site.person(NARROW).go("/me")
    person.page.get_by_label("Your name, as others see it").fill(name)
    person.page.get_by_role("button", name="Save").click()
    person.page.get_by_text("Saved.").wait_for()
    return person


def test_long_names_and_names_from_right_to_left_keep_their_place(site: Site) -> None:
    ada, bob = named(site, LONG), named(site, HEBREW)
    link = ada.invite("Number Clash")
    bob.join(link)
    ada.table.wait_for()
    for person in (ada, bob):
        assert fits(person)
        for badge in person.page.locator(".side .seat").all():
            box = badge.bounding_box()
            assert box is not None
            assert box["width"] == box["height"]  # a circle
    apart = f"\u2068{HEBREW}\u2069"
    expect(ada.page.get_by_role("heading", name=apart)).to_be_visible()
    sealed = [one.bounding_box() for one in ada.page.locator(".sealed").all()]
    assert sealed[0] is not None
    assert sealed[1] is not None
    assert sealed[0]["x"] + sealed[0]["width"] <= sealed[1]["x"]  # beside each other
    ada.type("resign")
    ada.page.get_by_role("dialog").get_by_role("button", name="Resign", exact=True).click()
    ada.page.get_by_role("heading", name="You have lost").wait_for()
    for path, region in ((f"{link}/replay", "Skill and luck"), ("/history", "Matches")):
        table = ada.go(path).page.get_by_role("region", name=region)
        table.wait_for()
        assert table.evaluate("(one) => one.scrollWidth <= one.clientWidth"), region


def test_a_server_that_is_gone_is_told_where_it_is_seen(site: Site) -> None:
    ada = site.person(NARROW).go()
    ada.expected = r"ERR_|Failed to (load|fetch)"
    ada.card("Number Wars").wait_for()
    site.server.kill()
    ada.card("Number Wars").get_by_role("button", name="Play the computer").click()
    told = ada.page.get_by_role("alert")
    expect(told).to_have_text("The server cannot be reached.")
    expect(told).to_be_in_viewport()
    ada.page.get_by_role("button", name="Menu").click()
    ada.page.get_by_role("link", name="Ratings").click()
    expect(told).to_have_text("The server cannot be reached.")
    site.server = site._start(site.server.port)
    ada.page.get_by_role("button", name="Try again").click()
    expect(ada.page.get_by_role("heading", name="Ratings")).to_be_visible()
