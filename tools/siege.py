"""Computes the figures of docs/explanation/cipher-siege.md. Needs duels[solve].

python3 tools/siege.py bounds     # bounds on a best response by the public tree
python3 tools/siege.py itself     # the value of the strategy by the public tree
python3 tools/siege.py respond    # the gain of learned responders
python3 tools/siege.py leak       # the same against a strategy with a planted flaw
python3 tools/siege.py small      # small variants: training and responders against exact solutions
python3 tools/siege.py head       # games against random, greedy and ISMCTS
python3 tools/siege.py repeat     # whether an interrupted training gives the same bytes
python3 tools/siege.py states     # numbers of states in the table, and of those with values
python3 tools/siege.py curve      # both bounds during a training run

A half-width after ± is that of a 95 % confidence interval.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from duels.algorithms import tables
from duels.algorithms.compiled import need_numba, np
from duels.games.cipher_siege.bounds.certify import certify
from duels.games.cipher_siege.bounds.public_bounds import TAU_STEP, PublicResponder, tighten_bounds
from duels.games.cipher_siege.bounds.public_search import ITSELF
from duels.games.cipher_siege.bounds.q_responder import MeanScore, Responder, mean_score
from duels.games.cipher_siege.compiled_policy import new_scratch
from duels.games.cipher_siege.compiled_rules import new_states
from duels.games.cipher_siege.compiled_tables import Tables
from duels.games.cipher_siege.rules import CipherSiege
from duels.games.cipher_siege.store import Store
from duels.games.cipher_siege.strategy import (
    BEST,
    CERTIFIED,
    EXPLOITABLE,
    KIND,
    UNKNOWN,
    Strategy,
    outward,
)
from duels.games.cipher_siege.training.publish import collect, first_player, frozen
from duels.games.cipher_siege.training.rebuild import rebuild
from duels.games.cipher_siege.training.run import Trainer
from tools.cipher_siege.head_to_head import GREEDY, ISMCTS, NAMES, RANDOM, contest_score, face
from tools.cipher_siege.leaks import copied, plant
from tools.cipher_siege.small_exact import Exact

SMALL: list[tuple[dict[str, Any], int]] = [
    ({"integrity": 5, "values": 3, "copies": 2, "hand": 1, "limit": 3}, 7),
    ({"integrity": 8, "values": 3, "copies": 2, "hand": 2, "limit": 3}, 5),
    ({"integrity": "7/6", "values": 3, "copies": 2, "hand": 1, "limit": 4}, 6),
]
LEAKS = (0.002, 0.005, 0.02)
STEP = 1_000_000  # games of learning between two lines of progress
PARTS = (0.125, 0.25, 0.5, 1.0)  # fractions of the learning after which a responder is scored
BEGAN = time.monotonic()


def note(what: str) -> None:
    """Print progress to the error stream."""
    print(f"{time.monotonic() - BEGAN:6.0f} s  {what}", file=sys.stderr, flush=True)


def open_shipped() -> tuple[tables.Table, Strategy]:
    table = tables.find_table(CipherSiege(), KIND)
    assert table is not None, "the table of the default rules ships with the package"
    return table, Strategy(table.payload)


def shipped() -> tuple[CipherSiege, Tables, Store]:
    """The shipped strategy of the default rules."""
    game = CipherSiege()
    table, strategy = open_shipped()
    note("reading the strategy")
    return game, *frozen(game, strategy, table.facts["fine_plies"])


def asked(given: argparse.Namespace) -> tuple[CipherSiege, Tables, Store]:
    """The strategy in the given file, or the shipped one."""
    return shipped() if given.table is None else opened(given.table)


def seats(given: argparse.Namespace) -> tuple[int, ...]:
    return (0, 1) if given.seat is None else (given.seat - 1,)


def opened(path: str) -> tuple[CipherSiege, Tables, Store]:
    """The strategy in a file, with its rules."""
    table = tables.open_table(path)
    assert table is not None, f"{path} has another format"
    assert table.kind == KIND, f"{path} is no strategy of Cipher Siege"
    game = CipherSiege(**table.settings)
    return game, *frozen(game, Strategy(table.payload), table.facts["fine_plies"])


def taught(seat: int, tb: Tables, store: Store, games: int) -> Responder:
    """A responder that has learned from the given number of games."""
    responder = Responder(seat, tb, store)
    teach(responder, games)
    return responder


def teach(responder: Responder, games: int) -> None:
    begun = responder.games
    while responder.games < begun + games:
        responder.learn(min(STEP, begun + games - responder.games))
        note(f"seat {responder.seat + 1}: learned from {responder.games:,} games")


def bounds(given: argparse.Namespace) -> None:
    game, tb, store = asked(given)
    for seat in seats(given):
        learner = taught(seat, tb, store, given.learn)
        note(f"seat {seat + 1}: the learned responder alone scores {learner.score(given.games)}")
        responder = PublicResponder(game, seat, tb, store, learner.q_table)
        note(f"seat {seat + 1}: compiling")
        responder.search(1.0)
        passes = tighten_bounds(responder, 60 * given.minutes, given.games, given.tau, given.step)
        for found in passes:
            low, high = outward(found.lower, found.upper)
            if given.json:
                print(json.dumps({"seat": seat + 1, **found._asdict()}), flush=True)
                continue
            print(
                f"seat {seat + 1}: a best response scores at least {low:.4f}, at most "
                f"{high:.4f}; {found.seconds:.0f} s, tau {found.tau:.1e}, {found.choices} "
                f"public histories, {found.leaves} leaves; a player scored {found.score}",
                flush=True,
            )


def itself(given: argparse.Namespace) -> None:
    game, tb, store = asked(given)
    own = mean_score(first_player(tb, store, given.games), given.games)
    print(f"first player, the strategy against itself: {own}", flush=True)
    for seat in seats(given):
        responder = PublicResponder(game, seat, tb, store)
        note(f"seat {seat + 1}: the strategy's own moves on the public tree")
        found = responder.search(given.tau, ITSELF)
        mean = own.mean if seat == 0 else 1 - own.mean
        assert found.lower - own.half <= mean <= found.upper + own.half, (found, own)
        print(
            f"seat {seat + 1}: by the tree it scores at least {found.lower:.4f}, at most "
            f"{found.upper:.4f}; in games {mean:.4f} ± {own.half:.4f}; {found.seconds:.0f} s",
            flush=True,
        )


def respond(given: argparse.Namespace) -> None:
    _, tb, store = asked(given)
    note("the strategy against itself")
    base = mean_score(first_player(tb, store, given.games), given.games)
    print(f"first player, the strategy against itself: {base}", flush=True)
    for seat in seats(given):
        own = base.mean if seat == 0 else 1 - base.mean
        responder = Responder(seat, tb, store)
        for part in PARTS:
            teach(responder, int(given.learn * part) - responder.games)
            found = responder.score(given.games)
            print(
                f"seat {seat + 1}: learned from {responder.games} games: {found}, "
                f"gain {found.mean - own:+.4f}",
                flush=True,
            )


def leak(given: argparse.Namespace) -> None:
    _, tb, sound = asked(given)
    for leaky in seats(given):
        sizes = [0.0, *LEAKS]
        stores = [leaking(tb, sound, leaky, size, given.games) for size in sizes]
        for seat in (1 - leaky, leaky):
            scores: list[MeanScore] = []
            for size, store in zip(sizes, stores, strict=True):
                scores.append(taught(seat, tb, store, given.learn).score(given.games))
                print(
                    f"leak of {size} in seat {leaky + 1}: the responder in seat {seat + 1} scores "
                    f"{scores[-1]}, {scores[-1].mean - scores[0].mean:+.4f} by the leak",
                    flush=True,
                )


def leaking(tb: Tables, sound: Store, leaky: int, size: float, games: int) -> Store:
    """A strategy with a planted flaw in one seat, which costs about `size` of its score."""
    scores = []
    for share in (0.0, 1.0):
        store = copied(sound)
        plant(tb, store, leaky, share)
        rng = np.array([leaky], dtype=np.uint64)
        scores.append(face(games, 1 - leaky, tb, sound, store, new_states(), new_scratch(), rng))
    store = copied(sound)
    plant(tb, store, leaky, size / (scores[1] - scores[0]))
    return store


def curve(given: argparse.Namespace) -> None:
    game, run = CipherSiege(), Trainer(CipherSiege())
    for iterations in given.points:
        while run.iterations < iterations:
            note(f"{run.iterations:,} iterations")
            run.run(min(10_000, iterations - run.iterations))
        strategy = frozen(game, collect(run))
        found = certify(game, *strategy, 60 * given.minutes, lambda part, what: note(what))
        own = first_player(*strategy)
        facts = found.facts()
        print(
            f"{iterations:,} iterations: itself {own:.4f}; a best response scores "
            + " and ".join(f"{low:.4f} to {high:.4f}" for low, high in facts[BEST])
            + f"; exploitable by {facts[EXPLOITABLE]:.4f} to {facts[CERTIFIED]:.4f}",
            flush=True,
        )


def small(given: argparse.Namespace) -> None:
    for options, cap in SMALL:
        game = CipherSiege(**options)
        note(f"{options}: the whole tree")
        exact = Exact(game, cap)
        equilibrium = exact.solve(600)
        gap = sum(exact.value(equilibrium, seat, True) for seat in (0, 1)) - 1
        print(
            f"{options}, {cap} turns: {len(exact.tree.level)} nodes, "
            f"{len(exact.owner)} information sets; exact value "
            f"{exact.value(equilibrium, 0, False):.5f}, within {gap:.1e}",
            flush=True,
        )
        for iterations in (10, given.iterations):
            run = Trainer(game, 3, cap)
            run.run(iterations)
            mine = exact.import_strategy(run.tables, run.store)
            gap = sum(exact.value(mine, seat, True) for seat in (0, 1)) - 1
            print(
                f"  {iterations} iterations: value {exact.value(mine, 0, False):.5f}, "
                f"exploitable by {gap:.5f} in both seats",
                flush=True,
            )
            for seat in (0, 1):
                own, best = exact.value(mine, seat, False), exact.value(mine, seat, True)
                note(f"seat {seat + 1}: a responder learns")
                responder = Responder(seat, run.tables, run.store, 19)
                responder.learn(given.learn)
                print(
                    f"    seat {seat + 1}: own {own:.5f}, best response {best:.5f} (gain "
                    f"{best - own:.5f}); learned {responder.score(given.games)}",
                    flush=True,
                )


def head(given: argparse.Namespace) -> None:
    game, tb, store = shipped()
    for foe in (RANDOM, GREEDY, ISMCTS):
        games = given.search_games if foe == ISMCTS else given.games
        if not games:
            continue
        note(f"{games} games from either seat against {NAMES[foe]}")
        scores = [contest_score(game, tb, store, s, foe, games, given.budget) for s in (0, 1)]
        half = sqrt(sum(score.half**2 for score in scores)) / 2
        print(
            f"against {NAMES[foe]}: seat 1 {scores[0]}, seat 2 {scores[1]}, "
            f"both {sum(score.mean for score in scores) / 2:.4f} ± {half:.4f}",
            flush=True,
        )


def repeat(given: argparse.Namespace) -> None:
    with TemporaryDirectory() as folder:
        one, two = f"{folder}/one", f"{folder}/two"
        for path, iterations in (
            (one, given.iterations),
            (two, given.iterations // 3),
            (two, given.iterations),
        ):
            note(f"training up to {iterations} iterations")
            rebuild(CipherSiege(), lambda part, what: None, path, None, iterations, 7, 0)
        for kind in ("", ".training"):
            same = Path(one + kind).read_bytes() == Path(two + kind).read_bytes()
            print(f"{kind or 'table'}: {'the same bytes' if same else 'DIFFERENT'}")


def states(given: argparse.Namespace) -> None:
    table, strategy = open_shipped()
    valued = sum(any(value != UNKNOWN for value in state.values) for state in strategy)
    print(f"{strategy.states} states, {valued} with values; {len(table.payload)} bytes")


def main() -> None:
    need_numba()
    parser = argparse.ArgumentParser(description="figures for docs/explanation/cipher-siege.md")
    commands = parser.add_subparsers(dest="command", required=True)

    def command(run: Any, **numbers: int) -> None:
        made = commands.add_parser(run.__name__)
        made.set_defaults(run=run)
        for name, number in numbers.items():
            made.add_argument(f"--{name.replace('_', '-')}", type=int, default=number, metavar="N")

    command(bounds, games=4_000_000, learn=40_000_000)
    made = commands.choices["bounds"]
    made.add_argument("--minutes", type=float, default=4.0, metavar="M", help="for each seat")
    made.add_argument("--tau", type=float, default=1e-4, help="of the first pass")
    made.add_argument("--step", type=float, default=TAU_STEP, help="from pass to pass")
    made.add_argument("--json", action="store_true", help="a line of JSON for each pass")
    command(itself, games=10_000_000)
    commands.choices["itself"].add_argument("--tau", type=float, default=1e-5)
    command(respond, learn=80_000_000, games=20_000_000)
    command(leak, learn=10_000_000, games=20_000_000)
    for name in ("bounds", "itself", "respond", "leak"):
        made = commands.choices[name]
        made.add_argument("--table", metavar="FILE", help="default: the one that ships")
        which = "that leaks" if name == "leak" else "that responds"
        made.add_argument("--seat", type=int, choices=(1, 2), help=f"{which}; default both")
    command(curve)
    made = commands.choices["curve"]
    points = [100_000, 1_000_000, 3_000_000]
    made.add_argument("--points", type=int, nargs="+", default=points, metavar="ITERATIONS")
    made.add_argument("--minutes", type=float, default=1.5, help="of measuring, for each seat")
    command(small, iterations=300_000, learn=300_000, games=1_000_000)
    command(head, games=1_000_000, search_games=20_000, budget=2000)
    command(repeat, iterations=30_000)
    command(states)
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
