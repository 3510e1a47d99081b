"""Digit Duel as a kernel: two steps a turn, or one if attack and defence are hidden."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from duels.games.digit_duel.rules import DigitDuel, State
from duels.kernels import (
    GOING_ON,
    Array,
    CompiledPolicy,
    Kernel,
    Scalar,
    bits,
    compiled,
    imported_on_call,
    not_inlined,
    np,
)  # fmt: skip
from duels.kernels.policies import (
    LOSS,
    UNKNOWN,
    WIN,
    WON,
    MoveClasses,
    SolutionTables,
    greedy,
    largest_gain,
    move_classifier,
    share_of,
    solution_policy,
)  # fmt: skip

ATTACKER, ATTACK, LIFE, LEFT = 1, 2, 3, 5  # two columns of life and of unused digits
COLUMNS = 7


class Rules(NamedTuple):
    one: int
    two: int
    digits: int
    hidden: bool
    first: int


def rules(game: DigitDuel) -> Rules:
    return Rules(*game.life, game.digits, game.hidden, game.first)


def pack(game: DigitDuel, state: State) -> tuple[int, ...]:
    return (state.attacker, state.attack or 0, *state.life, *map(bits.word_of, state.digits))


def unpack(game: DigitDuel, row: tuple[int, ...]) -> State:
    left = (bits.numbers_of(row[4]), bits.numbers_of(row[5]))
    return State((row[2], row[3]), left, row[0], row[1] or None)


@compiled
def begin(rules: Rules, state: Array, streams: Array, i: int) -> None:
    state[i, ATTACKER] = rules.first
    state[i, ATTACK] = 0
    state[i, LIFE] = rules.one
    state[i, LIFE + 1] = rules.two
    state[i, LEFT] = state[i, LEFT + 1] = (1 << rules.digits) - 1


@compiled
def mover(rules: Rules, state: Array, i: int) -> Scalar:
    return state[i, ATTACKER] ^ (state[i, ATTACK] != 0)


@compiled
def legal(rules: Rules, state: Array, i: int, player: int, action: int) -> Scalar:
    return (state[i, LEFT + player] >> action) & 1 == 1


@compiled
def choose(rules: Rules, state: Array, streams: Array, i: int, player: int) -> Scalar:
    return bits.choose(state[i, LEFT + player], streams, i)


@compiled
def play(rules: Rules, state: Array, streams: Array, i: int, first: int, second: int) -> Scalar:
    attacker = state[i, ATTACKER]
    defender = 1 - attacker
    attack, defence = state[i, ATTACK], first + 1
    if rules.hidden:
        attack, defence = (first, second) if attacker == 0 else (second, first)
        attack, defence = attack + 1, defence + 1
        state[i, LEFT + attacker] ^= 1 << (attack - 1)
    elif attack == 0:
        state[i, ATTACK] = first + 1
        state[i, LEFT + attacker] ^= 1 << first
        return GOING_ON
    left = state[i, LEFT + defender] ^ (1 << (defence - 1))
    life = state[i, LIFE + defender] - max(0, attack - defence)
    state[i, LEFT + defender] = left
    state[i, LIFE + defender] = life
    state[i, ATTACKER] = defender
    state[i, ATTACK] = 0
    if life <= 0:
        return attacker
    if left != 0:
        return GOING_ON
    # All digits are used; the player who attacked last wins if life is equal.
    return attacker if state[i, LIFE + attacker] >= life else defender


@compiled
def mask(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    bits.mark(state[i, LEFT + player], rules.digits, out, i, s)


@compiled
def packed(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    bits.mark_packed(state[i, LEFT + player], out, i, s)


@compiled
def observe(rules: Rules, state: Array, i: int, player: int, out: Array, s: int) -> None:
    n = rules.digits
    bits.spread(state[i, LEFT + player], n, out, i, s, 0)
    bits.spread(state[i, LEFT + 1 - player], n, out, i, s, n)
    out[i, s, 2 * n] = max(0, state[i, LIFE + player])
    out[i, s, 2 * n + 1] = max(0, state[i, LIFE + 1 - player])
    out[i, s, 2 * n + 2] = state[i, ATTACKER] == player
    out[i, s, 2 * n + 3] = state[i, ATTACK]


# The built-in opponents


@compiled
def options(rules: Rules, state: Array, i: int, player: int) -> Scalar:
    return state[i, LEFT + player]


@compiled
def gain(rules: Rules, state: Array, i: int, player: int, action: int) -> Scalar:
    """Damage dealt or taken, summed over the opponent's digits: the same order as the mean."""
    theirs = state[i, LEFT + 1 - player]
    if player == state[i, ATTACKER]:
        if action - bits.top(theirs) >= state[i, LIFE + 1 - player]:
            return WON
        return bits.sum_below(theirs, action)
    if state[i, ATTACK] != 0:
        return -max(0, state[i, ATTACK] - 1 - action)
    return -bits.sum_above(theirs, action)


