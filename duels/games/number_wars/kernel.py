"""Number Wars as a kernel. Every number may be played; one on the record fails."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from duels.games.number_wars.rules import NumberWars, State
from duels.kernels import (
    GOING_ON,
    NO_WINNER,
    Array,
    CompiledPolicy,
    Kernel,
    Scalar,
    bits,
    cached,
    compiled,
    np,
)  # fmt: skip
from duels.kernels.policies import (
    DRAW,
    LOSS,
    UNKNOWN,
    WIN,
    WON,
    MoveClasses,
    SolutionTables,
    greedy,
    move_classifier,
    share_of,
    solution_policy,
)  # fmt: skip
from duels.kernels.random_streams import PICKS, below

MOVER, LP, USED = 1, 2, 4  # two columns of life points and of records
COLUMNS = 6


class Rules(NamedTuple):
    one: int
    two: int
    numbers: int
    refresh: bool
    first: int


def rules(game: NumberWars) -> Rules:
    return Rules(*game.lp, game.numbers, game.refresh, game.first)


def pack(game: NumberWars, state: State) -> tuple[int, ...]:
    return (state.mover, *state.lp, *map(bits.word_of, state.used))


def unpack(game: NumberWars, row: tuple[int, ...]) -> State:
    used = (bits.numbers_of(row[3]), bits.numbers_of(row[4]))
    return State((row[1], row[2]), used, row[0])


@compiled
def begin(rules: Rules, state: Array, streams: Array, i: int) -> None:
    state[i, MOVER] = rules.first
    state[i, LP] = rules.one
    state[i, LP + 1] = rules.two
    state[i, USED] = state[i, USED + 1] = 0


@compiled
def mover(rules: Rules, state: Array, i: int) -> Scalar:
    return state[i, MOVER]


@compiled
def legal(rules: Rules, state: Array, i: int, player: int, action: int) -> Scalar:
    return True


@compiled
def choose(rules: Rules, state: Array, streams: Array, i: int, player: int) -> Scalar:
    return below(streams, i, PICKS, rules.numbers)


@compiled
def play(rules: Rules, state: Array, streams: Array, i: int, action: int, unused: int) -> Scalar:
    mover = state[i, MOVER]
    target = 1 - mover
    full = (1 << rules.numbers) - 1
    fresh = 1 - ((state[i, USED + mover] >> action) & 1)  # 0 for a number on the record
    record = state[i, USED + mover] | (1 << action)
    if rules.refresh and record == full:
        record = 0
    left = state[i, LP + target] - fresh * (action + 1)
    state[i, MOVER] = target
    state[i, USED + mover] = record
    state[i, LP + target] = left
    if left <= 0:
        return mover
    if rules.refresh or state[i, USED] != full or state[i, USED + 1] != full:
        return GOING_ON
    own = state[i, LP + mover]
    return NO_WINNER if own == left else mover if own > left else target


@compiled
def mask(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    for action in range(rules.numbers):
        out[i, s, action] = True


@compiled
def packed(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    bits.mark_packed((1 << rules.numbers) - 1, out, i, s)


@compiled
def observe(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    n = rules.numbers
    out[i, s, 0] = max(0, state[i, LP + player])
    out[i, s, 1] = max(0, state[i, LP + 1 - player])
    bits.spread(state[i, USED + player], n, out, i, s, 2)
    bits.spread(state[i, USED + 1 - player], n, out, i, s, 2 + n)
    out[i, s, 2 + 2 * n] = state[i, MOVER] == player


# The built-in opponents

NEVER = 0  # turns to a win if a win is not possible
MOST_TURNS = 4_000_000  # entries of a table; that many take a tenth of a second


@compiled
def options(rules: Rules, state: Array, i: int, player: int) -> Scalar:
    return (1 << rules.numbers) - 1


@compiled
def gain(rules: Rules, state: Array, i: int, player: int, action: int) -> Scalar:
    fresh = 1 - ((state[i, USED + player] >> action) & 1)
    return fresh * (WON if action + 1 >= state[i, LP + 1 - player] else action + 1)


@compiled
def end(rules: Rules, state: Array, i: int, player: int, action: int) -> Scalar:
    """The value of a number that ends the game: by LP, or as the last of all numbers."""
    other, full = 1 - player, (1 << rules.numbers) - 1
    fresh = 1 - ((state[i, USED + player] >> action) & 1)
    own, left = state[i, LP + player], state[i, LP + other] - fresh * (action + 1)
    if left <= 0:
        return WIN
    record = state[i, USED + player] | (1 << action)
    if rules.refresh or record != full or state[i, USED + other] != full:
        return UNKNOWN
    return WIN if own > left else DRAW if own == left else LOSS


@compiled
def idle(rules: Rules, state: Array, i: int, player: int) -> Scalar:
    return state[i, USED + player]


@cached
def fill_turns(refresh: bool, turns: Array) -> None:
    """Turns to a win by the opponent's life points and the own record: largest numbers first."""
    full = turns.shape[1] - 1
    for lp in range(1, turns.shape[0]):
        for used in range(full):
            top = 0
            while (full & ~used) >> top > 1:
                top += 1
            after = lp - top - 1
            if after <= 0:
                turns[lp, used] = 1
            else:
                more = turns[after, used | (1 << top)]
                turns[lp, used] = NEVER if more == NEVER else 1 + more
        turns[lp, full] = turns[lp, 0] if refresh else NEVER


