// Number Clash solved by plain C++: the yardstick for the compiled kernel, doing the same work.
//
//     g++ -O3 -o number_clash number_clash.cpp && ./number_clash [numbers] [points] [runs]
//
// Backward induction over the rounds, the half of the reachable states below the diagonal and the
// diagonal itself, each a matrix game: saddle point, else simplex, then both best responses for
// the duality gap. Prints the states, the largest gap, the value after 7 against 8 (where the
// game has both) and the time of each run in seconds.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

constexpr int WIDE = 24;
constexpr double ENTER = 1e-13, PIVOT = 1e-8, GOOD = 1e-12;
constexpr double INFINITE = std::numeric_limits<double>::infinity();

struct Sets {
    int count, size;
    std::vector<int> numbers, without;  // [set][place]
};

struct Layer {
    int wide;
    std::vector<double> value;
    std::vector<uint8_t> reachable;
};

static Sets subsets(int numbers, int size) {
    std::vector<int> rank(1 << numbers);
    int smaller = 0;
    Sets sets{0, size, {}, {}};
    for (int mask = 0; mask < 1 << numbers; mask++)
        if (__builtin_popcount(mask) == size - 1) rank[mask] = smaller++;
    for (int mask = 0; mask < 1 << numbers; mask++) {
        if (__builtin_popcount(mask) != size) continue;
        sets.count++;
        for (int bit = 0; bit < numbers; bit++)
            if (mask >> bit & 1) {
                sets.numbers.push_back(bit);
                sets.without.push_back(rank[mask ^ 1 << bit]);
            }
    }
    return sets;
}

static int round_result(int mine, int theirs) {
    if (mine == theirs) return 0;
    if (mine == theirs + 1) return -1;
    if (mine == theirs - 1) return 1;
    return mine > theirs ? 1 : -1;
}

struct Matrix {
    double game[WIDE][WIDE], table[WIDE][WIDE], row_mix[WIDE], column_mix[WIDE];
    int basic[WIDE], free[WIDE];
    int rows, columns;

    double solve(double &gap) {
        double low = -INFINITE, high = INFINITE, smallest = INFINITE, largest = -INFINITE;
        int best_column = 0;
        for (int i = 0; i < rows; i++) {
            double worst = INFINITE;
            for (int j = 0; j < columns; j++) {
                worst = std::min(worst, game[i][j]);
                largest = std::max(largest, game[i][j]);
            }
            smallest = std::min(smallest, worst);
            low = std::max(low, worst);
        }
        for (int j = 0; j < columns; j++) {
            double most = -INFINITE;
            for (int i = 0; i < rows; i++) most = std::max(most, game[i][j]);
            if (most < high) high = most, best_column = j;
        }
        gap = 0;
        if (low >= high) return low;
        double value = 0;
        gap = INFINITE;
        for (int attempt = 0; attempt < 2 + columns && gap >= GOOD; attempt++) {
            simplex(smallest, 1 / (largest - smallest), attempt == 1,
                    attempt < 2 ? best_column : attempt - 2);
            low = INFINITE, high = -INFINITE;
            for (int j = 0; j < columns; j++) {
                double total = 0;
                for (int i = 0; i < rows; i++) total += row_mix[i] * game[i][j];
                low = std::min(low, total);
            }
            for (int i = 0; i < rows; i++) {
                double total = 0;
                for (int j = 0; j < columns; j++) total += column_mix[j] * game[i][j];
                high = std::max(high, total);
            }
            if (high - low < gap) value = 0.5 * (low + high), gap = high - low;
        }
        return value;
    }

    void simplex(double smallest, double scale, bool bland, int enter) {
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++) table[i][j] = (game[i][j] - smallest) * scale + 1;
            table[i][columns] = 1;
            basic[i] = i;
        }
        for (int j = 0; j < columns; j++) table[rows][j] = -1, free[j] = rows + j;
        table[rows][columns] = 0;
        int most = (bland ? 40 : 4) * (rows + columns);
        for (int turn = 0; turn < most; turn++) {
            if (turn) enter = entering(bland);
            if (enter < 0) break;
            int leave = leaving(enter, bland);
            if (leave < 0) break;
            pivot(leave, enter);
            std::swap(basic[leave], free[enter]);
        }
        std::fill(row_mix, row_mix + rows, 0.0);
        std::fill(column_mix, column_mix + columns, 0.0);
        double earned = 0, yielded = 0;
        for (int j = 0; j < columns; j++)
            if (free[j] < rows) earned += row_mix[free[j]] = std::max(0.0, table[rows][j]);
        for (int i = 0; i < rows; i++)
            if (basic[i] >= rows)
                yielded += column_mix[basic[i] - rows] = std::max(0.0, table[i][columns]);
        for (int i = 0; i < rows; i++) row_mix[i] /= earned;
        for (int j = 0; j < columns; j++) column_mix[j] /= yielded;
    }

    int entering(bool bland) const {
        int enter = -1;
        double least = -ENTER;
        for (int j = 0; j < columns; j++) {
            if (bland) {
                if (table[rows][j] < -ENTER && (enter < 0 || free[j] < free[enter])) enter = j;
            } else if (table[rows][j] < least) {
                enter = j, least = table[rows][j];
            }
        }
        return enter;
    }

    int leaving(int enter, bool bland) const {
        int leave = -1;
        double least = INFINITE;
        for (int i = 0; i < rows; i++) {
            if (table[i][enter] <= PIVOT) continue;
            double ratio = table[i][columns] / table[i][enter];
            if (ratio < least)
                leave = i, least = ratio;
            else if (ratio == least && (bland ? basic[i] < basic[leave]
                                              : table[i][enter] > table[leave][enter]))
                leave = i;
        }
        return leave;
    }

    void pivot(int leave, int enter) {
        double inverse = 1 / table[leave][enter];
        for (int j = 0; j <= columns; j++) table[leave][j] *= inverse;
        table[leave][enter] = inverse;
        for (int i = 0; i <= rows; i++) {
            if (i == leave) continue;
            double factor = table[i][enter];
            table[i][enter] = 0;
            for (int j = 0; j <= columns; j++) table[i][j] -= factor * table[leave][j];
        }
    }
};

