"""What a game's environments are called in the registries of the libraries."""

from __future__ import annotations

VERSION = 0


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
