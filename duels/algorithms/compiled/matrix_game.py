"""Matrix games in compiled code: a condensed simplex tableau in float64.

`solve` is the faster one, for values. A game may have many optimal strategies: `solve_canonically`
takes the steps of `duels.algorithms.matrix_game` in the same order and finds the same strategies,
bit for bit.

Matrices are at most `WIDE` by `WIDE`, in the top left corner of a scratch array. Every solution is
checked: the value returned lies between what the two strategies guarantee, and the gap between
those guarantees is returned with it.
"""

from __future__ import annotations

from duels.algorithms.compiled import Array, compiled, np
from duels.algorithms.matrix_game import CERTAIN, DUST, ENTER, WANTED

WIDE = 20  # the most numbers or digits any game here may have
STRIDE = WIDE + 4
PIVOT = 1e-8  # dividing by less would blow up rounding; many moves here are equal but for it
NARROW = 100 * ENTER  # the least pivot of the canonical solver
GOOD = 1e-12  # a solution with a larger gap is tried again another way


def scratch() -> tuple[Array, Array, Array, Array]:
    """Room for one solve: the game, the tableau, the strategies, the labels.

    The first two rows of the strategies are the row player's and the column player's; the other two
    keep the best so far.
    """
    wide = (STRIDE, STRIDE)
    return np.zeros(wide), np.zeros(wide), np.zeros((4, STRIDE)), np.zeros((2, STRIDE), np.int64)


@compiled
def solve(
    game: Array, rows: int, columns: int, table: Array, strategies: Array, label: Array
) -> tuple:  # type: ignore[type-arg]
    """(value for the row player, who maximises; duality gap). Fills `strategies`."""
    low, high, best_row, best_column = 2.0, 2.0, 0, 0
    smallest = largest = game[0, 0]
    for i in range(rows):
        worst = game[i, 0]
        for j in range(columns):
            worst = min(worst, game[i, j])
            largest = max(largest, game[i, j])
        smallest = min(smallest, worst)
        if i == 0 or worst > low:
            low, best_row = worst, i
    for j in range(columns):
        most = game[0, j]
        for i in range(1, rows):
            most = max(most, game[i, j])
        if j == 0 or most < high:
            high, best_column = most, j
    if low >= high:  # a saddle point: both play one move
        _clear(strategies, rows, columns)
        strategies[0, best_row] = 1.0
        strategies[1, best_column] = 1.0
        return low, 0.0
    scale = 1.0 / (largest - smallest)
    value, gap = 0.0, np.inf
    for attempt in range(2 + columns):  # more than one is rare: another path, other rounding
        first = best_column if attempt < 2 else attempt - 2
        _simplex(
            game, rows, columns, smallest, scale, attempt == 1, first, table, strategies, label
        )
        low, high = guarantees(game, rows, columns, strategies)
        if high - low < GOOD:
            return 0.5 * (low + high), high - low
        if high - low < gap:
            value, gap = 0.5 * (low + high), high - low
            _copy(strategies, 0, 2)
    _copy(strategies, 2, 0)
    return value, gap


@compiled
def _clear(strategies: Array, rows: int, columns: int) -> None:
    for i in range(rows):
        strategies[0, i] = 0.0
    for j in range(columns):
        strategies[1, j] = 0.0


@compiled
def _copy(strategies: Array, start: int, to: int) -> None:
    for player in range(2):
        for i in range(WIDE):
            strategies[to + player, i] = strategies[start + player, i]


@compiled
def guarantees(game: Array, rows: int, columns: int, strategies: Array) -> tuple:  # type: ignore[type-arg]
    """What the row strategy earns and the column strategy yields against best responses."""
    low = np.inf
    for j in range(columns):
        total = 0.0
        for i in range(rows):
            total += strategies[0, i] * game[i, j]
        low = min(low, total)
    high = -np.inf
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            total += strategies[1, j] * game[i, j]
        high = max(high, total)
    return low, high


