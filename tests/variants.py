"""The games and variants that suites run over: the defaults, every option, and small ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from duels.core.game import AnyGame
from duels.games import load

SETTINGS: dict[str, list[dict[str, object]]] = {
    "firewall-breach": [
        {},
        {"first": 1},
        {"strength": "3/7"},
        {"hit": 5, "bypass": 2},
        {"strength": 999, "hit": 1},
    ],
    "number-clash": [{}, {"first": 1}, {"numbers": 4}, {"numbers": 3, "points": 3}, {"points": 1}],
    "cipher-siege": [
        {},
        {"first": 1},
        {"swap": "chosen"},
        {"integrity": "9/30"},
        {"values": 3, "copies": 2, "integrity": 5, "hand": 2, "limit": 3},
        {"values": 2, "copies": 2, "integrity": 6, "hand": 2, "limit": 2, "swap": "chosen"},
        {"values": 1, "copies": 2, "hand": 1, "limit": 1},
        {"values": 9, "copies": 20, "hand": 5, "limit": 6, "integrity": 200},
    ],
    "digit-duel": [{}, {"first": 1}, {"life": "9/10"}, {"digits": 3, "life": 2}, {"hidden": True}],
    "number-wars": [
        {},
        {"first": 1},
        {"lp": "20/30"},
        {"numbers": 3, "lp": 9},
        {"refresh": False},
        {"memory": True},
    ],
}


def long_unless(short: Callable[[Any], bool], values: Iterable[Any]) -> list[Any]:
    """Parameters of a test; those that are not `short` belong to the long tests."""
    return [
        value if short(value) else pytest.param(value, marks=pytest.mark.long) for value in values
    ]


VARIANTS: list[AnyGame] = [load(slug, **s) for slug, all_ in SETTINGS.items() for s in all_]


def name(game: AnyGame) -> str:
    """A test id: the slug and what differs from the default rules."""
    usual = {key: option.show(option.default) for key, option in game.options().items()}
    differing = [f"{k}={v}" for k, v in game.settings().items() if v != usual[k]]
    return "-".join([game.slug, *differing])