@compiled
def end(rules: Rules, state: Array, i: int, player: int, action: int) -> Scalar:
    """A win by an attack that no digit can stop, or a loss by a defence that is too weak."""
    if player == state[i, ATTACKER]:
        return WIN if gain(rules, state, i, player, action) == WON else UNKNOWN
    damage = -gain(rules, state, i, player, action)
    return LOSS if damage >= state[i, LIFE + player] else UNKNOWN


class SolutionArrays(NamedTuple):
    """The table of the open game as arrays; see `duels.games.digit_duel.solver`."""

    rank: Array  # of a set among those of its size
    count: Array  # of sets, by size
    start: Array  # of the pairs of sets, by size
    pattern: Array  # of each pair of sets
    rungs: Array  # of each pattern, two in a byte
    scores: Array  # by size and rung
    spare: Array  # by player: life above that of the table, which does not matter
    memory: Array  # cache of evaluated attacks: those that win and, in higher bits, the best ones
    life: int
    uses_distance: bool  # whether moves of the same value are compared by it


MOST_REMEMBERED = 40_000_000  # attacker states; with more, nothing is cached
HALF_WORD = 16
SOON = 1000  # score of an attacker: SOON minus the turns to a win, or the turns to a loss


@compiled
def score_of_next(
    rungs: SolutionArrays, state: Array, i: int, attacker: int, left: int, attack: int, defence: int
) -> Scalar:
    """The score of the defender, who attacks next, after a defence; `left`: the attacker's digits.

    Larger is better for the defender: `SOON` less the turns to a win, or the turns to a loss.
    """
    defender = 1 - attacker
    life = state[i, LIFE + defender] - max(0, attack - defence)
    digits = state[i, LEFT + defender] ^ (1 << defence)
    if digits == 0:
        return 0 if state[i, LIFE + attacker] >= life else SOON
    size = bits.count(digits)
    pair = rungs.start[size] + rungs.rank[digits] * rungs.count[size] + rungs.rank[left]
    mine = max(0, life - 1 - rungs.spare[defender])  # looked up even if none is left: no branch
    theirs = state[i, LIFE + attacker] - 1 - rungs.spare[attacker]
    cell = mine * rungs.life + theirs
    both = int(rungs.rungs[rungs.pattern[pair], cell >> 1])
    score = rungs.scores[size, (both >> (4 * (cell & 1))) & 15]
    return score if life > 0 else 0


@compiled
def move_value(
    rules: Rules, rungs: SolutionArrays, state: Array, i: int, attacker: int, attack: int
) -> tuple[int, int]:
    """The value of an attack to the attacker, and the turns to the end, as `DigitDuelTable`."""
    left, moves, score = state[i, LEFT + attacker] ^ (1 << attack), state[i, LEFT + 1 - attacker], 0
    for k in range(bits.count(moves)):
        found = score_of_next(rungs, state, i, attacker, left, attack, bits.nth(moves, k))
        score = max(score, found)
    won = score <= SOON // 2
    turns = 1 + (score if won else SOON - score)
    return WIN if won else LOSS, turns if rungs.uses_distance else UNKNOWN


WEIGH_EACH = move_classifier(options, move_value)
LARGEST_GAIN = largest_gain(gain)


@not_inlined
def classify_attacks(
    rules: Rules, rungs: SolutionArrays, state: Array, i: int, player: int
) -> MoveClasses:
    return WEIGH_EACH(rules, rungs, state, i, player)  # type: ignore[no-any-return]


