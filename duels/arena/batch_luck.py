"""Luck taken out of thousands of games at a time: `duels.arena.luck` over the rows of a kernel.

The sum is the same, written once for a whole choice: what happened after it, moves and chance, less
what was expected before. What a row is worth and what is expected comes from the kernel itself
where it has a way of its own (`Kernel.weigher`); from exact values of all the rows it may lead to,
where nothing is left to chance; else from the rules, once for each position.

Only built-in players, whose mixes are known, play in a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from math import nan
from typing import Any, NamedTuple

from duels.arena.luck import NOISE, knowledge, picks
from duels.core.game import AnyGame, Decide
from duels.envs.kernels import (
    DECISIONS,
    GOING_ON,
    NOBODY,
    Array,
    Weigh,
    Weighed,
    kernel_named,
    kernel_of,
    np,
)
from duels.envs.kernels.meet import Met
from duels.envs.kernels.mixing import level_shares, share_of
from duels.envs.kernels.sealed import regret as sealed_regrets
from duels.envs.kernels.sealed import solve as solve_sealed
from duels.envs.opponents import chooser
from duels.measure.optimal import optimal
from duels.measure.policies import view_of
from duels.measure.rows import ByChance, copy, unpacked
from duels.players import make
from duels.players.opponent import Mixed
from duels.solve.compiled import compiled
from duels.solve.compiled.matrix import scratch

SOME = 1 << 12  # rows whose children are looked at at a time
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
    if start is None:
        return None
    weigh = weigher(game, players)

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


def weigher(game: AnyGame, players: tuple[str, str]) -> Weigh:
    """The quickest way there is of weighing choices."""
    own = kernel_of(game).weigher(game, players)
    if own is not None:
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


def by_values(game: AnyGame, players: tuple[str, str]) -> Weigh:
    """From the exact values of all rows that the choices lead to; `ByChance` where they do not."""
    kernel = kernel_of(game)
    sealed, rules, moves = kernel.sealed(game), kernel.rules(game), len(game.moves())
    leads, fill_gains = leading(game.slug, sealed), gaining(game.slug)
    wide = moves if sealed else 1
    shares = np.array([ANY if name == "random" else share_of(name) for name in players])
    found = [chooser(game, name) for name in players]
    gains = [None if player is None else player.gain for player in found]
    shares[[gain is not None for gain in gains]] = LARGEST
    room = scratch()

    def some(rows: Array, actions: Array) -> Weighed:
        count = len(rows)
        after = np.zeros((count * moves * wide, rows.shape[1]), rows.dtype)
        payoffs = np.empty((count, moves, wide))
        movers = np.zeros(count, np.int64)
        if leads(rules, rows, moves, after, payoffs, movers):
            raise ByChance(f"the kernel of {game.slug} leaves something to chance")
        on = payoffs == OPEN
        payoffs[on] = optimal(game, after[on.reshape(-1)])
        gained = np.full((2, count, moves), -np.inf)
        for seat, gain in enumerate(gains):
            if gain is not None:
                fill_gains(gain)(rules, rows, seat, gained[seat])
        value, expected = np.empty(count), np.empty(count)
        regret = np.full((count, 2), np.nan)
        weigh = _weigh_sealed if sealed else _weigh_turns
        weigh(payoffs, movers, actions, shares, gained, *room, value, expected, regret)
        return Weighed(value, expected, regret)

    def weighed(rows: Array, actions: Array) -> Weighed:
        parts = [some(np.ascontiguousarray(rows[at : at + SOME]), actions[at : at + SOME])
                 for at in range(0, len(rows), SOME)]  # fmt: skip
        return Weighed(*map(np.concatenate, zip(*parts, strict=True)))

    return weighed


# How a player chooses: what it gives away of what a random player would, or one of these.
ANY, LARGEST = -1.0, -2.0
ILLEGAL, OPEN = -1.0, -2.0  # instead of a payoff: not to be chosen, and not over


@cache
def leading(slug: str, sealed: bool) -> Callable[..., Any]:
    """The loop that finds where every choice leads: rows, or how they end."""
    kernel = kernel_named(slug)
    assert kernel is not None
    play, legal, mover = kernel.play, kernel.legal, kernel.mover

    @compiled
    def leads(
        rules: Any, rows: Array, moves: int, after: Array, payoffs: Array, movers: Array
    ) -> bool:
        """Whether anything was left to chance."""
        streams = np.zeros((1, 2), np.uint64)
        scratch = np.zeros((1, rows.shape[1]), rows.dtype)
        wide = payoffs.shape[2]
        for i in range(rows.shape[0]):
            who = 0 if sealed else mover(rules, rows, i)
            movers[i] = who
            for a in range(moves):
                for b in range(wide):
                    payoffs[i, a, b] = ILLEGAL
                    if not legal(rules, rows, i, who, a):
                        continue
                    if sealed and not legal(rules, rows, i, 1, b):
                        continue
                    copy(rows, i, scratch, 0)
                    winner = play(rules, scratch, streams, 0, a, b if sealed else a)
                    if streams[0, 0] != 0 or streams[0, 1] != 0:
                        return True
                    copy(scratch, 0, after, (i * moves + a) * wide + b)
                    payoffs[i, a, b] = OPEN
                    if winner != GOING_ON:
                        payoffs[i, a, b] = 0.5 if winner == NOBODY else 1.0 - winner
        return False

    return leads


@cache
def gaining(slug: str) -> Callable[..., Any]:
    """The loop over what choices gain in sight, for a game's own `gain`."""
    kernel = kernel_named(slug)
    assert kernel is not None
    legal = kernel.legal

    @cache
    def of(gain: Callable[..., Any]) -> Callable[..., Any]:
        @compiled
        def gains(rules: Any, rows: Array, seat: int, out: Array) -> None:
            for i in range(rows.shape[0]):
                for action in range(out.shape[1]):
                    if legal(rules, rows, i, seat, action):
                        out[i, action] = gain(rules, rows, i, seat, action)

        return gains

    return of


