"""`duels join`: bots at a real server."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.cli.join import history
from duels.client.connection import Client
from duels.client.identity import new_key
from duels.core.errors import IllegalMove
from duels.core.game import AnyGame
from duels.core.match import Match
from tests.players.zoo import command
from tests.server.server import ROOT, Process
from tests.terminal_helpers import COMMAND
from tests.variants import VARIANTS, name


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
    other = Client(server.url, new_key())
    made = other.create("cipher-siege", seat=1)
    bot = started(tmp_path, f"{server.url}/match/{made['id']}", "--bot", command("plays"))
    table = other.connect(made["id"])
    while (view := table.choosing()) is not None:
        table.command("move", at=view["moment"], move=view["options"][-1])
    table.close()
    status, out, errors = ended(bot)
    assert (status, errors) == (0, "")
    assert "the bot is Player 2." in out
    assert table.view is not None
    *_, told, dice = out.splitlines()
    assert told == table.view["result"]["reason"]
    assert dice.startswith("Dice checked: ")
    assert "2 nonces match their hashes" in dice


def test_two_bots_meet_by_open_challenges(server: Process, tmp_path: Path) -> None:
    words = ("--bot", f"Mixer={command('mixes')}", "--game", "clash", "-n", "2")
    one = started(tmp_path, server.url, *words)
    two = started(tmp_path, server.url, "--bot", command("plays"), "-n", "2")
    for status, out, errors in map(ended, (one, two)):
        assert (status, errors) == (0, "")
        assert out.count("Mixer") == 2


def test_a_bot_that_fails_resigns_and_says_why(server: Process, tmp_path: Path) -> None:
    other = Client(server.url, new_key())
    made = other.create("firewall-breach", seat=2)
    bot = started(tmp_path, f"{server.url}/match/{made['id']}", "--bot", command("nan_mix"))
    table = other.connect(made["id"])
    assert table.choosing() is None
    assert table.view is not None
    assert table.view["result"]["by"] == "resignation"
    table.close()
    status, _, errors = ended(bot)
    assert status == 1
    assert errors == (
        "The bot failed and has resigned: mix: expected a probability from 0 to 1; got nan\n"
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


def opened(client: Client, count: int) -> list[dict[str, Any]]:
    """The open challenges of others, once there are so many."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found: list[dict[str, Any]] = client.ask("GET", "/api/matches")["open"]
        if len(found) == count:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{len(found)} challenges, not {count}")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_bot_that_is_stopped_withdraws_its_challenge(
    server: Process, tmp_path: Path, how: signal.Signals
) -> None:
    other = Client(server.url, new_key())
    bot = started(tmp_path, server.url, "--bot", "greedy", "--game", "clash")
    (challenge,) = opened(other, 1)
    bot.send_signal(how)
    status, _, errors = ended(bot)
    assert (status, errors) == (128 + how, "The bot has left. Its challenge was withdrawn.\n")
    assert other.ask("GET", f"/api/matches/{challenge['id']}")["state"] == "closed"
    opened(other, 0)


def test_a_bot_that_is_stopped_resigns_what_only_it_could_go_on_with(
    server: Process, tmp_path: Path
) -> None:
    other = Client(server.url, new_key())
    bot = started(tmp_path, server.url, "--bot", "greedy", "--game", "clash")
    table = other.connect(other.join(opened(other, 1)[0]["id"])["id"])
    assert table.choosing() is not None
    bot.send_signal(signal.SIGTERM)
    status, _, errors = ended(bot)
    assert (status, errors) == (143, "The bot has left. It has resigned its match.\n")
    while not table.over:
        table.receive(30.0)
    assert table.view is not None
    assert table.view["result"]["by"] == "resignation"
    table.close()


def test_two_bots_on_one_machine_are_two_players(server: Process, tmp_path: Path) -> None:
    """The same command twice: each has a challenge of its own, under an identity of its own."""
    words = (server.url, "--bot", "greedy", "--game", "clash")
    bots = [started(tmp_path, *words) for _ in range(2)]
    challenges = opened(Client(server.url, new_key()), 2)
    for bot in bots:
        bot.terminate()
        assert ended(bot)[0] == 143
    seats = [seat["id"] for match in challenges for seat in match["seats"] if seat]
    assert len(set(seats)) == 2


def test_a_kept_key_is_the_same_player_again_and_of_one_process(
    server: Process, tmp_path: Path
) -> None:
    other, key = Client(server.url, new_key()), str(tmp_path / "key")
    words = (server.url, "--bot", "greedy", "--key", key)
    bot = started(tmp_path, *words, "--game", "clash")
    id = other.join(opened(other, 1)[0]["id"])["id"]
    table = other.connect(id)
    assert table.choosing() is not None
    status, _, errors = ended(started(tmp_path, *words))
    assert (status, errors.count("\n")) == (2, 1)
    assert "is in use by another process" in errors
    bot.terminate()
    assert ended(bot)[2] == (
        "The bot has left. Its match stays open: the same --key continues it.\n"
    )
    bot = started(tmp_path, *words, "-n", "1")
    while (view := table.choosing()) is not None:
        table.command("move", at=view["moment"], move=view["options"][-1])
    table.close()
    assert ended(bot)[0] == 0
    assert stat.S_IMODE(os.stat(key).st_mode) == 0o600


def test_a_file_that_holds_no_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a key\n")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for place, status in (("text", 2), ("bytes", 2), ("no/such/folder", 1), ("", 1)):
        path = str(tmp_path / place)
        found, out, errors = ended(
            started(tmp_path, "http://127.0.0.1:9", "--bot", "greedy", "--key", path)
        )
        assert (found, out, errors.count("\n")) == (status, "", 1), errors
    assert (tmp_path / "text").read_text() == "not a key\n"
