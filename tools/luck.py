"""Trains the value network for AIVAT, and measures how much AIVAT reduces the games needed.

    python3 tools/luck.py learn              # the value network of Cipher Siege
    python3 tools/luck.py measure [PAIRS]    # by which factor fewer games are needed

`learn` needs the extra `rl`. It plays games between all built-in players, after some random
choices, and fits the network to their results.
"""

from __future__ import annotations

import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from duels.algorithms import tables
from duels.arena.compiled_aivat import adjusted
from duels.arena.report import scored
from duels.arena.scores import Sample, estimate
from duels.arena.summary import saved, scaled
from duels.core.match import TURN_LIMIT
from duels.envs.opponents import chooser
from duels.games import load
from duels.games.cipher_siege.encoding import FIELD, WIDTH
from duels.games.cipher_siege.kernel import CI, DECK, HAND, MOVER
from duels.games.cipher_siege.rules import CipherSiege
from duels.games.cipher_siege.value_network import KIND, PATH, PLAYERS, features, shape
from duels.kernels import NO_WINNER, kernel_of
from duels.kernels.driver import drivers
from duels.kernels.opponent_loops import opponent_loops, uniform
from duels.kernels.pairs import play_pairs
from duels.kernels.random_streams import keys

GAMES = 1 << 15  # games of each two players, in each seat
MOST = 130_000  # positions of each two players, since games of weak players are long
RANDOM = (0, 0, 0, 2, 4)  # numbers of random choices at the start of games
LONGEST = 400  # choices in a game
SLUGS = ("firewall-breach", "cipher-siege", "number-clash", "digit-duel", "number-wars")
PAIRINGS = (("perfect", "random"), ("perfect", "greedy"), ("hard", "easy"), ("random", "greedy"))
HIDDEN, EPOCHS, ROWS, RATE = 64, 8, 2048, 4e-3


def games(game: CipherSiege, names: tuple[str, str], seed: int) -> tuple[Any, Any]:
    """Rows in which these players choose, and whether Player 1 won the game."""
    kernel = kernel_of(game)
    rules, run = kernel.rules(game), drivers(kernel, False)
    random_policy = uniform(kernel)
    players = [kernel.chooser(game, n) if n != "random" else random_policy for n in names]
    players.append(random_policy)
    state, streams = np.zeros((GAMES, kernel.columns), kernel.dtype), keys(seed, GAMES)
    live = np.ones(GAMES, np.bool_)
    run.begin(rules, state, streams, live)
    chance = np.random.default_rng(seed)
    begin = chance.choice(RANDOM, GAMES)
    score = np.zeros(GAMES)
    rewards, ended = np.zeros((GAMES, 2), np.int8), np.zeros(GAMES, np.int8)
    final = np.zeros((GAMES, 2, len(game.features())), np.int16)
    movers = np.zeros(GAMES, np.int8)
    picked = np.zeros((3, GAMES), np.int64)
    rows, owners = [], []
    for choice in range(LONGEST):
        kept = np.flatnonzero(live & (choice >= begin))
        rows.append(state[kept])
        owners.append(kept)
        run.movers(rules, state, movers)
        seats = movers.astype(np.int64)
        for player, out in zip(players, picked, strict=True):
            assert player is not None
            pick = opponent_loops(kernel, False, player.choose).pick
            pick(rules, player.tables, state, streams, seats, out)
        moves = np.where(choice < begin, picked[2], picked[seats, np.arange(GAMES)])
        run.step(rules, state, streams, moves[:, None].copy(), live, LONGEST, rewards, ended, final)
        done = live & (ended != 0)
        score[done] = (rewards[done, 0] + 1) / 2
        live &= ~done
        if not live.any():
            break
    found, won = np.concatenate(rows), score[np.concatenate(owners)]
    some = chance.permutation(len(found))[:MOST]
    return found[some], won[some]


def inputs(game: CipherSiege, rows: Any, names: tuple[str, str]) -> Any:
    """The features of rows, part by part as `duels.games.cipher_siege.value_network.shape` says."""
    own, _, ci, _, deck, _, _, _ = shape(game)
    held = [*product(range(game.copies + 1), repeat=game.values)]
    hands = np.array([features(_cards(h), game.values) for h in held], np.float32)
    at, mover = np.arange(len(rows)), rows[:, MOVER]
    out = np.zeros((len(rows), sum(shape(game))), np.float32)

    def counts(words: Any) -> Any:
        return np.stack([(words >> (WIDTH * v)) & FIELD for v in range(game.values)], axis=1)

    radix = (game.copies + 1) ** np.arange(game.values)[::-1]
    out[:, :own] = hands[counts(rows[at, HAND + mover]) @ radix]
    out[:, own : 2 * own] = hands[counts(rows[at, HAND + 1 - mover]) @ radix]
    out[at, 2 * own + rows[at, CI + mover] - 1] = 1
    out[at, 2 * own + ci + rows[at, CI + 1 - mover] - 1] = 1
    begin = 2 * own + 2 * ci
    out[:, begin : begin + deck] = counts(rows[:, DECK])
    out[:, begin + deck] = 1
    kinds = np.array([PLAYERS.index(name) for name in names])
    begin += deck + 1
    out[at, begin + kinds[mover]] = 1
    out[at, begin + len(PLAYERS) + kinds[1 - mover]] = 1
    return out


