"""Grades every move of a match against the solution, and separates luck from skill.

A move's regret is the expected score it loses, and the stake of a choice what its best option is
worth more than its worst. Accuracy is the part of the stakes that a player did not lose. Luck is
the change by chance events: the value after an outcome less the expectation before it; in
simultaneous choices it is what the pair of picks changed beyond both players' regrets. They add up:
the final score less the starting value is the luck plus the opponent's regret less one's own.

Where hands are hidden, the value of a choice is that of the player who chooses, from that player's
view. What a move changes beyond that, by what the player could not see, is `hidden`: neither regret
nor luck, and reported separately.

>>> from duels.core import Match
>>> from duels.games import load
>>> match = Match(load("number-wars", lp=10), seed=1)
>>> match.submit(0, "1"); match.submit(1, "10")
>>> [(move.move, move.verdict, float(move.regret)) for move in grade(match).moves]
[('1', 'blunder', 1.0), ('10', 'best', 0.0)]
"""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

from duels.algorithms.solution import Assessment, Progress, Solution, Value
from duels.algorithms.solutions import solve
from duels.core.game import Move, Outcome, Pick
from duels.core.match import Match, Timeout

# A verdict names a range of regret, as a part of the difference between the best and the worst
# result. The limits are conventions: a good move costs at most one game in fifty, a slip one in
# twenty, a mistake about one in seven. The limit of a best move allows for rounding errors.
VERDICTS = ((1e-9, "best"), (0.02, "good"), (0.05, "slip"), (0.15, "mistake"), (2.0, "blunder"))
UNGRADED = "not known"
LONG = 2.0  # seconds of grading before progress is reported
NOISE = 1e-12  # rounding errors in the float values of simultaneous choices


class Graded(NamedTuple):
    """A graded move. Values are Player 1's, in the game's unit; None if not known."""

    entry: int  # its number in the record, counted from 1
    player: int
    move: Move
    before: Value | None
    after: Value | None
    regret: Value | None
    random_regret: Value | None  # the expected regret of a random move
    stake: Value | None  # what the best option is worth more than the worst
    best: Move | None
    span: float = 1.0  # difference between the best and the worst result of the game

    @property
    def verdict(self) -> str:
        """The name of the range of the move's regret."""
        if self.regret is None:
            return UNGRADED
        return next(name for most, name in VERDICTS if self.regret / self.span <= most)


class Analysis(NamedTuple):
    """A graded match. `curve` is Player 1's value before each choice and at the end."""

    match: Match
    solution: Solution
    moves: tuple[Graded, ...]
    start: Value
    curve: tuple[Value | None, ...]
    luck_of_one: Value | None  # Player 1's, from chance events and simultaneous choices
    hidden: Value | None  # Player 1's gain by hidden cards

    @property
    def final(self) -> Value | None:
        """Player 1's value at the end."""
        return self.curve[-1]

    def of(self, player: int) -> list[Graded]:
        """The graded moves of a player."""
        return [move for move in self.moves if move.player == player]

    def ungraded(self, player: int) -> int:
        """How many of a player's moves could not be graded."""
        return sum(move.regret is None for move in self.of(player))

    def regret(self, player: int) -> Value | None:
        """The total regret of a player's graded moves; None if none of the moves is graded."""
        known = [move.regret for move in self.of(player) if move.regret is not None]
        return sum(known, 0) if known or not self.of(player) else None

    def accuracy(self, player: int) -> float | None:
        """Accuracy in percent: 100 * (1 - sum of regrets / sum of stakes) of the graded moves.

        100 is perfect play, 0 the worst move at every choice. None if there was nothing at stake:
        choices between equal moves do not count.
        """
        lost = staked = 0.0
        for move in self.of(player):
            if move.regret is not None and move.stake is not None and move.stake > NOISE:
                lost += float(move.regret)
                staked += float(move.stake)
        return 100 * (1 - lost / staked) if staked else None

    def won_throughout(self, player: int) -> bool:
        """Whether a player had a certain win at each choice, and no move lost it."""
        part, moves = self.solution.unit.part, self.of(player)
        return bool(moves) and all(
            value is not None and abs(part(value) - player) >= 1 - NOISE
            for move in moves
            for value in (move.before, move.after)
        )

    def luck(self, player: int) -> Value | None:
        """A player's luck; None if the value of a chance event is not known."""
        if self.luck_of_one is None:
            return None
        return self.luck_of_one if player == 0 else -self.luck_of_one

    @property
    def taken_back(self) -> int:
        """How many moves were taken back."""
        current = set(self.match.line)
        entries = enumerate(self.match.events)
        return sum(len(e.moves) for n, e in entries if isinstance(e, Pick) and n not in current)


