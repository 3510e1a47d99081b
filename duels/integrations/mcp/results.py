"""What the tools return. A match is described from the view of one seat and from nothing else."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import BaseModel, Field

from duels.core.player import View
from duels.core.presentation import player_name, who
from duels.llm.dialogue import history_lines, seen_lines


class SeatedMatch(NamedTuple):
    """A match as one seat sees it."""

    handle: str
    view: View
    opponent: str
    hints: bool


class GameOption(BaseModel):
    """A rule option of a game."""

    name: str
    about: str
    takes: str
    default: str


class GameInfo(BaseModel):
    """A game that can be played."""

    name: str
    title: str
    summary: str
    hidden_information: bool = Field(description="whether hands are hidden from the opponent")
    rules: str = Field(description="the resource with the rules")
    options: list[GameOption]


class Level(BaseModel):
    """A computer player."""

    name: str
    about: str


class Catalogue(BaseModel):
    """The games and the computer players."""

    games: list[GameInfo]
    opponents: list[Level]


class Ending(BaseModel):
    """How a match ended."""

    score: float = Field(description="yours: 1 for a win, 0.5 for a draw, 0 for a loss")
    reason: str


class MatchState(BaseModel):
    """A match from your seat."""

    match: str = Field(description="the handle that the other tools take")
    game: str
    options: dict[str, str]
    you: str = Field(description="your seat: Player 1 or Player 2")
    opponent: str
    version: int = Field(description="how many events have happened; a move states it")
    hints: bool = Field(description="whether the tool `hint` answers in this match")
    history: list[str] = Field(description="what has happened, as you saw it")
    position: list[str]
    question: str | None = Field(description="what you choose now; null if you do not")
    legal_moves: list[str]
    result: Ending | None = Field(description="null while the match is played")


class Started(BaseModel):
    """One match, or a pair of matches in which you take both seats."""

    rules: str
    matches: list[MatchState]


class Hint(BaseModel):
    """A hint for the position of a match."""

    hint: str
    move: str


def match_state(match: SeatedMatch) -> MatchState:
    """A match as JSON values, from the view of its seat."""
    view = match.view
    game, player = view.game, view.player
    assert player is not None
    step = game.ask(view.observation, player, "") if view.options else None
    return MatchState(
        match=match.handle,
        game=game.slug,
        options=game.settings(),
        you=player_name(player),
        opponent=match.opponent,
        version=view.version,
        hints=match.hints,
        history=history_lines(view),
        position=seen_lines(view),
        question=None if step is None else step.worded("", ""),
        legal_moves=list(view.options),
        result=_ending(view),
    )


def _ending(view: View) -> Ending | None:
    result = view.result
    if result is None:
        return None
    score = 0.5 if result.winner is None else float(result.winner == view.player)
    winner = "" if result.winner is None else f" {_wins(result.winner, view.player)}"
    return Ending(score=score, reason=f"{result.reason}{winner}")


def _wins(winner: int, viewer: int | None) -> str:
    return "You win." if winner == viewer else f"{who(winner, viewer).capitalize()} wins."
