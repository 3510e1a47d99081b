"""Records of version 1, from before entries had types and times: rewritten as version 2.

Such a record has no id, so it gets one that follows from its contents.
"""

from __future__ import annotations

from typing import Any

from duels.core.errors import RecordError, quote

Json = dict[str, Any]
KEYS = {
    "format", "version", "game", "options", "players", "seed", "turn_limit", "time_limit",
    "entries", "result", "checksum",
}  # fmt: skip


def upgraded(old: Json) -> Json:
    """The same record in version 2."""
    for key in old.keys() - KEYS:
        raise RecordError(f"unknown key {quote(key)}")
    data = {key: value for key, value in old.items() if key != "time_limit"}
    limit, result, entries = old.get("time_limit"), old.get("result"), old.get("entries")
    data["time"] = None if limit is None else {"limit": limit, "budget": None, "increment": 0.0}
    data["id"] = str(old.get("checksum")).removeprefix("sha256:")[:32]
    data |= {"version": 2, "begun": None, "about": {}}
    if isinstance(result, dict):
        data["result"] = {"type": "result", **result}
    if isinstance(entries, list):
        data["entries"] = [_entry(values) for values in entries]
    return data


def _entry(old: Any) -> Any:
    match old:
        case {"pick": moves, **rest}:
            return {"type": "pick", "moves": moves, **rest}
        case {"chance": outcome, **rest}:
            return {"type": "chance", "outcome": outcome, **rest}
        case {"resign": player, **rest}:
            return {"type": "resign", "player": player, **rest}
        case {"timeout": players, **rest}:
            return {"type": "timeout", "players": players, **rest}
        case {"forfeit": player, **rest}:
            return {"type": "forfeit", "players": [player], **rest}
        case {"limit": decisions, **rest}:
            return {"type": "limit", "decisions": decisions, **rest}
        case {"undo": int(number), **rest}:
            return {"type": "undo", "to": number - 1, **rest}
    return old
