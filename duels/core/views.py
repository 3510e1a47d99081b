"""Parts of the table and steps of a choice, from what a viewer may know."""

from __future__ import annotations

from duels.core.player import View
from duels.core.presentation import Part, Sealed, Tree, tree


def table_of(view: View) -> list[Part]:
    """The parts of the table, with who has sealed a pick."""
    return [
        part._replace(placed=part.owner in view.sealed) if isinstance(part, Sealed) else part
        for part in view.game.table(view.observation, view.player, view.history)
    ]


def choice_of(view: View) -> Tree | None:
    """All the steps of a player's choice at once; None when no pick of theirs is awaited."""
    player = view.player
    if player is None or not view.options:
        return None
    return tree(lambda so_far: view.game.ask(view.observation, player, so_far))
