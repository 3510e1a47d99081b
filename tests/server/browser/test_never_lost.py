"""Reload, a second tab, a cut line, a dead one, a killed server: the match goes on, once."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest

pytest.importorskip("playwright", reason="needs the extra: pip install 'duels[dev]'")

from playwright.sync_api import WebSocketRoute, expect

from tests.server.browser.people import Person, Site

pytestmark = pytest.mark.slow

LOST = r"WebSocket|ERR_|Failed to (load|fetch)"  # what a browser says itself when the line is cut


class Cable:
    """A way to the server that can be cut, or go silent as a dead network does."""

    def __init__(self, port: int) -> None:
        self.port, self.silent, self.open = port, threading.Event(), True
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        self.ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self.listening.accept()
            except OSError:
                return
            try:
                if not self.open:
                    raise OSError
                far = socket.create_connection(("127.0.0.1", self.port))
            except OSError:
                near.close()
                continue
            self.ends += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        try:
            while data := one.recv(65536):
                if not self.silent.is_set():
                    other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            end.close()

    def cut(self) -> None:
        self.open = False
        for end in self.ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                end.close()
        self.ends = []

    def mend(self) -> None:
        self.open = True
        self.silent.clear()

    def close(self) -> None:
        self.cut()
        self.listening.close()


@pytest.fixture
def cable(site: Site) -> Iterator[Cable]:
    made = Cable(site.server.port)
    yield made
    made.close()


def seated(site: Site, title: str, url: str | None = None) -> tuple[Person, Person]:
    """Player 1 and Player 2 of a match; the inviting player opens the site at `url`."""
    ada, bob = site.person(url=url), site.person()
    link = ada.invite(title)
    bob.join(f"{site.url}/match/{link.rpartition('/')[2]}")
    ada.table.wait_for()
    return (ada, bob) if seat(ada) == 1 else (bob, ada)


def seat(person: Person) -> int:
    assert person.view is not None
    number: int = person.view["player"]
    return number


def reconnecting(person: Person) -> None:
    expect(person.page.get_by_text("Reconnecting …")).to_be_visible()


def going_on(person: Person) -> None:
    expect(person.page.get_by_text("Reconnecting …")).to_be_hidden()


def test_a_reload_and_a_second_tab_find_the_match_as_it_is(site: Site) -> None:
    one, two = seated(site, "Digit Duel")
    one.click_move("9")
    expect(two.log).to_contain_text("attacks: 9")
    two.page.reload()
    expect(two.log).to_contain_text("attacks: 9")
    tab = two.new_page()
    tab.goto(two.page.url)
    tab.locator("button.item[data-choice='4'].now").click()
    for page in (one.page, two.page, tab):
        expect(page.get_by_role("log")).to_contain_text("9 against 4: −5")


def test_a_move_made_while_the_line_is_cut_is_played_once_when_it_is_back(
    site: Site, cable: Cable
) -> None:
    one, two = seated(site, "Number Wars", cable.url)
    ada, bob = (one, two) if one.url == cable.url else (two, one)
    ada.expected = LOST
    if seat(ada) == 2:
        bob.click_move("1")
    expect(ada.page.get_by_text("your turn", exact=True)).to_be_visible()
    told = len(bob.messages)
    cable.cut()
    reconnecting(ada)
    ada.click_move("10")
    cable.mend()
    going_on(ada)
    expect(bob.log).to_contain_text("attacks: 10")
    expect(ada.log).to_contain_text("You attack: 10")
    events = [event for message in bob.messages[told:] for event in message.get("events", [])]
    assert [event["moves"] for event in events] == [{str(seat(ada)): "10"}]
    bob.click_move("2")
    expect(ada.log).to_contain_text("attacks: 2")


def test_a_line_that_went_silent_is_noticed_and_what_was_missed_is_caught_up(
    site: Site, cable: Cable
) -> None:
    one, two = seated(site, "Number Wars", cable.url)
    ada, bob = (one, two) if one.url == cable.url else (two, one)
    ada.expected = LOST
    if seat(ada) == 1:
        ada.click_move("3")
    expect(bob.page.get_by_text("your turn", exact=True)).to_be_visible()
    cable.silent.set()
    bob.click_move("7")
    expect(bob.log).to_contain_text("You attack: 7")
    reconnecting(ada)  # nothing closed the line: the page asked, and heard nothing
    cable.cut()
    cable.mend()
    going_on(ada)
    expect(ada.log).to_contain_text("attacks: 7")
    expect(ada.page.get_by_text("your turn", exact=True)).to_be_visible()


def test_a_killed_server_comes_back_with_the_match_and_the_sealed_pick(site: Site) -> None:
    one, two = seated(site, "Number Clash")
    one.expected = two.expected = LOST
    one.click_move("7")
    expect(one.page.get_by_text("Your choice is sealed.")).to_be_visible()
    site.server.kill()
    reconnecting(one)
    reconnecting(two)
    two.click_move("8")  # while there is no server
    site.server = site._start(site.server.port)
    going_on(one)
    for person in (one, two):
        expect(person.log).to_contain_text("underdog")
        expect(person.page.get_by_role("img", name="Choice: turned up: 7")).to_be_visible()
        expect(person.page.get_by_role("img", name="Choice: turned up: 8")).to_be_visible()
        assert person.view is not None
        assert person.view["moment"] == 1


def test_nothing_can_be_chosen_while_a_move_is_on_its_way(site: Site, cable: Cable) -> None:
    ada = site.person(url=cable.url).go()
    ada.expected = LOST
    script = """async () => (await import('/static/js/api.js')).post('/api/matches',
        { game: 'cipher-siege', opponent: 'random', seat: 1, options: { hand: '5' } })"""
    id = ada.page.evaluate(script)["id"]
    ada.page.goto(f"{cable.url}/match/{id}")
    words = ada.page.locator(".words .word:not([aria-disabled])")
    expect(words).to_have_text(["attack", "defend"])  # a swap is refused: six cards
    cable.silent.set()
    ada.click_move(ada.options[0])
    expect(words).to_have_count(0)
    assert ada.options == []


@pytest.mark.parametrize("share", ["commit", "reveal"])
def test_a_share_that_could_not_be_stored_is_given_again(site: Site, share: str) -> None:
    ada, bob = site.person(), site.person()
    link = ada.invite("Number Wars")
    refused: list[float] = []  # when; all of the first second

    def between(page: WebSocketRoute) -> None:
        server = page.connect_to_server()

        def sent(text: str | bytes) -> None:
            message = json.loads(text)
            now = time.monotonic()
            if message["type"] == share and now < (refused or [now])[0] + 1:
                refused.append(now)
                answer = {"type": "answer", "id": message["id"], "ok": False, "reason": "full"}
                page.send(json.dumps({**answer, "again": True}))
            else:
                server.send(text)

        page.on_message(sent)

    bob.page.route_web_socket("**/ws/**", between)
    bob.join(link)
    expect(ada.page.locator(".banner .event")).to_contain_text("begin")
    assert refused


def test_a_share_survives_a_reload_before_the_match_starts(site: Site) -> None:
    ada, bob = site.person(), site.person()
    link = ada.invite("Number Wars")
    ada.page.reload()
    ada.page.get_by_label("Link to this match").wait_for()
    bob.join(link)
    expect(ada.page.locator(".banner .event")).to_contain_text("begin")
    hashes = {message["hash"] for message in ada.sent if message["type"] == "commit"}
    assert len(hashes) == 1
