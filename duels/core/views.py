"""Table parts and steps of a choice, from a view."""

from __future__ import annotations

from duels.core.player import View
from duels.core.presentation import Part, Sealed, Tree, tree


def table_of(view: View) -> list[Part]:
    """The parts of the table, including the sealed picks."""
    return [
        part._replace(placed=part.owner in view.sealed) if isinstance(part, Sealed) else part
        for part in view.game.table(view.observation, view.player, view.history)
    ]


def choice_of(view: View) -> Tree | None:
    """All steps of the player's choice; None if no pick of the player is awaited."""
    player = view.player
    if player is None or not view.options:
        return None
    return tree(lambda so_far: view.game.ask(view.observation, player, so_far))
