"""AIVAT for thousands of games at a time: `duels.arena.aivat` over a kernel's arrays of positions.

The correction is computed once for each choice: the value after the moves and the chance events
that follow, less the expected value before. Values and expectations come from the kernel where it
provides them (`Kernel.aivat_evaluator`), from exact values of all successors where the game has a
kernel of its own and no chance events, and else from the rules, once for each distinct position.

Only built-in players, whose mixed strategies are known, play in a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import nan
from typing import NamedTuple

from duels.analysis.grade import NOISE
from duels.arena.aivat import baseline_of, joint_picks
from duels.core.game import AnyGame, Decide
from duels.envs.policy import view_of
from duels.kernels import (
    DECISIONS,
    NO_WINNER,
    AivatEvaluator,
    AivatValues,
    Array,
    kernel_of,
    np,
    tree,
)
from duels.kernels.pairs import PlayedGames
from duels.measure.aivat_values import exact_values
from duels.measure.compiled_enumeration import ChanceInKernel, unpacked
from duels.players import make_opponent
from duels.players.base import MixedStrategyOpponent

CACHED = 100_000  # positions evaluated with the rules


class Adjusted(NamedTuple):
    """Results of each game: Player 1's luck-adjusted score; by seat, regret and graded choices."""

    score: Array
    regret: Array
    graded: Array


Adjust = Callable[[Array, Array, Array, Array, int], Adjusted]


def adjusted(
    game: AnyGame, players: tuple[str, str], played: PlayedGames, limit: int
) -> Adjusted | None:
    """Luck-adjusted results of the games of two built-in players that swap seats.

    `played` are the games as `play_pairs` recorded them. None if the game has no value function.
    """
    scores = np.where(played.winner == NO_WINNER, 0.5, 1.0 - played.winner)
    size = len(scores)
    owner = np.repeat(np.arange(size), played.choices)
    found = Adjusted(np.empty(size), np.empty((size, 2)), np.empty((size, 2), np.int64))
    for seat, names in enumerate((players, players[::-1])):
        adjust = adjuster(game, names)
        if adjust is None:
            return None
        rows = owner % 2 == seat
        part = adjust(
            played.rows[rows], played.actions[rows], owner[rows] // 2, scores[seat::2], limit
        )  # fmt: skip
        for all_games, half in zip(found, part, strict=True):
            all_games[seat::2] = half
    return found


@lru_cache(maxsize=64)
def adjuster(game: AnyGame, players: tuple[str, str]) -> Adjust | None:
    """The function that adjusts games of two built-in players; None without a value function.

    It takes the positions before every choice, game after game, the chosen actions (two columns
    for simultaneous choices), the game that each position belongs to, the scores of the games and
    the turn limit.
    """
    known = baseline_of(game, players)
    start = None if known is None else known.values(known.values.position(game.start(), (), ()))
    evaluate = None if start is None else evaluator(game, players)
    if evaluate is None:
        return None

    def adjust(rows: Array, actions: Array, owner: Array, scores: Array, limit: int) -> Adjusted:
        found = evaluate(rows, actions)
        last = np.append(owner[1:] != owner[:-1], True)
        first = np.append(True, last[:-1])
        after = np.where(last, scores[owner], np.append(found.value[1:], 0.0))
        luck = after - found.expected
        # The turn limit ends the game in a draw: the last choice before it is not adjusted.
        luck[rows[:, DECISIONS] >= limit - 1] = 0.0
        luck[first] += found.value[first] - start  # the luck of the deal
        count = len(scores)
        regret, graded = np.zeros((count, 2)), np.zeros((count, 2), np.int64)
        for seat in (0, 1):
            seen = ~np.isnan(found.regret[:, seat])
            given = found.regret[seen, seat]
            regret[:, seat] = np.bincount(owner[seen], given, count)
            graded[:, seat] = np.bincount(owner[seen], minlength=count)
        return Adjusted(scores - np.bincount(owner, luck, count), regret, graded)

    return adjust


def evaluator(game: AnyGame, players: tuple[str, str]) -> AivatEvaluator | None:
    """The fastest evaluator of choices; None if strategies depend on more than the position."""
    if kernel_of(game) is tree.KERNEL:
        return rule_values(game, players)
    own = kernel_of(game).aivat_evaluator(game, players)
    if own is not None or game.private:
        return own
    by_rules, by_values = rule_values(game, players), exact_values(game, players)
    has_chance = False

    def evaluate(rows: Array, actions: Array) -> AivatValues:
        nonlocal has_chance
        if not has_chance:
            try:
                return by_values(rows, actions)
            except ChanceInKernel:
                has_chance = True
        return by_rules(rows, actions)

    return evaluate


def rule_values(game: AnyGame, players: tuple[str, str]) -> AivatEvaluator:
    """AIVAT values from the rules, once for each distinct position: for games with few of them."""
    known = baseline_of(game, players)
    assert known is not None
    policies = [make_opponent(name, stream="") for name in players]
    moves = game.moves()
    found_tree = tree.tree_of(game) if kernel_of(game) is tree.KERNEL else None
    number_of: dict[bytes, int] = {}
    cache: list[tuple[float, float, list[list[float]]]] = []

    def computed(row: Array) -> tuple[float, float, list[list[float]]]:
        state, node = unpacked(game, row), int(row[tree.NODE])
        turn = game.turn(state)
        assert isinstance(turn, Decide)
        regrets = [[nan] * len(moves), [nan] * len(moves)]
        strategies = []
        for seat in turn.options:
            view = view_of(game, state, seat) if found_tree is None else found_tree.view(node, seat)
            player = policies[seat]
            assert isinstance(player, MixedStrategyOpponent)
            strategies.append(player.mixed_strategy(view))
            choice = known.solution.assess(view)
            for number, move in enumerate(moves):
                if move in choice.options and (found := choice.regret(move)) is not None:
                    regrets[seat][number] = float(found) if found > NOISE else 0.0
        position = state
        if found_tree is not None:
            one, two = (found_tree.history(node, player) for player in (0, 1))
            position = known.values.position(state, one, two)
        value = known.values(position)
        expected = known.values.average(position, joint_picks(strategies))
        assert value is not None
        assert expected is not None
        return value, expected, regrets

    def evaluate(rows: Array, actions: Array) -> AivatValues:
        if len(cache) > CACHED:
            cache.clear()
            number_of.clear()
        first, back = distinct(rows[:, DECISIONS + 1 :])
        at = np.empty(len(first), np.int64)
        for number, row in enumerate(rows[first]):
            key = row[DECISIONS + 1 :].tobytes()
            if key not in number_of:
                number_of[key] = len(cache)
                cache.append(computed(row))
            at[number] = number_of[key]
        at = at[back]
        value, expected, regrets = map(np.array, zip(*cache, strict=True))
        regret = np.stack([
            regrets[at, seat, actions[:, min(seat, actions.shape[1] - 1)]] for seat in (0, 1)
        ], axis=1)  # fmt: skip
        return AivatValues(value[at], expected[at], regret)

    return evaluate


def distinct(rows: Array) -> tuple[Array, Array]:
    """The first index of each distinct row, and for every row the number of its distinct row."""
    low = rows.min(axis=0)
    spans = (rows.max(axis=0) - low + 1).astype(object)  # Python integers do not overflow
    if np.prod(spans) < 1 << 62:
        keys = np.zeros(len(rows), np.int64)
        for column, span in enumerate(spans):
            keys = keys * int(span) + (rows[:, column] - low[column])
    else:
        keys = np.ascontiguousarray(rows).view([("", rows.dtype)] * rows.shape[1]).reshape(-1)
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    return first, back.reshape(-1)
