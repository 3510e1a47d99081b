"""Where did I go wrong? Every move of a match against the truth, with luck and skill apart.

A move's regret is the expected score it gave away. Luck is what chance events moved: the value
after an outcome less the expectation before it, and in sealed choices how two picks met, which is
what the pair changed beyond both players' regrets. The two add up: the final score less the
starting value is the luck plus the opponent's regret less one's own.

Where hands are hidden a value is that of the player who chooses next, from what that player sees.
When the turn passes, the value then also moves by what the other hand is; that part, `hidden`, is
neither player's doing and no chance event, and is told apart.

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

from duels.core.game import Move, Outcome, Pick
from duels.core.match import Match, Timeout
from duels.solve.catalogue import solve
from duels.solve.solution import Assessment, Progress, Solution, Value

# A verdict is a name for a range of regret and nothing else. The edges are a convention, not a
# measurement: a good move costs at most one game in fifty, a slip one in twenty, a mistake about
# one in seven. Exact values leave no regret at all for a best move but for rounding.
VERDICTS = ((1e-9, "best"), (0.02, "good"), (0.05, "slip"), (0.15, "mistake"), (2.0, "blunder"))
UNGRADED = "not known"
LONG = 2.0  # seconds of grading before it is told of
NOISE = 1e-12  # rounding of sealed choices, whose values are floats


class Graded(NamedTuple):
    """One move. Values are Player 1's expected score; None is what is not known."""

    entry: int  # its number in the record, counted from 1
    player: int
    move: Move
    before: Value | None
    after: Value | None
    regret: Value | None
    random_regret: Value | None  # what a random mover would have given away here, on average
    best: Move | None

    @property
    def verdict(self) -> str:
        if self.regret is None:
            return UNGRADED
        return next(name for most, name in VERDICTS if self.regret <= most)


class Analysis(NamedTuple):
    """A graded match. `curve` is Player 1's expected score before each choice and at the end."""

    match: Match
    solution: Solution
    moves: tuple[Graded, ...]
    start: Value
    curve: tuple[Value | None, ...]
    luck_of_one: Value | None  # Player 1's, from the chance events and sealed pairs alone
    hidden: Value | None  # what Player 1 gained by what the hidden cards turned out to be

    @property
    def final(self) -> Value | None:
        return self.curve[-1]

    def of(self, player: int) -> list[Graded]:
        return [move for move in self.moves if move.player == player]

    def ungraded(self, player: int) -> int:
        """How many of a player's moves could not be graded."""
        return sum(move.regret is None for move in self.of(player))

    def regret(self, player: int) -> Value | None:
        """What a player's graded moves gave away; None if there were moves and none was graded."""
        known = [move.regret for move in self.of(player) if move.regret is not None]
        return sum(known, 0) if known or not self.of(player) else None

    def accuracy(self, player: int) -> float | None:
        """How far from random play towards perfect play, in percent; None: nothing to tell by.

        It is 100 * (1 - own regret / a random mover's expected regret over the same choices), so
        that perfect play has 100 and random play about 0 on average over matches. Whoever gave
        away more than that is as far below 0: -50 is twice as much. Without that bound one early
        blunder would outweigh many matches. Choices between equal moves do not count.
        """
        own = chance = 0.0
        for move in self.of(player):
            if move.regret is not None and move.random_regret and move.random_regret > NOISE:
                own += float(move.regret)
                chance += float(move.random_regret)
        if not chance:
            return None
        return 100 * (1 - own / chance if own <= chance else chance / own - 1)

    def luck(self, player: int) -> Value | None:
        """What chance gave a player; None where a chance event could not be valued."""
        if self.luck_of_one is None:
            return None
        return self.luck_of_one if player == 0 else -self.luck_of_one

    @property
    def taken_back(self) -> int:
        """How many moves were taken back."""
        kept = set(self.match.line)
        entries = enumerate(self.match.events)
        return sum(len(e.moves) for n, e in entries if isinstance(e, Pick) and n not in kept)


class Steps:
    """Tells of work in steps once it has taken long."""

    def __init__(self, progress: Progress | None, steps: int) -> None:
        self._progress, self._steps, self._done = progress, steps, 0
        self._began = monotonic()

    def done(self) -> None:
        self._done += 1
        if self._progress is not None and monotonic() - self._began > LONG:
            self._progress(self._done / self._steps, "grading moves")


def grade(match: Match, progress: Progress | None = None) -> Analysis:
    """Grade the moves that were not taken back; `progress` is told of long work."""
    solution = solve(match.game, progress)
    steps = Steps(progress, len(match.line) + 1)
    values: list[Value | None] = []
    picks: list[list[Graded]] = []
    for number in match.line:
        values.append(solution.value_at(match, number))
        picks.append(_picks(match, solution, number))
        steps.done()
    # A resignation is neither luck nor a move: the last value is what the position was worth.
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
    """The moves of one event: a pick, a sealed pair, a turn lost on time, or none."""
    entry = match.events[number]
    if isinstance(entry, Pick):
        picks = entry.moves
    elif isinstance(entry, Timeout) and isinstance(lost := match.told(number, None), Pick):
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
        graded.append(_graded(number + 1, choice, move, usual))
    return graded


def _graded(entry: int, choice: Assessment, move: Move, usual: Value | None) -> Graded:
    regret = choice.regret(move)
    if regret is not None and regret <= NOISE:
        regret = 0
    best: Move | None = max(choice.mix, key=lambda m: (choice.mix[m], m == move))
    assert best is not None
    worth, instead = choice.worth(move), choice.worth(best)
    if choice.best is None:
        best = None if choice.rough else best
    elif regret and worth is not None and instead is not None and instead <= worth:
        # A mix that is approximate may be worth less than what was played.
        best = next(option for option in choice.options if choice.worth(option) == choice.best)
    return Graded(
        entry, choice.player, move, choice.value, choice.options[move], regret, usual, best
    )


def _moved(before: Value | None, after: Value | None, *moves: Graded) -> Value | None:
    """What an event moved in Player 1's favour beyond what the moves in it gave away."""
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
