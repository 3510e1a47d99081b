"""The analysis as it is shown: a summary, notes, and pages that nothing can break."""

from __future__ import annotations

import importlib
import json
import re
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from duels.analysis import grade, summary
from duels.analysis.page import page
from duels.analysis.report import chart, ended, sparkline, sums, text, to_json
from duels.core.game import Outcome, Pick
from duels.core.match import Match
from duels.games import BUILT_IN, load
from tests.analysis.test_grade import play, siege
from tests.plugins.goofspiel import Goofspiel
from tests.plugins.kuhn_poker import KuhnPoker

LONG = 4  # the seed of a siege of several turns


def finished(slug: str, seed: int = 5) -> Match:
    return play(slug, ("greedy", "random"), seed)


@pytest.mark.slow
@pytest.mark.parametrize("slug", BUILT_IN)
def test_the_summary_has_the_graph_and_both_players(slug: str) -> None:
    for seed in range(4):
        lines = summary(finished(slug, seed))
        assert lines[0].startswith("Player 1's expected score  ")
        assert lines[1].startswith("Player 1: ")
        assert lines[2].startswith("Player 2: ")
        plain = summary(finished(slug, seed), ascii_only=True)
        assert "\n".join(plain).isascii()
        assert len(plain) == len(lines)


def test_the_summary_names_the_costliest_move_and_the_better_one() -> None:
    match = Match(load("number-wars", lp=19), seed=1)
    for player, move in [(0, "1"), (1, "10"), (0, "10"), (1, "9")]:
        match.submit(player, move)
    assert "Costliest: 1 gave away 1.000; 10 was better." in summary(match)[1]
    assert "Costliest" not in summary(match)[2]


@pytest.mark.parametrize(
    ("slug", "options"),
    [
        ("cipher-siege", {"swap": "chosen"}),  # not solved
        ("digit-duel", {"digits": 20}),  # too large to be solved
        ("firewall-breach", {"strength": 150}),  # would take a second or more
    ],
)
def test_a_summary_that_would_take_long_or_is_not_known_is_empty(
    slug: str, options: dict[str, object]
) -> None:
    match = Match(load(slug, **options), seed=1)
    for player in match.deciders:
        match.submit(player, match.view(player).options[0])
    match.resign(0)
    assert summary(match) == []


def test_a_long_match_is_thinned_out_to_a_line() -> None:
    curve = [number / 499 for number in range(500)]
    drawn = sparkline(curve, ascii_only=True)
    assert len(drawn) == 60
    assert (drawn[0], drawn[-1]) == ("0", "9")
    assert list(drawn) == sorted(drawn)


def test_moves_taken_back_are_told_everywhere() -> None:
    match = Match(load("number-wars", lp=20), seed=1)
    match.submit(0, "1")
    match.submit(1, "10")
    match.undo(0)
    match.submit(0, "10")
    analysis = grade(match)
    said = "2 moves were taken back"
    assert said in "\n".join(text(analysis))
    assert said in page(analysis)
    assert said in "\n".join(summary(match))
    assert to_json(analysis)["taken_back"] == 2


def test_names_that_are_no_text_break_neither_page_nor_json_nor_terminal(tmp_path: Path) -> None:
    match = finished("firewall-breach")
    match.players = ("\ud800<script>", "\x1b[31m\x00&")  # from some other source than a record
    match_page = page(grade(match))
    (tmp_path / "page.html").write_text(match_page, encoding="utf-8")
    assert "<script" not in match_page
    assert "\x1b" not in match_page
    assert "\x00" not in match_page
    assert "\\ud800&lt;script&gt;" in match_page
    shown = "\n".join(text(grade(match)))
    assert shown.encode("utf-8")
    assert "\x1b" not in shown
    assert json.loads(json.dumps(to_json(grade(match))))["players"] == list(match.players)


@pytest.mark.slow
def test_what_is_not_known_is_a_gap_and_never_a_number() -> None:
    """No game of ours has such a move; one whose solution knows only a part of it would."""
    whole = grade(finished("cipher-siege", LONG))
    dark = whole.moves[1]._replace(before=None, after=None, regret=None, random_regret=None)
    moves = (whole.moves[0], dark, *whole.moves[2:])
    curve = (whole.curve[0], None, *whole.curve[2:])
    analysis = whole._replace(moves=moves, curve=curve, luck_of_one=None)
    assert len(curve) > 3
    drawn = page(analysis)
    svg = drawn[drawn.index("<svg") : drawn.index("</svg>") + 6]
    points = [line.get("points", "") for line in ElementTree.fromstring(svg).iter("polyline")]
    known = [value for value in analysis.curve if value is not None]
    assert sum(len(piece.split()) for piece in points) == len(known)
    assert "·" in sparkline(analysis.curve)
    ungraded = [move for move in to_json(analysis)["moves"] if move["before"] is None]
    assert ungraded
    assert all(move["regret"] is None and move["after"] is None for move in ungraded)
    assert "not known" in "\n".join(text(analysis))


