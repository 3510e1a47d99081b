"""A graded match as text and JSON, and its summary for the end of a match."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, TypeVar

from duels.algorithms.estimate import error_of, estimated, margin
from duels.algorithms.solution import Value
from duels.algorithms.solutions import ready
from duels.analysis.grade import UNGRADED, VERDICTS, Analysis, Graded, grade
from duels.core.errors import DuelsError
from duels.core.game import Result, verdict
from duels.core.match import Match
from duels.core.presentation import Shared, belonging, called, listed, player_name
from duels.core.views import position_of

SPARKS, NO_SPARK = "▁▂▃▄▅▆▇█", "·"
DIGITS, NO_DIGIT = "0123456789", "?"  # tenths, where only ASCII can be shown
NARROW, WIDE = 6, 13  # columns of a figure, and of one with its error
WIDEST = 60  # points of a sparkline
ROWS = 9  # of the graph as text
TICK = 5  # columns between two labels of its axis
FITS = 72  # characters of a position in one line; a longer one has several
WORST = 3  # costly moves listed for each player
NAMES = (*(name for _, name in VERDICTS), UNGRADED)
MARKS = {"slip": "s", "mistake": "m", "blunder": "B"}
T = TypeVar("T")


def summary(match: Match, viewer: int | None = None, *, ascii_only: bool = False) -> list[str]:
    """The summary of a match in a few lines: the graph, the accuracies, the costliest moves.

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
        worst = costliest(analysis, player)
        cost = "" if worst is None else f" Costliest: {cost_of(worst, ascii_only=ascii_only)}."
        lines.append(f"{accuracy(analysis, player, viewer)}.{cost}")
    return lines + notes(analysis, ascii_only=ascii_only)


def parts(analysis: Analysis) -> list[float | None]:
    """The curve from 0 for Player 1's worst result to 1 for the best."""
    part = analysis.solution.unit.part
    return [None if value is None else part(value) for value in analysis.curve]


def accuracy(analysis: Analysis, player: int, viewer: int | None = None) -> str:
    """A player's accuracy, or why there is none, as a sentence without its full stop."""
    found, name = analysis.accuracy(player), called(player, viewer)
    if found is not None:
        return f"{name}: accuracy {percent(found)} %"
    if not analysis.of(player):
        return f"{name}: no moves"
    if analysis.ungraded(player):
        return f"{name}: no move could be graded"
    won = analysis.won_throughout(player)
    if name == "You":
        return "Every move you had kept the win" if won else "No move of yours changed the outcome"
    return f"{name}: {'every move kept the win' if won else 'no move changed the outcome'}"


def percent(accuracy: float) -> str:
    """An accuracy as a whole number: 100 only for perfect play, 0 only for the worst.

    >>> percent(100.0), percent(99.97), percent(83.4), percent(0.02), percent(0.0)
    ('100', '99', '83', '1', '0')
    """
    return f"{accuracy:.0f}" if accuracy in (0, 100) else str(max(1, min(99, round(accuracy))))


def cost_of(move: Graded, *, ascii_only: bool = False) -> str:
    """What a move gave away, and the better move."""
    lost = shown(move.regret, ascii_only=ascii_only)
    return f"{move.move} gave away {lost}{better(move, '; ')}"


def costliest(analysis: Analysis, player: int) -> Graded | None:
    """The move with the largest regret; None if there is no regret."""
    return next(iter(costly(analysis, player)), None)


def costly(analysis: Analysis, player: int) -> list[Graded]:
    """The moves with regret, the largest first."""
    wrong = [m for m in analysis.of(player) if m.verdict not in ("best", UNGRADED)]
    return sorted(wrong, key=lambda m: -float(m.regret or 0))


def sparkline(curve: Sequence[Value | None], *, ascii_only: bool = False) -> str:
    """Values from 0 to 1 as one line of characters; of more than `WIDEST`, a selection.

    >>> sparkline([0, 0.5, None, 1]), sparkline([0, 0.5, None, 1], ascii_only=True)
    ('▁▅·█', '05?9')
    """
    marks, unknown = (DIGITS, NO_DIGIT) if ascii_only else (SPARKS, NO_SPARK)
    last = len(marks) - 1
    return "".join(
        unknown if value is None else marks[min(last, int(len(marks) * float(value)))]
        for value in thinned(curve)
    )


def thinned(curve: Sequence[T]) -> list[T]:
    """A curve, or of more than `WIDEST` values a selection."""
    count = min(len(curve), WIDEST)
    return [curve[round(at * (len(curve) - 1) / max(1, count - 1))] for at in range(count)]


