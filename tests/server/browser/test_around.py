"""Functions around a match: hints, undo, resignation, rematches, clocks, identity."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="needs the extra: pip install 'duels[dev]'")

from playwright.sync_api import Route, WebSocketRoute, expect

from tests.server.browser.people import Person, Site
from tests.server.browser.test_games import record_of
from tests.server.browser.test_never_lost import seat, seated
from tests.server.server import ROOT

pytestmark = pytest.mark.slow


def button(person: Person, name: str) -> None:
    person.page.get_by_role("button", name=name, exact=True).click()


def test_against_the_computer_there_are_hints_undo_and_a_rematch_with_seats_swapped(
    site: Site,
) -> None:
    ada = site.person().against("Number Wars", "perfect")
    expect(ada.page.get_by_text("your turn", exact=True)).to_be_visible()
    button(ada, "Hint")
    expect(ada.page.get_by_text("Perfect play chooses")).to_be_visible()
    ada.type("7")
    expect(ada.log).to_contain_text("You attack: 7")
    expect(ada.page.get_by_text("your turn", exact=True)).to_be_visible()
    ada.type("undo")
    expect(ada.log).to_contain_text("You take back a move")
    button(ada, "Resign")
    ada.page.get_by_role("dialog").get_by_role("button", name="Resign", exact=True).click()
    expect(ada.page.get_by_role("heading", name="You have lost")).to_be_visible()
    before, address = seat(ada), ada.page.url
    button(ada, "Rematch")
    ada.page.wait_for_url(lambda url: url != address)
    ada.page.get_by_text("your turn", exact=True).wait_for()
    assert seat(ada) == 3 - before


def test_what_is_typed_wrongly_is_refused_with_a_reason_and_goes_on_where_it_was(
    site: Site,
) -> None:
    ada, _ = seated(site, "Cipher Siege")  # a computer player might win before the first turn
    expect(ada.page.get_by_text("your turn", exact=True)).to_be_visible()
    note = ada.page.locator(".note")
    ada.type("fly")
    expect(note).to_contain_text("I don't know 'fly'. Choose one of: attack, defend")
    ada.type("at")
    expect(ada.page.get_by_text("Cards to attack with", exact=True)).to_be_visible()
    ada.type("9")
    expect(note).to_contain_text("'9' is not available.")
    button(ada, "Back")
    expect(ada.page.get_by_text("Your action", exact=True)).to_be_visible()
    ada.type("?")
    expect(ada.page.get_by_role("dialog")).to_contain_text("You may hold 5 cards")
    ada.page.keyboard.press("Escape")
    expect(ada.page.get_by_role("dialog")).to_be_hidden()


def test_cards_may_be_picked_before_it_is_said_what_they_are_for(site: Site) -> None:
    one, two = seated(site, "Cipher Siege")
    cards = one.page.locator(".below button.item.card")
    faces = cards.all_inner_texts()
    cards.nth(0).click()
    cards.nth(1).click()
    one.page.get_by_role("group", name="Choices").get_by_role("button", name="attack").click()
    expect(two.log).to_contain_text(f"attacks {' '.join(faces[:2])}")


def test_a_used_number_warns_before_it_is_thrown_away(site: Site) -> None:
    one, two = seated(site, "Number Wars")
    one.click_move("5")
    two.click_move("5")
    expect(one.page.get_by_text("your turn", exact=True)).to_be_visible()
    used = one.page.locator(".below button.item.spent")
    used.click()
    expect(one.page.locator(".note")).to_contain_text("5 is spent.")
    used.click()
    expect(one.log).to_contain_text("5 was used before")


def test_a_friend_is_asked_before_a_move_is_taken_back(site: Site) -> None:
    one, two = seated(site, "Digit Duel")
    one.click_move("9")
    button(one, "Ask to undo")
    expect(two.page.get_by_text("asks to take the last move back")).to_be_visible()
    button(two, "Decline")
    expect(one.page.get_by_text("You asked to take")).to_be_hidden()
    button(one, "Ask to undo")
    button(two, "Agree")
    for person in (one, two):
        expect(person.log).to_contain_text("back a move")
    expect(one.page.locator("button.item[data-choice='9'].now")).to_be_visible()


def test_undo_waits_until_the_move_on_its_way_has_arrived(site: Site) -> None:
    one, two = seated(site, "Number Wars")
    undo = one.page.get_by_role("button", name="Ask to undo")
    expect(undo).to_be_disabled()  # there is nothing to undo yet
    routed: list[WebSocketRoute] = []
    held: list[str | bytes] = []

    def slow(page: WebSocketRoute) -> None:
        routed.append(page)
        server = page.connect_to_server()
        server.on_message(lambda said: held.append(said) if holding else page.send(said))

    holding = False
    one.page.route_web_socket(re.compile("/ws/"), slow)
    one.page.reload()
    one.click_move("9")
    two.click_move("9")
    one.answer("8").wait_for()
    expect(undo).to_be_enabled()
    holding = True
    one.click_move("8")
    expect(undo).to_be_disabled()
    expect(two.log).to_contain_text("attacks: 8")
    holding = False
    for said in held:
        routed[-1].send(said)
    undo.click()
    expect(two.page.get_by_text("asks to take the last move back")).to_be_visible()


def test_reactions_reach_the_other_and_a_rematch_needs_both(site: Site) -> None:
    one, two = seated(site, "Firewall Breach")
    reaction = one.page.get_by_role("group", name="Reactions").get_by_role("button").first
    shown = reaction.inner_text()
    reaction.click()
    expect(two.page.locator(".floating")).to_have_text(shown)
    one.type("resign")
    one.page.get_by_role("dialog").get_by_role("button", name="Resign", exact=True).click()
    expect(two.page.get_by_role("heading", name="You have won")).to_be_visible()
    button(one, "Rematch")
    two.page.get_by_role("button", name=re.compile("^Accept .* rematch$")).click()
    for person in (one, two):
        person.page.get_by_role("heading", name=re.compile("won|lost")).wait_for(state="detached")
        person.table.wait_for()
    assert (seat(one), seat(two)) == (2, 1)


def test_an_open_challenge_with_options_and_a_clock_is_taken_from_the_first_page(
    site: Site,
) -> None:
    ada, bob = site.person(), site.person()
    ada.go()
    ada.card("Digit Duel").get_by_role("button", name="More ways").click()
    ada.page.get_by_label("Opponent").select_option("open")
    ada.page.get_by_label("Your seat").select_option("2")
    ada.page.get_by_label("Clock").select_option("usual")
    ada.page.get_by_label("life: starting life points").fill("4/5")
    button(ada, "Create")
    ada.page.get_by_text("Waiting for an opponent to join").wait_for()
    bob.go()
    challenge = bob.page.get_by_role("listitem").filter(has_text="30 seconds for each choice")
    challenge.get_by_role("button", name="Join").click()
    ada.table.wait_for()
    expect(bob.page.get_by_role("meter", name="Your Life Points")).to_have_attribute(
        "aria-valuetext", "4 of 4"
    )
    expect(bob.page.get_by_role("timer").first).to_have_text(re.compile(r"0:(30|2\d)"))
    bob.page.get_by_text("Rules and options of this match").click()
    expect(bob.page.get_by_role("complementary")).to_contain_text("now 4/5, default: 10")


def test_a_name_is_shown_as_it_is_and_an_identity_moves_by_its_private_link(site: Site) -> None:
    ada, phone = site.person(), site.person()
    name = "<b>Ada</b>&amp;"
    ada.go("/me").page.get_by_label("Your name, as others see it").fill(name)
    button(ada, "Save")
    expect(ada.page.get_by_text("Saved.")).to_be_visible()
    link = ada.invite("Firewall Breach")
    phone.go(link)
    expect(phone.page.get_by_role("heading", name="invites you")).to_contain_text(name)
    expect(phone.page.get_by_role("meter")).to_have_count(2)  # the table, before one joins
    button(ada.go("/me"), "Show my private link")
    private = ada.page.get_by_label("Your private link").input_value()
    phone.go(private)
    button(phone, "Use it")
    expect(phone.page.get_by_label("Your name, as others see it")).to_have_value(name)
    assert "#" not in phone.page.url
    phone.go(link)
    expect(phone.page.get_by_role("heading", name="Invite a friend")).to_be_visible()


def test_a_finished_match_is_replayed_with_keys_graded_checked_and_kept(site: Site) -> None:
    one, two = seated(site, "Number Clash")
    one.click_move("4")  # which has no place in the opening of perfect play
    two.click_move("10")
    expect(one.log).to_contain_text("10 beats 4: +1")
    button(one, "Resign")
    one.page.get_by_role("dialog").get_by_role("button", name="Resign", exact=True).click()
    one.page.get_by_role("link", name="Replay and analysis").click()
    graded = one.page.get_by_role("region", name="Graded moves")
    expect(graded.get_by_role("row").nth(1)).to_contain_text("10")
    slider = one.page.get_by_role("slider")
    expect(slider).to_have_value("2")
    one.page.get_by_role("heading", level=1).click()
    one.page.keyboard.press("Home")
    expect(slider).to_have_value("0")
    one.page.keyboard.press("ArrowRight")
    expect(slider).to_have_value("1")
    expect(one.page.locator(".step-lines")).to_contain_text("10 beats 4: +1")
    one.page.get_by_role("button", name=re.compile("^Costliest move of")).first.click()
    expect(slider).to_have_value("0")
    expect(one.page.locator(".below .item.played")).to_have_text("4, played")
    expect(one.page.locator(".below .item.better")).to_have_text("10, better")
    button(one, "Check all rolls, deals and draws")
    checks = one.page.locator(".checks li")
    expect(checks).to_have_count(9)
    assert all(text.startswith("✓") for text in checks.all_inner_texts())
    expect(checks.nth(4)).to_contain_text("Nothing in this match was left to chance.")
    with one.page.expect_download() as download:
        one.page.get_by_role("link", name="Download the record").click()
    assert '"number-clash"' in download.value.path().read_text(encoding="utf-8")
    match = record_of(one, one.page.url.partition("/replay")[0])
    assert match.result is not None
    shared = site.person().go(one.page.get_by_label("Link to this replay").input_value())
    expect(shared.page.get_by_role("slider")).to_have_value("2")
    expect(shared.page.get_by_role("heading", name="’s chance of winning")).to_be_visible()
    expect(shared.page.get_by_role("button", name="Step 1: show the table before")).to_have_count(2)
    one.go("/history")
    expect(one.page.get_by_role("row").nth(1)).to_contain_text("Number Clash")
    expect(
        one.go("/me").page.get_by_text(re.compile(r"^Number Clash: .* 1 match$"))
    ).to_be_visible()


def test_a_player_who_stays_may_claim_the_win_after_a_countdown(site: Site) -> None:
    one, two = seated(site, "Firewall Breach")
    one.page.close()  # whose move it is
    expect(two.page.get_by_text("is away. You may claim the win in")).to_be_visible()
    button(two, "Claim the win")
    expect(two.page.get_by_role("heading", name="You have won")).to_be_visible()


def test_a_player_who_overruns_the_clock_of_the_server_loses(site: Site) -> None:
    ada, bob = site.person().go(), site.person()
    script = """async () => (await import('/static/js/api.js')).post('/api/matches',
        { game: 'firewall-breach', seat: 1, time: { limit: 1, budget: null, increment: 0 } })"""
    id = ada.page.evaluate(script)["id"]
    ada.page.goto(f"{site.url}/match/{id}")
    bob.join(f"{site.url}/match/{id}")
    expect(ada.page.get_by_role("heading", name="You have lost")).to_be_visible()
    expect(bob.page.get_by_role("region", name="Result")).to_contain_text("time")


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_animations_are_off_if_reduced_motion_is_preferred(site: Site, motion: str) -> None:
    ada = site.person(reduced_motion=motion).against("Firewall Breach", "random")
    ada.page.get_by_text("your turn", exact=True).wait_for()
    ada.page.evaluate(
        "document.addEventListener('animationstart', () => { document.title = 'moved'; }, true);"
        "document.addEventListener('transitionstart', () => { document.title = 'moved'; }, true);"
    )
    ada.click_move("bypass")
    expect(ada.log).to_contain_text("You bypass: −1")
    if motion == "no-preference":
        expect(ada.page).to_have_title("moved")
    else:
        ada.page.wait_for_timeout(300)
        assert ada.page.title() != "moved"


def test_a_player_at_a_terminal_meets_a_player_at_a_page(site: Site, tmp_path: Path) -> None:
    ada = site.person()
    link = ada.invite("Number Clash")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_DATA_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "duels", "play", "--server", link]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    ) as terminal:
        assert terminal.stdin is not None
        terminal.stdin.write("10\n9\n8\n")
        terminal.stdin.flush()
        for move in ("3", "2", "1"):
            ada.click_move(move)
        expect(ada.page.get_by_role("heading", name="You have lost")).to_be_visible()
        told, _ = terminal.communicate()
    assert "You have reached 3 points and win the game!" in told
    assert told.count("Round 1") == 1


def test_a_name_typed_before_the_old_one_has_come_is_not_overwritten(site: Site) -> None:
    ada = site.person()
    held: list[Route] = []
    ada.page.route("**/api/me", lambda route: held.append(route))
    field = ada.go("/me").page.get_by_label("Your name, as others see it")
    field.fill("Ada")
    while not held:
        ada.page.wait_for_timeout(10)
    with ada.page.expect_response("**/api/me"):
        held[0].continue_()
    ada.page.unroute("**/api/me")
    button(ada, "Save")
    expect(ada.page.get_by_text("Saved.")).to_be_visible()
    expect(field).to_have_value("Ada")


SHOWN = """(name) => {
    window.shown = [];
    const look = () => {
        const one = document.querySelector(`[role=img][aria-label^="${name}"]`);
        const said = one ? one.getAttribute('aria-label') : '';
        if (said !== window.shown.at(-1)?.said) window.shown.push({ said, at: performance.now() });
    };
    const options = { subtree: true, childList: true, attributes: true };
    new MutationObserver(look).observe(document.body, options);
    look();
}"""


def test_a_card_that_was_turned_up_is_seen_before_the_next_one_is_sealed(site: Site) -> None:
    ada = site.person().against("Number Clash", "greedy")  # which seals its next choice at once
    sealed = "Computer’s Choice: sealed"
    ada.page.get_by_role("img", name=sealed).wait_for()
    ada.page.evaluate(SHOWN, "Computer’s Choice")
    ada.click_move("1")
    while len(shown := ada.page.evaluate("window.shown")) < 3:
        ada.page.wait_for_timeout(50)
    (up, since), (down, until) = ((one["said"], one["at"]) for one in shown[1:])
    assert re.fullmatch(r"Computer’s Choice: turned up: \d+(, wins)?", up)
    assert down == sealed
    assert until - since > 2000  # milliseconds, however slow the machine is
    expect(ada.page.get_by_role("img", name="Your Choice: turned up: 1")).to_be_visible()


def test_what_is_clicked_as_soon_as_it_is_there_is_not_forgotten(site: Site) -> None:
    one, two = seated(site, "Cipher Siege")
    two.page.evaluate(
        """new MutationObserver((_, observer) => {
            const found = [...document.querySelectorAll('.words .word')];
            const attack = found.find((word) => word.dataset.word === 'attack');
            if (attack) { observer.disconnect(); attack.click(); }
        }).observe(document.body, { subtree: true, childList: true })"""
    )
    one.click_move(one.options[0])
    expect(two.page.locator(".prompt")).to_have_text("Cards to attack with")
    two.page.wait_for_timeout(200)
    expect(two.page.locator(".prompt")).to_have_text("Cards to attack with")


def test_a_player_who_presses_enter_twice_plays_once(site: Site) -> None:
    one, two = seated(site, "Number Wars")
    field = one.field
    field.fill("7")
    field.evaluate("(field) => { field.form.requestSubmit(); field.form.requestSubmit(); }")
    expect(two.log).to_contain_text("attacks: 7")
    assert [message["type"] for message in one.sent].count("move") == 1
    expect(field).to_have_value("")


def test_a_page_that_is_not_there_says_so_and_leads_back(site: Site) -> None:
    ada = site.person()
    ada.expected = "404"
    for path in ("/nothing", "/match/x/y"):
        answer = ada.page.goto(site.url + path)
        assert answer is not None
        assert answer.status == 404
        expect(ada.page.get_by_role("heading", name="Page not found")).to_be_visible()
    ada.page.get_by_role("link", name="All games", exact=True).click()
    expect(ada.card("Number Wars")).to_be_visible()
    ada.go("/match/AAAAAAAAAAAAAAAAAAAAAA")
    expect(ada.page.get_by_role("alert")).to_have_text("There is no such match.")


def test_what_is_sealed_is_still_known_to_its_player_after_a_reload(site: Site) -> None:
    one, two = seated(site, "Number Clash")
    one.click_move("7")
    expect(one.page.get_by_role("img", name="Your Choice: sealed, 7")).to_be_visible()
    one.page.reload()
    expect(one.page.get_by_role("img", name="Your Choice: sealed, 7")).to_be_visible()
    expect(two.page.get_by_role("img", name="Choice: sealed", exact=False)).to_have_count(1)
    expect(two.page.get_by_role("img", name="sealed, 7")).to_have_count(0)


def test_of_two_tabs_that_move_at_once_one_is_told_that_it_came_too_late(site: Site) -> None:
    one, two = seated(site, "Number Wars")
    held: list[str | bytes] = []
    tab = one.new_page()

    def late(page: WebSocketRoute) -> None:
        routed.append(page)
        server = page.connect_to_server()
        server.on_message(lambda said: held.append(said) if holding else page.send(said))

    holding = False
    routed: list[WebSocketRoute] = []
    tab.route_web_socket(re.compile("/ws/"), late)
    tab.goto(one.page.url)
    tab.locator("button.item[data-choice='2'].now").wait_for()
    holding = True
    one.click_move("1")
    expect(two.log).to_contain_text("attacks: 1")
    tab.locator("button.item[data-choice='2'].now").click()
    while not any("moment 1" in str(said) for said in held):
        tab.wait_for_timeout(20)
    holding = False
    for said in held:
        routed[-1].send(said)
    expect(tab.locator(".note")).to_have_text("The match has moved on meanwhile.")


def test_a_browser_that_keeps_nothing_says_what_that_means(site: Site) -> None:
    ada, bob = site.person(), site.person().go()
    ada.context.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } })"
    )
    ada.against("Number Wars", "random")
    expect(ada.page.get_by_role("note")).to_contain_text("you lose your seat")
    expect(bob.page.get_by_role("note")).to_have_count(0)


def test_hints_are_offered_only_where_there_are_any(site: Site) -> None:
    one, _ = seated(site, "Number Wars")
    field = one.field
    expect(field).to_have_attribute("placeholder", "type a move, or: undo, resign, ?")
    alone = site.person().against("Number Clash", "random")
    expect(alone.field).to_have_attribute("placeholder", re.compile("hint, undo"))


def test_a_link_says_in_a_preview_what_it_leads_to(site: Site) -> None:
    ada = site.person()
    link = ada.invite("Number Clash")
    assert "You are invited" in ada.context.request.get(link).text()
    site.person().join(link)
    assert "Watch the match." in ada.context.request.get(link).text()
    ada.type("resign")
    button_of = ada.page.get_by_role("dialog").get_by_role("button", name="Resign", exact=True)
    button_of.click()
    ada.page.get_by_role("heading", name="You have lost").wait_for()
    assert "See the replay" in ada.context.request.get(link).text()
