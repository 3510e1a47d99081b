"""The catalogue: which games there are, each loaded only when it is asked for.

>>> load("digit", life="9/10")
DigitDuel(life=(9, 10), digits=9, hidden=False, first=0)
>>> load("number")
Traceback (most recent call last):
duels.core.errors.UnknownName: 'number' could be number-clash or number-wars
"""

from __future__ import annotations

from importlib import import_module

from duels.core.errors import OptionError, UnknownName, quote
from duels.core.game import AnyGame, Game
from duels.core.show import listed

BUILT_IN = {
    "firewall-breach": "duels.games.firewall_breach:FirewallBreach",
    "number-clash": "duels.games.number_clash:NumberClash",
    "cipher-siege": "duels.games.cipher_siege:CipherSiege",
    "digit-duel": "duels.games.digit_duel:DigitDuel",
    "number-wars": "duels.games.number_wars:NumberWars",
}


def catalogue() -> dict[str, str]:
    """Every game's slug and where its class is, games of other packages included."""
    from importlib.metadata import entry_points  # scanning installed packages takes a while

    others = {point.name: point.value for point in entry_points(group="duels.games")}
    return BUILT_IN | {slug: place for slug, place in others.items() if slug not in BUILT_IN}


def find(name: str) -> type[AnyGame]:
    """The game with this slug, or whose slug, or else a later word of it, begins like that."""
    wanted = name.lower().replace(" ", "-").replace("_", "-")
    fits = _matching(BUILT_IN, wanted)
    games = BUILT_IN if fits else catalogue()
    fits = fits or _matching(games, wanted)
    if not fits:
        raise UnknownName(f"there is no game {quote(name)}; there are {listed(games)}")
    if len(fits) > 1:
        raise UnknownName(f"{quote(name)} could be {listed(fits, ' or ')}")
    module, _, kind = games[fits[0]].partition(":")
    game: type[AnyGame] = getattr(import_module(module), kind)
    return game


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
        raise OptionError(f"a game is a name or what load(name) gives; got {quote(game)}")
    return game


def _matching(games: dict[str, str], wanted: str) -> list[str]:
    if not wanted:
        return []
    if wanted in games:
        return [wanted]
    begun = [slug for slug in games if slug.startswith(wanted)]
    return begun or [slug for slug in games if f"-{wanted}" in slug]
