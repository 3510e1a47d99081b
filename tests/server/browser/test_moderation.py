"""The report button, and one's own data: reached by keyboard, announced, and without objections."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="needs the extra: pip install 'duels[dev]'")
pytest.importorskip("axe_playwright_python", reason="needs: pip install 'duels[dev]'")

from playwright.sync_api import expect

from tests.server.browser.people import Site
from tests.server.browser.test_accessible import check
from tests.server.browser.test_never_lost import seated
from tests.server.server import ROOT

pytestmark = pytest.mark.slow


def test_an_opponent_is_reported_by_keyboard(site: Site) -> None:
    ada, _ = seated(site, "Number Clash")
    report = ada.page.get_by_role("button", name="Report Guest")
    ada.tab_to(report)
    ada.page.keyboard.press("Enter")
    dialog = ada.page.get_by_role("dialog", name="Report Guest")
    expect(dialog).to_be_visible()
    check(ada)
    ada.page.keyboard.press("Escape")  # nothing is sent without a confirmation
    expect(dialog).not_to_be_visible()
    expect(report).to_be_focused()
    ada.page.keyboard.press("Enter")
    ada.tab_to(dialog.get_by_role("textbox"))
    ada.page.keyboard.type("insults <b>")
    ada.tab_to(dialog.get_by_role("button", name="Send the report"))
    ada.page.keyboard.press("Enter")
    expect(ada.page.get_by_role("status").filter(has_text="Reported.")).to_be_visible()
    check(ada)
    command = [sys.executable, "-m", "duels", "admin", "reports", "--json"]
    done = subprocess.run(
        [*command, "--database", site.database], capture_output=True, check=True, cwd=ROOT
    )
    (stored,) = json.loads(done.stdout)
    assert (stored["reason"], stored["match"]) == ("insults <b>", ada.page.url.split("/")[4])


def test_there_is_no_report_against_a_computer(site: Site) -> None:
    ada = site.person().against("Number Wars", "random")
    expect(ada.page.get_by_role("button", name="Resign")).to_be_visible()
    expect(ada.page.get_by_role("button", name="Report")).to_have_count(0)


def test_a_player_downloads_and_deletes_their_data(site: Site, tmp_path: Path) -> None:
    ada = site.person().go("/me")
    ada.page.get_by_label("Your name, as others see it").fill("Ada Example")
    ada.page.get_by_role("button", name="Save").click()
    expect(ada.page.get_by_text("Saved.")).to_be_visible()
    with ada.page.expect_download() as begun:
        ada.page.get_by_role("button", name="Download my data").click()
    begun.value.save_as(tmp_path / "data.json")
    data = json.loads((tmp_path / "data.json").read_text(encoding="utf-8"))
    assert (data["name"], data["matches"]) == ("Ada Example", [])
    ada.page.get_by_role("button", name="Delete my data").click()
    dialog = ada.page.get_by_role("dialog", name="Delete your data?")
    check(ada)
    dialog.get_by_role("button", name="Delete my data").click()
    expect(ada.page.get_by_text("Your data was deleted.")).to_be_visible()
    field = ada.page.get_by_label("Your name, as others see it")
    expect(field).not_to_have_value("Ada Example")
    assert field.input_value().startswith("Guest ")
