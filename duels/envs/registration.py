"""Names of the games in the registries of Gymnasium, PettingZoo and OpenSpiel."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from duels.core.game import AnyGame
from duels.games import catalogue, load

VERSION = 0


def loaded() -> Iterator[tuple[str, AnyGame]]:
    """Every game of the catalogue with default options, by slug.

    A game of another package that cannot be loaded is left out with a warning, so that the others
    are registered.
    """
    for slug in catalogue():
        try:
            yield slug, load(slug)
        except Exception as error:  # any error of another package's code
            warnings.warn(f"{slug} is left out: {error}", RuntimeWarning, stacklevel=2)


def env_id(slug: str) -> str:
    """
    >>> env_id("firewall-breach")
    'duels/FirewallBreach-v0'
    """
    return f"duels/{slug.title().replace('-', '')}-v{VERSION}"


def spiel_name(slug: str) -> str:
    """
    >>> spiel_name("firewall-breach")
    'python_duels_firewall_breach'
    """
    return f"python_duels_{slug.replace('-', '_')}"
