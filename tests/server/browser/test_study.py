"""Lessons, puzzles and mistakes in a browser; what works without a connection."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("playwright", reason="needs the extra: pip install 'duels[dev]'")
pytest.importorskip("axe_playwright_python", reason="needs: pip install 'duels[dev]'")

from playwright.sync_api import expect

from duels.games import BUILT_IN
from tests.server.browser.people import NARROW, WIDE, Person, Site
from tests.server.browser.test_accessible import check

pytestmark = pytest.mark.slow
LONG = pytest.mark.long


def attempt(person: Person) -> None:
    """Answer a puzzle with whatever comes first, until it is over."""
    page = person.page
    while page.locator(".attempt .choices").count():
        several = page.locator(".attempt button.main")
        if several.count():
            count = int(several.inner_text().split()[-1])
            for n in range(count):
                page.locator(".choices button").nth(n).click()
            several.click()
        else:
            page.locator(".choices button:not([disabled])").first.click()
    expect(page.locator(".attempt .worths")).to_be_visible()


def test_the_puzzles_of_a_day_are_solved_kept_and_shared_without_solutions(site: Site) -> None:
    ada = site.person(NARROW).go("/puzzles")
    ada.page.locator(".choices button").first.wait_for()
    check(ada)
    for _ in range(4):
        attempt(ada)
        ada.page.get_by_role("button", name="Next puzzle").click()
    attempt(ada)
    check(ada)
    result = ada.page.get_by_role("region", name="Result of the day")
    shared = result.get_by_role("textbox").input_value()
    assert re.search(r"[🟥🟩🟨]{5}", shared)
    assert "Streak: 1 day" in ada.page.locator(".streak").inner_text()
    ada.page.reload()
    expect(result.get_by_role("textbox")).to_have_value(shared)
    ada.page.get_by_text("Archive").click()
    check(ada)
    ada.page.evaluate("localStorage.setItem('duels.puzzles', '{damaged')")
    ada.page.reload()
    ada.page.locator(".choices button").first.wait_for()
    ada.page.get_by_role("link", name="Practice").click()
    ada.page.get_by_role("heading", name="Puzzle 1:").wait_for()
    attempt(ada)
    ada.page.get_by_role("button", name="Next puzzle").click()
    ada.page.get_by_role("heading", name="Puzzle 2:").wait_for()


@pytest.mark.parametrize(
    "slug",
    [slug if slug == "firewall-breach" else pytest.param(slug, marks=LONG) for slug in BUILT_IN],
)
def test_a_lesson_leads_by_three_moves_to_a_match(site: Site, slug: str) -> None:
    ada = site.person(WIDE).go(f"/learn/{slug}")
    guided = ada.page.locator(".lesson .choices button.main")
    guided.wait_for()
    check(ada)
    chart = ada.page.locator(".chart").first
    if chart.get_by_role("slider").count():
        told = chart.get_by_role("status").inner_text()
        chart.get_by_role("slider").first.press("Home")
        expect(chart.get_by_role("status")).not_to_have_text(told)
    for n in range(3):
        expect(ada.page.locator(".lesson .progress")).to_have_text(f"Move {n + 1} of 3")
        guided.click()
    ada.page.get_by_role("button", name="Play the computer").click()
    ada.table.wait_for()


def test_puzzles_and_lessons_work_without_a_connection_and_no_match_is_kept(site: Site) -> None:
    ada = site.person(service_workers="allow").against("Number Wars", "easy")
    match = ada.page.url
    ada.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    ada.go("/puzzles")  # served by the worker from now on
    ada.page.locator(".choices button").first.wait_for()
    ada.go("/learn/number-wars")
    ada.page.locator(".chart").first.wait_for()
    kept = json.loads(
        ada.page.evaluate(
            """async () => {
                const found = [];
                for (const name of await caches.keys())
                    for (const one of await (await caches.open(name)).keys()) found.push(one.url);
                return JSON.stringify(found);
            }"""
        )
    )
    assert kept
    assert not [url for url in kept if "match" in url or url.endswith("/api/me")]
    ada.context.set_offline(True)
    ada.expected = "ERR_INTERNET_DISCONNECTED|Failed to load|Failed to fetch|WebSocket"
    ada.go("/puzzles")
    attempt(ada)
    ada.go("/learn/number-wars")
    ada.page.locator(".lesson .choices button.main").wait_for()
    ada.go("/")
    with pytest.raises(Exception, match="ERR_INTERNET_DISCONNECTED"):
        ada.page.goto(match)


def test_mistakes_of_a_match_are_tried_again(site: Site) -> None:
    ada = site.person().against("Firewall Breach", "perfect")
    while not ada.over:
        if ada.page.get_by_role("region", name="Result").count():
            break
        bypass = ada.page.get_by_role("button", name="Bypass")
        if bypass.count():
            bypass.first.click()
        ada.page.wait_for_timeout(50)
    result = ada.page.get_by_role("region", name="Result")
    expect(result).to_contain_text("You gave away")
    result.get_by_role("link", name="Learn from").click()
    ada.page.locator(".attempt .choices button").first.wait_for()
    check(ada)
    attempt(ada)
    check(ada)


def test_an_open_page_notices_a_new_version_and_reloads_with_the_next_page(site: Site) -> None:
    ada = site.person().go()
    ada.page.route(
        "**/api/matches",
        lambda route: route.fulfill(
            json={"mine": [], "open": []}, headers={"Duels-Version": "f" * 16}
        ),
    )
    expect(ada.page.get_by_text("There is a new version")).to_be_visible()
    check(ada)
    ada.page.evaluate("window.kept = true")
    ada.page.get_by_role("link", name="Ratings").click()
    ada.page.get_by_role("heading", name="Ratings").wait_for()
    assert ada.page.evaluate("window.kept") is None
