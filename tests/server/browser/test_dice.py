"""Pages at a server that does not keep to the dice that were agreed on."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs the extra: pip install 'duels[dev]'")

from playwright.sync_api import Route, WebSocketRoute, expect

from duels.core.commitment import new_nonce, nonce_hash
from tests.server.browser.people import Person, Site

pytestmark = pytest.mark.slow
SHARES_SERVER = True

Change = Callable[[dict[str, Any]], None]


def between(person: Person, change: Change) -> list[dict[str, Any]]:
    """Change each match that a page is told; what the page sends."""
    sent: list[dict[str, Any]] = []

    def opened(page: WebSocketRoute) -> None:
        server = page.connect_to_server()

        def to_page(text: str | bytes) -> None:
            message = json.loads(text)
            if isinstance(message.get("match"), dict):
                change(message["match"])
            page.send(json.dumps(message))

        def to_server(text: str | bytes) -> None:
            sent.append(json.loads(text))
            server.send(text)

        server.on_message(to_page)
        page.on_message(to_server)

    person.page.route_web_socket("**/ws/**", opened)
    return sent


def test_a_page_does_not_reveal_before_it_has_the_hash_of_the_other(site: Site) -> None:
    ada, bob = site.person(), site.person()

    def without(match: dict[str, Any]) -> None:
        if match["you"]:
            match["hashes"][2 - match["you"]] = None

    sent = between(bob, without)
    link = ada.invite("Number Wars")
    bob.go(link)
    bob.page.get_by_role("button", name="Join").click()
    expect(ada.page.get_by_text("share of the dice")).to_be_visible()  # ada waits for bob's nonce
    assert any(message["type"] == "commit" for message in sent)
    assert not any(message["type"] == "reveal" for message in sent)


@pytest.mark.parametrize("what", ["hash", "own hash", "commitment", "nonce"])
def test_a_page_warns_of_a_server_that_contradicts_itself(site: Site, what: str) -> None:
    ada, bob = site.person(), site.person()

    def change(match: dict[str, Any]) -> None:
        if not match["you"] or match["nonces"] is None:
            return
        other = 2 - match["you"]
        if what == "hash":
            swapped = nonce_hash(match["id"], other, match["commitment"], new_nonce())
            match["hashes"][other] = swapped
        elif what == "own hash":
            match["hashes"][1 - other] = "a" * 64
        elif what == "commitment":
            match["commitment"] = "c" * 64
        else:
            match["nonces"][other] = new_nonce()

    between(bob, change)
    link = ada.invite("Number Wars")
    bob.join(link)
    expect(bob.page.get_by_role("alert").filter(has_text="cannot be trusted")).to_be_visible()
    expect(ada.page.get_by_text("cannot be trusted")).to_have_count(0)


def test_a_page_warns_of_a_record_with_other_hashes_at_the_end(site: Site) -> None:
    """The operator's search: a nonce chosen last, with a hash made to fit it."""
    ada, bob = site.person(), site.person()
    link = ada.invite("Number Wars")
    id = link.rpartition("/")[2]
    seat: list[int] = []

    def forged(route: Route) -> None:
        answer = route.fetch()
        fair = answer.json()
        nonce = new_nonce()
        fair["nonces"][seat[0]] = nonce
        fair["hashes"][seat[0]] = nonce_hash(id, seat[0], fair["commitment"], nonce)
        route.fulfill(response=answer, json=fair)

    bob.page.route("**/fair", forged)
    bob.join(link)
    assert bob.view is not None
    seat.append(2 - bob.view["player"])
    ada.page.get_by_role("button", name="Resign").click()
    ada.page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    expect(bob.page.get_by_text("The hashes are those this browser was shown.")).to_be_visible()
    expect(ada.page.get_by_role("link", name="Replay and analysis")).to_be_visible()
    expect(ada.page.get_by_text("The dice of this match are wrong")).to_have_count(0)


def test_a_page_says_when_its_share_was_given_elsewhere(site: Site) -> None:
    ada, bob = site.person(), site.person()
    link = ada.invite("Number Wars")
    key = ada.page.evaluate("localStorage.getItem('duels.key')")
    ada.page.close()  # with the nonce
    phone = site.person().go()
    phone.page.evaluate("(key) => localStorage.setItem('duels.key', key)", key)
    phone.go(link)
    bob.go(link)
    bob.page.get_by_role("button", name="Join").click()
    expect(phone.page.get_by_text("given in another browser")).to_be_visible()


def test_the_win_can_be_claimed_of_a_player_who_withholds_the_nonce(site: Site) -> None:
    ada, bob = site.person(), site.person()
    link = ada.invite("Number Wars")

    def opened(page: WebSocketRoute) -> None:
        server = page.connect_to_server()

        def to_server(text: str | bytes) -> None:
            if json.loads(text)["type"] != "reveal":
                server.send(text)

        page.on_message(to_server)

    bob.page.route_web_socket("**/ws/**", opened)
    bob.go(link)
    bob.page.get_by_role("button", name="Join").click()
    ada.page.get_by_role("button", name="Claim the win").click()
    expect(ada.page.get_by_role("heading", name="You have won")).to_be_visible()
    expect(ada.page.get_by_text("did not reveal the nonce in time").first).to_be_visible()
    ada.page.get_by_role("link", name="Replay and analysis").click()
    ada.page.get_by_role("button", name="Check all rolls, deals and draws").click()
    checks = ada.page.locator(".checks li")
    expect(checks.filter(has_text="did not reveal a nonce")).to_have_count(1)
    assert all(text.startswith("✓") for text in checks.all_inner_texts())
