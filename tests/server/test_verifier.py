"""A verifier written from docs/reference/dice.md alone, on finished records of a real server."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.core import Match
from duels.core.commitment import draws
from duels.core.record import dumps, loads
from duels.games import BUILT_IN, load
from tests.server.server import QUICK, Seated, run, served
from tests.server.test_dice import committed, revealed
from tests.server.test_rooms import Hands, seated

Json = dict[str, Any]
VERIFIER = Path(__file__).parents[1] / "verify.mjs"
SIEGES: tuple[Json, ...] = (
    {"swap": "chosen", "first": "2"},
    {"values": "3", "copies": "3", "hand": "2", "limit": "3", "integrity": "30"},  # reshuffles
    {"values": "2", "copies": "2", "hand": "2", "limit": "3", "integrity": "20"},  # no deck
)
WAYS: list[tuple[str, Json]] = [(slug, {}) for slug in BUILT_IN]
WAYS += [(slug, {"first": "random"}) for slug in BUILT_IN]
WAYS += [("cipher-siege", options) for options in SIEGES]
# One game with dice, one with cards that are hidden, one without chance, one whose first player is
# drawn, and a deck that is used up; the others are in the long tier.
SHORT = [
    ("firewall-breach", {}),
    ("cipher-siege", {}),
    ("digit-duel", {}),
    ("cipher-siege", SIEGES[2]),
]
SHORT += [("firewall-breach", {"first": "random"})]


@pytest.fixture(scope="module", autouse=True)
def node() -> None:
    if shutil.which("node") is None:
        assert not os.environ.get("DUELS_CI"), "the tests need node"
        pytest.skip("needs node")


def verified(folder: Path, *records: Json) -> list[str | None]:
    """What the verifier says of each record; None where it finds one wrong."""
    paths = [folder / f"{n}.json" for n in range(len(records))]
    for path, record in zip(paths, records, strict=True):
        path.write_text(json.dumps(record), "utf-8")
    done = subprocess.run(["node", str(VERIFIER), *map(str, paths)], capture_output=True, text=True)
    assert done.stderr == "", done.stderr
    said = [None if line.startswith("wrong: ") else line for line in done.stdout.splitlines()]
    assert len(said) == len(records)
    assert done.returncode == (1 if None in said else 0)
    return said


async def play_with_undos(players: tuple[Seated, Seated], luck: random.Random) -> None:
    """Play at random; now and then a player takes a move back, and may repeat it."""
    undone, last = 0, ""
    while True:
        for seat, player in enumerate(players):
            await asyncio.sleep(0)
            other = players[1 - seat]
            moment = max(player.moment, other.moment)
            while player.moment < moment:
                await player.receive()
            if player.view["result"] is not None:
                return
            options = player.view["options"]
            if not options:
                continue
            move = last if last in options and luck.random() < 0.5 else luck.choice(options)
            last = move
            assert (await player.move(move))["ok"]
            if player.view["result"] is None and undone < 12 and luck.random() < 0.3:
                while other.moment < player.moment:
                    await other.receive()
                if (await player.command("undo", at=player.moment))["ok"]:
                    assert (await other.command("accept", at=other.moment))["ok"]
                    undone += 1


@pytest.mark.parametrize(
    ("slug", "options"),
    [pytest.param(*way, marks=() if way in SHORT else pytest.mark.long) for way in WAYS],
    ids=lambda value: str(value),
)
def test_records_of_a_server_verify_with_undos_and_faults_are_found(
    slug: str, options: Json, tmp_path: Path
) -> None:
    found: list[Json] = []

    async def test() -> None:
        luck = random.Random(f"{slug} {options}")
        async with served() as server:
            one, two, id = await seated(server, slug, options=options)
            await play_with_undos((one, two), luck)
            found.append((await server.http.get(f"/api/matches/{id}/record")).json())

    run(test)
    (record,) = found
    match = loads(json.dumps(record), load)
    assert any(entry["type"] == "undo" for entry in record["entries"])
    planted = list(faults(record))
    said, *spoilt = verified(tmp_path, record, *(fault for _, fault in planted))
    assert said == (
        f"{len(draws(match))} chance events follow from a seed from the secret and the nonces,"
        " which match their hashes."
    )
    missed = [name for (name, _), found in zip(planted, spoilt, strict=True) if found is not None]
    assert missed == []


def faults(record: Json) -> Iterator[tuple[str, Json]]:
    """Records with one thing changed."""

    def changed(change: Callable[[Json], None]) -> Json:
        copy: Json = json.loads(json.dumps(record))
        change(copy)
        return copy

    def fair(key: str, seat: int | None = None) -> Callable[[Json], None]:
        def change(copy: Json) -> None:
            shares = copy["about"]["fair"]
            where, at = (shares, key) if seat is None else (shares[key], seat)
            text = where[at]
            where[at] = text[:-1] + ("1" if text[-1] == "0" else "0")

        return change

    for key in ("commitment", "secret"):
        yield key, changed(fair(key))
    for key in ("hashes", "nonces"):
        for seat in (0, 1):
            yield f"{key} {seat}", changed(fair(key, seat))
    yield "seed", changed(lambda copy: copy.update(seed=str(int(copy["seed"]) + 1)))
    yield "id", changed(lambda copy: copy.update(id="another"))
    if record["about"]["fair"].get("first") == "random":
        other = "2" if record["options"]["first"] == "1" else "1"
        yield "first", changed(lambda copy: copy["options"].update(first=other))
    chances = [n for n, entry in enumerate(record["entries"]) if entry["type"] == "chance"]
    for n in chances[:: max(1, len(chances) // 6)]:
        copy = json.loads(json.dumps(record))
        copy["entries"][n]["outcome"] = "2" if copy["entries"][n]["outcome"] == "1" else "1"
        yield f"outcome {n}", copy
    for n in chances[:-1][:: max(1, len(chances) // 3)]:
        copy = json.loads(json.dumps(record))
        del copy["entries"][n]
        yield f"missing {n}", copy


def test_a_match_against_a_computer_and_a_withheld_nonce_verify_too(tmp_path: Path) -> None:
    found: list[Json] = []

    async def test() -> None:
        now = Hands()
        async with served(now=now) as server:
            ada = server.person()
            made = await ada.create("cipher-siege", opponent="random", seat=2)
            alone = await ada.sit(made["id"])
            assert await alone.choosing()
            await alone.move(alone.view["options"][0])
            assert await alone.choosing()
            await alone.command("undo", at=alone.moment)
            assert await alone.choosing()
            while not (await alone.command("resign", at=alone.moment))["ok"]:
                await alone.receive()
            found.append(await ada.get(f"/api/matches/{made['id']}/record"))
            _, two, id, _ = await committed(server)
            await revealed(two)
            now.time += QUICK.reveal_within + 1
            while two.view is None or two.view["result"] is None:
                await two.receive()
            found.append(await ada.get(f"/api/matches/{id}/record"))

    run(test)
    computer, withheld = found
    blamed = json.loads(json.dumps(withheld))
    blamed["entries"][0]["players"] = [1]
    one, two, three = verified(tmp_path, computer, withheld, blamed)
    assert one is not None
    assert "match their hashes" in one
    assert two is not None
    assert "forfeited by withholding" in two
    assert three is None


def test_a_local_record_verifies_with_a_weaker_statement(tmp_path: Path) -> None:
    match = Match(load("cipher-siege"), seed=2024)
    luck = random.Random(1)
    for _ in range(60):
        if match.result is None:
            match.submit(match.deciders[0], luck.choice(match.view(match.deciders[0]).options))
    record = json.loads(dumps(match))
    said, spoilt = verified(tmp_path, record, {**record, "seed": "2025"})
    assert said is not None
    assert "not shown that it was chosen fairly" in said
    assert spoilt is None


def test_the_verifier_is_short_and_needs_nothing() -> None:
    text = VERIFIER.read_text("utf-8")
    assert len(text.splitlines()) < 150
    imports = [line for line in text.splitlines() if line.startswith("import")]
    assert all("'node:" in line for line in imports)
