"""Mean payoffs of a tournament beside its scores, by both engines, in every form of report."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest

from duels.arena.chunk_encoding import TYPES, columns_of, packed_columns, unpacked_results
from duels.arena.model import Encounter, GameResult, Setting, Tournament
from duels.arena.page import page
from duels.arena.report import csv as csv_of
from duels.arena.report import text, to_json
from duels.arena.schedule import Chunk
from duels.arena.summary import summary
from duels.arena.worker import play
from duels.games import BUILT_IN
from duels.measure import head_to_head
from tests.plugins.leduc_poker import LeducPoker

PLAYERS = ("perfect", "random")


@pytest.fixture
def leduc(monkeypatch: pytest.MonkeyPatch) -> Tournament:
    monkeypatch.setitem(BUILT_IN, "leduc-poker", "tests.plugins.leduc_poker:LeducPoker")
    return Tournament(PLAYERS, (Setting("leduc-poker"),), pairs=300, seed=1)


def results(tournament: Tournament, compiled: bool) -> list[GameResult]:
    chunk = Chunk(0, 0, 0, tournament.pairs, compiled)
    done = play(tournament._replace(compiled=compiled), chunk)
    return unpacked_results(chunk, done.results)


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.extra("rl"))])
def test_the_mean_payoff_is_the_exact_one(leduc: Tournament, compiled: bool) -> None:
    if compiled:
        pytest.importorskip("numba")
        leduc = leduc._replace(pairs=1000)
    found = results(leduc, compiled)
    game = LeducPoker()
    first, second = head_to_head(game, *PLAYERS), head_to_head(game, *PLAYERS[::-1])
    exact = (first - second) / 2
    shown = summary(leduc, [Encounter(0, 0, found)])
    payoff = shown.games[0].meetings[0].payoff
    assert payoff is not None
    assert 0 < payoff.half < 0.6
    assert payoff.mean == pytest.approx(exact, abs=2.5 * payoff.half)
    assert max(abs(one.payoff or 0) for one in found) > 1
    assert all((one.payoff or 0) * (2 * one.score - 1) >= 0 for one in found)
    winner, loser = shown.games[0].standings
    assert winner.payoff is not None
    assert loser.payoff is not None
    assert winner.payoff.mean == pytest.approx(-loser.payoff.mean)


@pytest.mark.slow
def test_reports_say_the_mean_payoff(leduc: Tournament) -> None:
    leduc = leduc._replace(pairs=20)
    found = summary(leduc, [Encounter(0, 0, results(leduc, False))])
    meeting = found.games[0].meetings[0]
    assert meeting.payoff is not None
    said = f"{meeting.payoff.mean:+.3f}"
    lines = text(found)
    assert any(" - " in line and line.endswith(said) for line in lines)
    assert any(line.startswith("'payoff' is the mean payoff") for line in lines)
    assert max(map(len, lines)) <= 80
    data = json.loads(json.dumps(to_json(found)))
    assert data["games"][0]["meetings"][0]["payoff"]["mean"] == meeting.payoff.mean
    assert data["games"][0]["standings"][0]["payoff"]["half"] == pytest.approx(meeting.payoff.half)
    row = next(csv.DictReader(StringIO(csv_of(found))))
    assert float(row["payoff"]) == meeting.payoff.mean
    assert f"{said} &plusmn; {meeting.payoff.half:.3f}" in page(found)


def test_where_every_win_pays_1_no_payoff_is_said() -> None:
    tournament = Tournament(PLAYERS, (Setting("firewall-breach"),), pairs=5, seed=1)
    found = summary(tournament, [Encounter(0, 0, results(tournament, False))])
    assert found.games[0].meetings[0].payoff is None
    assert "payoff" not in to_json(found)["games"][0]["meetings"][0]
    assert not any("payoff" in line for line in text(found))


def test_results_without_payoffs_are_read() -> None:
    tournament = Tournament(PLAYERS, (Setting("firewall-breach"),), pairs=5, seed=1)
    played = results(tournament, False)
    chunk, columns = Chunk(0, 0, 0, 5, False), columns_of(played)
    assert {one.payoff for one in unpacked_results(chunk, packed_columns(columns))} == {1.0, -1.0}
    import zlib
    from array import array

    old = b"".join(
        array(kind, column).tobytes() for kind, column in zip(TYPES[:-1], columns, strict=False)
    )
    read = unpacked_results(chunk, zlib.compress(old))
    assert [one._replace(payoff=None) for one in played] == read
