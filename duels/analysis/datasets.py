"""Data sets of positions with exact values and optimal mixed strategies, for supervised learning.

Positions come from games in which each choice is random or perfect, so that they include good and
bad ones. Each observation is listed once, and its split depends only on the observation and the
rules: a test position of one data set is in the training split of no other, for any size and seed.

In a game with hidden information that is solved from its rules, a position is an information state,
and its observation includes what the player recalls. Values are those of the equilibrium, which is
approximate. Values of a game with payoffs are expected payoffs.

>>> from duels.games import load
>>> found = positions(load("firewall-breach"), 3, seed=1)
>>> [(p.observation, p.player_value, p.mixed_strategy) for p in found][0]
((10, 10, 1), 0.5699588477366255, (1.0, 0.0))
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from hashlib import sha256
from random import Random
from typing import Any, NamedTuple

from duels.algorithms.equilibrium import Equilibrium
from duels.algorithms.solution import Assessment, Progress, Unsolved
from duels.algorithms.solutions import solve, solver_of
from duels.core.errors import DuelsError, OptionError
from duels.core.game import AnyGame, Chance, Event, Game, History, Outcome, Over, Pick
from duels.core.payoffs import unit_of
from duels.core.player import View
from duels.core.presentation import listed
from duels.games import game_of

SPLITS = ("train", "test")
TEST = 0.2  # fraction of the positions in the test split
SKILL = 0.5  # the probability of a perfect move at a new position
NOTHING = 1e-9  # smaller stakes are rounding errors
QUARTERS = 4  # of positions by what is at stake
MAX_FRUITLESS = 2_000  # games in a row without a new position, after which the search ends


class LabelledPosition(NamedTuple):
    """A position in which a player chooses; `player_...` fields are scores of that player."""

    split: str
    player: int
    state: Any  # in a game with hidden information, what the player sees of it
    observation: tuple[int, ...]  # by `Game.encode`, and `Game.recall` with hidden information
    mask: tuple[bool, ...]  # by `Game.moves`
    mixed_strategy: tuple[float, ...]  # the optimal mixed strategy
    player_value: float  # with perfect play
    player_worth: tuple[float, ...]  # with each move and perfect play after it; 0 where not legal
    total: int = 1  # the values of both players add up to this (`duels.core.payoffs.Unit`)
    depth: int = 0  # choices before it, in the game in which it was found

    @property
    def stake(self) -> float:
        """The expected regret of a random move."""
        columns = zip(self.mask, self.mixed_strategy, self.player_worth, strict=True)
        moves = [(chance, worth) for legal, chance, worth in columns if legal]
        best = max(worth for _, worth in moves)
        return sum(0.0 if chance else best - worth for chance, worth in moves) / len(moves)

    @property
    def value(self) -> float:
        """Player 1's expected score, or payoff, with perfect play."""
        return self.player_value if self.player == 0 else self.total - self.player_value


def difficulties(found: Sequence[LabelledPosition]) -> list[int]:
    """The quarter of each position by what is at stake, from 1 to 4; 0 if nothing is.

    Quarters are those of the positions with something at stake.
    """
    stakes = [position.stake for position in found]
    ranked = sorted(stake for stake in stakes if stake > NOTHING)
    return [
        1 + QUARTERS * bisect_left(ranked, stake) // len(ranked) if stake > NOTHING else 0
        for stake in stakes
    ]


class NoPositions(DuelsError, ValueError):
    """No data set can be made of this game; the message gives the reason."""


def split_of(game: AnyGame, observation: tuple[int, ...]) -> str:
    """The split of an observation, from the observation and the rules without `first`.

    >>> from duels.games import load
    >>> split_of(load("firewall-breach"), (4, 3, 1)), split_of(load("firewall-breach"), (5, 5, 1))
    ('train', 'test')
    """
    text = f"{game.slug} {sorted(game.differing().items())} {observation}"
    number = int.from_bytes(sha256(text.encode()).digest()[:8], "big")
    return "test" if number < TEST * 2**64 else "train"


