"""Updates with the differences of a view instead of the whole view."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import subprocess
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.core import Match
from duels.core.errors import DuelsError
from duels.core.game import AnyGame
from duels.games import BUILT_IN, load
from duels.server.encoded import encode
from duels.server.messages import PROTOCOL
from duels.server.views import changes, displayed, view_json
from tests.server.server import Person, changed, play_out, run, served
from tests.variants import VARIANTS, name

ROOM_STATE = Path(__file__).parents[2] / "duels/server/static/js/room-state.js"


def steps(game: AnyGame, seed: int) -> list[list[Any]]:
    """By viewer of a random match: the first view, then pairs of the changes and the whole view."""
    rng = random.Random(seed)
    match = Match(game, seed)
    viewers = (0, 1, None)
    before = {viewer: displayed(match, viewer) for viewer in viewers}
    found: dict[Any, list[Any]] = {v: [_json(view_json(before[v]))] for v in viewers}
    for _ in range(40):
        if match.result is not None:
            break
        player = rng.choice(match.deciders)
        try:
            chance = rng.random()
            if chance < 0.1:
                match.offer_undo(player)
            elif match.offer is not None:
                match.accept_undo(1 - match.offer.player)
            elif chance < 0.12:
                match.resign(player)
            else:
                match.submit(player, rng.choice(match.view(player).options))
        except DuelsError:
            continue
        for viewer in viewers:
            now = displayed(match, viewer)
            pair = [_json(changes(before[viewer], now)), _json(view_json(now))]
            found[viewer].append(pair)
            before[viewer] = now
    return list(found.values())


def _json(data: Any) -> Any:
    return json.loads(encode(data))


@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_a_view_with_its_changes_is_the_whole_view(game: AnyGame) -> None:
    for seed in (1, 2):
        for first, *pairs in steps(game, seed):
            view = first
            for different, whole in pairs:
                view = changed(view, different, whole["moment"])
                assert view == whole


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_page_has_the_whole_view_after_its_changes() -> None:
    """The script of the page, run by Node.js."""
    played = [told for slug in BUILT_IN for told in steps(load(slug), 3)]
    script = f"""
        import {{ EMPTY, heard }} from {json.dumps(ROOM_STATE.as_uri())};
        import {{ deepStrictEqual }} from 'node:assert';
        import {{ readFileSync }} from 'node:fs';
        const rest = {{ type: 'update', since: 0, events: [], captions: [], now: 0, to_move: [] }};
        let compared = 0;
        for (const [first, ...pairs] of JSON.parse(readFileSync(0, 'utf8'))) {{
          let room = heard(EMPTY, {{ ...rest, moment: 0, view: first }});
          for (const [changes, whole] of pairs) {{
            room = heard(room, {{ ...rest, moment: whole.moment, changes }});
            deepStrictEqual(room.view, whole);
            compared += 1;
          }}
        }}
        console.log(compared);
    """
    ran = subprocess.run(
        ["node", "--input-type=module", "--eval", script], input=json.dumps(played),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 200


@pytest.mark.parametrize("slug", BUILT_IN)
def test_clients_with_and_without_changes_see_the_same_match(slug: str) -> None:
    async def test() -> None:
        rng = random.Random(slug)
        async with served() as server:
            ada, bob = server.person(), server.person()
            made = await ada.create(slug, seat=1)
            # Opened before the key has a seat: the connection becomes the player's when it joins.
            early = await bob.sit(made["id"], nonce=False, changes=True)
            await bob.join(made["id"])
            one, two = await ada.sit(made["id"], changes=True), await bob.sit(made["id"])
            other = await Person(server.http, server.ws, ada.key).sit(made["id"], nonce=False)
            watching = await server.person().sit(made["id"], nonce=False, changes=True)
            await asyncio.gather(play_out(one, rng.choice), play_out(two, rng.choice))
            for seated in (other, early, watching):
                while seated.view is None or seated.view["result"] is None:
                    await seated.receive()
            assert one.view == other.view
            assert two.view == early.view
            updates = [message for message in one.messages if message["type"] == "update"]
            assert ["view" in message for message in updates] == [True] + [False] * (
                len(updates) - 1
            )
            # The last update also has the open table, in both forms.
            sizes = [[len(text) for text in seated.raw if '"type":"update"' in text][1:-1]
                     for seated in (one, other)]  # fmt: skip
            assert mean(sizes[0]) < 0.9 * mean(sizes[1])
            back = await ada.sit(made["id"], one.moment, nonce=False, changes=True)
            assert (await back.until("update"))["view"] == one.view

    run(test)


def test_a_client_of_another_version_is_told_to_reload() -> None:
    async def test() -> None:
        async with served() as server:
            made = await server.person().create("number-wars")
            for protocol, kind in ((PROTOCOL, "welcome"), (None, "welcome"), (2, "refusal")):
                seated = await server.person().open(made["id"])
                await seated.send(type="hello", key=None, since=0, protocol=protocol)
                answer = await seated.until(kind)
                assert answer.get("reload", False) == (kind == "refusal")

    run(test)
