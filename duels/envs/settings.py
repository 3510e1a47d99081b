"""Arguments that the environments share, and their validation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from duels.core.errors import OptionError, quote
from duels.core.extras import Array, need
from duels.core.game import AnyGame
from duels.core.presentation import listed
from duels.games import find

np: Any = need("numpy", extra="rl")

NUMBER = np.int16  # of every feature; the largest rule option is 999
TOP = int(np.iinfo(NUMBER).max)
ILLEGAL = ("forfeit", "raise")  # what an illegal action does
SEATS = (0, 1, "random", "alternate")


def rules_of(game: str | AnyGame, settings: Iterable[str], options: dict[str, object]) -> AnyGame:
    """The game of an environment; `options` are the arguments that are not the environment's own.

    >>> rules_of("number-wars", ["seat"], {"lp": 50}).lp
    (50, 50)
    >>> rules_of("firewall-breach", ["seat"], {"sit": 1})
    Traceback (most recent call last):
    duels.core.errors.OptionError: there is no argument 'sit'; choose from seat, or from \
the options of firewall-breach: strength, hit, bypass, first
    """
    kind = find(game) if isinstance(game, str) else type(game)
    for name in options:
        if name not in kind.options():
            raise OptionError(
                f"there is no argument {quote(name)}; choose from {listed(settings)}, "
                f"or from the options of {kind.slug}: {listed(kind.options())}"
            )
    if isinstance(game, str):
        return kind(**options)
    if options:
        raise OptionError(
            f"options can be given only with the name of a game; got {listed(options)}"
        )
    return game


def one_of(name: str, value: object, known: tuple[Any, ...]) -> Any:
    """
    >>> one_of("seat", 2, SEATS)
    Traceback (most recent call last):
    duels.core.errors.OptionError: seat takes 0 or 1 or 'random' or 'alternate'; got 2
    """
    if value not in known or isinstance(value, float):
        words = " or ".join(map(repr, known))
        raise OptionError(f"{name} takes {words}; got {quote(value)}")
    return value


class Scale:
    """The bounds of a game's features; scales observations to 0 to 1 if `normalize` is set.

    >>> from duels.games import load
    >>> Scale(load("firewall-breach"), normalize=True).of(np.array([5, 10, 1])).tolist()
    [0.5, 1.0, 1.0]
    """

    def __init__(self, game: AnyGame, normalize: bool = False, memory: bool = False) -> None:
        most = game.bounds() or (TOP,) * len(game.features())
        if memory:
            if not game.recalled():
                raise OptionError(
                    f"observations of {game.slug} need no memory: omit the argument memory"
                )
            most += tuple(game.recalled().values())
        if normalize and not game.bounds():
            raise OptionError(
                f"{game.slug} has no bounds() to scale by: omit the argument normalize"
            )
        self.normalize = normalize
        self.most = np.array(most, NUMBER)
        self._divisors = np.maximum(self.most, 1).astype(np.float32)

    def space(self, spaces: Any) -> Any:
        """The space of one observation."""
        if self.normalize:
            return spaces.Box(0, 1, self.most.shape, np.float32)
        return spaces.Box(np.zeros_like(self.most), self.most, dtype=NUMBER)

    def of(self, observation: Array) -> Array:
        """An observation, or rows of them, scaled for the agent."""
        return observation / self._divisors if self.normalize else observation