@compiled
def free_sum(rules: Rules, used: int) -> Scalar:
    """The sum of the numbers that are not on a record."""
    total = 0
    for action in range(rules.numbers):
        total += (1 - ((used >> action) & 1)) * (action + 1)
    return total


@compiled
def move_value(
    rules: Rules, turns: Array, state: Array, i: int, player: int, action: int
) -> tuple[int, int]:
    """The value of a number and the choices left after it, as `NumberWarsSolution`."""
    other, full = 1 - player, (1 << rules.numbers) - 1
    fresh = 1 - ((state[i, USED + player] >> action) & 1)
    own, left = state[i, LP + player], state[i, LP + other] - fresh * (action + 1)
    ended = end(rules, state, i, player, action)
    if ended != UNKNOWN:
        return ended, 0
    record, theirs = state[i, USED + player] | (1 << action), state[i, USED + other]
    if record == full and rules.refresh:
        record = 0
    mine, others = int(turns[left, record]), int(turns[own, theirs])
    if others != NEVER and (mine == NEVER or others <= mine):
        return LOSS, 2 * others - 1
    if mine != NEVER:
        return WIN, 2 * mine
    # Neither can win by LP: the player with fewer LP can repeat a number for ever, if possible.
    mine, others = own - free_sum(rules, theirs), left - free_sum(rules, record)
    if mine == others:
        return DRAW, UNKNOWN
    if mine < others:
        return DRAW if record != full else LOSS, UNKNOWN
    return DRAW if theirs != full else WIN, UNKNOWN


CLASSIFY_EACH = move_classifier(options, move_value)


@compiled
def classify_moves(rules: Rules, turns: Array, state: Array, i: int, player: int) -> Scalar:
    """Classify the moves by `move_value`; if records are cleared there are no draws to find."""
    if not rules.refresh:
        return CLASSIFY_EACH(rules, turns, state, i, player)
    used, lp = state[i, USED + player], state[i, LP + 1 - player]
    others = turns[state[i, LP + player], state[i, USED + 1 - player]]
    wins = soonest = 0
    fewest = others
    for action in range(rules.numbers):
        fresh = 1 - ((used >> action) & 1)
        needed = turns[max(0, lp - fresh * (action + 1)), used | (1 << action)]
        wins |= int(needed < others) << action
        soonest = (0 if needed < fewest else soonest) | (int(needed <= fewest) << action)
        fewest = min(fewest, needed)
    return MoveClasses(wins, 0, soonest if wins != 0 else (1 << rules.numbers) - 1)


GREEDY = greedy(options, gain)
SOLUTION_POLICY = solution_policy(options, gain, classify_moves, end, idle)


@lru_cache(maxsize=8)
def table(game: NumberWars) -> Array:
    turns = np.zeros((max(game.lp) + 1, 1 << game.numbers), np.int16)
    fill_turns(game.refresh, turns)
    return turns


def chooser(game: NumberWars, opponent: str) -> CompiledPolicy | None:
    if opponent == "greedy":
        return GREEDY
    if (max(game.lp) + 1) << game.numbers > MOST_TURNS:
        return None
    return SOLUTION_POLICY._replace(tables=SolutionTables(table(game), share_of(opponent)))


def values(game: NumberWars, rows: Array) -> Array | None:
    """Player 1's score in rows: the player who needs fewer turns wins, in a tie the mover."""
    from duels.algorithms.solutions import solve
    from duels.games.number_wars.solver import NumberWarsSolution

    if not game.refresh:
        return None
    solution = solve(game)
    assert isinstance(solution, NumberWarsSolution)

    def turns(player: int) -> Array:
        used = rows[:, USED + player].astype(np.int64)
        pairs = used << 16 | rows[:, LP + 1 - player]
        known, back = np.unique(pairs, return_inverse=True)
        found = [
            solution.turns(pair & 0xFFFF, bits.numbers_of(pair >> 16)) for pair in known.tolist()
        ]
        return np.array(found, np.int64)[back]

    one, two = turns(0), turns(1)
    return np.where(rows[:, MOVER] == 0, one <= two, one < two).astype(np.float64)


KERNEL = Kernel(
    NumberWars, COLUMNS, "int32", rules, lambda game: False, pack, unpack,
    begin, mover, legal, choose, play, mask, observe, chooser, packed, values,
)  # fmt: skip
