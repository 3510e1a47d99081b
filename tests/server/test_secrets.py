"""No byte that a client is sent depends on what they may not know; and leaks that are planted are
found, so that the comparison can be believed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")

from duels.client.identity import digest
from duels.core import record
from duels.core.errors import IllegalMove
from duels.core.game import AnyGame
from duels.core.match import Match
from duels.games import load
from duels.server import commands, messages, pages, routes
from duels.server.command_handler import CommandHandler
from duels.server.preview_image import picture
from duels.server.room_manager import RoomManager
from duels.server.rooms import Room
from duels.server.storage.base import header, log
from tests.core.test_courses import VIEWERS
from tests.server.hidden import (
    FIXED,
    ID,
    KEYS,
    SECRET,
    RecordingClient,
    all_that_is_told,
    differing,
    manager_with,
    pairs,
    sealed,
    told_of_a_pick,
)
from tests.server.server import run
from tests.variants import VARIANTS, long_unless, name

SIEGE, CLASH = load("cipher-siege"), load("number-clash")
RECORD = "/api/matches/{}/record"


@pytest.mark.parametrize(
    "game",
    long_unless(
        lambda game: name(game) in ("cipher-siege", "cipher-siege-swap=chosen"),
        [game for game in VARIANTS if game.private],
    ),
    ids=name,
)
def test_hidden_cards_change_no_byte_of_what_the_others_are_sent(game: AnyGame) -> None:
    async def test() -> None:
        differed = 0
        for viewer, match, other in pairs(game, range(1, 40)):
            differed += other.events != match.events
            told = await all_that_is_told(match, viewer)
            assert not differing(told, await all_that_is_told(other, viewer))
        alike = getattr(game, "values", 2) == 1
        assert alike or differed, "nothing was hidden, so nothing was shown"

    run(test)


@pytest.mark.cases(6)
@pytest.mark.parametrize("game", [game for game in VARIANTS if sealed(game)], ids=name)
@pytest.mark.parametrize("picker", [0, 1])
def test_a_sealed_pick_changes_no_byte_and_no_order_before_it_is_revealed(
    game: AnyGame, picker: int
) -> None:
    async def test() -> None:
        first, *others = Match(game, 7).view(picker).options
        told = await told_of_a_pick(game, picker, first)
        for pick in others:
            assert not differing(told, await told_of_a_pick(game, picker, pick))

    run(test)


# Leaks to be found: each takes what it spoils, and a secret: a card of a hand, or a sealed pick.

Secret = Callable[[Match, Any], int]
Plant = Callable[[pytest.MonkeyPatch, Secret], None]


def card(match: Match, viewer: int | None) -> int:
    """A card that a viewer may not know."""
    hand = match.state.hands[1 if viewer == 0 else 0]
    return sum(hand) if hand else 0


def pick(match: Match, viewer: object) -> int:
    return sum(int(made[0]) for made in match.pending()["picks"].values())


def spoilt_update(change: Callable[[bytes, int], bytes]) -> Plant:
    def plant(patch: pytest.MonkeyPatch, secret: Secret) -> None:
        usual = messages.update

        def update(room: Room, viewer: int | None, since: int, *before: Any) -> bytes:
            return change(usual(room, viewer, since, *before), secret(room.playing(), viewer))

        patch.setattr(messages, "update", update)

    return plant


def an_error_with_one_bit(patch: pytest.MonkeyPatch, secret: Secret) -> None:
    usual = Room.submit

    def submit(self: Room, seat: int, at: int, move: str | None, *more: Any) -> None:
        try:
            usual(self, seat, at, move, *more)
        except IllegalMove as error:
            odd = secret(self.playing(), seat) % 2
            raise IllegalMove(f"{error}{'.' * odd}") from None

    patch.setattr(Room, "submit", submit)


def a_line_of_the_log(patch: pytest.MonkeyPatch, secret: Secret) -> None:
    usual = RoomManager.enter

    async def enter(self: RoomManager, room: Room, client: Any, since: int) -> None:
        await usual(self, room, client, since)
        log.info("a client came to %s", secret(room.playing(), client.seat))

    patch.setattr(RoomManager, "enter", enter)


def a_record_for_another_player(patch: pytest.MonkeyPatch, secret: Secret) -> None:
    def redacted(match: Match, viewer: int | None, published: str) -> Any:
        found = record.redacted(match, 1 if viewer == 0 else 0, published)
        return {**found, "viewer": 0, "checksum": ""}

    patch.setattr(routes, "redacted", redacted)


def a_header_of_an_answer(patch: pytest.MonkeyPatch, secret: Secret) -> None:
    usual = routes.Api.record

    async def answered(self: routes.Api, request: Any) -> Any:
        found = await usual(self, request)
        room = self.manager.rooms[ID]
        found.headers["ETag"] = str(hash(str(room.playing().events) + str(room.row.pending)))
        return found

    patch.setattr(routes.Api, "record", answered)


def a_pixel_of_a_picture(patch: pytest.MonkeyPatch, secret: Secret) -> None:
    usual = picture
    patch.setattr(
        pages,
        "picture",
        lambda title, row: usual(title, row) + str(row.pending or row.header).encode(),
    )


def a_message_too_many(patch: pytest.MonkeyPatch, secret: Secret) -> None:
    usual = RoomManager.send_presence

    def show(self: RoomManager, room: Room) -> None:
        for _ in range(1 + secret(room.playing(), None) % 2):
            usual(self, room)

    patch.setattr(RoomManager, "send_presence", show)


def the_order_of_messages(patch: pytest.MonkeyPatch, secret: Secret) -> None:
    usual = RoomManager._publish

    def tell(self: RoomManager, room: Room, *more: Any) -> None:
        clients = room.connections
        order = sorted(clients, key=lambda client: str(client.seat))
        room.connections = order[:: 1 if secret(room.playing(), None) % 2 else -1]  # type: ignore[assignment]
        usual(self, room, *more)
        room.connections = clients

    patch.setattr(RoomManager, "_publish", tell)


LATER = {"late 1", "late None"}
PLANTS: dict[str, tuple[Plant, set[str], set[str]]] = {
    "a number in a message": (
        spoilt_update(lambda message, n: message[:-1] + b',"x":%d}' % n),
        {"messages"}, {"messages", *LATER},
    ),
    "the length of a message": (
        spoilt_update(lambda message, n: message + b" " * n), {"messages"}, {"messages", *LATER},
    ),
    "a message too many": (a_message_too_many, {"messages"}, LATER),
    "an error": (an_error_with_one_bit, {"answers"}, {"wrong 1"}),
    "the log": (a_line_of_the_log, {"log"}, set()),
    "an answer": (a_record_for_another_player, {RECORD}, set()),
    "a header": (a_header_of_an_answer, {RECORD}, {f"{RECORD} 1", f"{RECORD} None"}),
    "a picture": (
        a_pixel_of_a_picture, {"/match/{}/picture.png"},
        {"/match/{}/picture.png 1", "/match/{}/picture.png None"},
    ),
    "the order": (the_order_of_messages, set(), {"messages"}),
}  # fmt: skip


@pytest.mark.cases(6)
@pytest.mark.parametrize("viewer", [1, None])
@pytest.mark.parametrize("leak", [leak for leak in PLANTS if PLANTS[leak][1]])
def test_a_leak_of_hidden_cards_that_is_planted_is_found(
    leak: str, viewer: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant, where, _ = PLANTS[leak]
    if leak == "an error" and viewer is None:
        where = set()  # a spectator is refused before anything is looked at
    plant(monkeypatch, card)

    async def test() -> None:
        found: set[str] = set()
        for _, match, other in pairs(SIEGE, range(1, 16), [viewer]):
            told = await all_that_is_told(match, viewer)
            found |= differing(told, await all_that_is_told(other, viewer))
        assert found == where

    run(test)


@pytest.mark.cases(3)
@pytest.mark.parametrize("leak", [leak for leak in PLANTS if PLANTS[leak][2]])
def test_a_leak_of_a_sealed_pick_that_is_planted_is_found(
    leak: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant, _, where = PLANTS[leak]
    plant(monkeypatch, pick)

    async def test() -> None:
        told = [await told_of_a_pick(CLASH, 0, move) for move in ("1", "2")]
        assert differing(*told) == where

    run(test)


def test_no_client_is_sent_a_key_a_secret_or_a_seed_before_the_end() -> None:
    async def test() -> None:
        randomness = Random(3)
        match = Match(SIEGE, 2**200 + 9, now=FIXED.now, id=ID)
        async with manager_with(FIXED, match) as (manager, room):
            clients = [RecordingClient(viewer) for viewer in VIEWERS]
            for client in clients:
                await manager.enter(room, client, 0)
            handler, turn = CommandHandler(manager), 0
            secret = [str(2**200 + 9), str(SECRET), *KEYS, *map(digest, KEYS)]
            while match.result is None:
                for client in clients:
                    assert not [s for s in secret for told in client.told if s.encode() in told[1]]
                seat, turn = match.deciders[0], turn + 1
                move = randomness.choice(match.view(seat).options)
                await handler.execute(room, seat, commands.Move(str(turn), len(match.events), move))
            assert turn > 3
            kept = header(room.row)
            assert kept is not None
            assert kept["about"]["fair"]["secret"] == str(SECRET)

    run(test)