static void reach(const Sets &sets, int highest, int points, const Layer &layer, Layer &smaller) {
    int size = sets.size;
    for (int one = 0; one < sets.count; one++) {
        int above_used = size;
        while (above_used > 0 &&
               sets.numbers[one * size + above_used - 1] == highest - size + above_used - 1)
            above_used--;
        for (int two = 0; two < sets.count; two++)
            for (int a = 0; a < points; a++)
                for (int b = 0; b < points; b++) {
                    size_t at = size_t(one * points + a) * layer.wide + two * points + b;
                    if (!layer.reachable[at]) continue;
                    for (int i = above_used; i < size; i++)
                        for (int j = 0; j < size; j++) {
                            int result = round_result(sets.numbers[one * size + i],
                                                      sets.numbers[two * size + j]);
                            int na = a + (result > 0), nb = b + (result < 0);
                            if (na < points && nb < points)
                                smaller.reachable[size_t(sets.without[one * size + i] * points + na)
                                                      * smaller.wide
                                                  + sets.without[two * size + j] * points + nb] = 1;
                        }
                }
    }
}

static double solve_layer(const Sets &sets, int points, const Layer &below, Layer &layer) {
    static Matrix matrix;
    int size = matrix.rows = matrix.columns = sets.size;
    double worst = 0;
    for (int one = 0; one < sets.count; one++)
        for (int two = 0; two <= one; two++)
            for (int a = 0; a < points; a++)
                for (int b = 0; b < (one == two ? a + 1 : points); b++) {
                    int row = one * points + a, column = two * points + b;
                    if (!layer.reachable[size_t(row) * layer.wide + column]) continue;
                    for (int i = 0; i < size; i++) {
                        int mine = sets.numbers[one * size + i];
                        int down = sets.without[one * size + i] * points + a;
                        for (int j = 0; j < size; j++) {
                            int across = sets.without[two * size + j] * points + b;
                            int result = round_result(mine, sets.numbers[two * size + j]);
                            const double *from = &below.value[size_t(down) * below.wide + across];
                            if (result == 0)
                                matrix.game[i][j] = *from;
                            else if (result > 0)
                                matrix.game[i][j] = a + 1 == points ? 1.0 : from[below.wide];
                            else
                                matrix.game[i][j] = b + 1 == points ? 0.0 : from[1];
                        }
                    }
                    double gap, value = matrix.solve(gap);
                    worst = std::max(worst, gap);
                    if (row == column) continue;
                    layer.value[size_t(row) * layer.wide + column] = value;
                    layer.value[size_t(column) * layer.wide + row] = 1 - value;
                }
    return worst;
}

int main(int argc, char **argv) {
    int numbers = argc > 1 ? std::atoi(argv[1]) : 10, points = argc > 2 ? std::atoi(argv[2]) : 3;
    int runs = argc > 3 ? std::atoi(argv[3]) : 1;
    for (int run = 0; run < runs; run++) {
        auto began = std::chrono::steady_clock::now();
        std::vector<Sets> sets;
        std::vector<Layer> layers;
        for (int size = 0; size <= numbers; size++) {
            sets.push_back(subsets(numbers, size));
            int wide = std::max(1, sets[size].count) * points;
            layers.push_back({wide, std::vector<double>(size_t(wide) * wide, 0.5),
                              std::vector<uint8_t>(size_t(wide) * wide, 0)});
        }
        layers[numbers].reachable[0] = 1;
        for (int size = numbers; size > 0; size--)
            reach(sets[size], numbers, points, layers[size], layers[size - 1]);
        for (int a = 0; a < points; a++)
            for (int b = 0; b < points; b++)
                layers[0].value[a * points + b] = a > b ? 1 : a < b ? 0 : 0.5;
        double worst = 0;
        long states = 0;
        for (int size = 1; size <= numbers; size++) {
            worst = std::max(worst, solve_layer(sets[size], points, layers[size - 1], layers[size]));
            for (uint8_t flag : layers[size].reachable) states += flag;
        }
        double value = 0.5;
        if (numbers > 7 && points > 1) {
            int mine = sets[numbers].without[6] * points + 1, theirs = sets[numbers].without[7] * points;
            value = layers[numbers - 1].value[size_t(mine) * layers[numbers - 1].wide + theirs];
        }
        double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        std::printf("%ld %.3g %.12f %.6f\n", states, worst, value, seconds);
    }
}