def visible(text: str) -> str:
    """Text with escapes instead of characters that are not printable.

    >>> print(visible("Ada\\x1b[31m\\ud800"))
    Ada\\x1b[31m\\ud800
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def seat_and_name(analysis: Analysis, player: int, viewer: int | None = None) -> str:
    """A player by seat and name, as "Player 1 (greedy)"."""
    name = "you" if player == viewer else visible(analysis.match.players[player])
    return f"{player_name(player)} ({name})"


def seats(analysis: Analysis, viewer: int | None = None) -> str:
    """Both players with their names."""
    return " against ".join(seat_and_name(analysis, player, viewer) for player in (0, 1))


def ended(analysis: Analysis, viewer: int | None = None) -> str:
    """How the match ended and which player won."""
    result = analysis.match.result
    if result is None:
        return "The match is not finished."
    reason, outcome = verdict(result, None, "wins.", pays=analysis.solution.unit.pays)
    if result.winner is not None:
        name = seat_and_name(analysis, result.winner, viewer)
        outcome = outcome.replace(player_name(result.winner), name)
    return f"{reason.removesuffix('.')}. {outcome}"


def axis(analysis: Analysis) -> str:
    """What the graph shows, and the meaning of its ends."""
    unit = analysis.solution.unit
    low, high = (f"{float(end):g}" for end in (unit.lowest, unit.highest))
    return f"Player 1's {unit.name}, from {low} (Player 2 wins) to {high} (Player 1 wins)"


def text(
    analysis: Analysis, viewer: int | None = None, *, ascii_only: bool = False
) -> list[str]:  # fmt: skip
    """The analysis as text: the result, both players, the graph, and each move in its position.

    A viewer who played is addressed as "you".
    """
    game = analysis.match.game
    lines = [f"{game.title}: {seats(analysis, viewer)}", ended(analysis, viewer)]
    lines += filter(None, [game.differing_line()])
    for player in (0, 1):
        lines += ["", sums(analysis, player, viewer, ascii_only=ascii_only)]
        for move in costly(analysis, player)[:WORST]:
            lines.append(f"  step {move.entry}: {cost_of(move, ascii_only=ascii_only)}")
    lines += ["", axis(analysis), *chart(analysis, ascii_only=ascii_only), ""]
    wide = WIDE if analysis.solution.sampled else NARROW
    heads = " ".join(f"{name:>{wide}}" for name in ("before", "after", "regret"))
    lines += [f"{'step':>5}  {'player':<8}  {'move':<18} {heads}  verdict"]
    following = [move.entry for move in analysis.moves[1:]]
    for move, later in zip_longest(analysis.moves, following):
        assert move is not None
        lines.append(_row(move, wide, ascii_only))
        where = position(analysis, move)
        if move.entry != later or analysis.match.game.private:
            joined = "; ".join(where)
            shown_as = [joined] if len(joined) <= FITS else where
            lines += [f"{'':7}{line}" for line in shown_as if line]
    below = notes(analysis, ascii_only=ascii_only)
    return [*lines, "", *below] if below else lines


def position(analysis: Analysis, move: Graded) -> list[str]:
    """The position in which a move was made, as the player saw it."""
    return position_of(analysis.match.view_before(move.entry - 1, Shared(move.player)))


def chart(analysis: Analysis, *, ascii_only: bool = False) -> list[str]:
    """The graph as text: the curve, its axes, and the marks of each player's mistakes."""
    unit, curve = analysis.solution.unit, parts(analysis)
    steps = sorted({move.entry for move in analysis.moves})
    count = min(len(curve), WIDEST)
    column = {step: round(n * (count - 1) / max(1, len(curve) - 1)) for n, step in enumerate(steps)}
    rows = [[" "] * count for _ in range(ROWS)]
    for at, value in enumerate(thinned(curve)):
        if value is not None:
            rows[round((1 - value) * (ROWS - 1))][at] = "*" if ascii_only else "●"
    labels = {0: unit.highest, ROWS // 2: unit.draw, ROWS - 1: unit.lowest}
    figures = {row: f"{float(label):g}" for row, label in labels.items()}
    lines = [f"{figures.get(n, ''):>9} |{''.join(row)}" for n, row in enumerate(rows)]
    lines.append(f"{'':9} +{'-' * count}")
    ticks = [" "] * (count + 4)
    for step in steps:
        at, word = column[step], str(step)
        if at % TICK == 0:
            ticks[at : at + len(word)] = word
    lines.append(f"{'step':>9}  {''.join(ticks)}")
    for player in (0, 1):
        marks = [" "] * count
        for move in reversed(costly(analysis, player)):  # of several in a column, the worst
            marks[column[move.entry]] = MARKS.get(move.verdict, " ")
        lines.append(f"{player_name(player):>9}  {''.join(marks)}")
    key = listed(f"{mark} {verdict}" for verdict, mark in MARKS.items())
    return [*(line.rstrip() for line in lines), f"{'':11}{key}"]


def notes(analysis: Analysis, *, ascii_only: bool = False) -> list[str]:
    """Notes on the analysis as a whole."""
    lines = []
    unit = analysis.solution.unit
    if unit.pays:
        lines.append(
            f"Values, regrets and luck are {unit.name}s; "
            f"the most that a win pays is {unit.highest}."
        )
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


def sums(
    analysis: Analysis, player: int, viewer: int | None = None, *, ascii_only: bool = False
) -> str:
    """The totals of one player in a line: accuracy, regret, luck and verdicts."""
    verdicts = [move.verdict for move in analysis.of(player)]
    counts = [_counted(verdicts.count(name), name) for name in NAMES if name in verdicts]
    regret, luck = analysis.regret(player), analysis.luck(player)
    lost = "not known" if regret is None else shown(regret, ascii_only=ascii_only)
    gained = "not known" if luck is None else shown(luck, ascii_only=ascii_only, sign="+")
    said = [f"gave away {lost}, luck {gained}", ", ".join(counts)]
    return "; ".join([accuracy(analysis, player, viewer), *filter(None, said)])


def _counted(count: int, verdict: str) -> str:
    return f"{count} {verdict}{'s' if verdict in MARKS and count > 1 else ''}"


def number(value: Value | None) -> float | None:
    """A value as a float."""
    return None if value is None else float(value)


def _errors(move: Graded) -> dict[str, Any]:
    """The standard errors of estimated values."""
    figures = {"before": move.before, "after": move.after, "regret": move.regret}
    errors = {name: error_of(value) for name, value in figures.items()}
    found = {name: error for name, error in errors.items() if error is not None}
    return {"standard_errors": found} if found else {}


def _result(result: Result) -> dict[str, Any]:
    winner = None if result.winner is None else result.winner + 1
    return {"winner": winner, "by": result.by, "reason": result.reason}


def _distance(analysis: Analysis, move: Graded) -> dict[str, int]:
    """How many choices before the end a move was made, where the solution knows it."""
    solution, match = analysis.solution, analysis.match
    if match.game.private:
        return {}
    found = solution.distance(match.state_before(move.entry - 1))
    return {} if found is None else {"distance": found}


def to_json(analysis: Analysis) -> dict[str, Any]:
    """The analysis as JSON values; null where a value is not known."""
    match, highest = analysis.match, analysis.solution.unit.highest

    def both(figure: Any) -> dict[str, Any]:
        return {str(player + 1): figure(player) for player in (0, 1)}

    data: dict[str, Any] = {
        "game": match.game.slug,
        "options": match.game.settings(),
        **(
            {"unit": analysis.solution.unit.name, "highest_payoff": float(highest)}
            if analysis.solution.unit.pays
            else {}
        ),
        "players": list(match.players),
        "result": None if match.result is None else _result(match.result),
        "taken_back": analysis.taken_back,
        "moves": [
            {
                "entry": move.entry,
                "player": move.player + 1,
                "position": position(analysis, move),
                "move": move.move,
                "before": number(move.before),
                "after": number(move.after),
                "regret": number(move.regret),
                "random_regret": number(move.random_regret),
                "stake": number(move.stake),
                "best": move.best,
                "verdict": None if move.verdict == UNGRADED else move.verdict,
                **_distance(analysis, move),
                **_errors(move),
            }
            for move in analysis.moves
        ],
        "start": float(analysis.start),
        "curve": [number(value) for value in analysis.curve],
        "accuracy": both(analysis.accuracy),
        "won_throughout": both(analysis.won_throughout),
        "regret": both(lambda player: number(analysis.regret(player))),
        "ungraded": both(analysis.ungraded),
        "luck": both(lambda player: number(analysis.luck(player))),
    }
    if analysis.solution.approximate:
        data["hidden"] = number(analysis.hidden)
        solution = analysis.solution
        data |= {"approximate": True, "caveat": solution.caveat, **solution.bounds()}
    return data
