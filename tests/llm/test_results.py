"""Pages, comparisons, leaderboards, variants and dry runs, by the command."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from duels.algorithms.solutions import ready
from duels.cli.main import main
from duels.games import load
from duels.llm.page import leaderboard, page
from duels.llm.policy import task_of
from duels.llm.results import compare
from duels.llm.results import load as load_results
from duels.llm.variants import small_variants, variants
from duels.measure import exploitability

SMALL = ["--games", "digit-duel", "--set", "digits=4", "--set", "life=4"]


def bench(folder: Path, player: str, *words: str) -> list[dict[str, Any]]:
    where = folder / f"{player} {words}"
    assert main(["bench", "--player", player, "--out", str(where), *words]) == 0
    return load_results(str(where))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("runs")
    words = [*SMALL, "-n", "24"]
    return {name: bench(folder, name, *words) for name in ("random", "easy", "perfect")}


def test_differences_are_paired_and_tested(runs: dict[str, Any]) -> None:
    (row,) = compare(runs["random"], runs["perfect"])
    units = runs["random"][0]["games"][0]["units"]
    lost = sum(r for r, _ in units.values()) / sum(s for _, s in units.values())
    assert row["difference"] == pytest.approx(lost)
    assert row["low"] < row["difference"] < row["high"]
    assert row["significant"]
    (row,) = compare(runs["perfect"], runs["perfect"])
    assert (row["difference"], row["p"], row["significant"]) == (0, 1, False)


class Checked(HTMLParser):
    """Notes scripts and external resources, and checks that elements are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "img", "link", "iframe", "form")
        assert not any(name in ("src", "href") or name.startswith("on") for name, _ in given)
        if tag not in ("meta", "br", "line", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, given: Any) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_self_contained_and_shows_boards(runs: dict[str, Any]) -> None:
    result = json.loads(json.dumps(runs["random"][0]))
    result["model"] = "<script>alert(1)</script>"
    result["games"][0]["worst"][0]["said"] = "<img src=x>\x1b[2J"
    text = page(result)
    Checked(text)
    assert text.isascii()
    assert "Regret by phase" in text
    assert "class='board'" in text
    assert "Life Points <meter" in text
    assert "&lt;img src=x&gt;" in text


def test_the_leaderboard_ranks_by_skill(runs: dict[str, Any]) -> None:
    text = leaderboard(list(runs.values()))
    Checked(text)
    assert re.findall(r"<td class='name'>(\w+)", text) == ["perfect", "easy", "random"]


@pytest.mark.slow
def test_all_modes_run_and_their_pages_are_sound(tmp_path: Path) -> None:
    for words in (
        ["--mode", "policy", *SMALL[:2], "--variants", "2", "--samples", "2"],
        ["--mode", "matches", "--games", "number-clash", "-n", "3", "--opponent", "easy"],
        ["--variants", "3", "--games", "number-wars", "-n", "12"],
    ):
        for result in bench(tmp_path, "greedy", *words):
            Checked(page(result))
            assert all(game["calls"] for game in result["games"])
    (result,) = bench(tmp_path, "random", "--mode", "policy", "--games", "cipher-siege")
    (game,) = result["games"]
    task = task_of(load("cipher-siege"))
    known = exploitability(task.game, "random", turn_limit=task.turn_limit)
    assert game["exploitability"]["total"] == pytest.approx(known.total)


def test_compare_and_leaderboard_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["bench", "--baselines", *SMALL, "-n", "12", "--answer", "mix", "--out"]
    assert main([*base, str(tmp_path / "all")]) == 0
    assert "Leaderboard" in (tmp_path / "all" / "leaderboard.html").read_text()
    folders = [str(tmp_path / "all" / "baselines" / name) for name in ("greedy", "hard")]
    capsys.readouterr()
    assert main(["bench", "compare", *folders]) == 0
    told = capsys.readouterr().out
    assert re.search(r"skill +digit-duel +0\.\d+ +0\.\d+ +\+0\.\d+", told), told
    board = tmp_path / "board.html"
    assert main(["bench", "leaderboard", *folders, "--out", str(board)]) == 0
    assert "greedy" in board.read_text()
    assert main(["bench", "compare", folders[0], str(tmp_path)]) == 1
    assert "has no results" in capsys.readouterr().err


@pytest.mark.parametrize("mode", ["positions", "policy", "matches", "quiz", "code"])
def test_a_dry_run_asks_nothing(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "--model", "x", "--mode", mode, "--dry-run", "--allow-code", "--json"]
    assert main([*words, *SMALL, "-n", "6"]) == 0
    (plan,) = json.loads(capsys.readouterr().out)
    assert plan["calls"] > 0
    assert plan["tokens"]["read"] > 0
    assert ("detectable" in plan) == (mode not in ("policy", "code"))


@pytest.mark.parametrize(
    "words",
    [
        ["--player", "random", "--mode", "quiz"], ["--model", "x", "--player", "random"], [],
        ["--player", "random", "--mode", "matches", "--samples", "2"],
        ["--player", "random", "--variants", "2", "--set", "life=3"], ["compare", "x"],
        ["leaderboard"], ["--player", "random", "--budget", "1"],
    ],
)  # fmt: skip
def test_arguments_that_contradict_each_other_are_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *words]) == 2
    assert capsys.readouterr().err.startswith("duels: ")


@pytest.mark.parametrize("slug", ["firewall-breach", "number-clash", "digit-duel", "number-wars"])
def test_variants_are_new_solved_at_once_and_the_same_for_a_seed(slug: str) -> None:
    found = variants(load(slug), 3, 1)
    assert found == variants(load(slug), 3, 1) != variants(load(slug), 3, 2)
    assert len({*found}) == 3
    assert all(game.differing() and ready(game) for game in found)
    for task in small_variants(load(slug), 2, 1):
        assert 20 <= len(task.views) <= 300