def positions(
    game: str | AnyGame, n: int, *, seed: int = 1, split: str | None = None,
    progress: Progress | None = None,
) -> Iterator[LabelledPosition]:  # fmt: skip
    """Up to `n` distinct positions, fewer if the game has no more; of one split or of both."""
    game = game_of(game)
    if split not in (None, *SPLITS):
        raise OptionError(f"split takes {' or '.join(SPLITS)}; got {split!r}")
    if game.private and not issubclass(solver_of(game), Equilibrium):
        raise NoPositions(
            f"{game.slug} has hidden hands, so the values of its positions are not known exactly"
        )
    names = ("moves", "features", "encode")
    if missing := [name for name in names if getattr(type(game), name) is getattr(Game, name)]:
        raise NoPositions(
            f"{game.slug} has no numerical encoding: it does not define {listed(missing)}"
        )
    return _generated(game, n, Random(f"positions {seed}"), split, progress)


def _generated(
    game: AnyGame, n: int, randomness: Random, split: str | None, progress: Progress | None
) -> Iterator[LabelledPosition]:
    """Generate positions from games in which each choice is random or perfect."""
    solution = solve(game, progress)
    known: set[Any] = set()
    given = fruitless = 0
    while given < n and fruitless < MAX_FRUITLESS:
        state, before = game.start(), len(known)
        depth = 0
        history: tuple[History, History] = ((), ())  # as each player has seen it, if it matters
        while not isinstance(turn := game.turn(state), Over):
            if isinstance(turn, Chance):
                outcome = _drawn_outcome(turn.odds, randomness)
                history = _longer(game, history, state, Outcome(outcome, turn.by))
                state = game.play(state, outcome)
                continue
            picks = []
            for player in sorted(turn.options):
                seen = game.observe(state, player)
                view = View(game, player, seen, history[player], turn.options[player])
                numbers = tuple(game.encode(seen, player))
                if game.private:
                    numbers += tuple(game.recall(view.history, player))
                key: Any = (player, view.history) if game.private else numbers
                pick = randomness.choice(view.options)
                if key not in known and given < n:
                    known.add(key)
                    if game.private:
                        found = solution.assess(view)
                    else:
                        found = solution.assess_state(state, player)
                    shown = seen if game.private else state
                    position = _position(game, shown, player, numbers, found, depth)
                    if split in (None, position.split):
                        given += 1
                        yield position
                    if randomness.random() < SKILL:
                        pick = _drawn_outcome(found.mixed_strategy, randomness)
                picks.append(pick)
            if given >= n:
                return
            if progress is not None:
                progress(given / n, f"{given:,} positions")
            event = Pick(tuple(zip(sorted(turn.options), picks, strict=True)))
            history = _longer(game, history, state, event)
            state, depth = game.play(state, *picks), depth + 1
        fruitless = 0 if len(known) > before else fruitless + 1


def _longer(
    game: AnyGame, history: tuple[History, History], state: Any, event: Event
) -> tuple[History, History]:
    """What both players have seen after an event; nothing in a game without hidden information."""
    if not game.private:
        return history
    one, two = history
    return (*one, game.redact(state, event, 0)), (*two, game.redact(state, event, 1))


def features_of(game: AnyGame) -> tuple[str, ...]:
    """The names of the numbers of an observation."""
    return (*game.features(), *(game.recalled() if game.private else ()))


def _position(
    game: AnyGame, state: Any, player: int, seen: tuple[int, ...], found: Assessment,
    depth: int,
) -> LabelledPosition:  # fmt: skip
    moves, unit = game.moves(), unit_of(game)
    if found.value is None or any(value is None for value in found.options.values()):
        raise Unsolved(f"the values of {game.slug} are not known exactly")
    return LabelledPosition(
        split_of(game, seen),
        player,
        state,
        seen,
        tuple(move in found.options for move in moves),
        tuple(float(found.mixed_strategy.get(move, 0)) for move in moves),
        unit.within(float(found.value if player == 0 else unit.other(found.value))),
        tuple(float(found.worth(m) or 0) if m in found.options else 0.0 for m in moves),
        unit.total,
        depth,
    )


def _drawn_outcome(odds: Any, randomness: Random) -> str:
    (found,) = randomness.choices(list(odds), [float(odd) for odd in odds.values()])
    return str(found)