@compiled
def _largest(gained: Array, seat: int, i: int, options: Array, n: int, mix: Array) -> None:
    """The moves that gain most, each equally likely."""
    top, count = -np.inf, 0
    for k in range(n):
        top = max(top, gained[seat, i, options[k]])
    for k in range(n):
        mix[k] = 1.0 if gained[seat, i, options[k]] == top else 0.0
        count += int(mix[k])
    for k in range(n):
        mix[k] /= count


@compiled
def _weigh_turns(
    payoffs: Array, movers: Array, actions: Array, shares: Array, gained: Array, game: Array,
    tableau: Array, mixes: Array, label: Array, value: Array, expected: Array, regret: Array,
) -> None:  # fmt: skip
    """Choices in turn. What a level gives away on average is its share, by how it is made."""
    options = np.zeros(payoffs.shape[1], np.int64)
    mix = np.zeros(payoffs.shape[1])
    for i in range(payoffs.shape[0]):
        seat, n, best, total = movers[i], 0, -np.inf, 0.0
        for action in range(payoffs.shape[1]):
            if payoffs[i, action, 0] != ILLEGAL:
                worth = payoffs[i, action, 0] if seat == 0 else 1.0 - payoffs[i, action, 0]
                best, total = max(best, worth), total + worth
                options[n] = action
                n += 1
        if shares[seat] == ANY:
            mean = total / n
        elif shares[seat] == LARGEST:
            _largest(gained, seat, i, options, n, mix)
            mean = 0.0
            for k in range(n):
                payoff = payoffs[i, options[k], 0]
                mean += mix[k] * (payoff if seat == 0 else 1.0 - payoff)
        else:
            mean = best - shares[seat] * (best - total / n)
        value[i], expected[i] = (best, mean) if seat == 0 else (1.0 - best, 1.0 - mean)
        chosen = payoffs[i, actions[i, 0], 0]
        regret[i, seat] = best - (chosen if seat == 0 else 1.0 - chosen)


@compiled
def _weigh_sealed(
    payoffs: Array, movers: Array, actions: Array, shares: Array, gained: Array, game: Array,
    tableau: Array, mixes: Array, label: Array, value: Array, expected: Array, regret: Array,
) -> None:  # fmt: skip
    """Choices that are sealed: both mixes over a matrix game."""
    moves = payoffs.shape[1]
    options, counts = np.zeros((2, moves), np.int64), np.zeros(2, np.int64)
    mine, regrets = np.zeros((2, moves + 1)), np.zeros(moves + 1)
    for i in range(payoffs.shape[0]):
        counts[0] = counts[1] = 0
        for action in range(moves):
            legal_one = legal_two = False
            for other in range(moves):
                legal_one = legal_one or payoffs[i, action, other] != ILLEGAL
                legal_two = legal_two or payoffs[i, other, action] != ILLEGAL
            if legal_one:
                options[0, counts[0]] = action
                counts[0] += 1
            if legal_two:
                options[1, counts[1]] = action
                counts[1] += 1
        for a in range(counts[0]):
            for b in range(counts[1]):
                game[a, b] = payoffs[i, options[0, a], options[1, b]]
        solve_sealed(game, counts[0], counts[1], tableau, mixes, label)
        for seat in range(2):
            n = counts[seat]
            sealed_regrets(game, counts[0], counts[1], seat, mixes, regrets)
            for k in range(n):
                if options[seat, k] == actions[i, seat]:
                    regret[i, seat] = regrets[k]
            if shares[seat] == ANY:
                mine[seat, :n] = 1.0 / n
            elif shares[seat] == LARGEST:
                _largest(gained, seat, i, options[seat], n, mine[seat])
            elif shares[seat] == 0.0:
                mine[seat, :n] = mixes[seat, :n]
            else:
                hopeless = regrets[n] == 0.0
                level_shares(regrets, n, hopeless, shares[seat], mixes[seat], mine[seat])
        value[i] = expected[i] = 0.0
        for a in range(counts[0]):
            for b in range(counts[1]):
                value[i] += mixes[0, a] * mixes[1, b] * game[a, b]
                expected[i] += mine[0, a] * mine[1, b] * game[a, b]
