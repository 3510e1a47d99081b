"""A person at a terminal: news that come while a move is typed, and what can go wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.client.connection import Client, MatchConnection
from duels.client.identity import new_key
from tests.server.server import ROOT, Process
from tests.terminal_helpers import Screen, run

PROMPT = r"attack number \(1-10; \? for help\): "


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Process]:
    made = Process(str(tmp_path / "duels.db"))
    yield made
    made.kill()


def seated(
    server: Process, home: Path, game: str = "number-wars", **fields: object
) -> tuple[Screen, MatchConnection]:
    """A terminal whose turn it is, and its opponent."""
    other = Client(server.url, new_key())
    made = other.create(game, seat=2, **fields)
    table = other.connect(made["id"])
    table.receive()
    screen = Screen(home, f"play --server {server.url}/match/{made['id']}")
    while table.view is None:
        table.receive()
    screen.wait(PROMPT, r"'bypass'; \? for help\): ")
    return screen, table


def test_a_terminal_hears_that_the_other_has_resigned_while_it_is_asked(
    server: Process, tmp_path: Path
) -> None:
    screen, table = seated(server, tmp_path)
    screen.child.send("7")  # half typed
    assert table.command("resign", at=table.version)["ok"]
    assert screen.wait("Player 2 resigned.") == 0
    assert screen.end() == 0


def test_a_terminal_is_asked_to_let_a_move_be_taken_back_while_it_chooses(
    server: Process, tmp_path: Path
) -> None:
    screen, table = seated(server, tmp_path)
    screen.type("7")
    assert table.choosing() is not None
    assert table.command("move", at=table.version, move="3")["ok"]
    screen.wait(PROMPT)
    assert table.command("undo", at=table.version)["ok"]
    screen.wait(r"May Player 2 take back the last move\? \(yes or no\): ")
    screen.type("yes")
    while table.view is None or not table.view["options"]:
        table.receive()
    assert table.command("undo", at=table.version)["ok"] is False  # nothing is left to take back
    assert table.command("move", at=table.version, move="4")["ok"]
    screen.wait(PROMPT)
    assert table.command("undo", at=table.version)["ok"]
    screen.wait("take back the last move")
    assert table.command("decline", at=table.version)["ok"]  # it is withdrawn
    screen.wait(PROMPT)
    screen.child.sendintr()
    screen.wait("come back with")


def test_what_is_half_typed_stays_when_a_reaction_comes(server: Process, tmp_path: Path) -> None:
    screen, table = seated(server, tmp_path)
    screen.child.send("1")
    screen.wait("1")
    assert table.command("react", reaction="\N{WAVING HAND SIGN}")["ok"]
    screen.wait("Player 2: ")
    screen.wait(PROMPT + "1")
    screen.type("0")
    while not table.view or not table.view["options"]:
        table.receive()
    screen.wait("You attack with 10!")
    screen.child.sendintr()
    screen.wait("come back with")


def test_a_server_that_comes_back_is_found_while_a_move_is_typed(
    server: Process, tmp_path: Path
) -> None:
    screen, table = seated(server, tmp_path)
    server.kill()
    screen.wait("Reconnecting")
    again = Process(str(tmp_path / "duels.db"), port=server.port)
    try:
        screen.wait(PROMPT)
        screen.type("9")
        assert table.choosing() is not None
        assert table.version == 1
        table.command("resign", at=1)
        assert screen.end() == 0
    finally:
        again.kill()


def test_a_clock_that_runs_out_at_the_server_ends_the_asking(
    server: Process, tmp_path: Path
) -> None:
    clock = {"limit": 2, "budget": None, "increment": 0}
    screen, _ = seated(server, tmp_path, "firewall-breach", time=clock)
    screen.wait("Your time is up.", "ran out of time")
    assert screen.end() == 0


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://127.0.0.1:80x", "cannot be reached: nonnumeric port"),
        ("http://[::1", "cannot be reached"),
        ("http://127.0.0.1:1", "cannot be reached: "),
    ],
)
def test_an_address_that_makes_no_sense_is_one_line(
    tmp_path: Path, address: str, said: str
) -> None:
    done = run(tmp_path, f"play clash --server {address}")
    assert done.code == 1
    assert said in done.err
    assert done.err.count("\n") == 1


def test_a_key_that_cannot_be_kept_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run(
        tmp_path, "play clash --server http://127.0.0.1:1", XDG_DATA_HOME=str(tmp_path / "file")
    )
    assert done.code == 1
    assert "your key cannot be kept in" in done.err


def test_a_browser_that_waits_for_the_page_does_not_hold_up_the_server(tmp_path: Path) -> None:
    script, found = tmp_path / "browser.py", tmp_path / "found"
    script.write_text(
        "import pathlib, sys, urllib.request\n"
        f"page = urllib.request.urlopen(sys.argv[1], timeout=10).read()\n"
        f"pathlib.Path({str(found)!r}).write_bytes(page)\n"
    )
    command = [sys.executable, "-m", "duels", "serve", "--open", "--port", "0"]
    browser = f"{sys.executable} {script} %s"
    with subprocess.Popen(
        [*command, "--database", str(tmp_path / "duels.db")], stdout=subprocess.PIPE, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "BROWSER": browser},
    ) as process:  # fmt: skip
        while not (found.exists() and b"Duels" in found.read_bytes()):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
