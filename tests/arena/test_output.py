"""What a tournament tells: games by seat, pairs by score, names, live standings, exported games."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duels.arena.archive import Archive
from duels.arena.records import record
from duels.arena.report import shortened
from duels.core.record import loads, to_json
from duels.games import load
from tests.arena.test_command import ENV, duels
from tests.players.zoo import command
from tests.terminal_helpers import Screen

OUTCOMES = ("wins", "draws", "losses")


def counted(games: list[dict[str, Any]], one: str, two: str) -> dict[str, Any]:
    """Games of the first of two players by seat, and its pairs by score, from the records."""
    seats = [dict.fromkeys(OUTCOMES, 0) for _ in (1, 2)]
    pairs: Counter[int] = Counter()
    for game in games:
        if sorted(game["players"]) != sorted((one, two)):
            continue
        seat, winner = game["players"].index(one), game["result"]["winner"]
        outcome = "draws" if winner is None else "wins" if winner == seat + 1 else "losses"
        seats[seat][outcome] += 1
        twice = {"wins": 2, "draws": 1, "losses": 0}[outcome]
        pairs[game["about"]["arena"]["pair"]] += twice
    kinds = Counter(pairs.values())
    return {"seats": seats, "pentanomial": [kinds[twice] for twice in range(5)]}


@pytest.mark.parametrize("engine", ["python", "compiled"])
def test_games_by_seat_and_pairs_by_score_are_those_of_the_records(
    engine: str, tmp_path: Path
) -> None:
    if engine == "compiled":
        pytest.importorskip("numba", reason="needs the extra: pip install 'duels[solve]'")
    words = ("arena", "a=greedy", "b=greedy", "random", "--games", "number-clash", "-n", "12")
    done = duels(
        *words, "--engine", engine, "--out", "cup", "--export", "games.jsonl", "--json",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Wrote 72 games to games.jsonl" in done.stderr
    games = [json.loads(line) for line in (tmp_path / "games.jsonl").open(encoding="utf-8")]
    (part,) = json.loads(done.stdout)["games"]
    assert {kind for one in part["meetings"] for kind in one["pentanomial"]} > {0}
    for meeting in part["meetings"]:
        found = counted(games, meeting["one"], meeting["two"])
        assert {name: meeting[name] for name in found} == found
    for standing in part["standings"]:
        own = Counter(
            (game["players"].index(standing["player"]), game["result"]["winner"])
            for game in games
            if standing["player"] in game["players"]
        )
        assert [[seat[name] for name in OUTCOMES] for seat in standing["seats"]] == [
            [own[at, at + 1], own[at, None], own[at, 2 - at]] for at in (0, 1)
        ]
    rows = list(csv.DictReader((tmp_path / "cup" / "results.csv").open()))
    assert [row["wins_2"] for row in rows[:3]] == [
        str(one["seats"][1]["wins"]) for one in part["meetings"]
    ]
    page = (tmp_path / "cup" / "report.html").read_text(encoding="utf-8")
    first = part["meetings"][0]["pentanomial"]
    assert "  ".join(map(str, first)) in page
    # Every line is a record, the same that its number gives.
    with Archive.open(str(tmp_path / "cup")) as archive:
        for game in games[::7]:
            assert to_json(loads(json.dumps(game), load)) == game
            assert to_json(record(archive, game["about"]["arena"]["number"])) == game


def test_two_builds_of_one_program_have_names_of_their_own(tmp_path: Path) -> None:
    bot = command("plays")
    words = ("arena", f"old={bot}", f"new={bot},time=60", "--games", "fire", "-n", "2")
    done = duels(*words, "--out", "cup", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\nold - new " in done.stdout
    data = json.loads((tmp_path / "cup" / "results.json").read_text())
    assert data["tournament"]["players"] == ["old", "new"]
    assert data["tournament"]["commands"] == {"old": f"old={bot}", "new": f"new={bot},time=60"}
    assert data["forfeits"] == []
    twice = duels("arena", bot, bot, "--games", "fire", cwd=tmp_path)
    assert twice.returncode == 2
    assert f"is given twice; give each a name, as in NAME={bot}" in twice.stderr
    other = duels("arena", f"old={bot} x", *words[2:], "--out", "cup", cwd=tmp_path)
    assert other.returncode == 2
    assert f"old was old={bot}; choose another --out" in other.stderr


def test_a_limit_of_one_player_is_kept_in_a_tournament(tmp_path: Path) -> None:
    bot = f"slow={command('hangs')},time=0.5"
    words = ("arena", bot, "greedy", "--games", "fire", "-n", "1", "--max-failures", "1", "--json")
    done = duels(*words, cwd=tmp_path)
    reasons = [why["why"] for one in json.loads(done.stdout)["forfeits"] for why in one["reasons"]]
    assert "it did not answer within 0.5 s" in reasons


@given(
    st.lists(st.text(st.sampled_from("ab/ .~2"), min_size=1, max_size=40), unique=True, min_size=1),
    st.integers(8, 30),
)
def test_shortened_names_stay_distinct(names: list[str], most: int) -> None:
    found = shortened(names, most)
    assert len(set(found.values())) == len(names)
    assert all(found[name] == name for name in names if len(name) <= most)
    assert max(map(len, found.values())) <= most


@pytest.mark.slow
def test_standings_refresh_on_a_screen(tmp_path: Path) -> None:
    words = "arena greedy random --games number-clash -n 100 --sprt 0,1 --engine python"
    screen = Screen(tmp_path, words, TERM="xterm", PYTHONPATH=ENV["PYTHONPATH"])
    assert screen.end() == 0
    drawn = screen.text.split("\x1b[J")
    live = [part for part in drawn if "games/s" in part]
    assert len(live) > 1
    assert all("\x1b[2K  greedy " in part and "\x1b[2K  random " in part for part in live)
    assert "SPRT greedy - random, number-clash: not decided, LLR" in live[0]
    assert "\x1b[4A" in live[1]  # up to the bar, over both players and the test
    assert " left" in "".join(live)
    assert "\x1b" not in duels(*words.split(), "--out", str(tmp_path / "pipe")).stderr
