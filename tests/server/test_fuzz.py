"""Clients that send arbitrary data: no server error, no change, a reason in every refusal."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

import msgspec
import uvicorn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from duels.client.connection import Client
from duels.client.identity import digest, new_key
from duels.core import record
from duels.core.errors import MalformedMove
from duels.games import load
from duels.server import commands
from duels.server.app import make_app
from duels.server.command_handler import CommandHandler
from duels.server.matchmaking import Matchmaking, NewMatch
from duels.server.openapi import document
from duels.server.room_manager import RoomManager
from duels.server.storage.sqlite import SqliteStore
from duels.server.websocket import WebSocketEndpoint
from tests.server.server import NONCE, QUICK, shares

KEYS = ("K" * 43, "L" * 43, "M" * 43)
GAMES = ("firewall-breach", "number-clash", "cipher-siege", "digit-duel", "number-wars")


class Loop:
    """An event loop that a test without one can use step by step."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        # The same dice each time, so that what fails once fails again.
        fixed = replace(
            QUICK, secret=lambda: 2**255 + 9, room_id=lambda: "A" * 22, now=lambda: 1.8e9
        )  # fmt: skip
        self.manager = RoomManager(fixed, SqliteStore(":memory:"))
        self.do(self.manager.open())

    def do(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    def close(self) -> None:
        self.do(self.manager.close())
        self.loop.close()


class Fresh:
    """Matches to ask for, made through the API itself: waiting, played, over."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.played, self.over = (self.against_a_computer(end) for end in (False, True))

    def against_a_computer(self, end: bool) -> str:
        client = Client(self.url, KEYS[0])
        match = client.create("number-clash", seat=1, opponent="random")
        table = client.connect(match["id"])
        while (view := table.choosing()) is not None:
            assert table.command("move", at=view["moment"], move=view["options"][0])["ok"]
            if not end:
                break
        table.close()
        return str(match["id"])

    def id(self, kind: str, key: str | None) -> str:
        if kind in ("mine", "seated", "waiting"):  # one's own, with an opponent, or a free seat
            maker = new_key() if key is None or kind == "waiting" else key
            made = str(Client(self.url, maker).create("digit-duel")["id"])
            if kind == "seated":
                Client(self.url, new_key()).join(made)
            return made
        return self.over if kind == "over" else self.played


@pytest.mark.slow
def test_the_http_api_answers_as_its_description_says_whatever_is_sent() -> None:
    """schemathesis makes requests from the description, right ones and wrong ones; some of them are
    about matches that there are, so that everything is also granted at least once."""
    schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")
    from schemathesis.checks import CHECKS

    manager = RoomManager(QUICK, SqliteStore(":memory:"))
    config = uvicorn.Config(make_app(manager), port=0, log_level="error", ws="websockets-sansio")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    base = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    schema = schemathesis.openapi.from_dict(document())
    schema.config.update(base_url=base)
    checks = CHECKS.get_by_names(
        [
            "not_a_server_error", "status_code_conformance", "content_type_conformance",
            "response_schema_conformance",
        ]
    )  # fmt: skip
    fresh = Fresh(base)
    granted: dict[tuple[str, str], int] = {}
    refused: Counter[int] = Counter()

    def answered(case: Any, key: str | None, kind: str, game: str) -> None:
        if kind != "any":
            for name in case.path_parameters or ():
                usual = {"slug": game, "date": "2026-11-18", "page": "3"}
                case.path_parameters[name] = usual.get(name) or fresh.id(kind, key)
            if case.method == "POST" and isinstance(case.body, dict):
                wanted = {"game": game, "options": {}, "opponent": "friend", "seat": 1}
                report = case.operation.path.endswith("/report")
                case.body = {"reason": "insults"} if report else {**case.body, **wanted}
        given = {} if key is None else {"Authorization": f"Bearer {key}"}
        found = case.call(base_url=base, headers=given)
        case.validate_response(found, checks=checks)
        at = case.method, case.operation.path
        granted.setdefault(at, 0)
        if found.status_code < 400:
            granted[at] += 1
        else:
            refused[found.status_code] += 1
            assert json.loads(found.text)["reason"]

    for operation in schema.get_all_operations():
        drawn = given(
            case=operation.ok().as_strategy(), key=st.sampled_from([*KEYS, None]),
            kind=st.sampled_from(["any", "mine", "seated", "waiting", "playing", "over"]),
            game=st.sampled_from(GAMES),
        )  # fmt: skip
        settings(
            max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), database=None
        )(drawn(answered))()  # fmt: skip
    server.should_exit = True
    thread.join()
    described = {(m.upper(), path) for path, ops in document()["paths"].items() for m in ops}
    assert granted.keys() == described
    assert all(granted.values()), granted
    assert refused.keys() >= {400, 401, 404, 409}, refused


class Protocol(RuleBasedStateMachine):
    """Two players and a client without a seat send valid and invalid messages in any order.

    Everything goes through the same doors as over a real connection: bytes in, bytes out.
    """

    def __init__(self) -> None:
        super().__init__()
        self.loop = Loop()
        self.handler, self.sockets = (
            CommandHandler(self.loop.manager),
            WebSocketEndpoint(self.loop.manager),
        )
        self.matchmaking = Matchmaking(self.loop.manager)
        self.count = 0
        self.granted: list[tuple[int | None, bytes, bytes]] = []
        self.expected: list[Any] | None = None  # the entries, if no change may happen

    @rule(game=st.sampled_from(GAMES))
    @precondition(lambda self: not hasattr(self, "room"))
    def begin(self, game: str) -> None:
        do, one, two = self.loop.do, digest(KEYS[0]), digest(KEYS[1])
        row = do(self.matchmaking.create(one, NewMatch(game, seat=1)))
        self.room = do(self.loop.manager.room(row.id))
        do(self.matchmaking.join(row.id, two))
        for seat, share in shares(self.room):
            self.say(seat, msgspec.to_builtins(share))
        assert self.room.match is not None

    def say(self, seat: int | None, message: Any, id: str | None = None) -> Any:
        """Send a message as a client would; the answer."""
        self.count += 1
        if isinstance(message, dict):
            message = {"id": id or f"c{self.count}", **message}
        return self.send(seat, json.dumps(message).encode())

    def send(self, seat: int | None, data: bytes) -> Any:
        try:
            command = commands.read(
                self.sockets._content({"type": "websocket.receive", "bytes": data})
            )
        except MalformedMove as error:
            return None if str(error) else pytest.fail("a refusal without a reason")
        if isinstance(command, commands.Hello):
            return None
        answer = self.loop.do(self.handler.execute(self.room, seat, command))
        found = json.loads(answer)
        assert found["id"] == command.id
        if found["ok"]:
            self.granted.append((seat, data, answer))
        else:
            assert found["reason"]
        return found

    def entries(self) -> list[Any]:
        match = self.room.match
        return [record.entry(match, number) for number in range(len(match.events))]

    def unchanged(self, seat: int | None, message: Any) -> None:
        before, pending = self.entries(), self.room.match.pending()
        found = self.say(seat, message)
        assert found is None or not found["ok"], found
        assert self.entries() == before
        assert self.room.match.pending() == pending

    begun = precondition(lambda self: hasattr(self, "room"))

    @begun
    @rule(data=st.data())
    def a_right_move(self, data: st.DataObject) -> None:
        match = self.room.match
        if match.result is None and match.deciders:
            seat = data.draw(st.sampled_from(match.deciders))
            move = data.draw(st.sampled_from(match.view(seat).options))
            at = len(match.events)
            assert self.say(seat, {"type": "move", "at": at, "move": move})["ok"]

    @begun
    @rule(seat=st.sampled_from([0, 1]), off=st.sampled_from([-1, 1, 1000]))
    def a_move_for_another_moment(self, seat: int, off: int) -> None:
        at = max(0, len(self.room.match.events) + off)
        if at != len(self.room.match.events):
            moves = self.room.match.view(seat).options or ("1",)
            self.unchanged(seat, {"type": "move", "at": at, "move": moves[0]})

    @begun
    @rule(seat=st.sampled_from([0, 1]))
    def a_move_out_of_turn(self, seat: int) -> None:
        match = self.room.match
        if seat not in match.deciders:
            for move in ("1", "attack", "swap 1"):
                self.unchanged(seat, {"type": "move", "at": len(match.events), "move": move})

    @begun
    @rule(text=st.text(max_size=60), typed=st.booleans(), seat=st.sampled_from([0, 1]))
    def a_move_that_is_none(self, text: str, typed: bool, seat: int) -> None:
        match = self.room.match
        if not typed and text in match.view(seat).options:
            return
        if typed and text.strip():
            text = f"{text} nonsense"  # so that it is none
        at, key = len(match.events), "text" if typed else "move"
        self.unchanged(seat, {"type": "move", "at": at, key: text})

    @begun
    @rule(kind=st.sampled_from(["move", "resign", "undo", "accept", "decline", "hint", "claim",
                                "rematch", "commit", "reveal", "react"]))  # fmt: skip
    def a_stranger_sends_a_command(self, kind: str) -> None:
        at = len(self.room.match.events)
        self.unchanged(
            None,
            {
                "type": kind,
                "at": at,
                "move": "1",
                "nonce": NONCE,
                "hash": "f" * 64,
                "reaction": "👏",
            },
        )

    @begun
    @rule(message=st.one_of(
        st.binary(max_size=200),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
            lambda inner: st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["type", "id", "at", "move", "key"]), inner),
            max_leaves=8,
        ).map(lambda value: json.dumps(value).encode()),
        st.just(b"[" * 3000),
        st.just(b'{"type": "move", "id": "x", "at": 1, "move": "' + b"9" * 9000 + b'"}'),
    ), seat=st.sampled_from([0, 1, None]))  # fmt: skip
    def garbage(self, message: bytes, seat: int | None) -> None:
        before = self.entries()
        self.send(seat, message)
        assert self.entries() == before

    @begun
    @rule(data=st.data())
    def a_message_that_was_granted_is_sent_again(self, data: st.DataObject) -> None:
        if self.granted:
            seat, message, answer = data.draw(st.sampled_from(self.granted))
            before, pending = self.entries(), self.room.match.pending()
            assert self.send(seat, message) == json.loads(answer)
            assert self.entries() == before
            assert self.room.match.pending() == pending

    @begun
    @rule(seat=st.sampled_from([0, 1]),
          kind=st.sampled_from(["undo", "accept", "decline", "claim", "hint"]))  # fmt: skip
    def a_command_other_than_a_move(self, seat: int, kind: str) -> None:
        self.say(seat, {"type": kind, "at": len(self.room.match.events)})

    @begun
    @rule()
    def the_room_leaves_the_memory(self) -> None:
        before, pending = self.entries(), self.room.match.pending()
        self.loop.manager.evict(-1.0)
        self.room = self.loop.do(self.loop.manager.room(self.room.row.id))
        assert self.entries() == before
        assert self.room.match.pending() == pending

    @begun
    @rule()
    def the_record_is_right(self) -> None:
        match = self.room.match
        assert record.loads(record.dumps(match), load).events == match.events

    @invariant()
    def what_is_in_memory_is_on_disk(self) -> None:
        if hasattr(self, "room"):
            kept = self.loop.do(self.loop.manager.store.load(self.room.row.id))
            assert kept.entries == json.loads(json.dumps(self.entries()))

    def teardown(self) -> None:
        self.loop.close()


@pytest.mark.slow
@pytest.mark.parametrize("examples", [15, pytest.param(60, marks=pytest.mark.long)])
def test_no_order_of_frames_breaks_the_protocol(examples: int) -> None:
    run_state_machine_as_test(
        Protocol,
        settings=settings(
            max_examples=examples, stateful_step_count=50, deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
