"""The wire JSON of the types that most updates contain, as structs, which msgspec encodes quickly.

`encode(encodable(value))` gives the same bytes as `encode(dump(value))`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from duels.core.entries import Logged
from duels.core.game import Outcome, Pick
from duels.core.narrator import Passage
from duels.core.presentation import (
    Die,
    Hand,
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
from duels.core.wire import NAMES, dump

encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode


class LineJson(msgspec.Struct, tag="line", gc=False):
    text: str
    tone: str


class PassageJson(msgspec.Struct, tag="passage"):
    kind: str
    number: int
    viewer: int | None
    lines: list[LineJson]


class PickJson(msgspec.Struct, tag="pick"):
    moves: dict[str, str]
    number: int
    at: float | None


class OutcomeJson(msgspec.Struct, tag="chance", gc=False):
    outcome: str
    by: int | None
    number: int
    at: float | None


class StepJson(msgspec.Struct, tag="step"):
    prompt: str
    choices: tuple[str, ...]
    many: bool
    refused: Mapping[str, str]
    kind: str
    question: str
    name: str
    listing: str
    brief: str
    effects: Mapping[str, str]


class TreeJson(msgspec.Struct, tag="tree"):
    step: StepJson
    after: dict[str, TreeJson | None]


class ItemJson(msgspec.Struct, tag="item", gc=False):
    face: str
    choice: str
    spent: bool
    last: bool


# The owner is the last field of each kind of part, and only items are in tuples.
PARTS = {
    kind: msgspec.defstruct(
        f"{kind.__name__}Json", [(name, Any) for name in (*kind._fields, "id")], tag=NAMES[kind]
    )
    for kind in (Meter, Tokens, Hand, Pile, Die, Sealed, Played, Points)
}


def encodable(value: Passage | Logged | Tree | None) -> Any:
    """What `encode` writes as the wire JSON of a value."""
    match value:
        case Passage(kind, number, viewer, lines):
            told = [LineJson(str(line), tone(line)) for line in lines]
            return PassageJson(kind, number, None if viewer is None else viewer + 1, told)
        case Logged(number, Pick(moves), at):
            return PickJson({str(player + 1): move for player, move in moves}, number, at)
        case Logged(number, Outcome(outcome, by), at):
            return OutcomeJson(outcome, None if by is None else by + 1, number, at)
        case Tree(step, after):
            then = {word: None if tree is None else encodable(tree) for word, tree in after.items()}
            return TreeJson(_step(step), then)
    return dump(value)


def _step(step: Step) -> StepJson:
    # msgspec encodes no mappings but dictionaries.
    return StepJson(*step._replace(refused=dict(step.refused), effects=dict(step.effects)))


def encoded_part(part: Part, id: str) -> msgspec.Raw:
    """The JSON of a part of the table with its id, from a cache if possible."""
    try:
        return _encoded_part(part, id)
    except TypeError:  # not hashable: the game uses a list in it
        return msgspec.Raw(encode({**dump(part), "id": id}))


@lru_cache(8192)
def _encoded_part(part: Part, id: str) -> msgspec.Raw:
    made = PARTS[type(part)]
    fields = [
        tuple(ItemJson(*item) for item in value) if type(value) is tuple else value
        for value in part[:-1]
    ]
    owner = None if part.owner is None else part.owner + 1
    return msgspec.Raw(encode(made(*fields, owner, id)))
