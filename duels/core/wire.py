"""JSON of views, observations, steps of a choice, table parts, lines and events.

Every object has a `type`. Players are 1 and 2 (0 and 1 in Python), events and moments are counted
from 0. `dump` encodes and `load` decodes; docs/reference/wire.md shows an example of each type.

>>> from duels.core.presentation import Meter
>>> dump(Meter("Firewall", 7, 10, owner=0))
{'type': 'meter', 'label': 'Firewall', 'value': 7, 'top': 10, 'owner': 1}
>>> load(dump(Meter("Firewall", 7, 10, owner=0)))
Meter(label='Firewall', value=7, top=10, owner=0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from duels.core.entries import Entry, Forfeit, Limit, Logged, Pause, Resign, Resume, Timeout, Undo
from duels.core.errors import DuelsError, RecordError, quote
from duels.core.game import AnyGame, Game, Outcome, Pick, Result
from duels.core.narrator import Passage
from duels.core.player import View
from duels.core.presentation import (
    Caption,
    Die,
    Hand,
    Item,
    Line,
    Meter,
    Part,
    Pile,
    Played,
    Points,
    Sealed,
    Step,
    Tokens,
    Tree,
    tone,
)
from duels.core.views import choice_of, table_of

VERSION = 1
Json = dict[str, Any]
Find = Callable[..., AnyGame]  # makes a game from a slug and options, as `duels.games.load` does

TYPES: dict[str, Any] = {
    "pick": Pick, "chance": Outcome, "resign": Resign, "timeout": Timeout, "forfeit": Forfeit,
    "limit": Limit, "undo": Undo, "pause": Pause, "resume": Resume, "result": Result,
    "step": Step, "tree": Tree, "passage": Passage,
    "meter": Meter, "tokens": Tokens, "hand": Hand, "pile": Pile, "die": Die, "sealed": Sealed,
    "played": Played, "score": Points, "item": Item, "caption": Caption,
}  # fmt: skip
NAMES = {kind: name for name, kind in TYPES.items()}
SEATS = ("owner", "player", "by", "winner", "viewer", "favours")  # fields that hold a player
# Fields whose keys are words of a game, which may include "type".
BY_WORD = ("after", "refused", "effects")
PLAIN = (str, int, float)  # bool is an int
ATOMS = frozenset((str, int, float, bool, type(None)))  # written to JSON unchanged
WRONG_SHAPE = (KeyError, TypeError, ValueError, AttributeError, RecursionError)


def dump(value: Any) -> Any:
    """A value of one of the `TYPES`, a log entry, a line, or a container of them, as JSON."""
    # A server writes thousands of these a second: the most frequent types are tested first.
    kind = type(value)
    if kind in ATOMS:
        return value
    name = NAMES.get(kind)
    if name is not None:
        data = {"type": name}
        for key, item in zip(kind._fields, value, strict=True):
            write = WRITTEN_OTHERWISE.get(key)
            if write is not None:
                data[key] = write(item)
            else:
                data[key] = item if type(item) in ATOMS else dump(item)
        if kind is Result and value.payoff == 1:
            del data["payoff"]
        return data
    if kind is tuple or kind is list:
        return [item if type(item) in ATOMS else dump(item) for item in value]
    if kind is dict:
        return {key: item if type(item) in ATOMS else dump(item) for key, item in value.items()}
    if kind is Logged:
        return {**dump(value.entry), "number": value.number, "at": value.at}
    if kind is Line:
        return _dump_line(value)
    if isinstance(value, View):
        return dump_view(value)
    if isinstance(value, tuple | list):
        return [dump(item) for item in value]
    if isinstance(value, Mapping):
        return {key: dump(item) for key, item in value.items()}
    if isinstance(value, PLAIN):
        return value
    raise TypeError(f"no JSON encoding for {type(value).__name__}: {quote(value)}")


def _dump_line(line: str) -> Json:
    return {"type": "line", "text": str(line), "tone": tone(line)}


def _dump_seat(value: Any) -> Any:
    return value + 1 if isinstance(value, int) else dump(value)


WRITTEN_OTHERWISE: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(SEATS, _dump_seat),
    "players": lambda players: [player + 1 for player in players],
    "moves": lambda moves: {str(player + 1): move for player, move in moves},
    "lines": lambda lines: [_dump_line(line) for line in lines],
    "payoff": lambda payoff: payoff if type(payoff) in ATOMS else str(payoff),  # 3, 0.5 or "1/3"
}


def load(data: Any) -> Any:
    """Decode what `dump` wrote; for views see `load_view`.

    JSON of another structure is refused with a `RecordError`. Values are not checked: they come
    from the server of the match. Only `load_entry` is for untrusted files.
    """
    try:
        return _load(data)
    except WRONG_SHAPE:
        raise RecordError(f"not a wire object: {quote(data)}") from None


def _load(data: Any) -> Any:
    if isinstance(data, list):
        return tuple(_load(item) for item in data)
    if not isinstance(data, dict):
        return data
    name = data.get("type")
    if name == "line":
        return Line(data["text"], data["tone"]) if data["tone"] else data["text"]
    kind = TYPES.get(name or "")
    if kind is None:
        return {key: _load(item) for key, item in data.items()}
    made = kind(**{key: _load_field(key, data[key]) for key in kind._fields if key in data})
    return Logged(data["number"], made, data["at"]) if "number" in data and name in LOGGED else made


LOGGED = (
    "pick", "chance", "resign", "timeout", "forfeit", "limit", "undo", "pause", "resume", "result",
)  # fmt: skip


def _load_field(key: str, value: Any) -> Any:
    if key in SEATS and isinstance(value, int):
        return value - 1
    if key == "players":
        return tuple(player - 1 for player in value)
    if key == "moves":
        return tuple((int(player) - 1, value[player]) for player in sorted(value))
    if key == "lines":
        return [_load(line) for line in value]
    if key == "payoff" and isinstance(value, str):
        from fractions import Fraction

        return Fraction(value)
    if key in BY_WORD:
        return {word: _load(item) for word, item in value.items()}
    return _load(value)


# Types of games are encoded by the names of their fields.


def dump_observation(game: AnyGame, seen: Any) -> Json:
    """An observation by field names; fields annotated as `Seat` become 1 and 2."""
    fields = dump_fields(seen, seen._fields)
    return {"type": "observation", "game": game.slug, "fields": fields}


def dump_fields(seen: Any, names: Iterable[str]) -> Json:
    """Some of the fields of an observation."""
    seats = _seat_fields(type(seen))
    fields = {}
    for name in names:
        value = getattr(seen, name)
        fields[name] = value + 1 if name in seats and value is not None else dump(value)
    return fields


def load_observation(game: AnyGame, data: Json) -> Any:
    """The observation that `dump_observation` wrote."""
    kind: Any = type(game.observe(game.start(), None))
    seats = _seat_fields(kind)
    return kind(
        **{
            key: value - 1 if key in seats and value is not None else _load(value)
            for key, value in data["fields"].items()
        }
    )


_seats: dict[Any, set[str]] = {}  # cache, by type of observation


def _seat_fields(kind: Any) -> set[str]:
    """The names of the fields annotated as `Seat`.

    Annotations are texts or, without the future import, objects; both contain the name.
    """
    if kind not in _seats:
        notes = {k: getattr(v, "__forward_arg__", repr(v)) for k, v in kind.__annotations__.items()}
        _seats[kind] = {key for key, n in notes.items() if "Seat" in n or "'seat'" in n}
    return _seats[kind]


def dump_game(game: Game[Any, Any]) -> Json:
    """A game as JSON: its slug, its title, and every option as text."""
    return {"type": "game", "slug": game.slug, "title": game.title, "options": game.settings()}


def dump_view(view: View, history: bool = True, display: bool = True) -> Json:
    """A view as JSON, with the tree of the choice and the table.

    The history is the only part that grows with the match: it can be left out for a client that
    follows the log. A caller that encodes choice and table itself sets their reserved keys.
    """
    return {
        "type": "view",
        "version": VERSION,
        "game": dump_game(view.game),
        "player": None if view.player is None else view.player + 1,
        "moment": view.version,
        "observation": dump_observation(view.game, view.observation),
        **({"history": dump(view.history)} if history else {}),
        "options": list(view.options),
        "choice": dump(choice_of(view)) if display else None,
        "table": dump_table(view) if display else [],
        "clock": view.clock,
        "clocks": list(view.clocks),
        "sealed": [player + 1 for player in view.sealed],
        "offer": None if view.offer is None else view.offer + 1,
        "result": dump(view.result),
    }


def load_view(data: Json, find: Find) -> View:
    """Decode a view, on the same conditions as `load`.

    Choice and table are ignored, since they can be computed; a history that was left out is empty.
    """
    if not isinstance(data, dict) or data.get("type") != "view" or data.get("version") != VERSION:
        got = data.get("version") if isinstance(data, dict) else data
        raise RecordError(f"expected a view of version {VERSION}; got {quote(got)}")
    try:
        game = find(data["game"]["slug"], **data["game"]["options"])
        player, offer, (one, two) = data["player"], data["offer"], data["clocks"]
        return View(
            game,
            None if player is None else player - 1,
            load_observation(game, data["observation"]),
            _load(data.get("history", [])),
            tuple(data["options"]),
            data["clock"],
            data["moment"],
            tuple(player - 1 for player in data["sealed"]),
            _load(data["result"]),
            (one, two),
            None if offer is None else offer - 1,
        )
    except DuelsError:
        raise
    except WRONG_SHAPE:
        raise RecordError(f"{quote(data)} is not a view") from None


def dump_table(view: View) -> list[Json]:
    """The parts of the table, each with an id that stays the same from view to view."""
    counts: dict[str, int] = {}
    return [{**dump(part), "id": part_id(part, counts)} for part in table_of(view)]


def part_id(part: Part, counts: dict[str, int]) -> str:
    """The id of a part: type, owner and a number; `counts` has the numbers used in the table."""
    name = f"{NAMES[type(part)]}-{0 if part.owner is None else part.owner + 1}"
    counts[name] = counts.get(name, 0) + 1
    return f"{name}-{counts[name]}"


# Entries also come from untrusted files, so these are decoded strictly.


def load_entry(values: object) -> Entry:
    """Decode an entry without its time stamp; `RecordError` if it is invalid."""
    entry = _entry(values)
    if entry is None or not isinstance(values, dict):
        raise RecordError(f"{quote(values)} is not an entry")
    unknown = values.keys() - dump(entry).keys() - {"at", "spent"}
    if unknown:
        raise RecordError(f"unknown key {quote(min(unknown, key=str))} in an entry")
    return entry


def _entry(values: object) -> Entry | None:
    try:
        match values:
            case {"type": "pick", "moves": dict(moves)} if all(
                isinstance(move, str) for move in moves.values()
            ):
                numbers = {"1": 0, "2": 1}
                return Pick(tuple((numbers[key], moves[key]) for key in sorted(moves)))
            case {"type": "chance", "outcome": str(outcome), "by": None}:
                return Outcome(outcome)
            case {"type": "chance", "outcome": str(outcome), "by": by}:
                return Outcome(outcome, _player(by))
            case {"type": "chance", "outcome": str(outcome)}:
                return Outcome(outcome)
            case {"type": "resign", "player": player}:
                return Resign(_player(player))
            case {"type": "timeout", "players": [*players]}:
                return Timeout(tuple(_player(player) for player in players))
            case {"type": "forfeit", "players": [*players], "why": str(why)}:
                return Forfeit(tuple(_player(player) for player in players), why)
            case {"type": "limit", "decisions": int(decisions)}:
                return Limit(decisions)
            case {"type": "undo", "to": int(number), "player": player}:
                return Undo(_player(player), number)
            case {"type": "pause"}:
                return Pause()
            case {"type": "resume"}:
                return Resume()
    except (KeyError, TypeError):
        pass
    return None


def _player(value: object) -> int:
    """A player, 0 or 1, from 1 or 2; values that only compare equal to those are refused."""
    if type(value) is not int:
        raise KeyError(value)
    return {1: 0, 2: 1}[value]
