"""A game's score without its luck: AIVAT (Burch, Schmid, Moravčík, Morrill and Bowling, 2018).

At every chance event, and at every choice of a player who says how likely each move is, a position
is worth something on average over what could happen, and something else after what did. The
difference is luck, and is taken off the score. Its mean is 0 whatever positions are said to be
worth, so the adjusted score has the mean of the score itself; good values only make it vary less.

A position here is the whole state, both hands included: chance knows nothing of who sees what. A
mix is asked for with what its player sees. Where nobody says how a move was chosen, the choice
stays in the score. The values are those of `duels.solve`, and regrets are what its `assess` says.

>>> from duels.core import Match
>>> from duels.core.chance import stream
>>> from duels.games import load
>>> from duels.players import make
>>> match = Match(load("firewall-breach"), seed=3)
>>> players = [make("perfect", stream(3, seat)) for seat in (0, 1)]
>>> while match.result is None:
...     (seat,) = match.deciders
...     match.submit(seat, players[seat].choose(match.view(seat)))
>>> found = adjusted(match, [player.mix for player in players])
>>> match.result.winner, round(found.score, 6), found.regret  # all of the rest was luck
(0, 0.569959, (0.0, 0.0))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from duels.core.errors import DuelsError
from duels.core.game import AnyGame, Decide, Move, Outcome, Over, Pick
from duels.core.match import Match
from duels.core.player import View

if TYPE_CHECKING:
    from duels.solve import Solution

Mix = Mapping[Move, float]
Says = Callable[[View], Mix | None]  # how likely each move is, where a player says so
Guess = Callable[[Any], float | None]  # what a state in which somebody chooses is worth to Player 1
REMEMBERED = 100_000  # values of positions, and choices
NOISE = 1e-12  # rounding of sealed choices, whose values are floats


class Luck(NamedTuple):
    """One game without its luck. None stands for what is not known."""

    score: float | None  # of Player 1
    regret: tuple[float, float] | None = None  # what each player gave away, in sum
    graded: tuple[int, int] | None = None  # over so many choices


NOTHING = Luck(None)


def adjusted(match: Match, mixes: Sequence[Says], players: tuple[str, str] = ("", "")) -> Luck:
    """A finished match without its luck; `mixes` says how each player chooses.

    `players` are their names: where values are guesses, they are better for players one knows.
    Nothing is known of a game that is not solved.
    """
    known = knowledge(match.game, players)
    if known is None:
        return NOTHING
    values, solution = known
    return Luck(without_luck(match, mixes, values), *_regrets(match, solution))


class Values:
    """What positions are worth: a guess where somebody chooses, an average where chance acts."""

    def __init__(self, game: AnyGame, guess: Guess) -> None:
        self.game, self._guess = game, guess
        self._known: dict[Any, float | None] = {}

    def __call__(self, state: Any) -> float | None:
        """Player 1's expected score; None if there is no guess."""
        if state not in self._known:
            found = self._found(state)
            if len(self._known) > REMEMBERED:
                self._known.clear()
            self._known[state] = found
        return self._known[state]

    def _found(self, state: Any) -> float | None:
        turn = self.game.turn(state)
        if isinstance(turn, Over):
            return 0.5 if turn.winner is None else 1.0 - turn.winner
        if isinstance(turn, Decide):
            return self._guess(state)
        after = (((outcome,), odd) for outcome, odd in turn.odds.items())
        return self.average(state, after)

    def average(self, state: Any, after: Any) -> float | None:
        """Over picks or outcomes with their chances."""
        total = 0.0
        for picks, chance in after:
            value = self(self.game.play(state, *picks))
            if value is None:
                return None
            total += float(chance) * value
        return total


def without_luck(match: Match, mixes: Sequence[Says], values: Values) -> float | None:
    """Player 1's score of a finished match less the luck of both players; None: not known."""
    result = match.result
    assert result is not None, "a match without a result has no score"
    score = 0.5 if result.winner is None else 1.0 - result.winner
    for number in match.line:
        entry = match.events[number]
        if isinstance(entry, Outcome):
            before = values(match.state_before(number))
        elif isinstance(entry, Pick):
            said = [
                _said(mixes[player], match.view_before(number, player), move)
                for player, move in entry.moves
            ]
            if all(len(mix) == 1 for mix in said):
                continue
            before = values.average(match.state_before(number), picks(said))
        else:
            continue  # running out of time, a forfeit: nobody's luck
        after = values(match.state_after(number))
        if before is None or after is None:
            return None
        score -= after - before
    return score


def _said(says: Says, view: View, played: Move) -> Mix:
    """A player's mix; the move that was played, where it says none or none that can be."""
    mix = says(view)
    if mix is None or not mix.get(played):
        return {played: 1.0}
    fair = all(move in view.options and 0 <= chance < inf for move, chance in mix.items())
    return mix if fair else {played: 1.0}


def picks(mixes: Sequence[Mix]) -> list[tuple[tuple[Move, ...], float]]:
    """What may be picked by these mixes, one of each player who chooses, and how likely it is."""
    parts: list[tuple[tuple[Move, ...], float]] = [((), 1.0)]
    for mix in mixes:
        whole = sum(mix.values())
        parts = [
            ((*before, move), chance * part / whole)
            for before, chance in parts
            for move, part in mix.items()
            if part
        ]
    return parts


class Knowledge(NamedTuple):
    values: Values
    solution: Solution


@lru_cache(maxsize=64)
def knowledge(game: AnyGame, players: tuple[str, str]) -> Knowledge | None:
    """What is known of a game; None if it is not solved, and would take long to solve.

    It is the same in every process, whoever played there before.
    """
    from duels.solve.catalogue import method, solve
    from duels.solve.generic import Generic
    from duels.solve.table_solution import SMALL

    try:
        if method(game) is Generic:
            solution: Solution = Generic(game, largest=SMALL)
        elif method(game).quick(game):
            solution = solve(game)
        else:
            return None
    except DuelsError:
        return None
    return Knowledge(Values(game, lambda state: solution.guess(state, players)), solution)


def _regrets(
    match: Match, solution: Solution
) -> tuple[tuple[float, float], tuple[int, int]] | tuple[None, None]:
    """What each player's moves gave away, and how many could be graded, by what is stored."""
    regret, graded = [0.0, 0.0], [0, 0]
    for number in match.line:
        entry = match.events[number]
        for player, move in entry.moves if isinstance(entry, Pick) else ():
            found = solution.assess(match.view_before(number, player)).regret(move)
            if found is not None:
                regret[player] += float(found) if found > NOISE else 0.0
                graded[player] += 1
    return ((regret[0], regret[1]), (graded[0], graded[1])) if any(graded) else (None, None)
