"""The matrix-game solver that the kernels share: a condensed simplex tableau in float64.

Matrices are at most `WIDE` by `WIDE`, in the top left corner of a scratch array. Every solution is
checked: the value returned lies between what the two mixes guarantee, and the gap between those
guarantees is returned with it.
"""

from __future__ import annotations

from duels.solve.compiled import Array, compiled, np

WIDE = 20  # the most numbers or digits any game here may have
STRIDE = WIDE + 4
ENTER = 1e-13  # a column enters only when it gains more than rounding could
PIVOT = 1e-8  # dividing by less would blow up rounding; many moves here are equal but for it
GOOD = 1e-12  # a solution with a larger gap is tried again another way


def scratch() -> tuple[Array, Array, Array, Array]:
    """Room for one solve: the game, the tableau, the mixes, the labels.

    The first two rows of the mixes are the row player's and the column player's; the other two
    keep the best so far.
    """
    wide = (STRIDE, STRIDE)
    return np.zeros(wide), np.zeros(wide), np.zeros((4, STRIDE)), np.zeros((2, STRIDE), np.int64)


@compiled
def solve(game: Array, rows: int, columns: int, table: Array, mix: Array, label: Array) -> tuple:  # type: ignore[type-arg]
    """(value for the row player who maximises, duality gap); the mixes are left in `mix`."""
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
        _clear(mix, rows, columns)
        mix[0, best_row] = 1.0
        mix[1, best_column] = 1.0
        return low, 0.0
    scale = 1.0 / (largest - smallest)
    value, gap = 0.0, np.inf
    for attempt in range(2 + columns):  # more than one is rare: another path, other rounding
        first = best_column if attempt < 2 else attempt - 2
        _simplex(game, rows, columns, smallest, scale, attempt == 1, first, table, mix, label)
        low, high = guarantees(game, rows, columns, mix)
        if high - low < GOOD:
            return 0.5 * (low + high), high - low
        if high - low < gap:
            value, gap = 0.5 * (low + high), high - low
            _copy(mix, 0, 2)
    _copy(mix, 2, 0)
    return value, gap


@compiled
def _clear(mix: Array, rows: int, columns: int) -> None:
    for i in range(rows):
        mix[0, i] = 0.0
    for j in range(columns):
        mix[1, j] = 0.0


@compiled
def _copy(mix: Array, start: int, to: int) -> None:
    for player in range(2):
        for i in range(WIDE):
            mix[to + player, i] = mix[start + player, i]


@compiled
def guarantees(game: Array, rows: int, columns: int, mix: Array) -> tuple:  # type: ignore[type-arg]
    """What the row mix earns at least and the column mix yields at most: best responses."""
    low = np.inf
    for j in range(columns):
        total = 0.0
        for i in range(rows):
            total += mix[0, i] * game[i, j]
        low = min(low, total)
    high = -np.inf
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            total += mix[1, j] * game[i, j]
        high = max(high, total)
    return low, high


@compiled
def _simplex(
    game: Array, rows: int, columns: int, smallest: float, scale: float, bland: bool,
    first: int, table: Array, mix: Array, label: Array,
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
    _clear(mix, rows, columns)
    earned = yielded = 0.0
    for j in range(columns):
        if label[1, j] < rows:
            mix[0, label[1, j]] = max(0.0, table[rows, j])
            earned += mix[0, label[1, j]]
    for i in range(rows):
        if label[0, i] >= rows:
            mix[1, label[0, i] - rows] = max(0.0, table[i, columns])
            yielded += mix[1, label[0, i] - rows]
    for i in range(rows):
        mix[0, i] /= earned
    for j in range(columns):
        mix[1, j] /= yielded


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