@compiled
def classify_defences(
    rules: Rules, rungs: SolutionArrays, state: Array, i: int, player: int
) -> MoveClasses:
    """As `DigitDuelTable` does, without a branch for each digit."""
    attacker, moves = 1 - player, state[i, LEFT + player]
    left, attack = state[i, LEFT + attacker], state[i, ATTACK] - 1
    wins = kept = 0
    best = -1
    for k in range(bits.count(moves)):
        defence = bits.nth(moves, k)
        score = score_of_next(rungs, state, i, attacker, left, attack, defence)
        wins |= int(score > SOON // 2) << defence
        kept = (0 if score > best else kept) | (int(score >= best) << defence)
        best = max(best, score)
    if not rungs.uses_distance:
        kept = wins if wins != 0 else moves
    return MoveClasses(np.int64(wins), np.int64(0), np.int64(kept))


@compiled
def classify_moves(
    rules: Rules, rungs: SolutionArrays, state: Array, i: int, player: int
) -> Scalar:
    """The value of each digit. Attacks are evaluated against all defences, so they are cached.

    Cached values depend only on the state, so the order of writes does not matter.
    """
    if player != state[i, ATTACKER]:
        return classify_defences(rules, rungs, state, i, player)
    if rungs.memory.shape[0] == 0:
        return classify_attacks(rules, rungs, state, i, player)
    own, other = state[i, LEFT + player], state[i, LEFT + 1 - player]
    size = bits.count(own)
    pair = rungs.start[size] + rungs.rank[own] * rungs.count[size] + rungs.rank[other]
    mine = state[i, LIFE + player] - 1 - rungs.spare[player]
    theirs = state[i, LIFE + 1 - player] - 1 - rungs.spare[1 - player]
    at = 2 * ((pair * rungs.life + mine) * rungs.life + theirs) + player
    word = np.int64(rungs.memory[at])
    if word == 0:
        wins, _, kept = classify_attacks(rules, rungs, state, i, player)
        kept = LARGEST_GAIN(rules, state, i, player, kept)
        word = np.int64(wins | (kept << HALF_WORD))
        rungs.memory[at] = np.uint32(word)
    return MoveClasses(word & ((1 << HALF_WORD) - 1), np.int64(0), word >> HALF_WORD)


GREEDY = greedy(options, gain)
SOLUTION_POLICY = solution_policy(options, gain, classify_moves, end)
HIDDEN = imported_on_call("duels.games.digit_duel.opponents:hidden_chooser")


@lru_cache(maxsize=8)
def table(game: DigitDuel) -> SolutionArrays:
    """The values of the open game as arrays: the bytes of the table, and its offsets."""
    from math import comb

    from duels.algorithms import solve, tables
    from duels.games.digit_duel import solver as digit_duel

    covering, kind = digit_duel.table_game(game), digit_duel.kind(game)
    found = tables.find_table(covering, kind)
    payload = digit_duel.solve(game).payload if found is None else found.payload
    uses_distance = solve(game).distance(game.start()) is not None
    n, life = game.digits, covering.life[0]
    counts = [comb(n, size) for size in range(n + 1)]
    starts = np.cumsum([0, 0, *(count**2 for count in counts[1:])])
    patterns, wide = np.frombuffer(payload, "<u4", 2).tolist()
    pairs = int(starts[-1])
    at = 8 + (pairs * wide + 7) // 8 * 8
    cells = (life * life + 1) // 2
    scores = np.zeros((n + 1, 16), np.int64)
    for size in range(1, n + 1):
        for rung, (wins, turns) in enumerate(digit_duel.ladder(size), 1):
            scores[size, rung] = SOON - turns if wins else turns
    spare = [full - kept for full, kept in zip(game.life, digit_duel.lives(game), strict=True)]
    states = 2 * pairs * life * life
    memory = np.zeros(states if states <= MOST_REMEMBERED and n <= HALF_WORD else 0, np.uint32)
    return SolutionArrays(
        bits.ranks(n), np.array(counts), starts,
        np.frombuffer(payload, f"<u{wide}", pairs, 8).copy(),
        np.frombuffer(payload, np.uint8, patterns * cells, at).reshape(patterns, cells).copy(),
        scores, np.array(spare), memory, life, uses_distance,
    )  # fmt: skip


def chooser(game: DigitDuel, opponent: str) -> CompiledPolicy | None:
    if opponent == "greedy":
        return GREEDY
    if game.hidden:
        hidden: CompiledPolicy | None = HIDDEN(game, opponent)
        return hidden
    return SOLUTION_POLICY._replace(tables=SolutionTables(table(game), share_of(opponent)))


def values(game: DigitDuel, rows: Array) -> Array | None:
    """Player 1's score in rows, from the table of the attacker's values."""
    from duels.algorithms.solutions import solve
    from duels.algorithms.table_solution import TableSolution
    from duels.games.digit_duel.solver import RoleTable

    solution = solve(game)
    table = solution.reader if isinstance(solution, TableSolution) else None
    if not isinstance(table, RoleTable):
        return None
    columns = (ATTACKER, ATTACK, LEFT, LEFT + 1, LIFE, LIFE + 1)
    attacker, attack, one, two, life_one, life_two = (rows[:, c].astype(np.int64) for c in columns)
    second = attacker == 1
    mine, theirs = np.where(second, two, one), np.where(second, one, two)
    life, other = np.where(second, life_two, life_one), np.where(second, life_one, life_two)
    wins = np.zeros(len(rows))
    before = attack == 0
    wins[before] = table.attacker_wins(
        *(part[before] for part in (attacker, mine, theirs, life, other))
    )
    held = np.ones(len(rows), np.bool_)  # whether the attacker wins against every defence
    for digit in range(1, game.digits + 1):
        at = np.flatnonzero(~before & (theirs >> digit - 1 & 1 == 1))
        left = theirs[at] ^ 1 << digit - 1
        after = other[at] - np.maximum(0, attack[at] - digit)
        won = after <= 0
        last = ~won & (left == 0)
        won[last] = life[at][last] >= after[last]
        on = ~won & ~last
        turned = (1 - attacker[at], left, mine[at], after, life[at])
        won[on] = table.attacker_wins(*(part[on] for part in turned)) == 0
        held[at] &= won
    wins[~before] = held[~before]
    return np.where(second, 1 - wins, wins)


KERNEL = Kernel(
    DigitDuel, COLUMNS, "int32", rules, lambda game: game.hidden, pack, unpack,
    begin, mover, legal, choose, play, mask, observe, chooser, packed, values,
)  # fmt: skip
