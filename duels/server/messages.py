"""Messages to clients: the wire JSON of the core in the envelope of docs/reference/protocol.md."""

from __future__ import annotations

from typing import Any
from unicodedata import bidirectional

from duels.core import narrator
from duels.core.entries import Logged, Timeout
from duels.core.errors import DuelsError
from duels.core.game import Outcome, Pick
from duels.core.match import Match
from duels.core.options import Choice, First, Flag, Number, Option, Pair
from duels.core.presentation import Names, player_name
from duels.core.wire import dump, load
from duels.games import find
from duels.server.encoded import encodable, encode
from duels.server.log_pages import captioned
from duels.server.match_start import published
from duels.server.rooms import Incomplete, Room
from duels.server.storage.base import COMPUTER, OVER, PLAYING, Row, StoredRating, Unavailable
from duels.server.views import DisplayedView, changes, open_table, passages, view_json

PROTOCOL = 3
Json = dict[str, Any]


def match_info(row: Row, you: int | None) -> Json:
    """The public information about a match, and which seat the client has."""
    seats: list[Json | None] = []
    for number, seat in enumerate(row.seats):
        seats.append(
            None
            if seat is None
            else {
                "player": number + 1, "kind": seat.kind, "id": seat.id, "name": seat.name,
                "rating": seat.rating, "you": number == you,
            }
        )  # fmt: skip
    info: Json = {
        "type": "match", "id": row.id, "state": row.state,
        "game": {
            "type": "game", "slug": row.game, "title": title(row.game), "options": row.options,
        },
        "time": row.time, "open": row.open, "seats": seats,
        "you": None if you is None else you + 1, "created": row.created, "begun": row.begun,
        "ended": row.ended, "moment": row.moment, "to_move": row.to_move, "result": row.result,
        "commitment": published(row), **shares(row), "rematch": row.rematch, "before": row.before,
        "taken_back": row.taken_back, "games": row.games, "second": row.second,
        "names": names_of(row, None).names,
    }  # fmt: skip
    if row.result is not None:
        info["outcome"] = dump(narrator.outcome(load(row.result), names_of(row, you)))
    if row.reason:
        info["reason"] = row.reason
    return info


def shares(row: Row) -> Json:
    """The players' shares of the dice; no nonce before all are revealed."""
    begun = row.state in (PLAYING, OVER)
    nonces = row.nonces if row.hashes else [None, None]
    revealed = [] if begun else [n for n, nonce in enumerate(nonces, 1) if nonce is not None]
    computers = [seat is not None and seat.kind == COMPUTER for seat in row.seats]
    published = ["" if computers[n] else nonce for n, nonce in enumerate(nonces)]
    return {
        "hashes": row.hashes or [None, None], "revealed": revealed,
        "nonces": published if begun and row.hashes else None,
        "reveal_by": row.deadline if revealed else None,
    }  # fmt: skip


def names_of(row: Row, viewer: int | None) -> Names:
    """The names of the players for texts to a viewer; equal names are told apart by the seats."""

    def name(player: int) -> str:
        seat = row.seats[player]
        if seat is None:
            return player_name(player)
        return "Computer" if seat.kind == COMPUTER else apart(seat.name)

    names = [name(0), name(1)]
    if names[0] == names[1]:
        names = [f"{name} ({n})" for n, name in enumerate(names, 1)]
    return Names((names[0], names[1]), viewer)


def apart(name: str) -> str:
    """A name with isolated text direction if it is written from right to left."""
    turned = any(bidirectional(letter) in ("R", "AL") for letter in name)
    return f"\u2068{name}\u2069" if turned else name


def title(slug: str) -> str:
    """The title of a game; its slug if the game is not installed."""
    try:
        return find(slug).title
    except DuelsError:  # a plugin that is not installed any more
        return slug


def welcome(room: Room, you: int | None) -> bytes:
    """The response to a hello: the protocol, the match and the seat of the client."""
    return encode(
        {
            "type": "welcome", "protocol": PROTOCOL, "match": match_info(room.row, you),
            "you": None if you is None else you + 1, "now": room.settings.now(),
        }
    )  # fmt: skip


def match_message(room: Room, you: int | None) -> bytes:
    """The public information about a match that has changed."""
    return encode({"type": "match", "match": match_info(room.row, you)})


