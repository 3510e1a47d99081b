"""The first page: light, from here alone, and what it remembers."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("playwright", reason="needs the extra: pip install 'duels[dev]'")

from playwright.sync_api import expect

from tests.server.browser.people import Person, Site

pytestmark = pytest.mark.slow


def test_the_first_page_is_under_100_kilobytes_and_asks_no_other_host(site: Site) -> None:
    ada = site.person()
    sizes: list[int] = []
    ada.page.on("requestfinished", lambda request: sizes.append(received(request)))
    ada.go()
    expect(ada.card("Number Wars").get_by_role("button", name="Invite a friend")).to_be_visible()
    ada.page.wait_for_load_state("networkidle")
    while len(sizes) < len(ada.requests):  # each is asked for after its request has finished
        ada.page.wait_for_timeout(20)
    assert all(url.startswith(site.url) for url in ada.requests)
    assert len(sizes) == len(ada.requests)
    assert sum(sizes) < 100_000, sizes


def received(request: object) -> int:
    sizes = request.sizes()  # type: ignore[attr-defined]
    return int(sizes["responseBodySize"] + sizes["responseHeadersSize"])


def test_a_game_without_a_theme_has_a_card_like_the_others(site: Site) -> None:
    ada = site.person().go()
    expect(ada.card("Goofspiel")).to_contain_text("Bid in secret for prizes")
    expect(ada.page.locator(".game")).to_have_count(7)  # five, and two that are installed beside


def test_colours_sound_and_level_are_remembered(site: Site) -> None:
    ada = site.person(color_scheme="light").go()
    ada.page.get_by_role("button", name="Menu").click()
    ada.page.get_by_role("button", name="Sound on").click()
    ada.page.get_by_role("button", name="Colours: auto").click()
    ada.page.get_by_role("button", name="Colours: light").click()
    ada.card("Digit Duel").get_by_role("combobox").select_option("greedy")
    ada.page.reload()
    ada.page.get_by_role("button", name="Menu").click()
    expect(ada.page.get_by_role("button", name="Sound off")).to_be_visible()
    expect(ada.page.get_by_role("button", name="Colours: dark")).to_be_visible()
    expect(ada.card("Digit Duel").get_by_role("combobox")).to_have_value("greedy")
    assert ground(ada) != ground(site.person(color_scheme="light").go())


def ground(person: Person) -> str:
    return str(person.page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))


def test_the_qr_code_of_an_invitation_says_its_link(site: Site) -> None:
    zxing = pytest.importorskip("zxingcpp", reason="needs the extra: pip install 'duels[dev]'")
    np = pytest.importorskip("numpy")
    ada = site.person()
    link = ada.invite("Number Clash")
    for text in (link, "x", "Zwölf " * 30, "1" * 213):
        script = "async (text) => (await import('/static/js/qr.js')).qrGrid(text)"
        grid = np.array(ada.page.evaluate(script, text), dtype=np.uint8)
        picture = np.pad(255 * (1 - grid), 4, constant_values=255).repeat(5, 0).repeat(5, 1)
        assert [found.text for found in zxing.read_barcodes(picture)] == [text]


def test_the_page_computes_the_same_digests_and_dice_as_python(site: Site) -> None:
    from fractions import Fraction
    from hashlib import sha256

    from duels.core.chance import draw

    ada = site.person().go()
    texts = ["", "abc", "x" * 55, "x" * 56, "x" * 64, "é" * 500]
    script = "async (texts) => texts.map((await import('/static/js/fair.js')).sha256)"
    assert ada.page.evaluate(script, texts) == [sha256(text.encode()).hexdigest() for text in texts]
    odds = {"a": Fraction(1, 6), "b": Fraction(1, 3), "c": Fraction(1, 2)}
    seed = 2**200 + 7
    given = [str(seed), [[k, odd.numerator, odd.denominator] for k, odd in odds.items()]]
    script = """async ([seed, odds]) => {
        const { drawn } = await import('/static/js/fair.js');
        return Array.from({ length: 200 }, (_, n) => drawn(seed, n + 1, odds));
    }"""
    told = ada.page.evaluate(script, json.loads(json.dumps(given)))
    assert told == [draw(seed, n, odds) for n in range(1, 201)]
