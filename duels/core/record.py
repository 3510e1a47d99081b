"""Records, the save format: a header and an append-only list of entries, as versioned JSON.

Loading a record replays it, so a loaded record is a match that follows the rules and its seed. Any
other record is refused with its first wrong entry. A store keeps the `header` and each `entry`, and
passes them to `follow`.

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
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, cast

from duels.core.clock import TimeControl, is_seconds
from duels.core.errors import DuelsError, RecordError, file_error, quote
from duels.core.game import Outcome
from duels.core.match import Match, Spent, wall_clock
from duels.core.wire import Find, Json, dump, load_entry

FORMAT = "duels record"
VERSION = 3  # since 2, `about.fair` has the hashes of the nonces
SAME_SHAPE = (2, VERSION)  # versions with the same keys and entries
LARGEST = 16 * 2**20  # bytes; the longest possible match has far fewer
KEYS = {
    "format", "version", "id", "begun", "game", "options", "players", "seed", "turn_limit", "time",
    "about", "entries", "result", "checksum",
}  # fmt: skip


def header(match: Match) -> Json:
    """The header of a record. It contains the seed, so it must not be sent to players."""
    control = match.time_control
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": match.id,
        "begun": match.begun,
        "game": match.game.slug,
        "options": match.game.settings(),
        "players": list(match.players),
        # Text, because other languages round large JSON numbers.
        "seed": None if match.seed is None else str(match.seed),
        "turn_limit": match.turn_limit,
        "time": control._asdict() if control else None,
        "about": match.about,
    }


def entry(match: Match, number: int) -> Json:
    """One entry of a record: the event, its time, and the seconds charged to clocks."""
    stamp = match.stamps[number]
    data: Json = {**dump(match.events[number]), "at": stamp.at}
    if stamp.spent:
        data["spent"] = {str(player + 1): seconds for player, seconds in stamp.spent}
    return data


def to_json(match: Match) -> Json:
    """A match as JSON values. Players are 1 and 2 here."""
    data = header(match)
    data["entries"] = [entry(match, number) for number in range(len(match.events))]
    data["result"] = dump(match.result)
    data["checksum"] = _checksum(data)
    return data


def redacted(match: Match, viewer: int | None, commitment: str | None = None) -> Json:
    """The record for a player or a spectator: without the seed and the opponent's secrets.

    It contains a commitment to the seed, to be checked when the match is over; a server passes the
    commitment to the secret from which the seed is computed.
    """
    data = header(match)
    del data["seed"]
    data["viewer"] = "spectator" if viewer is None else viewer + 1
    data["commitment"] = match.commitment if commitment is None else commitment
    log = match.log(viewer)
    data["entries"] = [dump(logged) for logged in log[: len(match.events)]]
    data["result"] = dump(match.result)
    data["checksum"] = _checksum(data)
    return data


def dumps(match: Match) -> str:
    """The record of a match as text."""
    return json.dumps(to_json(match), indent=1, ensure_ascii=False) + "\n"


def loads(text: str, find: Find) -> Match:
    """Load a record: the match is replayed and every entry is checked.

    `find` makes a game from a slug and options, as `duels.games.load` does.
    """
    try:
        return _loaded(json.loads(text, object_pairs_hook=_once), find)
    except RecordError:
        raise
    except (ValueError, RecursionError) as error:
        what = str(error)[:80]
        raise RecordError(f"this is not a Duels record: it is not valid JSON ({what})") from None


def _loaded(data: Any, find: Find) -> Match:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RecordError(f'this is not a Duels record: expected "format": "{FORMAT}"')
    version = data.get("version")
    if type(version) is not int or version not in SAME_SHAPE:
        known = " and ".join(map(str, SAME_SHAPE))
        raise RecordError(f"the record has version {quote(version)}; this program reads {known}")
    if data.get("checksum") != _checksum(data):
        raise RecordError("the checksum does not match: the record was changed or damaged")
    if "viewer" in data:
        raise RecordError("the record holds only what one viewer saw, so it cannot be replayed")
    for key in data.keys() - KEYS:
        raise RecordError(f"unknown key {quote(key)}; what a program adds belongs in 'about'")
    for key in sorted(KEYS - data.keys()):
        raise RecordError(f"{key}: missing")
    entries = data.get("entries")
    if not isinstance(entries, list):
        raise RecordError("entries: expected a list")
    match = follow(data, entries, find)
    if len(match.events) > len(entries):
        raise RecordError(f"entry {len(entries) + 1} is missing: the record ends too early")
    if dump(match.result) != data.get("result"):
        raise RecordError(f"result: the entries do not lead to {quote(data.get('result'))}")
    return match


def follow(
    head: Json, entries: Sequence[Any], find: Find, now: Callable[[], float | None] = wall_clock
) -> Match:
    """The match of a header and its entries, each checked against the rules and the seed.

    If chance outcomes at the end are missing, they are computed from the seed. Clocks continue from
    the last entry with the time that `now` returns: a player whose deadline has passed is late.
    """
    if head.get("version") not in SAME_SHAPE:
        raise RecordError(f"expected a header of version {VERSION}; got {quote(head)}")
    # During the replay the clock of the match returns the times of the record: first that of the
    # beginning, then that of each entry.
    known = [_time(head, "begun"), *(_time(values, "at") for values in entries)]
    times = iter(known)
    match = _begin(head, find, lambda: next(times, known[-1]))
    for number, values in enumerate(entries, 1):
        try:
            wanted, spent, choosers = load_entry(values), _spent(values), match.deciders
            if len(match.events) < number:
                match.enact(wanted, spent)
            made = match.events[number - 1]
            if spent != match.stamps[number - 1].spent or {p for p, _ in spent} - set(choosers):
                raise RecordError(f"spent: this entry cannot have these times; got {quote(spent)}")
        except DuelsError as error:
            raise RecordError(f"entry {number}: {error}") from None
        if isinstance(made, Outcome) and "by" not in values:
            made = made._replace(by=None)
        if dump(made) != dump(wanted):
            raise RecordError(
                f"entry {number}: the record says {quote(dump(wanted))}, "
                f"the rules and the seed give {quote(dump(made))}"
            )
    match.clock = now
    return match


def save(match: Match, path: str) -> None:
    """Write a record atomically."""
    shown = path if path.isprintable() else quote(path)
    temporary = f"{path}.{os.getpid()}.part"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(dumps(match))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except (OSError, ValueError) as error:  # ValueError: a name the system cannot have
        raise RecordError(f"cannot write {shown}: {file_error(error)}") from None
    finally:
        with suppress(OSError, ValueError):
            os.unlink(temporary)


def read(path: str, find: Find) -> Match:
    """Load the record in a file."""
    shown = path if path.isprintable() else quote(path)
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise RecordError(f"cannot read {shown}: {file_error(error)}") from None
    if len(content) > LARGEST:
        raise RecordError(f"{shown} is too large to be a Duels record")
    try:
        return loads(content.decode("utf-8"), find)
    except UnicodeDecodeError:
        raise RecordError(f"{shown}: this is not a Duels record: it is not a text file") from None
    except RecordError as error:
        raise RecordError(f"{shown}: {error}") from None


def _begin(data: Json, find: Find, now: Callable[[], float | None]) -> Match:
    options, players, seed = data.get("options"), data.get("players"), data.get("seed")
    about, clock, name = data.get("about"), data.get("time"), data.get("id")
    if not isinstance(options, dict) or not all(isinstance(v, str) for v in options.values()):
        raise RecordError("options: expected an object whose values are texts")
    if not isinstance(players, list) or [type(name) for name in players] != [str, str]:
        raise RecordError("players: expected two names")
    if seed is not None and not (
        isinstance(seed, str) and seed.isascii() and seed.isdigit() and len(seed) < 310
    ):
        raise RecordError("seed: expected digits in a text, fewer than 310")
    if not isinstance(name, str):
        raise RecordError(f"id: expected printable text; got {quote(name)}")
    if clock is not None and not (isinstance(clock, dict) and clock.keys() == set(FIELDS)):
        raise RecordError(f"time: expected {', '.join(FIELDS)}, or null")
    if clock is not None and not TimeControl(**clock):
        raise RecordError("time: expected a limit, a budget or both, or null")
    if not isinstance(about, dict):
        raise RecordError("about: expected an object")
    try:
        game = find(str(data.get("game")), **options)
        if game.slug != data.get("game"):
            raise RecordError(f"game: expected {quote(game.slug)}; got {quote(data.get('game'))}")
        return Match(
            game,
            None if seed is None else int(seed),
            players=(players[0], players[1]),
            turn_limit=cast(int, data.get("turn_limit")),  # which Match checks
            time_control=TimeControl(**(clock or {})),
            now=now,
            id=name,
            about=about,
        )
    except (DuelsError, ValueError) as error:
        raise RecordError(str(error)) from None


FIELDS = TimeControl._fields


def _time(values: Any, key: str) -> float | None:
    at = values.get(key) if isinstance(values, dict) else None
    if at is not None and not (type(at) in (int, float) and 0 <= at < 1e12):
        raise RecordError(f"{key}: expected seconds since 1970 or null; got {quote(at)}")
    return at


def _once(pairs: list[tuple[str, Any]]) -> Json:
    """A JSON object; `RecordError` if a key is repeated."""
    data = dict(pairs)
    if len(data) < len(pairs):
        raise RecordError("an object has the same key twice")
    return data


def _spent(values: Any) -> Spent:
    if "spent" not in values:
        return ()
    spent = values["spent"]
    known = isinstance(spent, dict) and spent and spent.keys() <= {"1", "2"}
    if not known or not all(is_seconds(seconds) for seconds in spent.values()):
        raise RecordError(f"spent: expected seconds by player; got {quote(spent)}")
    return tuple((int(player) - 1, float(spent[player])) for player in sorted(spent))


def _checksum(data: Json) -> str:
    """SHA-256 of the record without this field, keys sorted, no spaces."""
    rest = {key: value for key, value in data.items() if key != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + sha256(text.encode()).hexdigest()
