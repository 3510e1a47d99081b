"""What a position is worth, and each option in it, as text and as JSON."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from duels.core.errors import DuelsError, IllegalMove
from duels.core.game import AnyGame, Chance, Outcome, Pick
from duels.core.match import Match
from duels.core.show import player_name
from duels.solve import Assessment, Solution, Value


def followed(game: AnyGame, after: list[str]) -> Match:
    """The match after a record's picks in order, chance outcomes included; sealed pairs as 7/8."""
    match = Match(game)
    for number, word in enumerate(after, 1):
        try:
            _follow(match, " ".join(word.lower().split()))
        except DuelsError as error:
            raise IllegalMove(f"pick {number}: {error}") from None
    return match


def _follow(match: Match, word: str) -> None:
    if isinstance(match.turn, Chance):
        match.enact(Outcome(word))
        return
    if match.result is not None:
        raise IllegalMove("the game is over")
    picks = word.split("/") if len(match.deciders) == 2 else [word]
    if len(picks) != len(match.deciders):
        raise IllegalMove("both players choose here: write the pair as 7/8")
    match.enact(Pick(tuple(zip(match.deciders, picks, strict=True))))


def _number(value: Value) -> dict[str, Any]:
    if isinstance(value, Fraction | int):
        return {"value": float(value), "exact": str(value)}
    return {"value": value}


def to_json(solution: Solution, value: Value, choices: list[Assessment]) -> dict[str, Any]:
    data: dict[str, Any] = {"to_move": [choice.player + 1 for choice in choices], **_number(value)}
    data["options"] = {
        str(choice.player + 1): {m: _number(v) for m, v in choice.options.items()}
        for choice in choices
    }
    if choices and (len(choices) == 2 or solution.approximate):
        data["mix"] = {str(choice.player + 1): dict(choice.mix) for choice in choices}
    if solution.approximate:
        data |= {"approximate": True, "bound": solution.bound}
    return data


def text(solution: Solution, value: Value, choices: list[Assessment]) -> list[str]:
    lines = [f"Player 1's expected score: {_shown(value)}"]
    for choice in choices:
        lines += ["", f"{player_name(choice.player)} can choose:"]
        width = max(map(len, choice.options))
        best = choice.worth
        for move in sorted(choice.options, key=best, reverse=True):
            chance = choice.mix.get(move)
            mark = "" if chance is None else f"   perfect play: {100 * chance:.1f} %"
            lines.append(f"  {move:<{width}}  {_shown(choice.options[move])}{mark}")
    if solution.caveat is not None:
        lines += ["", solution.caveat]
    return lines


def _shown(value: Value) -> str:
    exact = f" = {value}" if isinstance(value, Fraction) and value.denominator > 1 else ""
    return f"{float(value):.6f}{exact}"
