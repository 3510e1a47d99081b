"""Luck taken out of thousands of games at a time: `duels.arena.luck` over the rows of a kernel.

The sum is the same, written once for a whole choice: what happened after it, moves and chance, less
what was expected before. What a row is worth and what is expected comes from the kernel itself
where it has a way of its own (`Kernel.weigher`); from exact values of all the rows it may lead to,
where nothing is left to chance; else from the rules, once for each position.

Only built-in players, whose mixes are known, play in a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import nan
from typing import NamedTuple

from duels.arena.luck import NOISE, knowledge, picks
from duels.core.game import AnyGame, Decide
from duels.envs.kernels import DECISIONS, NOBODY, Array, Weigh, Weighed, kernel_of, np
from duels.envs.kernels.meet import Met
from duels.measure.policies import view_of
from duels.measure.rows import ByChance, unpacked
from duels.measure.weighing import by_values
from duels.players import make
from duels.players.opponent import Mixed

REMEMBERED = 100_000  # positions asked of the rules


class Adjusted(NamedTuple):
    """By game: Player 1's score without luck; what each seat gave away, over how many choices."""

    score: Array
    regret: Array
    graded: Array


Adjust = Callable[[Array, Array, Array, Array, int], Adjusted]


def adjusted(game: AnyGame, players: tuple[str, str], met: Met, limit: int) -> Adjusted | None:
    """Games of two built-in players who swap seats, as `meet` watched them, without luck.

    None where nothing is known.
    """
    scores = np.where(met.winner == NOBODY, 0.5, 1.0 - met.winner)
    size = len(scores)
    owner = np.repeat(np.arange(size), met.choices)
    found = Adjusted(np.empty(size), np.empty((size, 2)), np.empty((size, 2), np.int64))
    for seat, names in enumerate((players, players[::-1])):
        adjust = adjuster(game, names)
        if adjust is None:
            return None
        rows = owner % 2 == seat
        some = adjust(
            met.rows[rows], met.actions[rows], owner[rows] // 2, scores[seat::2], limit
        )  # fmt: skip
        for whole, part in zip(found, some, strict=True):
            whole[seat::2] = part
    return found


@lru_cache(maxsize=64)
def adjuster(game: AnyGame, players: tuple[str, str]) -> Adjust | None:
    """What takes luck out of games between two built-in players; None where nothing is known.

    It takes the rows before every choice, games one after another, what was chosen (two columns
    where choices are sealed), which game each row is of, the games' scores and the turn limit.
    """
    known = knowledge(game, players)
    start = None if known is None else known.values(game.start())
    weigh = None if start is None else weigher(game, players)
    if weigh is None:
        return None

    def adjust(rows: Array, actions: Array, owner: Array, scores: Array, limit: int) -> Adjusted:
        found = weigh(rows, actions)
        last = np.append(owner[1:] != owner[:-1], True)
        first = np.append(True, last[:-1])
        after = np.where(last, scores[owner], np.append(found.value[1:], 0.0))
        luck = after - found.expected
        # The limit makes what comes after it worthless: the choice before it is left as it is.
        luck[rows[:, DECISIONS] >= limit - 1] = 0.0
        luck[first] += found.value[first] - start  # what the deal brought
        count = len(scores)
        regret, graded = np.zeros((count, 2)), np.zeros((count, 2), np.int64)
        for seat in (0, 1):
            seen = ~np.isnan(found.regret[:, seat])
            given = found.regret[seen, seat]
            regret[:, seat] = np.bincount(owner[seen], given, count)
            graded[:, seat] = np.bincount(owner[seen], minlength=count)
        return Adjusted(scores - np.bincount(owner, luck, count), regret, graded)

    return adjust


def weigher(game: AnyGame, players: tuple[str, str]) -> Weigh | None:
    """The quickest way there is of weighing choices; None where players know what no row says."""
    own = kernel_of(game).weigher(game, players)
    if own is not None or game.private:
        return own
    rules, values = by_rules(game, players), by_values(game, players)
    left_to_chance = False

    def weighed(rows: Array, actions: Array) -> Weighed:
        nonlocal left_to_chance
        if not left_to_chance:
            try:
                return values(rows, actions)
            except ByChance:
                left_to_chance = True
        return rules(rows, actions)

    return weighed


def by_rules(game: AnyGame, players: tuple[str, str]) -> Weigh:
    """As `duels.arena.luck` does it, once for each position: for games with few of them."""
    known = knowledge(game, players)
    assert known is not None
    asked = [make(name, stream="") for name in players]
    moves = game.moves()
    place: dict[bytes, int] = {}
    kept: list[tuple[float, float, list[list[float]]]] = []

    def look(row: Array) -> tuple[float, float, list[list[float]]]:
        state = unpacked(game, row)
        turn = game.turn(state)
        assert isinstance(turn, Decide)
        regrets = [[nan] * len(moves), [nan] * len(moves)]
        said = []
        for seat in turn.options:
            view, player = view_of(game, state, seat), asked[seat]
            assert isinstance(player, Mixed)
            said.append(player.mix(view))
            choice = known.solution.assess(view)
            for number, move in enumerate(moves):
                if move in choice.options and (found := choice.regret(move)) is not None:
                    regrets[seat][number] = float(found) if found > NOISE else 0.0
        value, expected = known.values(state), known.values.average(state, picks(said))
        assert value is not None
        assert expected is not None
        return value, expected, regrets

    def weighed(rows: Array, actions: Array) -> Weighed:
        if len(kept) > REMEMBERED:
            kept.clear()
            place.clear()
        first, back = distinct(rows[:, DECISIONS + 1 :])
        at = np.empty(len(first), np.int64)
        for number, row in enumerate(rows[first]):
            key = row[DECISIONS + 1 :].tobytes()
            if key not in place:
                place[key] = len(kept)
                kept.append(look(row))
            at[number] = place[key]
        at = at[back]
        value, expected, regrets = map(np.array, zip(*kept, strict=True))
        regret = np.stack([
            regrets[at, seat, actions[:, min(seat, actions.shape[1] - 1)]] for seat in (0, 1)
        ], axis=1)  # fmt: skip
        return Weighed(value[at], expected[at], regret)

    return weighed


def distinct(rows: Array) -> tuple[Array, Array]:
    """Where each different row comes first, and which of them every row is."""
    low = rows.min(axis=0)
    spans = (rows.max(axis=0) - low + 1).astype(object)  # Python's numbers do not overflow
    if np.prod(spans) < 1 << 62:
        keys = np.zeros(len(rows), np.int64)
        for column, span in enumerate(spans):
            keys = keys * int(span) + (rows[:, column] - low[column])
    else:
        keys = np.ascontiguousarray(rows).view([("", rows.dtype)] * rows.shape[1]).reshape(-1)
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    return first, back.reshape(-1)
