"""How fast Pgx is on this machine: the nearest vectorised peer, on JAX, where it is installed.

    python3 benchmarks/pgx_peer.py [--fast] [--size N]

Needs `pip install '.[rl,jax]'`. The same kind of step as in benchmarks/vector.py: a random legal
action, autoreset, the next mask and observation, a batch of 4096 on one core, compiled as a whole.
Prints ours beside it, from the same run and by the same rule: `vector.rates`; and Firewall Breach
as an environment of Pgx (`duels.games.firewall_breach.pgx`).
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

GAMES = ("tic_tac_toe", "kuhn_poker", "leduc_holdem", "connect_four")
ROUNDS = 50  # steps in one compiled call


def stepping(env: Any, size: int) -> Any:
    """A function that plays `ROUNDS` steps of every game of a batch and says how many."""
    jax: Any = importlib.import_module("jax")
    experimental: Any = importlib.import_module("pgx.experimental")
    step = jax.vmap(experimental.auto_reset(env.step, env.init))

    def one(carry: Any, _: Any) -> tuple[Any, Any]:
        state, key = carry
        key, chosen, stepped = jax.random.split(key, 3)
        actions = experimental.act_randomly(chosen, state.legal_action_mask)
        state = step(state, actions, jax.random.split(stepped, size))
        # The sums keep masks, observations and rewards from being optimised away.
        looked = state.observation.sum() + state.legal_action_mask.sum() + state.rewards.sum()
        return (state, key), looked

    play = jax.jit(lambda carry: jax.lax.scan(one, carry, None, length=ROUNDS))
    key = jax.random.PRNGKey(1)
    carry = (jax.vmap(env.init)(jax.random.split(key, size)), key)

    def run() -> int:
        nonlocal carry
        carry, _ = jax.block_until_ready(play(carry))
        return size * ROUNDS

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description="time Pgx beside our vectors")
    parser.add_argument("--fast", action="store_true", help="a smoke test: figures mean little")
    parser.add_argument("--size", type=int, default=4096, help="games in a batch")
    asked = parser.parse_args()
    try:
        pgx: Any = importlib.import_module("pgx")
    except ImportError:
        sys.exit("Pgx is not installed: pip install '.[rl,jax]'")
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core, for both
    print(f"Million steps a second, one core, batch of {asked.size}, random legal actions\n")
    print("| game | rate |\n|---|---:|")
    vector: Any = importlib.import_module("vector")
    ours: Any = importlib.import_module("duels.games.firewall_breach.pgx")
    runs = {f"Pgx {name}": stepping(pgx.make(name), asked.size) for name in GAMES}
    runs["firewall-breach in JAX"] = stepping(ours.FirewallEnv(), asked.size)
    peers = vector.rates(runs, asked.fast)
    for name, found in peers.items():
        print(f"| {name} | {found:.2f} |", flush=True)
    fastest = max(found for name, found in peers.items() if name.startswith("Pgx"))
    for slug in vector.GOALS:
        found = vector.both_sides(vector.load(slug), asked.size, asked.fast)
        cells = [
            f"{found[column]:.2f} ({found[column] / fastest:.1f} times the fastest of Pgx)"
            for column in ("full", "packed")
        ]
        print(f"| {slug} | {', packed masks '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
