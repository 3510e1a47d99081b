"""Values of a position and of each option in it, as text and as JSON."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from duels.algorithms.estimate import Estimate, estimated, margin
from duels.algorithms.solution import Assessment, Progress, Solution, Value
from duels.algorithms.solutions import solve
from duels.core.errors import DuelsError, IllegalMove
from duels.core.game import AnyGame, Chance, Move, Outcome, Pick
from duels.core.match import Match
from duels.core.presentation import player_name

READABLE = 40  # characters of a fraction; longer ones are for programs (--json)
HIDDEN = ", with all hidden information known"
TIE = 1e-9  # smaller differences are rounding errors
FORMAT, VERSION = "duels value", 1  # of the JSON


class PositionValue(NamedTuple):
    """The value of a match's position to Player 1, None if it is not known."""

    solution: Solution
    value: Value | None
    choices: tuple[Assessment, ...]  # of the players who choose now
    begun: bool = True  # anything has happened that may be hidden


def position_value(match: Match, progress: Progress | None = None) -> PositionValue:
    """The value of a match's position; `progress` is called while a game is solved."""
    solution = solve(match.game, progress)
    choices = tuple(solution.measured(match.view(player)) for player in match.deciders)
    return PositionValue(solution, solution.value_at(match), choices, bool(match.events))


def match_after(game: AnyGame, after: list[str]) -> Match:
    """The match after picks and chance outcomes in order; sealed pairs are written as 7/8."""
    match = Match(game)
    for number, word in enumerate(after, 1):
        try:
            _enact(match, " ".join(word.lower().split()))
        except DuelsError as error:
            raise IllegalMove(f"pick {number}: {error}") from None
    return match


def _enact(match: Match, word: str) -> None:
    if isinstance(match.turn, Chance):
        match.enact(Outcome(word))
        return
    if match.result is not None:
        raise IllegalMove("the game is over")
    picks = word.split("/") if len(match.deciders) == 2 else [word]
    if len(picks) != len(match.deciders):
        raise IllegalMove("both players choose here: write the pair as 7/8")
    match.enact(Pick(tuple(zip(match.deciders, picks, strict=True))))


def to_json(found: PositionValue) -> dict[str, Any]:
    """The values as JSON, Player 1's; null if not known, expected scores unless `unit` is given."""
    solution, value, choices, _ = found
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "game": solution.game.slug,
        "options": solution.game.settings(),
        **({"unit": solution.unit.name} if solution.unit.pays else {}),
        **({"open_hands": True} if solution.open_hands else {}),
        "to_move": [choice.player + 1 for choice in choices],
        **number(value),
    }
    if value is None:
        data["why"] = solution.missing
    data["choices"] = [
        {
            "player": choice.player + 1,
            "moves": {move: number(value) for move, value in choice.options.items()},
            "mix": dict(choice.mixed_strategy),
            "rough": choice.rough,
        }
        for choice in choices
    ]
    if solution.approximate:
        data |= {"approximate": True, "caveat": solution.caveat, **solution.bounds()}
    return data


def number(value: Value | None) -> dict[str, Any]:
    """A value as JSON: with its fraction if it is exact, its standard error if it was measured."""
    if isinstance(value, Fraction | int):
        return {"value": float(value), "exact": str(value)}
    if isinstance(value, Estimate):
        return {"value": float(value), "standard_error": value.error}
    return {"value": value}


def text(found: PositionValue, *, ascii_only: bool = False) -> list[str]:
    """The values as text, with a line for each option."""
    solution, value, choices, _ = found
    unit = solution.unit.name
    hidden = HIDDEN if solution.open_hands and found.begun else ""
    lines = [f"Player 1's {unit}{hidden}: {_shown(value, ascii_only)}"]
    if value is None:
        lines.append(f"({solution.missing})")
    for choice in choices:
        seen = ", given what this player has seen" if solution.open_hands else ""
        named = f"{player_name(choice.player)} can choose (Player 1's {unit} with each{seen}):"
        lines += ["", named, *_options(choice, ascii_only)]
    if solution.caveat is None:
        return lines
    error = [margin(ascii_only=ascii_only)] if solution.sampled else []
    return [*lines, "", solution.caveat, *error]


def _options(choice: Assessment, ascii_only: bool) -> list[str]:
    """A line for each move, the best for the player who chooses first."""
    width = max(map(len, choice.options))
    values = {move: _shown(value, ascii_only) for move, value in choice.options.items()}
    wide = max(map(len, values.values()))
    played = "a rule of thumb" if choice.rough else "perfect play"
    lines = []
    for move in _ranked(choice):
        chance = choice.mixed_strategy.get(move)
        mark = "" if chance is None else f"   {played}: {_percent(chance)}"
        lines.append(f"  {move:<{width}}  {values[move]:<{wide}}{mark}".rstrip())
    return lines


def _ranked(choice: Assessment) -> list[Move]:
    """The moves from the best to the worst, those not known last; equal ones in their own order."""
    worths = {move: choice.worth(move) for move in choice.options}
    known = {move: float(worth) for move, worth in worths.items() if worth is not None}
    ranks: dict[Move, int] = {}
    rank, before = 0, 0.0
    for move in sorted(known, key=lambda move: -known[move]):
        rank += before - known[move] > TIE
        ranks[move], before = rank, known[move]
    return sorted(choice.options, key=lambda move: ranks.get(move, len(ranks)))


def _percent(chance: float) -> str:
    """A chance with one decimal, never as 0 or 100 % if it is neither.

    >>> [_percent(chance) for chance in (0.00018, 0.0005, 0.25, 0.9999, 1.0)]
    ['< 0.1 %', '0.1 %', '25.0 %', '> 99.9 %', '100.0 %']
    """
    text = f"{100 * chance:.1f}"
    if text == "0.0" and chance > 0:
        return "< 0.1 %"
    if text == "100.0" and chance < 1:
        return "> 99.9 %"
    return f"{text} %"


def _shown(value: Value | None, ascii_only: bool) -> str:
    if value is None:
        return "not known"
    if isinstance(value, Estimate):
        return estimated(value, ascii_only=ascii_only)
    exact = f" = {value}" if isinstance(value, Fraction) and value.denominator > 1 else ""
    return f"{float(value):.6f}{exact if len(exact) <= READABLE else ''}"
