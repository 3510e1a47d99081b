"""A position to explore: its value, what can happen next, and what each possibility is worth.

The numbers are those of `duels value` (`duels.analysis.position`). Chance outcomes and distances to
the end are added, so that a client can walk through a game in both players' seats.

>>> from duels.games import load
>>> found = explore(load("firewall-breach"), [])
>>> found["exact"], found["choices"][0]["moves"]["attack"]["exact"], found["distance"]
('277/486', '277/486', None)
>>> explore(load("firewall-breach"), ["attack"])["chance"]["outcomes"]["5"]["probability"]
'1/6'
"""

from __future__ import annotations

from typing import Any

from duels.algorithms.solution import Solution
from duels.analysis.position import match_after, number, position_value, to_json
from duels.core.game import AnyGame, Chance, Decide
from duels.core.match import Match
from duels.core.wire import dump


def explore(game: AnyGame, after: list[str]) -> dict[str, Any]:
    """The JSON of `duels value` after these picks and outcomes, and what can happen next."""
    match = match_after(game, after)
    found = position_value(match)
    data = to_json(found)
    data |= {
        "after": [_word(event) for event in match.events],
        "result": dump(match.result),
        "distance": None if match.result is not None else _distance(found.solution, match.state),
        "chance": _chance(found.solution, match, after),
    }
    turn = match.turn
    if isinstance(turn, Decide) and len(turn.options) == 1:
        (choice,) = data["choices"]
        for move, about in choice["moves"].items():
            distance = _distance(found.solution, game.play(match.state, move))
            if distance is not None:
                about["distance"] = distance
    return data


def _word(event: Any) -> str:
    """An event as `match_after` reads it."""
    moves = getattr(event, "moves", None)
    return str(event.outcome) if moves is None else "/".join(move for _, move in moves)


def _chance(solution: Solution, match: Match, after: list[str]) -> dict[str, Any] | None:
    """The outcomes of a chance event with their probabilities and values; None at other turns."""
    turn = match.turn
    if match.result is not None or not isinstance(turn, Chance):
        return None
    outcomes = {}
    for outcome, odds in turn.odds.items():
        then = match_after(match.game, [*after, outcome])
        outcomes[outcome] = {"probability": str(odds), **number(solution.value_at(then))}
    return {"by": None if turn.by is None else turn.by + 1, "outcomes": outcomes}


def _distance(solution: Solution, state: Any) -> int | None:
    """How far the end is under perfect play, where the solution knows it; 0 at the end."""
    if solution.open_hands or solution.game.private:
        return None
    turn = solution.game.turn(state)
    if isinstance(turn, Chance):
        return None
    return solution.distance(state) if isinstance(turn, Decide) else 0
