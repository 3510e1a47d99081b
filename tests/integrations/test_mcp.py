"""`duels mcp` with the official client: in memory, over standard streams, over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs the extra: pip install 'duels[mcp]'")
pytest.importorskip("websockets", reason="needs the extra: pip install 'duels[web]'")
pytest.importorskip("httpx", reason="needs the extra: pip install 'duels[dev]'")

from mcp import Client, StdioServerParameters

from duels.core.match import Match
from duels.core.record import dumps
from duels.games import BUILT_IN, load
from duels.integrations.mcp.matches import LocalMatches, variant
from duels.integrations.mcp.remote import RemoteMatches
from duels.integrations.mcp.tools import make_server
from tests.core.test_courses import course, step, twin
from tests.server.server import ROOT, served
from tests.terminal_helpers import COMMAND
from tests.variants import VARIANTS, name

Json = dict[str, Any]


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def awaited() -> None:
        await test()

    asyncio.run(awaited())


async def call(client: Client, tool: str, **arguments: Any) -> Json:
    """The structured result of a tool that must succeed; its text is the same JSON."""
    found = await client.call_tool(tool, arguments)
    assert not found.is_error, found
    assert json.loads(found.content[0].text) == found.structured_content  # type: ignore[union-attr]
    return found.structured_content or {}


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    found = await client.call_tool(tool, arguments)
    assert found.is_error, found
    return str(found.content[0].text)  # type: ignore[union-attr]


async def started(client: Client, game: str, **arguments: Any) -> Json:
    found = await call(client, "start_match", game=game, **arguments)
    assert found["rules"] == load(game, **arguments.get("options", {})).rules_text()
    match: Json = found["matches"][0]
    return match


async def play_out(client: Client, match: Json, moves: int = 10**6) -> Json:
    """Play random legal moves, until the end or for a number of moves."""
    randomness = Random(match["game"])
    for _ in range(moves):
        if match["result"] is not None:
            break
        match = await call(
            client, "move", match=match["match"], version=match["version"],
            move=randomness.choice(match["legal_moves"]),
        )  # fmt: skip
    return match


async def play_all(client: Client, analysed: bool = False) -> None:
    """A whole match in each game, and its analysis."""
    listed = await call(client, "list_games")
    assert {game["name"] for game in listed["games"]} >= {*BUILT_IN}
    for slug in BUILT_IN:
        rules = await client.read_resource(f"rules://{slug}")
        assert rules.contents[0].text == load(slug).rules_text()  # type: ignore[union-attr]
        match = await started(client, slug, opponent="greedy", seat=1 + len(slug) % 2)
        assert "not over" in await refused(client, "analyse_match", match=match["match"])
        match = await play_out(client, match)
        assert match["result"]["score"] in (0, 0.5, 1)
        assert await call(client, "view_match", match=match["match"]) == match
        if load(slug).private or not analysed:
            continue  # measuring values of hidden hands takes seconds
        graded = await call(client, "analyse_match", match=match["match"])
        assert graded["game"] == slug
        picks = [line for line in match["history"] if "Chance" not in line]
        assert len(graded["moves"]) == sum(line.count(": ") for line in picks)


@pytest.mark.slow
def test_a_whole_match_of_each_game_in_memory(tmp_path: Path) -> None:
    async def test() -> None:
        async with Client(make_server(LocalMatches(tmp_path / "m.sqlite"))) as client:
            await play_all(client, analysed=True)

    run(test)


@pytest.mark.slow
def test_a_whole_match_of_each_game_over_standard_streams(tmp_path: Path) -> None:
    command, *words = [*COMMAND, "mcp", "--database", str(tmp_path / "m.sqlite")]

    async def test() -> None:
        program = StdioServerParameters(command=command, args=words, cwd=ROOT, env={**os.environ})
        async with Client(program) as client:
            await play_all(client)

    run(test)


@contextmanager
def serving(database: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`duels mcp --http` on a free port: its address, once it is open."""
    words = ["mcp", "--http", "--port", "0", "--database", str(database)]
    with subprocess.Popen([*COMMAND, *words], cwd=ROOT, stderr=subprocess.PIPE, text=True) as made:
        assert made.stderr is not None
        try:
            line = made.stderr.readline()
            assert line.startswith("MCP server: http://127.0.0.1:"), line + made.stderr.read()
            yield line.split()[-1], made
        finally:
            made.kill()


