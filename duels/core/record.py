"""The one save format: a header and the list of everything that happened, as versioned JSON.

Loading a record plays it again, so a loaded record is a match that obeyed the rules and its seed.
Anything else is refused with the first entry that is wrong.

>>> from duels.core import Match
>>> from duels.games import load
>>> match = Match(load("firewall-breach"), seed=2024)
>>> match.submit(0, "attack")
>>> text = dumps(match)
>>> loads(text, load).state == match.state
True
>>> loads(text.replace("attack", "bypass"), load)
Traceback (most recent call last):
duels.core.errors.RecordError: the checksum does not match: the record was changed or damaged
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from duels.core.errors import DuelsError, RecordError, quote
from duels.core.game import AnyGame, Outcome, Pick
from duels.core.match import Entry, Forfeit, Limit, Match, Resign, Timeout, Undo

FORMAT = "duels record"
VERSION = 1
LARGEST = 16 * 2**20  # bytes; the longest match allowed stays far below
Json = dict[str, Any]


def to_json(match: Match) -> Json:
    """A match as JSON values. Players are 1 and 2 here, entries are counted from 1."""
    result = match.result
    data: Json = {
        "format": FORMAT,
        "version": VERSION,
        "game": match.game.slug,
        "options": match.game.settings(),
        "players": list(match.players),
        # Text, because other languages read large JSON numbers inexactly.
        "seed": None if match.seed is None else str(match.seed),
        "turn_limit": match.turn_limit,
        "time_limit": match.time_limit,
        "entries": [_entry_to_json(entry) for entry in match.events],
        "result": None
        if result is None
        else {"winner": _seat(result.winner), "by": result.by, "reason": result.reason},
    }
    data["checksum"] = _checksum(data)
    return data


def dumps(match: Match) -> str:
    return json.dumps(to_json(match), indent=1, ensure_ascii=False) + "\n"


def loads(text: str, find: Callable[..., AnyGame]) -> Match:
    """The match a record tells of, replayed and checked in every entry.

    `find` makes a game of a slug and its options: `duels.games.load`.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"this is not a whole JSON file: {str(error)[:80]}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RecordError(f'this is not a record: expected "format": "{FORMAT}"')
    version = data.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise RecordError(
            f"the record has version {quote(version)}; this program reads up to {VERSION}"
        )
    if data.get("checksum") != _checksum(data):
        raise RecordError("the checksum does not match: the record was changed or damaged")
    match = _header(data, find)
    entries = data.get("entries")
    if not isinstance(entries, list):
        raise RecordError("entries: expected a list")
    for number, values in enumerate(entries, 1):
        try:
            entry = _entry_from_json(values)
            if len(match.events) < number:
                match.enact(entry)
            made = match.events[number - 1]
        except DuelsError as error:
            raise RecordError(f"entry {number}: {error}") from None
        if _entry_to_json(made) != _entry_to_json(entry):
            raise RecordError(
                f"entry {number}: the record says {quote(values)}, "
                f"the rules and the seed give {quote(_entry_to_json(made))}"
            )
    if len(match.events) > len(entries):
        raise RecordError(f"entry {len(entries) + 1} is missing: the record stops short of it")
    if to_json(match)["result"] != data.get("result"):
        raise RecordError(f"result: the entries do not lead to {quote(data.get('result'))}")
    return match


def save(match: Match, path: str) -> None:
    """Write a record whole or not at all."""
    temporary = f"{path}.{os.getpid()}.part"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(dumps(match))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise RecordError(f"cannot write {path}: {error.strerror}") from None
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def read(path: str, find: Callable[..., AnyGame]) -> Match:
    """The match in a file."""
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror}") from None
    if len(content) > LARGEST:
        raise RecordError(f"{path} is larger than any record")
    try:
        return loads(content.decode("utf-8"), find)
    except UnicodeDecodeError:
        raise RecordError(f"{path}: this is not a text file") from None
    except RecordError as error:
        raise RecordError(f"{path}: {error}") from None


def _header(data: Json, find: Callable[..., AnyGame]) -> Match:
    options, players, seed = data.get("options"), data.get("players"), data.get("seed")
    turns, seconds = data.get("turn_limit"), data.get("time_limit")
    if not isinstance(options, dict) or not all(isinstance(v, str) for v in options.values()):
        raise RecordError("options: expected texts by name")
    if not isinstance(players, list) or [type(name) for name in players] != [str, str]:
        raise RecordError("players: expected two names")
    if seed is not None and not (isinstance(seed, str) and seed.isascii() and seed.isdigit()):
        raise RecordError("seed: expected digits in a text")
    if type(turns) is not int or turns < 1:
        raise RecordError("turn_limit: expected a number from 1 up")
    if seconds is not None and not (type(seconds) in (int, float) and 0 < seconds < 1e9):
        raise RecordError("time_limit: expected seconds or null")
    try:
        game = find(str(data.get("game")), **options)
        number = None if seed is None else int(seed)
    except (DuelsError, ValueError) as error:
        raise RecordError(str(error)) from None
    names = (players[0], players[1])
    return Match(game, number, players=names, turn_limit=turns, time_limit=seconds)


def _checksum(data: Json) -> str:
    """SHA-256 of the record without this field, keys sorted, no spaces."""
    rest = {key: value for key, value in data.items() if key != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + sha256(text.encode()).hexdigest()


def _seat(player: int | None) -> int | None:
    return None if player is None else player + 1


def _entry_to_json(entry: Entry) -> Json:
    match entry:
        case Pick(moves):
            return {"pick": {str(player + 1): move for player, move in moves}}
        case Outcome(outcome):
            return {"chance": outcome}
        case Resign(player):
            return {"resign": player + 1}
        case Timeout(players):
            return {"timeout": [player + 1 for player in players]}
        case Forfeit(player, why):
            return {"forfeit": player + 1, "why": why}
        case Limit(decisions):
            return {"limit": decisions}
        case Undo(player, to):
            return {"undo": to + 1, "player": player + 1}


def _entry_from_json(values: object) -> Entry:
    try:
        match values:
            case {"pick": dict(moves)} if all(isinstance(move, str) for move in moves.values()):
                return Pick(tuple((_player(player), moves[player]) for player in sorted(moves)))
            case {"chance": str(outcome)}:
                return Outcome(outcome)
            case {"resign": player}:
                return Resign(_player(player))
            case {"timeout": [*players]}:
                return Timeout(tuple(_player(player) for player in players))
            case {"forfeit": player, "why": str(why)}:
                return Forfeit(_player(player), why)
            case {"limit": int(decisions)}:
                return Limit(decisions)
            case {"undo": int(number), "player": player}:
                return Undo(_player(player), number - 1)
    except (KeyError, TypeError):
        pass
    raise RecordError(f"{quote(values)} is not an entry")


def _player(value: object) -> int:
    return {"1": 0, "2": 1}[str(value)]
