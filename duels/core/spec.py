"""The registration of a game: where its rules and its optional parts are.

A game in a single file needs no registration. A package declares `SPEC` in its `__init__.py`, or in
the module of its rules; each part is imported when it is first used.

>>> from duels.games import load
>>> spec_of(load("number-wars")).charts
'duels.games.number_wars.charts:charts'
"""

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

from duels.core.game import AnyGame, Game


class GameSpec(NamedTuple):
    """The parts of one game, each as `module:name`; empty if the game has no such part.

    `data` and `theme` are folders next to the module of the rules: solved tables named
    `SLUG.duels`, and the browser's `theme.json`, `theme.css` and `picture.svg`.
    """

    rules: str
    solver: str = ""  # a subclass of `duels.algorithms.solution.Solution`
    kernel: str = ""  # a `duels.kernels.Kernel`
    charts: str = ""  # a function from the game to a list of `duels.plotting.drawing.Chart`
    facts: str = ""  # a function from the game to a list of sentences, computed from its solution
    lesson: str = ""  # a `duels.core.lesson.Lesson` with the default options
    data: str = ""
    theme: str = ""
    # Options of a variant whose whole policy takes about a hundred answers, and the choices after
    # which it is a draw; the game itself where these are empty.
    small: Mapping[str, str] = {}
    small_turns: int | None = None

    def folder(self, name: str) -> str:
        """The path of a folder next to the module of the rules."""
        source = import_module(self.rules.partition(":")[0]).__file__
        assert source is not None
        return os.path.join(os.path.dirname(source), name)


def spec_of(game: AnyGame | type[AnyGame]) -> GameSpec:
    """The registration of a game, from the module of its class or the package that contains it.

    A subclass has none of the parts of its base class, since it may have changed any rule.
    """
    kind = game if isinstance(game, type) else type(game)
    rules = f"{kind.__module__}:{kind.__qualname__}"
    for name in (kind.__module__, kind.__module__.rpartition(".")[0]):
        spec = getattr(sys.modules.get(name), "SPEC", None)
        if isinstance(spec, GameSpec) and spec.rules == rules:
            return spec
    return GameSpec(rules)


def located(reference: str) -> Any:
    """The object that `module:name` refers to."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def rules_of(found: type[AnyGame] | GameSpec) -> type[AnyGame]:
    """The class of the rules, from an entry of the catalogue: that class, or a `GameSpec`."""
    kind = located(found.rules) if isinstance(found, GameSpec) else found
    if not (isinstance(kind, type) and issubclass(kind, Game)):
        raise TypeError(f"a game is a class of rules or a GameSpec, not {kind!r}")
    return kind
