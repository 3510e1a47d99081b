"""What a bot sees and answers in a game, from the code of its rules: for pages and the terminal.

Types come from the annotations of the observation, meanings from the game's `about_fields`,
`about_moves` and `about_chance`, examples from matches that are played here. A game that declares
no meanings is listed without them.

>>> from duels.games import find
>>> found = describe(find("number-clash"))
>>> [(field.name, field.type) for field in found.fields]
[('numbers', 'pair of lists of whole numbers'), ('scores', 'pair of whole numbers')]
>>> [(example.kind, example.sealed) for example in found.examples]
[('number', True)]
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from duels.core.game import AnyGame
from duels.core.match import Match
from duels.core.player import View
from duels.core.presentation import listed
from duels.players.check import variants
from duels.players.external import request

SEED, SECONDS = 1, 10.0
LATER = 2  # the choice of its kind in a match that is shown, from 0: it has a history
SHOWN = 12  # moves in a list of all moves
WORDS = {
    bool: ("true or false", "truth values"),
    int: ("whole number", "whole numbers"),
    float: ("number", "numbers"),
    str: ("text", "texts"),
}


class Field(NamedTuple):
    """A field of an observation."""

    name: str
    type: str
    about: str


class Example(NamedTuple):
    """A request of one kind, in a match of the game with some options."""

    kind: str  # of the first step of the choice
    sealed: bool  # both players choose at the same time
    options: dict[str, str]  # that differ from the defaults
    request: dict[str, Any]

    @property
    def title(self) -> str:
        with_options = listed(f"{name}={value}" for name, value in self.options.items())
        parts = [
            "both players choose at the same time" if self.sealed else "",
            f"with {with_options}" if with_options else "",
        ]
        more = listed(filter(None, parts))
        return f"{self.kind}{f' ({more})' if more else ''}"


class Description(NamedTuple):
    """What a bot must know of a game."""

    slug: str
    title: str
    fields: list[Field]
    moves: dict[str, str]  # forms of moves with their meanings
    chance: str
    examples: list[Example]

    def to_json(self) -> dict[str, Any]:
        return {
            "game": self.slug,
            "fields": [field._asdict() for field in self.fields],
            "moves": self.moves,
            "chance": self.chance,
            "examples": [example._asdict() for example in self.examples],
        }

    def text(self) -> list[str]:
        """Lines for a terminal."""
        lines = [f"{self.title} ({self.slug})", "", "Fields of the observation:"]
        width = max(len(field.name) for field in self.fields)
        for name, kind, about in self.fields:
            lines.append(f"  {name:<{width}}  {kind}{': ' if about else ''}{about}")
        lines += ["", "Moves:"]
        lines += [f"  {form}{': ' if about else ''}{about}" for form, about in self.moves.items()]
        lines += ["", f"Chance events: {self.chance}"] if self.chance else []
        for example in self.examples:
            lines += ["", f"Example of a choice: {example.title}", *message(example.request)]
        return lines


def describe(kind: type[AnyGame]) -> Description:
    """The description of a game."""
    game = kind()
    examples = list(_examples(kind))
    moves = dict(kind.about_moves) or dict.fromkeys(_all_moves(game, examples), "")
    return Description(kind.slug, kind.title, _fields(game), moves, kind.about_chance, examples)


def message(asked: dict[str, Any]) -> list[str]:
    """A request on several lines, which are JSON."""
    view, rest = asked["view"], {key: value for key, value in asked.items() if key != "view"}
    lines = [f'{json.dumps(rest)[:-1]}, "view": {{']
    keys = list(view)
    after = keys.index("options") + 1
    lines += [f" {json.dumps(key)}: {json.dumps(view[key])}," for key in keys[:after]]
    last = json.dumps({key: view[key] for key in keys[after:]})
    return [*lines, f" {last[1:]}}}"]


def _fields(game: AnyGame) -> list[Field]:
    kind: Any = type(game.observe(game.start(), 0))
    try:
        hints = get_type_hints(kind, include_extras=True)
    except Exception:  # annotations of another package may not resolve
        hints = {}
    return [
        Field(name, json_type(hints.get(name)), game.about_fields.get(name, ""))
        for name in kind._fields
    ]


def json_type(hint: Any) -> str:
    """An annotated type as the type of its JSON.

    >>> json_type(tuple[int, int]), json_type(int | None), json_type(tuple[str, ...])
    ('pair of whole numbers', 'whole number or null', 'list of texts')
    """
    return _words(hint)[0]


def _words(hint: Any) -> tuple[str, str]:
    """A type in the singular and the plural."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return ("1 or 2", "players, 1 or 2") if "seat" in parts[1:] else _words(parts[0])
    if origin in (Union, UnionType) and NoneType in parts:
        others = " or ".join(_words(part)[0] for part in parts if part is not NoneType)
        found = f"{others.replace(' or ', ', ')} or null"
        return found, found
    if origin is tuple and parts:
        if parts[-1] is Ellipsis:
            return f"list of {_words(parts[0])[1]}", f"lists of {_words(parts[0])[1]}"
        if len(parts) == 2 and parts[0] == parts[1]:
            return f"pair of {_words(parts[0])[1]}", f"pairs of {_words(parts[0])[1]}"
        return "list", "lists"
    return WORDS.get(hint, ("JSON value", "JSON values"))


def _all_moves(game: AnyGame, examples: list[Example]) -> list[str]:
    """All moves of a game that describes none, or some of them."""
    try:
        found = list(game.moves())
    except NotImplementedError:
        found = list(
            dict.fromkeys(move for one in examples for move in one.request["view"]["options"])
        )
    return found if len(found) <= SHOWN else [*found[:SHOWN], f"… ({len(found)} in all)"]


def _examples(kind: type[AnyGame]) -> Iterator[Example]:
    """One example of each kind of choice, from random matches with each option changed once."""
    known: set[tuple[str, bool]] = set()
    for game in variants(kind):
        match, rng = Match(game, SEED), Random(SEED)
        found: dict[tuple[str, bool], list[View]] = {}
        while match.result is None:
            deciders = match.deciders
            for player in deciders:
                view = match.view(player)
                key = _kind(view), len(deciders) > 1 or bool(view.sealed)
                found.setdefault(key, []).append(view)
                match.submit(player, rng.choice(view.options))
        for (name, sealed), views in found.items():
            if (name, sealed) not in known:
                known.add((name, sealed))
                view = views[min(LATER, len(views) - 1)]
                asked = json.loads(request(view, SECONDS, f"c0ffee {view.version}"))
                first = {} if game.first == kind().first else {"first": game.settings()["first"]}
                yield Example(name, sealed, game.differing() | first, asked)


def _kind(view: View) -> str:
    """The kind of a choice: that of its first step."""
    assert view.player is not None
    try:
        step = view.game.ask(view.observation, view.player, "")
    except NotImplementedError:
        step = None
    return step.kind if step is not None and step.kind else "choice"