class GradingProgress:
    """Reports the progress of grading, from `LONG` seconds on."""

    def __init__(self, progress: Progress | None, steps: int) -> None:
        self._progress, self._steps, self._done = progress, steps, 0
        self._began = monotonic()

    def done(self) -> None:
        """Count one step as done."""
        self._done += 1
        if self._progress is not None and monotonic() - self._began > LONG:
            self._progress(self._done / self._steps, "grading moves")


def grade(match: Match, progress: Progress | None = None) -> Analysis:
    """Grade the moves that were not taken back; `progress` is called if that takes long."""
    solution = solve(match.game, progress)
    steps = GradingProgress(progress, len(match.line) + 1)
    values: list[Value | None] = []
    picks: list[list[Graded]] = []
    for number in match.line:
        values.append(solution.value_at(match, number))
        picks.append(_picks(match, solution, number))
        steps.done()
    # A resignation is neither luck nor a move: the last value is that of the position.
    values.append(solution.value_at(match))
    steps.done()
    curve: list[Value | None] = []
    luck: list[Value | None] = []
    hidden: list[Value | None] = []
    for number, graded, before, after in zip(match.line, picks, values, values[1:], strict=False):
        if isinstance(match.events[number], Outcome):
            luck.append(_moved(before, after))
        elif graded:
            curve.append(graded[-1].before)
            unexplained = _moved(before, after, *graded)
            (luck if len(graded) == 2 else hidden).append(unexplained)
    return Analysis(
        match, solution, tuple(move for graded in picks for move in graded),
        solution.start_value(), (*curve, values[-1]), _total(luck), _total(hidden),
    )  # fmt: skip


def _picks(match: Match, solution: Solution, number: int) -> list[Graded]:
    """The graded moves of one event: a pick, a simultaneous pair, a timeout, or none."""
    entry = match.events[number]
    if isinstance(entry, Pick):
        picks = entry.moves
    elif isinstance(entry, Timeout) and isinstance(
        lost := match.observed_event(number, None), Pick
    ):
        picks = lost.moves
    else:
        return []
    graded = []
    for player, move in picks:
        choice = solution.measured(match.view_before(number, player), move)
        usual = choice.random_regret
        if move == match.game.timeout_move:
            after = match.game.play(match.state_before(number), move)
            choice = choice._replace(options={**choice.options, move: solution.value(after)})
        graded.append(_graded(number + 1, choice, move, usual)._replace(span=solution.unit.span))
    return graded


def _graded(entry: int, choice: Assessment, move: Move, usual: Value | None) -> Graded:
    regret = choice.regret(move)
    if regret is not None and regret <= NOISE:
        regret = 0
    best: Move | None = max(
        choice.mixed_strategy, key=lambda m: (choice.mixed_strategy[m], m == move)
    )
    assert best is not None
    worth, instead = choice.worth(move), choice.worth(best)
    if choice.best is None:
        best = None if choice.rough else best
    elif regret and worth is not None and instead is not None and instead <= worth:
        # An approximate mixed strategy may be worth less than the played move.
        best = next(option for option in choice.options if choice.worth(option) == choice.best)
    worths = [known for option in choice.options if (known := choice.worth(option)) is not None]
    stake = max(worths) - min(worths) if worths else None
    return Graded(
        entry, choice.player, move, choice.value, choice.options[move], regret, usual, stake, best
    )


def _moved(before: Value | None, after: Value | None, *moves: Graded) -> Value | None:
    """The change of value by an event beyond the regrets of its moves, for Player 1."""
    if before is None or after is None:
        return None
    moved = after - before
    for move in moves:
        if move.regret is None:
            return None
        moved += move.regret if move.player == 0 else -move.regret
    return moved


def _total(parts: list[Value | None]) -> Value | None:
    known = [part for part in parts if part is not None]
    return sum(known, 0) if len(known) == len(parts) else None