class Tags(HTMLParser):
    """The tags of a page as they open and close, and every attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes |= {name for name, _ in attrs}
        if tag not in ("meta", "line", "polyline"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("slug", BUILT_IN)
def test_a_page_stands_alone_and_fits_dark_and_narrow_screens(slug: str) -> None:
    drawn, tags = page(grade(finished(slug))), Tags()
    tags.feed(drawn)
    assert tags.open == []
    assert not tags.attributes & {"src", "href", "onclick", "onload"}
    assert "url(" not in drawn
    assert "//" not in drawn
    assert "prefers-color-scheme: dark" in drawn
    assert '="#' not in drawn, "a colour that is the same in the dark"
    assert drawn.index('<div class="wide"') < drawn.index("<table>"), "the page scrolls sideways"


@pytest.mark.slow
def test_measured_values_are_shown_with_their_error() -> None:
    analysis = grade(finished("cipher-siege", LONG))
    figure = r"\d\.\d\d\d? ± 0\.\d\d\d?"
    wrong = [move for move in analysis.moves if move.regret]
    assert wrong
    shown = "\n".join(text(analysis))
    assert len(re.findall(figure, shown)) > len(wrong)
    assert re.search(f"gave away {figure}, luck [+-]{figure}", shown)
    assert re.search(figure.replace("±", r"\+-"), "\n".join(text(analysis, ascii_only=True)))
    assert "\n".join(text(analysis, ascii_only=True)).isascii()
    assert re.search(figure.replace("±", "&plusmn;"), page(analysis))
    assert "half-width of a 95 % interval" in page(analysis)
    (first, *_) = (move for move in to_json(analysis)["moves"] if move["regret"])
    assert 0 < first["standard_errors"]["regret"] < 0.1
    exact = grade(finished("firewall-breach"))
    assert "±" not in "\n".join(text(exact))
    assert not [move for move in to_json(exact)["moves"] if "standard_errors" in move]


def test_long_grading_tells_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float] = []
    match = finished("number-clash")
    grade(match, lambda part, what: told.append(part))
    assert told == [], "it took no time"
    monkeypatch.setattr(importlib.import_module("duels.analysis.grade"), "LONG", -1.0)
    grade(match, lambda part, what: told.append(part))
    assert told == sorted(told)
    assert told[-1] == 1


# Where did I go wrong? Each move stands in its position.


def positions_of(match: Match) -> list[list[str]]:
    """The positions of an analysis, which text, page and JSON agree on."""
    analysis = grade(match)
    data, drawn, shown = to_json(analysis), page(analysis), text(analysis)
    for move in data["moves"]:
        assert move["position"]
        assert "<br/>".join(map(escape, move["position"])) in drawn
        joined = "; ".join(move["position"])
        lines = [joined] if len(joined) <= 72 else move["position"]
        assert {f"{'':7}{line}" for line in lines} <= set(shown)
    return [move["position"] for move in data["moves"]]


def test_a_position_has_what_the_player_saw_on_the_table() -> None:
    match = Match(load("number-wars", lp=30), seed=1)
    for player, move in [(0, "1"), (1, "10"), (0, "7")]:
        match.submit(player, move)
    assert positions_of(match)[2] == [
        "Player 1: LP 20 of 30, Numbers 2 3 4 5 6 7 8 9 10",
        "Player 2: LP 29 of 30, Numbers 1 2 3 4 5 6 7 8 9",
    ]


def test_a_position_has_the_attack_to_answer_and_the_last_roll() -> None:
    match = Match(load("digit-duel", digits=3), seed=1)
    match.submit(0, "3")
    match.submit(1, "1")
    assert positions_of(match)[1] == [
        "Player 1: Life Points 10 of 10, Digits 1 2",
        "Player 2: Life Points 10 of 10, Digits 1 2 3",
        "Player 1 attacks with 3",
    ]
    match = Match(load("firewall-breach"))
    for event in (Pick(((0, "attack"),)), Outcome("5"), Pick(((1, "bypass"),))):
        match.enact(event)
    assert positions_of(match)[1] == [
        "Player 1: Firewall 10 of 10, Die 5",
        "Player 2: Firewall 7 of 10",
    ]


def test_a_position_keeps_the_hand_of_the_opponent_hidden() -> None:
    one, two = positions_of(siege([*"2132531", "attack 1", "4", "defend 4"]))
    assert one == [
        "Player 1: Code Integrity 15 of 15, Hand 1 2 3 5",
        "Player 2: Code Integrity 15 of 15, Hand 3 hidden",
        "Deck 13, Discards none",
    ]
    assert two == [
        "Player 1: Code Integrity 15 of 15, Hand 3 hidden",
        "Player 2: Code Integrity 14 of 15, Hand 1 2 3 4",
        "Deck 12, Discards 1",
    ]


def test_simultaneous_choices_are_made_in_one_position() -> None:
    match = Match(load("number-clash"))
    match.enact(Pick(((0, "7"), (1, "8"))))
    one, two = positions_of(match)
    assert one == two
    assert text(grade(match)).count(f"{'':7}{one[0]}") == 1


@pytest.mark.slow
@pytest.mark.parametrize("rules", [Goofspiel, KuhnPoker])
def test_a_game_from_elsewhere_has_positions_too(rules: type[Goofspiel] | type[KuhnPoker]) -> None:
    match = Match(rules(), seed=3)
    while match.result is None:
        for player in match.deciders:
            match.submit(player, match.view(player).options[0])
    assert all(positions_of(match))


def test_the_winner_is_named() -> None:
    match = Match(load("number-clash", points=1), seed=1, players=("human", "medium"))
    match.submit(0, "3")
    match.submit(1, "10")
    analysis = grade(match)
    assert ended(analysis) == "Player 2 has reached 1 point. Player 2 (medium) wins."
    assert text(analysis, 0)[0] == "Number Clash: Player 1 (you) against Player 2 (medium)"
    assert "Player 2 (medium) wins." in page(analysis)
    result = {"winner": 2, "by": "rules", "reason": "Player 2 has reached 1 point"}
    assert to_json(analysis)["result"] == result
    match = Match(load("number-clash", points=1), seed=1)
    assert ended(grade(match)) == "The match is not finished."
    assert to_json(grade(match))["result"] is None
    match.resign(0)
    assert ended(grade(match)) == "Player 1 resigned. Player 2 (human) wins."


def test_moves_that_changed_nothing_are_told_as_such() -> None:
    match = Match(load("number-wars", lp=(20, 11)), seed=1)
    for player, move in [(0, "10"), (1, "10"), (0, "1")]:
        match.submit(player, move)
    assert summary(match, 0)[1:] == [
        "Every move you had kept the win.", "Player 2: no move changed the outcome."
    ]  # fmt: skip
    assert summary(match, 1)[1:] == [
        "Player 1: every move kept the win.", "No move of yours changed the outcome."
    ]  # fmt: skip
    analysis = grade(match)
    assert sums(analysis, 0, 0).startswith("Every move you had kept the win; gave away 0.000")
    assert to_json(analysis)["won_throughout"] == {"1": True, "2": False}
    assert to_json(analysis)["accuracy"] == {"1": None, "2": None}


def test_the_graph_as_text_has_axes_and_marks() -> None:
    match = Match(load("number-wars", lp=19), seed=1)
    for player, move in [(0, "1"), (1, "10"), (0, "10"), (1, "9")]:
        match.submit(player, move)
    assert chart(grade(match), ascii_only=True) == [
        "        1 |*", *["          |"] * 3, "      0.5 |", *["          |"] * 3,
        "        0 | ****",
        "          +-----",
        "     step  1",
        " Player 1  B",
        " Player 2",
        "           s slip, m mistake, B blunder",
    ]  # fmt: skip


def test_a_long_match_marks_every_mistake() -> None:
    """Of the mistakes that share a column the worst is marked."""
    match = play("number-wars", ("random", "random"), 3)
    analysis = grade(match)
    assert len(analysis.curve) > 60
    *_, one, two, _ = chart(analysis, ascii_only=True)
    for player, row in enumerate((one, two)):
        blunders = [move for move in analysis.of(player) if move.verdict == "blunder"]
        assert 0 < row.removeprefix(f" Player {player + 1}").count("B") <= len(blunders)
    assert all(len(line) <= 79 for line in chart(analysis))


def test_the_graph_of_a_page_has_axes_a_legend_and_marks() -> None:
    analysis = grade(play("firewall-breach", ("random", "random"), 3))
    drawn = page(analysis)
    figure = drawn[drawn.index("<figure>") : drawn.index("</figure>") + 9]
    found = ElementTree.fromstring(figure)
    (svg, caption) = found
    words = [text.text for text in svg.iter("text")]
    assert {"step", "expected score", "0", "0.5", "1"} <= set(words)
    wrong = [move for move in analysis.moves if move.verdict in ("slip", "mistake", "blunder")]
    assert wrong
    marks = [*svg.iter("circle"), *svg.iter("rect")]
    assert sorted(mark.get("class", "") for mark in marks) == sorted(m.verdict for m in wrong)
    said = [title.text for title in svg.iter("title")]
    assert all(any(f"Step {move.entry}," in str(one) for one in said) for move in wrong)
    legend = "".join(caption.itertext())
    assert "from 0 (Player 2 wins) to 1 (Player 1 wins)" in legend
    assert all(move.verdict in legend for move in wrong)
