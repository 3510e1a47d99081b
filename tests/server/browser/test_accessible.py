"""Every page, light and dark, wide and narrow: axe-core finds nothing, nothing scrolls sideways."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs the extra: pip install 'duels[dev]'")
pytest.importorskip("axe_playwright_python", reason="needs: pip install 'duels[dev]'")

from playwright.sync_api import Page

from duels.games import BUILT_IN
from tests.server.browser.people import NARROW, WIDE, Person, Site
from tests.server.browser.test_games import SLUGS, by_mouse, fits, game_of, marks, play_out

pytestmark = pytest.mark.slow
SHARES_SERVER = True
LONG = pytest.mark.long
USUAL = ("firewall-breach", "cipher-siege", "goofspiel")  # dice, cards, and a game without a theme


def axe(page: Page) -> list[str]:
    """What axe-core has against a page, best practices included."""
    axe_core = import_module("axe_playwright_python")
    source = Path(axe_core.__path__[0]) / "axe.min.js"
    page.evaluate(source.read_text(encoding="utf-8"))
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {node['html'][:120]} {node['failureSummary']}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ]


def check(person: Person) -> None:
    """In both colours, and without a sideways scroll. Colours are the same at any width."""
    assert person.page.viewport_size is not None
    if person.page.viewport_size["width"] == WIDE[0]:
        person.page.emulate_media(color_scheme="light", reduced_motion="reduce")
        assert axe(person.page) == [], person.page.url
    person.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert axe(person.page) == [], (person.page.url, "dark")
    assert fits(person), person.page.url


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_axe_finds_nothing_on_any_page_around_the_matches(
    site: Site, size: tuple[int, int]
) -> None:
    ada, bob = site.person(size), site.person(size)
    check(ada.go())
    ada.card("Cipher Siege").get_by_role("button", name="More ways").click()
    ada.page.get_by_role("dialog").wait_for()
    check(ada)
    ada.page.keyboard.press("Escape")
    link = ada.invite("Firewall Breach")
    ada.page.locator(".qr svg").wait_for()
    check(ada)
    check(bob.go(link))
    bob.page.get_by_role("button", name="Join").click()
    bob.table.wait_for()
    check(bob.go("/"))  # with a match of one's own
    check(bob.go("/history"))
    check(bob.go("/ratings"))
    bob.go("/me").page.get_by_role("button", name="Show my private link").click()
    bob.page.locator(".qr svg").wait_for()
    check(bob)
    bob.expected = "404"
    check(bob.go(f"/match/{'A' * 22}"))  # there is no such match
    bob.page.get_by_role("alert").wait_for()
    check(bob)


@pytest.mark.parametrize(
    ("slug", "size"),
    [
        *(
            pytest.param(slug, WIDE, id=f"{slug}-wide", marks=() if slug in USUAL else LONG)
            for slug in SLUGS
        ),
        *(pytest.param(slug, NARROW, id=f"{slug}-narrow", marks=marks(slug)) for slug in SLUGS),
    ],
)
def test_axe_finds_nothing_at_a_table_at_its_end_and_in_its_replay(
    site: Site, slug: str, size: tuple[int, int]
) -> None:
    ada, bob = site.person(size), site.person(size)
    bob.join(ada.invite(game_of(slug).title))
    ada.table.wait_for()
    ada.page.get_by_text("Rules and options of this match").click()
    check(ada)
    check(bob)
    play_out([ada, bob], by_mouse, most=6)
    if not ada.over:
        ada.type("resign")
        ada.page.get_by_role("dialog").wait_for()
        check(ada)
        ada.page.get_by_role("dialog").get_by_role("button", name="Resign", exact=True).click()
    ada.page.get_by_role("region", name="Result").wait_for()
    check(ada)
    ada.page.get_by_role("link", name="Replay and analysis").click()
    ada.page.get_by_role("slider").wait_for()
    if slug in BUILT_IN:
        ada.page.get_by_role("region", name="Graded moves").wait_for()
    ada.page.get_by_role("button", name="Check all").click()
    ada.page.locator(".checks li").nth(2).wait_for()
    check(ada)
    ada.page.get_by_role("button", name="To the start").click()
    check(ada)
    check(ada.go("/history"))
    check(ada.go("/ratings"))