@pytest.mark.slow
def test_a_whole_match_of_each_game_over_http_and_a_killed_server_loses_nothing(
    tmp_path: Path,
) -> None:
    database = tmp_path / "m.sqlite"

    async def begin(url: str) -> Json:
        async with Client(url) as client:
            await play_all(client)
            return await play_out(client, await started(client, "number-clash"), 2)

    async def go_on(url: str, match: Json) -> None:
        async with Client(url) as client:
            assert await call(client, "view_match", match=match["match"]) == match
            assert (await play_out(client, match))["result"] is not None

    with serving(database) as (url, _):
        match = asyncio.run(begin(url))
    with serving(database) as (url, _):
        asyncio.run(go_on(url, match))


@pytest.mark.slow
def test_a_whole_match_of_each_game_on_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    async def test() -> None:
        async with served() as server:
            async with Client(make_server(RemoteMatches(server.url))) as client:
                await play_all(client)
                text = await refused(client, "start_match", game="fire", seed=1)
                assert "leave out the seed" in text
                match = await started(client, "number-clash", opponent="greedy")
                handle = match["match"]
                assert "finish or resign" in await refused(client, "value", game="number-clash")
                assert (await call(client, "hint", match=handle, version=0))["move"]
                once = await call(client, "move", match=handle, version=0, move="7")
                assert await call(client, "move", match=handle, version=0, move="7") == once
                stale = await refused(client, "move", match=handle, version=0, move="6")
                assert "at version 1" in stale
            # With the key in the user's directory, another process continues.
            async with Client(make_server(RemoteMatches(server.url))) as client:
                assert await call(client, "view_match", match=handle) == once
                done = await call(client, "resign", match=handle, version=1)
                assert done["result"]["score"] == 0
            monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "other"))
            async with Client(make_server(RemoteMatches(server.url))) as client:
                assert "no match of yours" in await refused(client, "view_match", match=handle)

    run(test)


def test_a_repeated_move_counts_once_and_an_old_one_is_refused(tmp_path: Path) -> None:
    async def test() -> None:
        async with Client(make_server(LocalMatches(tmp_path / "m.sqlite"))) as client:
            match = await started(client, "digit-duel", opponent="greedy")
            handle, version = match["match"], match["version"]
            once = await call(client, "move", match=handle, version=version, move="3")
            again = await call(client, "move", match=handle, version=version, move=" 3 ")
            assert again == once
            assert (await call(client, "view_match", match=handle)) == once
            for move in ("4", "3"):
                wrong = await refused(client, "move", match=handle, version=version + 9, move=move)
                assert f"at version {once['version']}" in wrong
            illegal = await refused(client, "move", match=handle, version=once["version"], move="3")
            assert "Your legal moves: " in illegal
            assert (await call(client, "view_match", match=handle)) == once
            other = await refused(client, "view_match", match="0" * 32)
            assert "start_match returns the handle" in other

    run(test)


def test_a_pair_swaps_seats_and_a_seed_gives_the_same_dice_again(tmp_path: Path) -> None:
    async def test() -> None:
        async with Client(make_server(LocalMatches(tmp_path / "m.sqlite"))) as client:
            histories = []
            for _ in range(2):
                pair = await call(
                    client, "start_pair", game="firewall-breach", opponent="random", seed=5
                )
                seats = [match["you"] for match in pair["matches"]]
                assert seats == ["Player 1", "Player 2"]
                histories.append(
                    [(await play_out(client, match))["history"] for match in pair["matches"]]
                )
            assert histories[0] == histories[1]
            dice = [[line[-1] for line in h if "Chance" in line] for h in histories[0]]
            least = min(map(len, dice))
            assert least > 3
            assert dice[0][:least] != dice[1][:least], "the first match would reveal the dice"

    run(test)


