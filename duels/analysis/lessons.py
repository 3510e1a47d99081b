"""What Learn shows of a game: guided moves, charts of perfect play, and facts with their figures.

All but the lesson is computed from the solution. A game without a lesson of its own gets one from
perfect play.

>>> from duels.games import load
>>> found = learn(load("firewall-breach"))
>>> [step["move"] for step in found["lesson"]["moves"]], len(found["charts"])
(['attack', 'attack', 'bypass'], 1)
>>> found["facts"][0]
'The player who starts wins 277/486 of games (57.0 %).'
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from duels.algorithms.solution import Solution, Unsolved
from duels.algorithms.solutions import solve
from duels.analysis.position import match_after
from duels.core.game import AnyGame, Chance
from duels.core.lesson import MOVES, Guided, Lesson
from duels.core.match import Match
from duels.core.spec import located, spec_of
from duels.plotting import charts
from duels.plotting.drawing import Bars, Chart

LONGEST = 100  # picks and outcomes before the moves of a default lesson


def learn(game: AnyGame) -> dict[str, Any]:
    """The lesson, the charts and the facts of a game as JSON."""
    solution = solve(game)
    lesson = lesson_of(game)
    return {
        "game": game.slug,
        "options": game.settings(),
        "lesson": {
            "moves": [
                _guided_json(game, one)
                for one in lesson.moves
            ],
            "after": list(lesson.after),
            "end": lesson.end,
        },
        "charts": [chart_json(chart) for chart in charts(game)],
        "facts": facts(game),
        "caveat": solution.caveat,
    }  # fmt: skip


def _guided_json(game: AnyGame, guided: Guided) -> dict[str, Any]:
    """A guided move as JSON, with the player who makes it."""
    player = min(match_after(game, list(guided.after)).deciders) + 1
    return {**guided._asdict(), "player": player}


def lesson_of(game: AnyGame) -> Lesson:
    """The game's own lesson; with other options than its own, or without one, from perfect play."""
    own = spec_of(game).lesson
    if own and game.settings() == type(game)().settings():
        found: Lesson = located(own)
        return found
    return _from_perfect_play(game)


def facts(game: AnyGame) -> list[str]:
    """Facts about a game: its value, then what its package computes from the solution."""
    own = spec_of(game).facts
    more: list[str] = located(own)(game) if own else []
    return [_start_fact(solve(game)), *more]


def _start_fact(solution: Solution) -> str:
    value, game = solution.start_value(), solution.game
    turn = game.turn(game.start())
    first = min(getattr(turn, "options", {0: ()})) if not isinstance(turn, Chance) else turn.by or 0
    both = len(getattr(turn, "options", ())) == 2
    if solution.unit.pays:
        return f"With perfect play Player 1's {solution.unit.name} is {float(value):.4f}."
    if both:
        part = 100 * float(value)
        return f"With perfect play Player 1's expected score is {part:.4g} %."
    own = value if first == 0 else solution.unit.total - value
    if own in (0, 1):
        return f"With perfect play the player who starts {'wins' if own else 'loses'}."
    exact = f"{own} of games (" if isinstance(own, Fraction) else "about "
    closing = ")" if isinstance(own, Fraction) else " of games"
    return f"The player who starts wins {exact}{100 * float(own):.1f} %{closing}."


def _from_perfect_play(game: AnyGame) -> Lesson:
    """The first moves of one player where both play perfectly and chance is at its likeliest."""
    solution, match = solve(game), Match(game)
    after: list[str] = []
    moves: list[Guided] = []
    learning: int | None = None
    while match.result is None and len(moves) < MOVES and len(after) < LONGEST:
        if isinstance(match.turn, Chance):
            after.append(max(match.turn.odds, key=match.turn.odds.__getitem__))
        else:
            if learning is None:
                learning = min(match.deciders)
            picks = {player: _likeliest(solution, match, player) for player in match.deciders}
            if learning in picks:
                moves.append(
                    Guided(tuple(after), _text(match, learning, picks[learning]), picks[learning])
                )
            after.append("/".join(picks[player] for player in sorted(picks)))
        match = match_after(game, after)
    if not moves:
        raise Unsolved(f"{game.slug} has no lesson: no player chooses in it")
    return Lesson(
        tuple(moves), tuple(after), "Explore the game to see what every other move is worth."
    )


def _likeliest(solution: Solution, match: Match, player: int) -> str:
    strategy = solution.measured(match.view(player)).mixed_strategy
    return max(strategy, key=lambda move: strategy[move])


def _text(match: Match, player: int, move: str) -> str:
    """What a default lesson tells before a move."""
    view = match.view(player)
    step = match.game.ask(view.observation, player, "")
    question = "" if step is None else step.worded("", "").rstrip(":").strip()
    before = f"{match.game.summary} " if not match.events else ""
    return f"{before}{question + '. ' if question else ''}Perfect play chooses {move}."


def chart_json(chart: Chart) -> dict[str, Any]:
    """A chart as data, for clients that draw it themselves."""
    data = chart._asdict()
    if isinstance(chart, Bars):
        return {"kind": "bars", **data, "values": dict(chart.values)}
    return {"kind": "grid", **data, "legend": dict(chart.legend)}
