"""The match page: after every event it shows who is to move, what happened and what can be done."""

from __future__ import annotations

import random
from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs the extra: pip install 'duels[dev]'")

from playwright.sync_api import expect

from tests.server.browser.people import Person, Site
from tests.server.browser.test_games import game_of
from tests.server.browser.test_never_lost import seated

pytestmark = pytest.mark.slow
SHARES_SERVER = True

SMALL, PHONE, TABLET, DESKTOP = (320, 568), (375, 667), (768, 1024), (1280, 800)
USUAL: list[tuple[str, tuple[int, int], str]] = [
    ("cipher-siege", SMALL, "light"),
    ("digit-duel", SMALL, "dark"),
    ("goofspiel", DESKTOP, "light"),
]
SLUGS = (
    "firewall-breach", "number-clash", "cipher-siege", "digit-duel", "number-wars", "goofspiel",
)  # fmt: skip
OTHERS = [
    (slug, size, scheme)
    for slug in SLUGS
    for size in (SMALL, PHONE, TABLET, DESKTOP)
    for scheme in ("light", "dark")
    if (slug, size, scheme) not in USUAL
]

# What a player needs: everything drawn of the game, the last event, and all that can be done.
OUTSIDE = """() => [...document.querySelectorAll(
    '.side header h2, .gauge, .play .number, .play .item, .play .points, .banner, .prompt, '
    + '.between .part > :last-child, .words button, .around > button')]
  .filter((one) => one.offsetParent !== null)
  .filter((one) => {
    const box = one.getBoundingClientRect();
    const board = one.closest('.board')?.getBoundingClientRect();
    return box.left < -1 || box.right > innerWidth + 1 || box.top < -1
      || box.bottom > innerHeight + 1
      || (board && (box.top < board.top - 1 || box.bottom > board.bottom + 1));
  })
  .map((one) => `${one.className} ${one.textContent}`.slice(0, 60))"""
SHIFTS = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const moved = entry.sources.map(({ node }) => `${node?.className ?? node?.nodeName}`);
      if (!entry.hadRecentInput) window.shifts.push([entry.value, ...moved]);
    }
  }).observe({ type: 'layout-shift' });
}"""


def shown(person: Person) -> dict[str, Any]:
    """What the page shows: who is to move, what happened last, what can be done."""
    page = person.page
    return {
        "to_move": page.locator(".turn").count(),
        "event": page.locator(".banner .event").inner_text(),
        "choices": page.locator("button.item.now, .words button").count(),
        "outside": page.evaluate(OUTSIDE),
    }


@pytest.mark.parametrize(
    ("slug", "size", "scheme"),
    [*USUAL, *(pytest.param(*case, marks=pytest.mark.long) for case in OTHERS)],
)
def test_one_screen_shows_the_state_the_last_event_and_all_actions(
    site: Site, slug: str, size: tuple[int, int], scheme: Any
) -> None:
    one, two = (site.person(size, color_scheme=scheme) for _ in range(2))
    two.join(one.invite(game_of(slug).title))
    one.table.wait_for()
    one.page.evaluate(SHIFTS)
    chance = random.Random(3)
    for _ in range(8):
        while not (one.over and two.over) and not (one.options or two.options):
            one.page.wait_for_timeout(10)
        if one.over or two.over:
            break
        chooser = one if one.options else two
        seen = shown(chooser)
        assert seen["to_move"], seen
        assert seen["event"], seen
        assert seen["choices"], seen
        assert not seen["outside"], (chooser.page.viewport_size, seen)
        chooser.click_move(chance.choice(chooser.options))
    shifts = one.page.evaluate("window.shifts")
    # On the lowest phones the centre moves a little with the hands above and below it.
    most = 0.1 if size == SMALL else 0.02
    assert sum(value for value, *_ in shifts) < most, shifts


def test_the_attack_and_the_damage_of_every_answer_are_on_the_table(site: Site) -> None:
    one, two = seated(site, "Digit Duel")
    one.click_move("5")
    expect(two.page.locator(".played .token")).to_have_text("5")
    expect(two.page.locator(".banner .event")).to_contain_text("attacks: 5")
    for digit, damage in (("2", "−3"), ("5", "±0"), ("9", "±0")):
        expect(two.page.locator(f"button.item[data-choice='{digit}'] .effect")).to_contain_text(
            damage
        )


def test_buttons_state_what_they_bring_and_keys_choose(site: Site) -> None:
    one, two = seated(site, "Firewall Breach")
    words = one.page.locator(".words button")
    expect(words.nth(0)).to_have_text("attack 50 %: −3")
    expect(words.nth(1)).to_have_text("bypass: −1")
    assert one.page.get_by_label("type a move").count() == 0
    one.page.locator("#main").focus()
    one.page.keyboard.press("b")
    expect(one.page.locator(".banner .event")).to_have_text("You bypass: −1")
    assert one.page.evaluate("document.activeElement.closest('.play') !== null")
    expect(two.page.locator(".banner .event")).to_contain_text("bypasses: −1")


def test_a_die_rests_before_the_answer_is_shown(site: Site) -> None:
    ada = site.person()
    ada.go().page.evaluate("localStorage['duels.pauses'] = 'on'")
    ada.against("Firewall Breach", "perfect")
    ada.page.get_by_text("your turn", exact=True).wait_for()
    ada.page.evaluate(
        """() => { window.events = []; new MutationObserver(() => {
            const text = document.querySelector('.banner .event').textContent;
            const at = performance.now();
            if (text !== window.events.at(-1)?.text) window.events.push({ text, at });
        }).observe(document.querySelector('.banner'),
            { subtree: true, childList: true, characterData: true }); }"""
    )
    ada.click_move("attack")
    events: list[dict[str, Any]] = []
    while not any(one["text"].startswith("Computer") for one in events):
        ada.page.wait_for_timeout(20)
        events = ada.page.evaluate("window.events")
    rolled = next(n for n, one in enumerate(events) if one["text"].startswith("You rolled"))
    assert events[rolled + 1]["at"] - events[rolled]["at"] > 900


def test_damaged_storage_does_not_keep_a_match_from_opening(site: Site) -> None:
    ada = site.person().go()
    ada.page.evaluate("localStorage['duels.pick'] = '{broken'")
    ada.against("Number Wars", "easy")
    expect(ada.page.locator(".banner .event")).to_be_visible()


def test_a_double_click_creates_one_match(site: Site) -> None:
    ada = site.person().go()
    posts = []
    ada.page.on(
        "request", lambda request: posts.append(request) if request.method == "POST" else None
    )
    ada.card("Number Wars").get_by_role("button", name="Play the computer").dblclick()
    ada.table.wait_for()
    assert sum(request.url.endswith("/api/matches") for request in posts) == 1
