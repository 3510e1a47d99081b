"""Positions that a model is asked about, each with its exact values."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from random import Random
from typing import Any, NamedTuple

from duels.algorithms.solution import Assessment, Progress
from duels.algorithms.solutions import solve, solver_of
from duels.analysis.datasets import positions as generated
from duels.analysis.grade import VERDICTS
from duels.core.errors import OptionError
from duels.core.game import AnyGame, Chance, Over
from duels.core.payoffs import unit_of
from duels.core.player import MixedStrategy, View
from duels.envs.policy import view_of

POOL = 5  # positions that are generated for each one that is asked about
LEAST, MOST = 500, 20_000  # positions that are generated
STRATA = 4  # quarters of the positions by what is at stake
NOTHING = 1e-9  # smaller regrets are rounding errors
PLAYOUTS = 8  # random games by which the phase of a position is determined
LONGEST = 500  # choices of such a game
PHASES = ("early", "middle", "late")
FORFEIT = "no usable answer"
SIZES = tuple(most for most, _ in VERDICTS[1:-1])  # of regrets that have no other name
LARGER = f"loses more than {SIZES[-1]:g}"
WON, LOST, DOMINATED = "gives a sure win away", "leads to a sure loss", "dominated move"


class Item(NamedTuple):
    """A position with its exact values."""

    view: View
    choice: Assessment

    @property
    def at_stake(self) -> float:
        """The expected regret of a random move."""
        return float(self.choice.random_regret or 0)

    @property
    def id(self) -> str:
        """A name of the position that is the same in every run."""
        game, view = self.view.game, self.view
        text = repr((game.slug, sorted(game.settings().items()), view.player, view.observation))
        return sha256(text.encode()).hexdigest()[:16]

    def regret(self, strategy: MixedStrategy | None) -> float:
        """The expected regret of a mixed strategy; of a forfeit, all that the position is worth."""
        if strategy is None:
            return self.forfeit
        found = sum(p * float(self.choice.regret(move) or 0) for move, p in strategy.items())
        return found if found > NOTHING else 0.0

    @property
    def forfeit(self) -> float:
        unit, best = unit_of(self.view.game), self.choice.best
        assert best is not None
        return float(best) - (float(unit.lowest) if unit.pays else 0.0)

    @property
    def worst(self) -> str:
        """The move with the largest regret."""
        return max(self.choice.options, key=lambda move: float(self.choice.regret(move) or 0))

    @property
    def phase(self) -> str:
        """Early, middle or late, by how many choices random play has left."""
        game = self.view.game
        part = 1 - _choices_left(game, solve(game).state(self.view)) / _length(game)
        return PHASES[max(0, min(len(PHASES) - 1, int(part * len(PHASES))))]

    def mistakes(self, strategy: MixedStrategy | None) -> dict[str, float]:
        """The regret of an answer by kind of mistake."""
        if strategy is None:
            return {FORFEIT: self.forfeit}
        found: dict[str, float] = {}
        for move, p in strategy.items():
            if (regret := p * float(self.choice.regret(move) or 0)) > NOTHING:
                kind = self._kind(move)
                found[kind] = found.get(kind, 0.0) + regret
        return found

    def _kind(self, move: str) -> str:
        unit, choice = unit_of(self.view.game), self.choice
        best, worth = choice.best, choice.worth(move)
        assert best is not None
        assert worth is not None
        highest, lowest = float(unit.highest), float(unit.lowest)
        if float(best) >= highest - NOTHING:
            return WON
        if float(worth) <= lowest + NOTHING:
            return LOST
        if move in solve(self.view.game).dominated(self.view, choice):
            return DOMINATED
        part = (float(best) - float(worth)) / unit.span
        return next((f"loses up to {most:g}" for most in SIZES if part <= most), LARGER)


def items_at_stake(
    game: AnyGame, n: int, seed: int = 1, progress: Progress | None = None
) -> list[Item]:
    """Up to `n` positions at stake, equally many of each quarter by what is at stake."""
    require_exact(game)
    found = []
    for position in generated(game, min(MOST, max(LEAST, POOL * n)), seed=seed, progress=progress):
        if (stake := position.stake) > NOTHING:
            found.append((stake, position))
    found.sort(key=lambda each: each[0])
    randomness = Random(f"bench {seed}")
    chosen: list[Item] = []
    for part in range(STRATA):
        stratum = found[len(found) * part // STRATA : len(found) * (part + 1) // STRATA]
        share = n * (part + 1) // STRATA - n * part // STRATA
        some = randomness.sample(stratum, min(share, len(stratum)))
        chosen += [_item(game, position.state, position.player) for _, position in some]
    return chosen


def exact(game: AnyGame) -> bool:
    """Whether the values of a game's positions are known exactly."""
    return not (game.private or solver_of(game).approximate)


def require_exact(game: AnyGame) -> None:
    if not exact(game):
        raise OptionError(f"the values of {game.slug} are not known exactly; leave it out")


def _item(game: AnyGame, state: Any, player: int) -> Item:
    return Item(view_of(game, state, player), solve(game).assess_state(state, player))


@lru_cache(maxsize=64)
def _length(game: AnyGame) -> float:
    """How many choices a game of random play has, on average."""
    return max(1.0, _choices_left(game, game.start()))


def _choices_left(game: AnyGame, state: Any) -> float:
    """How many choices random play has left in a state, as a mean of a few games."""
    randomness, total = Random("phase"), 0
    for _ in range(PLAYOUTS):
        now, choices = state, 0
        while choices < LONGEST and not isinstance(turn := game.turn(now), Over):
            if isinstance(turn, Chance):
                now = game.play(now, drawn(turn.odds, randomness))
                continue
            picks = [randomness.choice(turn.options[player]) for player in sorted(turn.options)]
            now, choices = game.play(now, *picks), choices + 1
        total += choices
    return total / PLAYOUTS


def drawn(odds: Any, randomness: Random) -> str:
    """An outcome, or a move, by its probability."""
    (found,) = randomness.choices(list(odds), [float(odd) for odd in odds.values()])
    return str(found)


def summed(parts: Iterable[dict[str, float]]) -> dict[str, float]:
    """The sums of numbers by key, the largest first."""
    total: dict[str, float] = {}
    for part in parts:
        for key, number in part.items():
            total[key] = total.get(key, 0.0) + number
    return dict(sorted(total.items(), key=lambda each: (-each[1], each[0])))
