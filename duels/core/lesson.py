"""Guided moves: a lesson that a game's package gives as data.

A lesson follows one player through the beginning of a game. Its texts may name rules with the
default options; figures about play are computed elsewhere (`duels.analysis.lessons`).
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which slows start-up.

from typing import NamedTuple

MOVES = 3  # of a lesson


class Guided(NamedTuple):
    """A guided move: what has happened before it, what the learner reads, and the move to play."""

    after: tuple[str, ...]  # picks and outcomes since the start; sealed pairs as 7/8
    text: str
    move: str


class Lesson(NamedTuple):
    """The guided moves of a game, and what the learner reads after the last one."""

    moves: tuple[Guided, ...]
    after: tuple[str, ...]  # as the last move was answered
    end: str
