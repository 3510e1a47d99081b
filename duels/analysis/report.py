"""A graded match as text and JSON, and its summary for the end of a match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duels.algorithms.estimate import error_of, estimated, margin
from duels.algorithms.solution import Value
from duels.algorithms.solutions import ready
from duels.analysis.grade import UNGRADED, VERDICTS, Analysis, Graded, grade
from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.core.presentation import belonging, called, player_name

SPARKS, NO_SPARK = "▁▂▃▄▅▆▇█", "·"
DIGITS, NO_DIGIT = "0123456789", "?"  # tenths, where only ASCII can be shown
NARROW, WIDE = 6, 13  # columns of a figure, and of one with its error
WIDEST = 60  # points of a sparkline
NAMES = (*(name for _, name in VERDICTS), UNGRADED)


def summary(match: Match, viewer: int | None = None, *, ascii_only: bool = False) -> list[str]:
    """A few lines for the end of a match: the graph, the accuracies, the costliest moves.

    A viewer who played is addressed as "you". Empty if grading takes long or is not possible.

    >>> from duels.games import load
    >>> match = Match(load("number-wars", lp=10), seed=1)
    >>> match.submit(0, "1"); match.submit(1, "10")
    >>> print("\\n".join(summary(match, ascii_only=True)))
    Player 1's expected score  900
    Player 1: accuracy 0 %. Costliest: 1 gave away 1.000; 10 was better.
    Player 2: accuracy 100 %.
    """
    try:
        analysis = grade(match) if ready(match.game) else None
    except DuelsError:  # not solved, or a damaged table: the match ends without a summary
        analysis = None
    if analysis is None or not analysis.moves:
        return []
    own = 0 if viewer is None else int(viewer)
    curve = [part if own == 0 or part is None else 1 - part for part in parts(analysis)]
    unit = analysis.solution.unit.name
    lines = [f"{belonging(own, viewer)} {unit}  {sparkline(curve, ascii_only=ascii_only)}"]
    for player in (0, 1):
        lines.append(
            f"{called(player, viewer)}: {accuracy(analysis, player)}."
            f"{_costly(analysis, player, ascii_only)}"
        )
    return lines + notes(analysis, ascii_only=ascii_only)


def parts(analysis: Analysis) -> list[float | None]:
    """The curve from 0 for Player 1's worst result to 1 for the best."""
    part = analysis.solution.unit.part
    return [None if value is None else part(value) for value in analysis.curve]


def accuracy(analysis: Analysis, player: int) -> str:
    """A player's accuracy as text; worse than random play is shown as 0."""
    found = analysis.accuracy(player)
    if found is not None:
        return f"accuracy {max(0.0, found):.0f} %"
    return f"no choice that {'could be graded' if analysis.ungraded(player) else 'mattered'}"


def _costly(analysis: Analysis, player: int, ascii_only: bool) -> str:
    move = costliest(analysis, player)
    if move is None:
        return ""
    lost = shown(move.regret, ascii_only=ascii_only)
    return f" Costliest: {move.move} gave away {lost}; {move.best} was better."


def costliest(analysis: Analysis, player: int) -> Graded | None:
    """The move with the largest regret; None if there is no regret."""
    wrong = [m for m in analysis.of(player) if m.verdict not in ("best", UNGRADED)]
    return max(wrong, key=lambda m: float(m.regret or 0), default=None)


def sparkline(curve: Sequence[Value | None], *, ascii_only: bool = False) -> str:
    """Values from 0 to 1 as one line of characters, thinned out if there are many.

    >>> sparkline([0, 0.5, None, 1]), sparkline([0, 0.5, None, 1], ascii_only=True)
    ('▁▅·█', '05?9')
    """
    marks, unknown = (DIGITS, NO_DIGIT) if ascii_only else (SPARKS, NO_SPARK)
    count = min(len(curve), WIDEST)
    points = [curve[round(at * (len(curve) - 1) / max(1, count - 1))] for at in range(count)]
    last = len(marks) - 1
    return "".join(
        unknown if value is None else marks[min(last, int(len(marks) * float(value)))]
        for value in points
    )