@compiled
def _simplex(
    game: Array, rows: int, columns: int, smallest: float, scale: float, bland: bool,
    first: int, table: Array, strategies: Array, label: Array,
) -> None:  # fmt: skip
    """Maximise sum(y) with B y <= 1 where B is the game moved into [1, 2]: its value is 1/sum.

    B > 0 makes y = 0 a feasible start, so there is no first phase. Labels below `rows` are slacks,
    that is, rows; the others are columns.
    """
    for i in range(rows):
        for j in range(columns):
            table[i, j] = (game[i, j] - smallest) * scale + 1.0
        table[i, columns] = 1.0
        label[0, i] = i
    for j in range(columns):
        table[rows, j] = -1.0
        label[1, j] = rows + j
    table[rows, columns] = 0.0
    enter = first  # the best pure column is a better start than the first of all equal prices
    for turn in range(40 * (rows + columns) if bland else 4 * (rows + columns)):
        if turn > 0:
            enter = _entering(table, rows, columns, label, bland)
        if enter < 0:
            break
        leave = _leaving(table, rows, columns, label, enter, bland)
        if leave < 0:
            break
        _pivot(table, rows, columns, leave, enter)
        label[0, leave], label[1, enter] = label[1, enter], label[0, leave]
    _clear(strategies, rows, columns)
    earned = yielded = 0.0
    for j in range(columns):
        if label[1, j] < rows:
            strategies[0, label[1, j]] = max(0.0, table[rows, j])
            earned += strategies[0, label[1, j]]
    for i in range(rows):
        if label[0, i] >= rows:
            strategies[1, label[0, i] - rows] = max(0.0, table[i, columns])
            yielded += strategies[1, label[0, i] - rows]
    for i in range(rows):
        strategies[0, i] /= earned
    for j in range(columns):
        strategies[1, j] /= yielded


@compiled
def _entering(table: Array, rows: int, columns: int, label: Array, bland: bool) -> int:
    """The column with the best price; under Bland's rule, which cannot cycle, the lowest label."""
    enter, least = -1, -ENTER
    for j in range(columns):
        if bland:
            if table[rows, j] < -ENTER and (enter < 0 or label[1, j] < label[1, enter]):
                enter = j
        elif table[rows, j] < least:
            enter, least = j, table[rows, j]
    return enter


@compiled
def _leaving(table: Array, rows: int, columns: int, label: Array, enter: int, bland: bool) -> int:
    """The row that limits the entering column. Of equals, the safest pivot: the largest."""
    leave, least = -1, np.inf
    for i in range(rows):
        if table[i, enter] > PIVOT:
            ratio = table[i, columns] / table[i, enter]
            if ratio < least:
                leave, least = i, ratio
            elif ratio == least:
                if bland:
                    preferred = label[0, i] < label[0, leave]
                else:
                    preferred = table[i, enter] > table[leave, enter]
                if preferred:
                    leave = i
    return leave


@compiled
def _pivot(table: Array, rows: int, columns: int, leave: int, enter: int) -> None:
    inverse = 1.0 / table[leave, enter]
    for j in range(columns + 1):
        table[leave, j] *= inverse
    table[leave, enter] = inverse
    for i in range(rows + 1):
        if i != leave:
            factor = table[i, enter]
            table[i, enter] = 0.0
            for j in range(columns + 1):
                table[i, j] -= factor * table[leave, j]


# The same strategies as in Python


@compiled
def solve_canonically(
    game: Array, rows: int, columns: int, table: Array, strategies: Array, label: Array
) -> None:
    """Leave in `strategies` what `duels.algorithms.matrix_game.solve_matrix` finds.

    Where that would turn to exact rationals, the strategies are those of `solve`.
    """
    if not try_canonically(game, rows, columns, table, strategies, label):
        solve(game, rows, columns, table, strategies, label)


