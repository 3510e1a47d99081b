"""Players in browsers: elements are found by role and name, as a screen reader finds them."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page, WebSocket

from tests.server.server import Process, changed

TIMEOUT = 120_000.0  # milliseconds: enough for a busy machine, on which kernels are compiled first
WIDE, NARROW = (1280, 900), (320, 640)


def start(database: str, plugins: str, port: int = 0) -> Process:
    quick = ("--claim-after", "6", "--computer-delay", "0.01")
    return Process(database, *quick, port=port, path=plugins)


class Site:
    """A server and the browsers that look at it. Nothing may go wrong on any page."""

    def __init__(
        self, browser: Browser, database: str, plugins: str, shared: Process | None = None
    ) -> None:
        """With a server of its own, or with one that other tests use too."""
        self.browser, self.database, self.plugins = browser, database, plugins
        self.shared = shared
        self.server = shared or self._start()
        self.url = self.server.url
        self.people: list[Person] = []

    def _start(self, port: int = 0) -> Process:
        return start(self.database, self.plugins, port)

    def person(
        self, size: tuple[int, int] = WIDE, url: str | None = None, **context: Any
    ) -> Person:
        """A new person, with an unused browser."""
        width, height = size
        made = self.browser.new_context(
            viewport={"width": width, "height": height},
            # A service worker hides requests from the tests; those about it allow it.
            **{"reduced_motion": "reduce", "service_workers": "block", **context},
        )
        made.set_default_timeout(TIMEOUT)
        found = Person(made, url or self.url)
        self.people.append(found)
        return found

    def restart(self) -> None:
        """As after a power cut."""
        self.server.kill()
        self.server = self._start(self.server.port)

    def close(self) -> None:
        troubles = [trouble for person in self.people for trouble in person.troubles]
        for person in self.people:
            person.context.close()
        if self.shared is None:
            self.server.kill()
        assert not troubles, troubles


class Person:
    """One browser at the site, and all that it is told."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.context, self.url = context, url
        self.troubles: list[str] = []
        self.messages: list[dict[str, Any]] = []
        self.sent: list[dict[str, Any]] = []
        self.requests: list[str] = []
        self.expected = "(?!)"  # troubles that are part of a test
        self.keyboard = False  # whether nothing but the keyboard is used
        self.quick()
        self.page = self.new_page()

    def quick(self) -> None:
        """Without pauses after dice and cards, unless a test is about them."""
        self.context.add_init_script("try { localStorage['duels.pauses'] ??= 'off' } catch {}")

    def new_page(self) -> Page:
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.trouble(str(error)))
        page.on("console", lambda said: self.trouble(said.text) if said.type == "error" else None)
        page.on("websocket", self._listen)
        page.on("request", lambda request: self.requests.append(request.url))
        return page

    def trouble(self, text: str) -> None:
        if not re.search(self.expected, text):
            self.troubles.append(text)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda message: self._receive(json.loads(message)))
        socket.on("framesent", lambda message: self.sent.append(json.loads(message)))

    def use(self, button: Locator) -> None:
        """Press a button, with the mouse or with the keyboard alone."""
        if self.keyboard:
            self.tab_to(button)
            self.page.keyboard.press("Enter")
        else:
            button.click()

    # Going places

    def go(self, path: str = "/") -> Person:
        self.page.goto(path if path.startswith("http") else self.url + path)
        self.page.locator("main h1").wait_for()
        return self

    def invite(self, title: str) -> str:
        """Invite a friend to a game; the address of the match."""
        self.go()
        self.use(self.card(title).get_by_role("button", name="Invite a friend"))
        return self.page.get_by_label("Link to this match").input_value()

    def against(self, title: str, level: str) -> Person:
        """Play the computer."""
        self.go()
        card = self.card(title)
        card.get_by_role("combobox").select_option(level)
        card.get_by_role("button", name="Play the computer").click()
        self.table.wait_for()
        return self

    def card(self, title: str) -> Locator:
        heading = self.page.get_by_role("heading", name=title, exact=True)
        return self.page.get_by_role("listitem").filter(has=heading)

    def join(self, link: str) -> Person:
        self.go(link)
        self.use(self.page.get_by_role("button", name="Join"))
        self.table.wait_for()
        return self

    # At the table

    @property
    def table(self) -> Locator:
        return self.page.locator(".board .table")

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log")

    def _receive(self, message: dict[str, Any]) -> None:
        """Keep a message; an update gets the whole view if it has only the changes of the last."""
        if message["type"] == "update" and "changes" in message:
            message["view"] = changed(self.view, message["changes"], message["moment"])
        self.messages.append(message)

    @property
    def view(self) -> dict[str, Any] | None:
        """The view that the page has after what it was last sent."""
        views = [message["view"] for message in self.messages if message["type"] == "update"]
        return views[-1] if views else None

    @property
    def over(self) -> bool:
        view = self.view
        return view is not None and view["result"] is not None

    @property
    def options(self) -> list[str]:
        """The moves that may be chosen now, as far as the page shows them."""
        asked = self.page.locator("button.item.now, .words .word:not([aria-disabled=true])").count()
        return self.view["options"] if self.view and asked else []

    def answer(self, word: str) -> Locator:
        """The card, token or button that stands for a word of a move and is not picked yet."""
        at = f"button.item[data-choice='{word}'].now:not([aria-pressed=true])"
        below = self.page.get_by_role("group", name="Choices")
        return self.page.locator(at).or_(below.locator(f"button[data-word='{word}']")).first

    @property
    def finish(self) -> Locator:
        """What ends a step that takes several cards."""
        return self.page.locator(".words .finish")

    def click_move(self, move: str) -> None:
        """Make a move with the mouse, or with a finger."""
        for word in move.split():
            self.answer(word).click()
        if self.finish.count():
            self.finish.click()

    def tab_move(self, move: str) -> None:
        """Make a move with nothing but Tab and Enter."""
        for word in move.split():
            self.tab_to(self.answer(word))
            self.page.keyboard.press("Enter")
        if self.finish.count():
            self.tab_to(self.finish)
            self.page.keyboard.press("Enter")

    def tab_to(self, wanted: Locator) -> None:
        wanted.wait_for()
        for _ in range(200):
            if wanted.evaluate("(one) => one === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"the keyboard does not reach {wanted}")

    def type_move(self, move: str) -> None:
        """Type a move, its first word shortened."""
        first, *rest = move.split()
        short = first if first.isdigit() else first[:1]
        self.type(" ".join([short, *rest]))

    @property
    def field(self) -> Locator:
        """The text field, which the key / shows."""
        field = self.page.get_by_label("type a move")
        if not field.count():
            self.page.locator("#main").focus()
            self.page.keyboard.press("/")
        return field

    def type(self, text: str) -> None:
        field = self.field
        field.fill(text)
        field.press("Enter")