def test_values_are_hidden_while_a_match_without_hints_is_played(tmp_path: Path) -> None:
    async def test() -> None:
        async with Client(make_server(LocalMatches(tmp_path / "m.sqlite"))) as client:
            free = await call(client, "value", game="firewall-breach", after=["attack", "6"])
            assert free["value"] > 0.5
            hinted = await started(client, "firewall-breach", hints=True)
            hint = await call(client, "hint", match=hinted["match"], version=hinted["version"])
            assert hint["move"] in hinted["legal_moves"]
            assert await call(client, "value", game="fire", after=["attack", "6"]) == free
            match = await started(client, "firewall-breach", options={"first": "2"}, seat=2)
            text = await refused(client, "hint", match=match["match"], version=match["version"])
            assert "without hints" in text
            assert "finish or resign" in await refused(client, "value", game="firewall-breach")
            smaller = await call(client, "value", game="fire", options={"strength": "5"})
            assert smaller["options"]["strength"] == "5"
            await call(client, "resign", match=match["match"], version=match["version"])
            assert await call(client, "value", game="fire", after=["attack", "6"]) == free

    run(test)


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    async def test() -> None:
        async with Client(make_server(LocalMatches(tmp_path / "m.sqlite"))) as client:
            for arguments, expected in (
                ({"game": "chess"}, "choose from firewall-breach"),
                ({"game": "fire", "opponent": "human"}, "a human chooses"),
                ({"game": "fire", "opponent": "anna"}, "choose from"),
                ({"game": "fire", "options": {"hit": "x"}}, "hit"),
                ({"game": "number-clash", "options": {"numbers": "40"}}, "numbers"),
                ({"game": "fire", "seat": 3}, "seat"),
            ):
                assert expected in await refused(client, "start_match", **arguments)
            impossible = await refused(client, "value", game="fire", after=["swap"])
            assert "pick 1" in impossible

    run(test)


def seen(path: Path, match: Match, seat: int) -> list[str]:
    """All that the tools return of a match that is stored under a given handle, as bytes."""
    path.unlink(missing_ok=True)
    matches = LocalMatches(path)
    slug, options = match.game.slug, match.game.settings()
    with sqlite3.connect(path) as file:
        row = ("0", seat, "greedy", 0, variant(slug, options), 0, 0, dumps(match))
        file.execute("INSERT INTO matches VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    file.close()
    version = len(match.events)

    async def asked() -> list[str]:
        calls: list[tuple[str, Json]] = [
            ("view_match", {}), ("analyse_match", {}), ("hint", {"version": version}),
            ("resign", {"version": version + 1}),
            *(("move", {"version": version, "move": word}) for word in ("", "9 9", "swap 99")),
            ("move", {"version": version + 1, "move": "1"}),
        ]  # fmt: skip
        async with Client(make_server(matches)) as client:
            return [
                (await client.call_tool(tool, {"match": "0", **arguments})).model_dump_json()
                for tool, arguments in calls
            ]

    return asyncio.run(asked())


@pytest.mark.slow
@pytest.mark.cases(3)
@pytest.mark.parametrize("game", [game for game in VARIANTS if game.private], ids=name)
def test_hidden_information_changes_no_byte_of_a_result(game: Any, tmp_path: Path) -> None:
    differed = compared = 0
    path = tmp_path / "m.sqlite"
    for seed in range(1, 9):
        match, clock, randomness = course(game, seed)
        for _ in range(randomness.randrange(2 * seed)):
            clock.tick()
            step(match, randomness)
        if match.result is not None:
            continue
        for player in match.deciders:
            other = twin(match, player, Random(seed))
            if other is None or other.deciders != match.deciders:
                continue
            found = seen(path, match, player)
            compared += 1
            differed += other.state != match.state
            assert found == seen(path, other, player)
    assert compared
    assert differed or getattr(game, "values", 2) == 1, "nothing was hidden"


def test_the_missing_extra_is_named() -> None:
    script = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'mcp':\n"
        "            raise ModuleNotFoundError(name, name='mcp')\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from duels.cli.main import main\n"
        "sys.exit(main(['mcp']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr.startswith("duels: mcp is not installed: ")
    assert "[mcp]" in done.stderr
