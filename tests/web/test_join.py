"""`duels join`: bots at a real server."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.cli.join import history
from duels.core.errors import IllegalMove
from duels.core.game import AnyGame
from duels.core.match import Match
from duels.web.keys import new_key
from duels.web.visitor import Visitor
from tests.players.zoo import command
from tests.terminal_helpers import COMMAND
from tests.variants import VARIANTS, name
from tests.web.server import ROOT, Process


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Process]:
    made = Process(str(tmp_path / "duels.db"))
    yield made
    made.kill()


def started(home: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "join", *words], cwd=ROOT, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env={**os.environ, "XDG_DATA_HOME": str(home)},
    )  # fmt: skip


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, errors = process.communicate()
    return process.returncode, out, errors


def test_a_bot_joins_a_match_and_plays_it_to_its_end(server: Process, tmp_path: Path) -> None:
    other = Visitor(server.url, new_key())
    made = other.create("cipher-siege", seat=1)
    bot = started(tmp_path, f"{server.url}/match/{made['id']}", "--bot", command("plays"))
    table = other.sit(made["id"])
    while (view := table.choosing()) is not None:
        table.wish("move", at=view["moment"], move=view["options"][-1])
    table.close()
    status, out, errors = ended(bot)
    assert (status, errors) == (0, "")
    assert "as Player 2." in out
    assert table.view is not None
    *_, told, dice = out.splitlines()
    assert told == table.view["result"]["reason"]
    assert dice.startswith("Dice checked: ")
    assert "2 nonces fit their hashes" in dice


def test_two_bots_meet_by_open_challenges(server: Process, tmp_path: Path) -> None:
    words = ("--bot", command("mixes"), "--game", "clash", "--matches", "2", "--name", "Mixer")
    one = started(tmp_path, server.url, *words)
    two = started(tmp_path, server.url, "--bot", command("plays"), "--matches", "2")
    for status, out, errors in map(ended, (one, two)):
        assert (status, errors) == (0, "")
        assert out.count("Mixer") == 2


def test_a_bot_that_fails_resigns_and_says_why(server: Process, tmp_path: Path) -> None:
    other = Visitor(server.url, new_key())
    made = other.create("firewall-breach", seat=2)
    bot = started(tmp_path, f"{server.url}/match/{made['id']}", "--bot", command("nan_mix"))
    table = other.sit(made["id"])
    assert table.choosing() is None
    assert table.view is not None
    assert table.view["result"]["by"] == "resignation"
    table.close()
    status, _, errors = ended(bot)
    assert status == 1
    assert errors == (
        "The bot failed and has resigned: mix: expected a chance from 0 to 1; got nan\n"
    )


def test_what_cannot_be_joined_is_told_in_one_line(tmp_path: Path) -> None:
    for words, status in (
        (("http://127.0.0.1:9", "--bot", "greedy"), 1),
        (("ftp://there", "--bot", "greedy"), 2),
        (("http://127.0.0.1:9", "--bot", "./nothing"), 2),
        (("http://127.0.0.1:9", "--bot", "human"), 2),
    ):
        found, out, errors = ended(started(tmp_path, *words))
        assert (found, out) == (status, "")
        assert errors.count("\n") == 1


@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_the_history_of_a_log_is_that_of_the_match(game: AnyGame) -> None:
    luck, now = Random(5), [0.0]
    match = Match(game, 5, time_limit=10.0, now=lambda: now[0])
    for _ in range(80):
        if match.result is not None:
            break
        for seat in (0, 1):
            assert history(game, list(match.log(seat))) == match.history(seat)
        kind = luck.random()
        seat = luck.choice(match.deciders)
        if kind < 0.1 and game.timeout_move is not None:
            now[0] += 11.0
            match.time_out(seat)
        elif kind < 0.3:
            try:
                match.undo(luck.randrange(2))
            except IllegalMove:
                continue
        else:
            match.submit(seat, luck.choice(match.view(seat).options))
