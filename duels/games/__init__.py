"""The catalogue: the built-in games and those of other packages, each imported when it is used.

Another package adds a game with an entry point in the group `duels.games`, which refers to its
class of rules or to a `GameSpec`: `your-game = "your_package:YourGame"`.

>>> load("digit", life="9/10")
DigitDuel(life=(9, 10), digits=9, hidden=False, first=0)
>>> load("number")
Traceback (most recent call last):
duels.core.errors.UnknownName: 'number' could be number-clash or number-wars
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from duels.core.errors import OptionError, UnknownName, quote
from duels.core.game import AnyGame, Game
from duels.core.presentation import listed
from duels.core.spec import GameSpec, located, rules_of, spec_of

if TYPE_CHECKING:  # solvers and charts are imported when they are used
    from duels.algorithms.solution import Progress, Solution
    from duels.plotting.drawing import Chart

BUILT_IN = {
    "firewall-breach": "duels.games.firewall_breach:SPEC",
    "number-clash": "duels.games.number_clash:SPEC",
    "cipher-siege": "duels.games.cipher_siege:SPEC",
    "digit-duel": "duels.games.digit_duel:SPEC",
    "number-wars": "duels.games.number_wars:SPEC",
}


def catalogue() -> dict[str, str]:
    """Every game's slug and the reference to its registration, other packages' games included."""
    from importlib.metadata import entry_points  # scanning installed packages takes a while

    others = {point.name: point.value for point in entry_points(group="duels.games")}
    return BUILT_IN | {slug: place for slug, place in others.items() if slug not in BUILT_IN}


def specs() -> dict[str, GameSpec]:
    """The registration of every game by its slug."""
    found = {slug: located(place) for slug, place in catalogue().items()}
    return {
        slug: entry if isinstance(entry, GameSpec) else spec_of(entry)
        for slug, entry in found.items()
    }


def find(name: str) -> type[AnyGame]:
    """The game with this slug; the beginning of the slug or of a later word of it is sufficient."""
    wanted = name.lower().replace(" ", "-").replace("_", "-")
    fits = _matching(BUILT_IN, wanted)
    games = BUILT_IN if fits else catalogue()
    fits = fits or _matching(games, wanted)
    if not fits:
        raise UnknownName(f"there is no game {quote(name)}; choose from {listed(games)}")
    if len(fits) > 1:
        raise UnknownName(f"{quote(name)} could be {listed(fits, ' or ')}")
    return rules_of(located(games[fits[0]]))


def load(name: str, /, **options: object) -> AnyGame:
    """A game with its options, as values or as text."""
    return find(name)(**options)


def game_of(game: str | AnyGame) -> AnyGame:
    """A game as it is, or by its name with the default options.

    >>> game_of("fire")
    FirewallBreach(strength=(10, 10), hit=3, bypass=1, first=0)
    """
    if isinstance(game, str):
        return load(game)
    if not isinstance(game, Game):
        raise OptionError(
            f"expected the name of a game or the result of load(name); got {quote(game)}"
        )
    return game


def solve(game: str | AnyGame, progress: Progress | None = None) -> Solution:
    """The solution of a game, given as an object or by name; long work calls `progress`.

    >>> solve("fire").start_value()
    Fraction(277, 486)
    """
    from duels.algorithms import solutions

    return solutions.solve(game_of(game), progress)


def charts(game: str | AnyGame, progress: Progress | None = None) -> list[Chart]:
    """The charts of perfect play of a game, given as an object or by name."""
    from duels import plotting

    return plotting.charts(game_of(game), progress)


def _matching(games: dict[str, str], wanted: str) -> list[str]:
    if not wanted:
        return []
    if wanted in games:
        return [wanted]
    begun = [slug for slug in games if slug.startswith(wanted)]
    return begun or [slug for slug in games if f"-{wanted}" in slug]