def update(
    room: Room,
    viewer: int | None,
    since: int,
    before: DisplayedView | None = None,
    captions: bool = False,
) -> bytes:
    """The events from number `since` on, and the current view, for one viewer.

    For a client that has the view `before`, only the differences of the view. The events are told
    in captions, or in the passages of the narrator.
    """
    match = room.playing()
    version = len(match.events)
    if since > version:
        since, before = 0, None
    now = room.displayed(viewer)
    data: Json = {
        "type": "update",
        "since": since,
        "moment": version,
        "events": [encodable(logged) for logged in match.log(viewer, since)],
        "to_move": [player + 1 for player in match.deciders],
        "now": room.settings.now(),
    }
    if captions:
        data["captions"] = captioned(match, names_of(room.row, viewer), since)
    else:
        told = passages(match, now, since, table_shown=before is not None)
        data["passages"] = [encodable(passage) for passage in told]
    if before is None:
        data["view"] = view_json(now)
    else:
        data["changes"] = changes(before, now)
    if match.result is not None:
        data["revealed"] = {"table": open_table(match), "match": match_info(room.row, viewer)}
    return encode(data)


def replay(match: Match, names: Names) -> list[Json]:
    """The steps of a match that is over: the start and each event, with nothing hidden."""
    standing = set(match.line)
    steps = []
    for number in range(-1, len(match.events)):
        last = number == len(match.events) - 1
        entry = None if number < 0 else match.events[number]
        turn = match.game.turn(match.state_after(number))
        choosing = [] if last else sorted(getattr(turn, "options", {}))
        caption = None if entry is None else narrator.caption(match, number, names, True)
        if last and match.result is not None:
            caption = narrator.outcome(match.result, names)
        steps.append(
            {
                "moment": number + 1,
                "event": None if entry is None else dump(Logged(number, entry, _at(match, number))),
                "undone": number not in standing and isinstance(entry, Pick | Outcome | Timeout),
                "caption": dump(caption),
                "table": open_table(match, None if last else number + 1),
                "to_move": [player + 1 for player in choosing],
            }
        )
    return steps


def _at(match: Match, number: int) -> float | None:
    return match.stamps[number].at


def granted(id: str, fields: Json | None = None) -> bytes:
    """The response to a command that was executed."""
    return encode({"type": "answer", "id": id, "ok": True, **(fields or {})})


def refused(id: str | None, error: Exception) -> bytes:
    """The response to a command that was refused, with the reason."""
    data: Json = {"type": "answer", "id": id, "ok": False, "reason": str(error)}
    if isinstance(error, Incomplete):
        data |= {"so_far": error.so_far, "step": dump(error.step)}
    if isinstance(error, Unavailable):
        data["again"] = True
    return encode(data)


def presence(room: Room) -> bytes:
    """Which players are connected, the number of spectators, and a possible claim."""
    seats = {connection.seat for connection in room.connections}
    away = room.claimable()
    return encode(
        {
            "type": "presence",
            "online": [seat + 1 for seat in (0, 1) if seat in seats],
            "spectators": sum(connection.seat is None for connection in room.connections),
            "claim": None if away is None else {"player": away[0] + 1, "at": away[1]},
        }
    )


def rematch(room: Room) -> bytes:
    """The players who offer a rematch, and its room once all do."""
    return encode({"type": "rematch", "offers": room.row.offers, "match": room.row.rematch})


def reaction(seat: int, reaction: str) -> bytes:
    """A reaction of a player."""
    return encode({"type": "reaction", "player": seat + 1, "reaction": reaction})


def bye(reason: str, after: float) -> bytes:
    """The last message of a connection; the client may reconnect `after` seconds later."""
    return encode({"type": "bye", "reason": reason, "after": after})


def refusal(reason: str, reload: bool = False) -> bytes:
    """The last message of a connection that is not accepted; `reload` if the client is outdated."""
    return encode({"type": "refusal", "reason": reason, **({"reload": True} if reload else {})})


def rating_info(rating: StoredRating) -> Json:
    """A rating as JSON."""
    return {
        "game": rating.game,
        "player": {"id": rating.player, "name": rating.name, "kind": rating.kind},
        "rating": round(rating.rating), "deviation": round(rating.deviation),
        "matches": rating.matches,
    }  # fmt: skip


def option_info(name: str, option: Option[Any]) -> Json:
    """An option of a game with what a form needs: kind, limits, words and default."""
    info: Json = {
        "name": name, "about": option.about, "expects": option.expects,
        "default": option.show(option.default),
    }  # fmt: skip
    match option:
        case Number():
            return {**info, "kind": "number", "low": option.low, "high": option.high}
        case Pair():
            return {**info, "kind": "pair", "low": option.low, "high": option.high}
        case Flag():
            return {**info, "kind": "flag"}
        case Choice():
            return {**info, "kind": "choice", "words": list(option.words)}
        case First():
            return {**info, "kind": "first", "words": ["1", "2", "random"]}
    return {**info, "kind": "text"}