def _cards(held: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(value + 1 for value, count in enumerate(held) for _ in range(count))


def learn() -> None:
    """Train by Adam on the logistic loss, with a falling learning rate, and write the table."""
    game, began = CipherSiege(), time.monotonic()
    parts, wins = [], []
    for seed, names in enumerate(product(PLAYERS, PLAYERS)):
        rows, won = games(game, names, seed)
        parts.append(inputs(game, rows, names))
        wins.append(np.where(rows[:, MOVER] == 0, won, 1 - won))
    x, y = np.concatenate(parts), np.concatenate(wins).astype(np.float32)
    print(f"{len(x):,} positions in {time.monotonic() - began:.0f} s")
    chance, fit = np.random.default_rng(0), len(x) - len(x) // 20
    first = chance.normal(0, 0.2, (x.shape[1], HIDDEN)).astype(np.float32)
    last = chance.normal(0, 0.2, HIDDEN + 1).astype(np.float32)
    learned = [(p, np.zeros_like(p), np.zeros_like(p)) for p in (first, last)]

    def forward(some: Any) -> tuple[Any, Any]:
        hidden = np.maximum(0, some @ first)
        return hidden, 1 / (1 + np.exp(-(hidden @ last[:-1] + last[-1])))

    step, steps = 0, EPOCHS * (fit // ROWS)
    for epoch in range(EPOCHS):
        order = chance.permutation(fit)
        for begin in range(0, fit - ROWS + 1, ROWS):
            some = order[begin : begin + ROWS]
            hidden, said = forward(x[some])
            off = (said - y[some]) / ROWS
            slopes = (
                x[some].T @ (np.outer(off, last[:-1]) * (hidden > 0)).astype(np.float32),
                np.append(hidden.T @ off, off.sum()),
            )
            step += 1
            rate = RATE * (1 - step / steps) + 1e-5
            for (part, mean, square), slope in zip(learned, slopes, strict=True):
                mean += 0.1 * (slope - mean)
                square += 0.001 * (slope * slope - square)
                part -= rate * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-7)
        error = float(np.mean((forward(x[fit:])[1] - y[fit:]) ** 2))
        print(f"epoch {epoch + 1}: mean squared error {error:.5f} of {np.var(y[fit:]):.5f}")
    facts = {"positions": len(x), "error": round(error, 5)}
    payload = first.astype("<f4").tobytes() + last.astype("<f4").tobytes()
    print(tables.store(game, payload, KIND, PATH, facts))


def measure(pairs: int = 10_000) -> None:
    """Print raw and adjusted mean scores and the ratio of their variances, for some pairings."""
    print(f"{pairs:,} pairs each; intervals are 95 %")
    print("| game | players | score | without luck | fewer games |\n|---|---|---|---|---|")
    for slug in SLUGS:
        game = load(slug)
        for names in PAIRINGS:
            one, two = (chooser(game, name) for name in names)
            assert one is not None
            assert two is not None
            met = play_pairs(game, one, two, 1, range(pairs), TURN_LIMIT, watch=True)
            found = adjusted(game, names, met, TURN_LIMIT)
            assert found is not None
            raw = np.where(met.winner == NO_WINNER, 0.5, 1.0 - met.winner)
            both = [by_pair(raw), by_pair(found.score)]
            known = [(r, a) for r, a in zip(*both, strict=True)]
            without = scaled(known)
            saving = saved(both[0], without)
            shown = [
                scored(told)
                for told in (estimate(both[0]), Sample.adjusted(without, both[0]).score())
            ]
            times = (
                "all"
                if saving is None
                else (f"{saving.times:.1f} [{saving.low:.1f}, {saving.high:.1f}]")
            )
            print(f"| {game.title} | {' - '.join(names)} | {' | '.join(shown)} | {times} |")


def by_pair(scores: Any) -> list[float]:
    """The first player's score of each pair."""
    turned = np.where(np.arange(len(scores)) % 2 == 0, scores, 1 - scores)
    found: list[float] = turned.reshape(-1, 2).mean(axis=1).tolist()
    return found


if __name__ == "__main__":
    if sys.argv[1:] == ["learn"]:
        learn()
    elif sys.argv[1:2] == ["measure"] and all(word.isdigit() for word in sys.argv[2:]):
        measure(*map(int, sys.argv[2:]))
    else:
        sys.exit(__doc__)
