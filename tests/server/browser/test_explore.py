"""The explorer in a browser: its numbers, its addresses, and the way there from a replay."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright", reason="needs the extra: pip install 'duels[dev]'")
pytest.importorskip("axe_playwright_python", reason="needs: pip install 'duels[dev]'")

from playwright.sync_api import expect

from duels.games import BUILT_IN
from tests.server.browser.people import WIDE, Person, Site
from tests.server.browser.test_accessible import check
from tests.server.browser.test_games import by_mouse, play_out

pytestmark = pytest.mark.slow
SHARES_SERVER = True
PHONE = (375, 667)


def walk(person: Person) -> None:
    """Take the first thing that can happen next."""
    before = person.page.url
    if person.page.locator(".both").count():
        for column in person.page.locator(".both .columns > div").all():
            column.locator("button").first.click()
        person.page.locator(".both a.main").click()
    else:
        person.page.locator(".beside a[data-move]").first.click()
    expect(person.page).not_to_have_url(before)
    expect(person.page.locator(".beside [data-move], .balance strong").first).to_be_visible()
    expect(person.page.locator(".board")).to_have_attribute("aria-busy", "false")


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_every_game_is_explored_by_clicks_and_axe_finds_nothing(
    site: Site, size: tuple[int, int]
) -> None:
    ada = site.person(size)
    for slug in BUILT_IN:
        ada.go(f"/explore/{slug}")
        ada.page.locator(".beside [data-move]").first.wait_for()
        check(ada)
        for _ in range(3):
            walk(ada)
    check(ada)


def test_a_position_has_an_address_an_exact_value_and_expandable_outcomes(site: Site) -> None:
    ada = site.person(PHONE).go()
    ada.page.get_by_role("link", name="Explore Firewall Breach").click()
    balance = ada.page.locator(".board .balance")
    expect(balance).to_contain_text("57.00 % (277/486)")
    ada.page.get_by_role("link", name="attack").click()
    expect(ada.page.get_by_role("heading", name="Chance decides for Player 1")).to_be_visible()
    assert ada.page.url.endswith("/explore/firewall-breach?after=attack")
    ada.page.locator("summary", has_text="then").nth(5).click()
    after_six = ada.page.locator(".chances > li").nth(5)
    expect(after_six.get_by_role("heading", name="Player 2 chooses")).to_be_visible()
    after_six.get_by_role("link", name="bypass").click()
    expect(ada.page.locator(".trail [aria-current]")).to_have_text("bypass")
    bob = site.person(PHONE).go(ada.page.url)
    shown = ada.page.locator(".board .balance strong").inner_text()
    expect(bob.page.locator(".board .balance strong")).to_have_text(shown)
    ada.page.go_back()
    expect(ada.page.get_by_role("heading", name="Chance decides for Player 1")).to_be_visible()
    ada.page.go_forward()
    expect(ada.page.locator(".board .balance strong")).to_have_text(shown)


def test_a_position_is_typed_and_what_is_refused_is_told(site: Site) -> None:
    ada = site.person(PHONE).go("/explore/number-clash")
    ada.page.get_by_text("Set up a position").click()
    ada.page.get_by_label("Moves and chance outcomes").fill("7/8, 3/2")
    ada.page.get_by_role("button", name="Show this position").click()
    expect(ada.page.locator(".trail [aria-current]")).to_have_text("3/2")
    ada.page.get_by_text("Set up a position").click()
    ada.page.get_by_label("numbers:").fill("12")
    ada.page.get_by_role("button", name="Show this position").click()
    expect(ada.page.get_by_role("alert")).to_contain_text("takes too long to solve")
    with ada.page.expect_response("**/explore/none-such") as answered:
        ada.go("/explore/none-such")
    assert answered.value.status == 404
    expect(ada.page.get_by_role("heading", name="There is no such game")).to_be_visible()
    ada.troubles.clear()  # the browser reports the refusals


def parts(person: Person) -> list[str]:
    """The parts of the table as text, without the marks of the analysis."""
    found = person.page.locator(".board .table .part:not(.sealed):not(.die)").all_inner_texts()
    return sorted(re.sub(r"\n, (played|better|best)( better)?", "", text) for text in found)


@pytest.mark.parametrize("title", ["Number Clash", "Cipher Siege"])
def test_every_step_of_a_replay_leads_to_its_position(site: Site, title: str) -> None:
    ada = site.person().against(title, "easy")
    play_out([ada], by_mouse)
    ada.page.get_by_role("link", name="Replay and analysis").click()
    ada.page.get_by_role("button", name="Back one step").click()
    ada.page.get_by_role("button", name="Back one step").click()
    count = ada.page.locator(".step-count").inner_text()
    table = parts(ada)
    ada.page.get_by_role("link", name="Explore from here").click()
    ada.page.locator(".explore .board .table").wait_for()
    assert ada.page.locator(".trail li").count() - 1 == int(count.split()[0])
    assert parts(ada) == table
