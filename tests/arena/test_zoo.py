"""Bots that misbehave in a tournament: each loses, with the reason, and harms no other."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from duels.arena.archive import Archive
from duels.arena.records import record
from duels.arena.worker import end_programs
from tests.arena.helpers import make_tournament, played
from tests.players.zoo import LATE, MISBEHAVING, command, left

pytestmark = [
    pytest.mark.long,  # tests/players/test_zoo.py has each bot in a match, test_failing.py others
    pytest.mark.skipif(sys.platform == "win32", reason="supervisors need POSIX"),
]
KINDS = (
    "hangs", "floods", "closes_output", "allocates", "late", "forks", "errors_without_end",
    "crashes", "not_json", "unlisted",
)  # fmt: skip


def test_a_zoo_passes_through_a_tournament(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUELS_BOT_SECONDS", "0.7")
    monkeypatch.setenv("DUELS_BOT_MEMORY", "256")
    token = tmp_path.name
    words = {kind: str(tmp_path / kind) for kind in ("plays", *KINDS)}
    names = ["greedy", *(command(kind, word) for kind, word in words.items())]
    tournament = make_tournament("greedy random", "number-clash", pairs=1)
    tournament = tournament._replace(players=tuple(names), gauntlet=True)
    found = played(tmp_path, tournament)
    assert len(found) == len(names) - 1
    for encounter, kind in zip(found, ("plays", *KINDS), strict=True):
        ways = {game.by for game in encounter.results}
        if kind == "plays":
            assert ways == {"rules"}
            continue
        assert "forfeit" in ways, kind  # one is late only once
        with Archive.open(str(tmp_path)) as archive:
            for game in encounter.results:
                match = record(archive, tournament.number(game))
                assert match.result is not None
                if game.by == "forfeit":
                    assert game.first_score == 1.0
                    why = f"{MISBEHAVING[kind]}|{LATE}"  # on a slow machine all may be late
                    assert re.search(why, match.result.reason), match.result.reason
    end_programs()
    assert left(token) == []
