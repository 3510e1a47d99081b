"""Data sets of positions with exact values and optimal mixed strategies, for supervised learning.

Positions come from games in which each choice is random or perfect, so that they include good and
bad ones. Each observation is listed once, and its split depends only on the observation and the
rules: a test position of one data set is in the training split of no other, for any size and seed.

>>> from duels.games import load
>>> found = positions(load("firewall-breach"), 3, seed=1)
>>> [(p.observation, p.player_value, p.mix) for p in found][0]
((10, 10, 1), 0.5699588477366255, (1.0, 0.0))
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from random import Random
from typing import Any, NamedTuple

from duels.algorithms.solution import Assessment, Progress, Unsolved
from duels.algorithms.solutions import solve
from duels.core.errors import DuelsError, OptionError
from duels.core.game import AnyGame, Chance, Game, Over
from duels.core.presentation import listed
from duels.games import game_of

SPLITS = ("train", "test")
TEST = 0.2  # of all positions
SKILL = 0.5  # the probability of a perfect move at a new position
IN_VAIN = 2_000  # games in a row without a new position, after which there are no more


class LabelledPosition(NamedTuple):
    """A position in which a player chooses. `player_` marks expected scores of that player."""

    split: str
    player: int
    state: Any
    observation: tuple[int, ...]  # as `Game.encode` gives it
    mask: tuple[bool, ...]  # by `Game.moves`
    mix: tuple[float, ...]  # the optimal mixed strategy
    player_value: float  # with perfect play
    player_worth: tuple[float, ...]  # with each move and perfect play after it; 0 where not legal

    @property
    def value(self) -> float:
        """Player 1's expected score with perfect play."""
        return self.player_value if self.player == 0 else 1 - self.player_value


class NoPositions(DuelsError, ValueError):
    """A game without such a data set; the message gives the reason."""


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
    if game.private:
        raise NoPositions(
            f"{game.slug} has hidden hands: what a position is worth is not known exactly"
        )
    names = ("moves", "features", "encode")
    if missing := [name for name in names if getattr(type(game), name) is getattr(Game, name)]:
        raise NoPositions(
            f"{game.slug} has no numbers for its positions: it lacks {listed(missing)}"
        )
    return _generated(game, n, Random(f"positions {seed}"), split, progress)


def _generated(
    game: AnyGame, n: int, randomness: Random, split: str | None, progress: Progress | None
) -> Iterator[LabelledPosition]:
    solution = solve(game, progress)
    known: set[tuple[int, ...]] = set()
    given = in_vain = 0
    while given < n and in_vain < IN_VAIN:
        state, before = game.start(), len(known)
        while not isinstance(turn := game.turn(state), Over):
            if isinstance(turn, Chance):
                state = game.play(state, _drawn_outcome(turn.odds, randomness))
                continue
            picks = []
            for player in sorted(turn.options):
                seen, options = (
                    game.encode(game.observe(state, player), player),
                    turn.options[player],
                )
                pick = randomness.choice(options)
                if seen not in known and given < n:
                    known.add(seen)
                    found = solution.assess_state(state, player)
                    position = _position(game, state, player, seen, found)
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
            state = game.play(state, *picks)
        in_vain = 0 if len(known) > before else in_vain + 1


def _position(
    game: AnyGame, state: Any, player: int, seen: tuple[int, ...], found: Assessment
) -> LabelledPosition:
    moves = game.moves()
    if found.value is None or any(value is None for value in found.options.values()):
        raise Unsolved(f"{game.slug} is not known exactly")
    return LabelledPosition(
        split_of(game, seen),
        player,
        state,
        seen,
        tuple(move in found.options for move in moves),
        tuple(float(found.mixed_strategy.get(move, 0)) for move in moves),
        min(1.0, max(0.0, float(found.value if player == 0 else 1 - found.value))),
        tuple(float(found.worth(m) or 0) if m in found.options else 0.0 for m in moves),
    )


def _drawn_outcome(odds: Any, randomness: Random) -> str:
    (found,) = randomness.choices(list(odds), [float(odd) for odd in odds.values()])
    return str(found)