@compiled
def try_canonically(
    game: Array, rows: int, columns: int, table: Array, strategies: Array, label: Array
) -> bool:
    """As `solve_canonically`; False where `solve_matrix` would turn to exact rationals."""
    low = high = game[0, 0]
    value, least, one, two = -np.inf, np.inf, 0, 0
    for i in range(rows):
        earned = game[i, 0]
        for j in range(columns):
            earned = min(earned, game[i, j])
            high = max(high, game[i, j])
        low = min(low, earned)
        if earned > value:
            value, one = earned, i
    for j in range(columns):
        yielded = game[0, j]
        for i in range(rows):
            yielded = max(yielded, game[i, j])
        if yielded < least:
            least, two = yielded, j
    if value >= least:  # a saddle point
        _clear(strategies, rows, columns)
        strategies[0, one] = strategies[1, two] = 1.0
        return True
    size = high - low
    rounding = 1e-14 * max(abs(low), abs(low + size))
    for bland in (False, True):
        if _canonical_simplex(game, rows, columns, low, size, bland, table, strategies, label):
            earned, yielded = guarantees(game, rows, columns, strategies)
            if yielded - earned <= (CERTAIN if bland else WANTED) * size + rounding:
                return True
    return False


@compiled
def _canonical_simplex(
    game: Array, rows: int, columns: int, low: float, size: float, bland: bool,
    table: Array, strategies: Array, label: Array,
) -> bool:  # fmt: skip
    """`duels.algorithms.matrix_game._simplex` in floats; False where only rounding could lead."""
    for i in range(rows):
        for j in range(columns):
            table[i, j] = (game[i, j] - low) / size + 1.0
        table[i, columns] = 1.0
        label[0, i] = i
    enter = 0
    least = np.inf
    for j in range(columns):
        table[rows, j] = -1.0
        label[1, j] = rows + j
        most = table[0, j]
        for i in range(rows):
            most = max(most, table[i, j])
        if most < least:
            enter = j
            least = most
    table[rows, columns] = 0.0
    for turn in range((100 if bland else 4) * (rows + columns)):
        if turn > 0:
            enter = -1
            for j in range(columns):
                if table[rows, j] < -ENTER and (
                    enter < 0
                    or (bland and label[1, j] < label[1, enter])
                    or (not bland and table[rows, j] < table[rows, enter])
                ):
                    enter = j
            if enter < 0:
                break
        leave = -1
        lowest = np.inf
        for i in range(rows):
            if table[i, enter] > NARROW:
                ratio = table[i, columns] / table[i, enter]
                if ratio < lowest or (ratio == lowest and label[0, i] < label[0, leave]):
                    leave = i
                    lowest = ratio
        if leave < 0:
            return False
        _canonical_pivot(table, rows, columns, leave, enter)
        label[0, leave], label[1, enter] = label[1, enter], label[0, leave]
    _clear(strategies, rows, columns)
    for j in range(columns):
        if label[1, j] < rows:
            strategies[0, label[1, j]] = max(table[rows, j], 0.0)
    for i in range(rows):
        if label[0, i] >= rows:
            strategies[1, label[0, i] - rows] = max(table[i, columns], 0.0)
    return _to_shares(strategies, 0, rows) and _to_shares(strategies, 1, columns)


@compiled
def _to_shares(strategies: Array, player: int, n: int) -> bool:
    """Scaled to one, without what rounding left; False if there is nothing to scale."""
    whole = 0.0
    for k in range(n):
        whole += strategies[player, k]
    if whole == 0.0:
        return False
    kept = 0.0
    for k in range(n):
        if strategies[player, k] <= DUST * whole:
            strategies[player, k] = 0.0
        kept += strategies[player, k]
    for k in range(n):
        strategies[player, k] /= kept
    return True


@compiled
def _canonical_pivot(table: Array, rows: int, columns: int, leave: int, enter: int) -> None:
    pivot = table[leave, enter]
    for j in range(columns + 1):
        table[leave, j] = 1.0 / pivot if j == enter else table[leave, j] / pivot
    for i in range(rows + 1):
        factor = table[i, enter]
        if i != leave and factor != 0.0:
            table[i, enter] = 0.0
            for j in range(columns + 1):
                table[i, j] -= factor * table[leave, j]