def visible(text: str) -> str:
    """Text with escapes instead of characters that are not printable.

    >>> print(visible("Ada\\x1b[31m\\ud800"))
    Ada\\x1b[31m\\ud800
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def seats(analysis: Analysis) -> str:
    names = analysis.match.players
    return " against ".join(f"{player_name(p)} ({visible(names[p])})" for p in (0, 1))


def text(analysis: Analysis, *, ascii_only: bool = False) -> list[str]:
    """The whole analysis, a line for each move."""
    lines = [f"{analysis.match.game.title}: {seats(analysis)}", ""]
    curve = sparkline(parts(analysis), ascii_only=ascii_only)
    lines += [f"Player 1's {analysis.solution.unit.name}  {curve}", ""]
    wide = WIDE if analysis.solution.sampled else NARROW
    heads = " ".join(f"{name:>{wide}}" for name in ("before", "after", "regret"))
    lines += [f"{'entry':>5}  {'player':<8}  {'move':<18} {heads}"]
    lines += [_row(move, wide, ascii_only) for move in analysis.moves]
    lines += ["", *(sums(analysis, player, ascii_only=ascii_only) for player in (0, 1))]
    return lines + notes(analysis, ascii_only=ascii_only)


def notes(analysis: Analysis, *, ascii_only: bool = False) -> list[str]:
    """Notes on the analysis as a whole."""
    lines = []
    if analysis.taken_back:
        graded = "it is" if analysis.taken_back == 1 else "they are"
        lines.append(f"{_moves(analysis.taken_back)} taken back; {graded} not graded.")
    verdicts = {move.verdict for move in analysis.moves}
    if UNGRADED in verdicts:
        lines.append(f"Not known: {analysis.solution.missing}.")
    if analysis.solution.caveat is not None:
        lines.append(analysis.solution.caveat)
        if analysis.solution.sampled:
            lines.append(margin(ascii_only=ascii_only))
    return lines


def _moves(count: int) -> str:
    return "1 move was" if count == 1 else f"{count} moves were"


def _row(move: Graded, wide: int, ascii_only: bool) -> str:
    figures = (move.before, move.after, None if move.verdict == "best" else move.regret)
    known = [shown(figure, ascii_only=ascii_only) for figure in figures]
    if move.verdict == "best":
        known[2] = ""
    return (
        f"{move.entry:>5}  {player_name(move.player)}  {move.move:<18} "
        f"{' '.join(f'{text:>{wide}}' for text in known)}  {move.verdict}{better(move, ': ')}"
    )


def shown(value: Value | None, *, ascii_only: bool = False, sign: str = "") -> str:
    """A value with at most three decimals; a dash if it is not known."""
    return "-" if value is None else estimated(value, ascii_only=ascii_only, sign=sign)


def better(move: Graded, lead: str = "") -> str:
    """The better move, if there is one and it is known."""
    return "" if move.verdict in ("best", UNGRADED) else f"{lead}{move.best} was better"


def sums(analysis: Analysis, player: int, *, ascii_only: bool = False) -> str:
    """One player's match in a line."""
    verdicts = [move.verdict for move in analysis.of(player)]
    counts = [f"{verdicts.count(name)} {name}" for name in NAMES if name in verdicts]
    regret, luck = analysis.regret(player), analysis.luck(player)
    lost = "not known" if regret is None else shown(regret, ascii_only=ascii_only)
    gained = "not known" if luck is None else shown(luck, ascii_only=ascii_only, sign="+")
    return (
        f"{player_name(player)}: {accuracy(analysis, player)}, gave away {lost}, "
        f"luck {gained}; {', '.join(counts) or 'no moves'}"
    )


def number(value: Value | None) -> float | None:
    return None if value is None else float(value)


def _errors(move: Graded) -> dict[str, Any]:
    """The standard errors of estimated values."""
    figures = {"before": move.before, "after": move.after, "regret": move.regret}
    errors = {name: error_of(value) for name, value in figures.items()}
    found = {name: error for name, error in errors.items() if error is not None}
    return {"standard_errors": found} if found else {}


def to_json(analysis: Analysis) -> dict[str, Any]:
    """JSON values; null if not known."""
    match = analysis.match

    def both(figure: Any) -> dict[str, Any]:
        return {str(player + 1): figure(player) for player in (0, 1)}

    data: dict[str, Any] = {
        "game": match.game.slug,
        "options": match.game.settings(),
        **({"unit": analysis.solution.unit.name} if analysis.solution.unit.pays else {}),
        "players": list(match.players),
        "taken_back": analysis.taken_back,
        "moves": [
            {
                "entry": move.entry,
                "player": move.player + 1,
                "move": move.move,
                "before": number(move.before),
                "after": number(move.after),
                "regret": number(move.regret),
                "random_regret": number(move.random_regret),
                "best": move.best,
                "verdict": None if move.verdict == UNGRADED else move.verdict,
                **_errors(move),
            }
            for move in analysis.moves
        ],
        "start": float(analysis.start),
        "curve": [number(value) for value in analysis.curve],
        "accuracy": both(analysis.accuracy),
        "regret": both(lambda player: number(analysis.regret(player))),
        "ungraded": both(analysis.ungraded),
        "luck": both(lambda player: number(analysis.luck(player))),
    }
    if analysis.solution.approximate:
        data["hidden"] = number(analysis.hidden)
        solution = analysis.solution
        data |= {"approximate": True, **solution.bounds()}
    return data
