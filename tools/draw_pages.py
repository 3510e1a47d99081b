"""Makes screenshots of the browser client and of a report, for the README and for inspection.

    python tools/draw_pages.py docs/pictures            # the set of the README
    python tools/draw_pages.py --all FOLDER      # all, light and dark, wide and narrow

Needs the extra `dev` and a Chromium.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from playwright.sync_api import Browser, sync_playwright

from duels.cli.main import main as main_of_duels
from duels.games import catalogue, find
from tests.server.browser.conftest import executable
from tests.server.browser.people import NARROW, WIDE, Person, Site

README = {
    ("home", "light"),
    ("cipher-siege", "dark"),
    ("firewall-breach", "light"),
    ("replay", "light"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as place:
        browser = playwright.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        site = Site(browser, str(Path(place) / "duels.db"), place)
        for width, size in (("wide", WIDE), ("narrow", NARROW)):
            if given.all or width == "wide":
                draw_all(site, size, given.folder, "" if width == "wide" else "-narrow", given.all)
        site.close()
        if not given.all:
            draw_report(browser, given.folder, place)
            draw_leaderboard(browser, given.folder, place)


def draw_report(browser: Browser, folder: Path, place: str) -> None:
    """The report of a tournament."""
    players = ["perfect", "hard", "medium", "easy", "greedy", "random"]
    chosen = [
        "--games",
        "firewall-breach",
        "-n",
        "50",
        "--seed",
        "1",
        "--out",
        f"{place}/arena",
    ]
    assert main_of_duels(["arena", *players, *chosen]) == 0
    page = browser.new_page(viewport={"width": 900, "height": 560})
    page.goto(f"file://{place}/arena/report.html")
    page.screenshot(path=folder / "arena-report.jpg", type="jpeg", quality=80)


def draw_leaderboard(browser: Browser, folder: Path, place: str) -> None:
    """The leaderboard of the built-in players."""
    words = ["bench", "--baselines", "--answer", "mix", "--out", f"{place}/bench"]
    assert main_of_duels(words) == 0
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.goto(f"file://{place}/bench/leaderboard.html")
    page.screenshot(path=folder / "bench-leaderboard.jpg", type="jpeg", quality=80)


def draw_all(
    site: Site, size: tuple[int, int], folder: Path, suffix: str, everything: bool
) -> None:
    def draw(person: Person, name: str) -> None:
        for scheme in ("light", "dark"):
            if everything or (name, scheme) in README:
                person.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
                person.page.wait_for_timeout(900)  # until animations have ended
                if everything:
                    shown = folder / f"{name}{suffix}-{scheme}.png"
                    person.page.screenshot(path=shown, full_page=True)
                else:
                    shown = folder / f"browser-{name}.jpg"
                    person.page.screenshot(path=shown, type="jpeg", quality=80)

    ada, bob = site.person(size), site.person(size)
    for person, name in ((ada, "Ada"), (bob, "Bob")):
        person.go("/me").page.get_by_label("Your name, as others see it").fill(name)
        person.page.get_by_role("button", name="Save").click()
        person.page.get_by_text("Saved.").wait_for()
    draw(ada.go(), "home")
    for slug in catalogue():
        link = ada.invite(find(slug).title)
        draw(ada, "invite") if slug == "number-clash" else None
        draw(bob.go(link), "join") if slug == "number-clash" else None
        bob.join(link)
        ada.table.wait_for()
        chance = random.Random(4)
        turns = 0
        while not (ada.over and bob.over):
            for person in (ada, bob):
                options = person.options
                turns += bool(options and person is ada)
                if options and person is ada and turns == 3:
                    draw(ada, slug)
                if options:
                    person.click_move(chance.choice(options))
            ada.page.wait_for_timeout(20)
        ada.page.get_by_role("region", name="Result").wait_for()
        draw(ada, f"{slug}-end")
        ada.page.get_by_role("link", name="Replay and analysis").click()
        ada.page.get_by_role("region", name="Graded moves").wait_for()
        costly = ada.page.get_by_role("button", name="Costliest move").first
        if costly.count():
            costly.click()
        draw(ada, "replay" if slug == "number-clash" else f"{slug}-replay")
    for page in ("history", "ratings", "me"):
        draw(ada.go(f"/{page}"), page)


if __name__ == "__main__":
    main()
