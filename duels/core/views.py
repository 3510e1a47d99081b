"""Table parts and steps of a choice, from a view."""

from __future__ import annotations

from duels.core.game import Pick
from duels.core.player import View
from duels.core.presentation import (
    HEADING,
    ON_TABLE,
    Lines,
    Part,
    Played,
    Sealed,
    Tokens,
    Tree,
    part_contents,
    player_name,
    tone,
    tree,
)


def table_of(view: View) -> list[Part]:
    """The parts of the table, including the sealed picks, with the tokens that were played last."""
    picks = [event for event in view.history if isinstance(event, Pick)]
    last = dict(picks[-1].moves) if picks else {}
    parts = view.game.table(view.observation, view.player, view.history)
    for n, part in enumerate(parts):
        if isinstance(part, Sealed):
            parts[n] = part._replace(placed=part.owner in view.sealed)
        elif isinstance(part, Tokens) and part.owner in last:
            words = last[part.owner].split()
            parts[n] = part._replace(
                items=tuple(i._replace(last=True) if i.face in words else i for i in part.items)
            )
    return parts


def position_of(view: View) -> Lines:
    """A position in a few lines: what each player has, the rest of the table, and the status.

    Of the status only what the table does not show, and no headings.

    >>> from duels.core import Match
    >>> from duels.games import load
    >>> match = Match(load("digit-duel", digits=3), seed=1)
    >>> match.submit(0, "3")
    >>> for line in position_of(match.view(1)):
    ...     print(line)
    Player 1: Life Points 10 of 10, Digits 1 2
    Player 2: Life Points 10 of 10, Digits 1 2 3
    Player 1 attacks with 3
    """
    rows: dict[int | None, Lines] = {0: [], 1: [], None: []}
    for part in table_of(view):
        if isinstance(part, Played):  # the status says it
            continue
        if contents := part_contents(part):
            rows[part.owner].append(f"{part.label} {contents}")
    lines = [
        ", ".join(shown) if player is None else f"{player_name(player)}: {', '.join(shown)}"
        for player, shown in rows.items()
        if shown
    ]
    elsewhere = (HEADING, ON_TABLE) if lines else (HEADING,)
    told = view.game.status(view.observation, view.player, view.history)
    return [*lines, *(str(line) for line in told if line.strip() and tone(line) not in elsewhere)]


def choice_of(view: View) -> Tree | None:
    """All steps of the player's choice; None if no pick of the player is awaited."""
    player = view.player
    if player is None or not view.options:
        return None
    return tree(lambda so_far: view.game.ask(view.observation, player, so_far))
