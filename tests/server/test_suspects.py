"""Players who make no mistakes for too long are listed, at the stated rate of false alarms."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.algorithms.levels import LEVELS
from duels.cli.main import main
from duels.client.identity import new_room_id
from duels.core import Match, record
from duels.core.chance import stream
from duels.core.wire import dump
from duels.games import load
from duels.players import make_opponent
from duels.server.app import store_of
from duels.server.storage.base import (
    HUMAN,
    OVER,
    RoomStore,
    Row,
    Save,
    StoredSeat,
    encoded_header,
)
from duels.server.suspects import ALPHA, THRESHOLD, Choice, evidence, profile, suspects
from tests.server.server import run

GAME = "firewall-breach"
KINDS = ("sqlite", "postgres")


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        url: str = request.getfixturevalue("postgres").restored(b"")
        return url
    return str(tmp_path / "duels.sqlite")


def played(level: str, seed: int) -> Match:
    match = Match(load(GAME), seed=seed, players=("Ada", "Eve"), id=new_room_id())
    players = [make_opponent(level, stream(seed, player)) for player in (0, 1)]
    while match.result is None:
        for player in list(match.deciders):
            match.submit(player, players[player].choose(match.view(player)))
    return match


@cache
def positions() -> tuple[dict[str, float], ...]:
    """The chances of levels at the choices of real matches at which all levels make mistakes."""
    choices = [choice for seed in range(20) for choice in profile(played("medium", seed))]
    return tuple(choice.chances for choice in choices if choice.chances["hard"] < 1 - 1e-9)


def listed(level: str, than: str, players: int, choices: int) -> int:
    """How many players of a level are listed, each after a number of choices, by simulation.

    A choice is without regret with the level's chance at a position from a real match.
    """
    random, found = Random(f"{level} {than}"), 0
    for _ in range(players):
        made = []
        for _ in range(choices):
            chances = random.choice(positions())
            chance = chances.get(level, 1.0)  # perfect makes no mistakes
            made.append(Choice(1, random.random() < chance, chances))
        found += evidence(made, than) >= THRESHOLD
    return found


def test_the_rate_of_false_alarms_is_as_stated() -> None:
    """Of 1,000 players of a level, and of weaker ones, about ALPHA are ever listed."""
    assert listed("hard", "hard", 1000, 1500) <= 5  # more than 5: a chance of 0.06 %
    assert listed("medium", "hard", 300, 500) <= 3
    assert listed("easy", "medium", 300, 500) <= 3
    assert ALPHA == 0.001


def test_perfect_play_is_found() -> None:
    mean = sum(1 - chances["hard"] for chances in positions()) / len(positions())
    enough = int(2 * THRESHOLD / (0.9 * mean))
    assert enough < 2000
    assert listed("perfect", "hard", 20, enough) == 20
    assert listed("perfect", "medium", 20, enough // 4) == 20


def test_a_profile_agrees_with_the_play_of_the_levels() -> None:
    """Real play of a level makes as many mistakes as the chances say."""
    level = "easy"
    choices = [choice for seed in range(40) for choice in profile(played(level, seed))]
    expected = sum(1 - choice.chances[level] for choice in choices)
    spread = sum(choice.chances[level] * (1 - choice.chances[level]) for choice in choices) ** 0.5
    mistakes = sum(not choice.faultless for choice in choices)
    assert expected > 10
    assert abs(mistakes - expected) < 4 * spread
    for seed in range(5):
        assert all(choice.faultless for choice in profile(played("perfect", seed)))
    assert all(set(chances) == set(LEVELS) for chances in positions())


async def stored(store: RoomStore, match: Match, ended: float) -> None:
    seats: list[StoredSeat | None] = [
        StoredSeat(HUMAN, name, f"id of {name}", name) for name in match.players
    ]
    row = Row(
        match.id, match.game.slug, match.game.settings(), ended, "1", seats, state=OVER,
        ended=ended, result=dump(match.result), header=encoded_header(record.header(match)),
    )  # fmt: skip
    entries = (record.entry(match, number) for number in range(len(match.events)))
    await store.save(Save(row, 0, tuple(json.dumps(entry).encode() for entry in entries)))


def test_the_command_lists_players_of_stored_matches(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    matches = [played("perfect", seed) for seed in range(40)]

    async def test() -> None:
        store = store_of(database)
        await store.open()
        try:
            for number, match in enumerate(matches):
                await stored(store, match, float(number))
            first = await suspects(store, "easy")
            assert {one.name for one in first} == {"Ada", "Eve"}
            assert all((one.mistakes, one.matches) == (0, 40) for one in first)
            assert await store.profile(matches[0].id) is not None
            assert await suspects(store, "easy") == first  # from the stored profiles
        finally:
            await store.close()

    run(test)
    given = ["admin", "suspects", "--database", database]
    assert main([*given, "--than", "easy", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["id"] for one in found} == {"id of Ada", "id of Eve"}
    assert main(given) == 0
    assert "No suspects." in capsys.readouterr().out  # too few choices to tell it from hard
