"""Learn a game against a built-in opponent and plot, while learning, what is still given away.

    python3 examples/learn_and_plot.py [--game firewall-breach] [--agent table|ppo] [--out FILE.svg]

The agent is a table of action values in plain numpy, or sb3-contrib's MaskablePPO. Every so often
it plays without exploring, and each of its moves is held against the solution of the game: the
regret of a game is the expected score that its moves gave away, 0 for perfect play. The curve is
written as an SVG picture.

Needs `pip install '.[rl]'`, and for `--agent ppo` also `pip install sb3-contrib`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from random import Random
from typing import Any

import gymnasium
import numpy as np

import duels.envs.gymnasium  # noqa: F401  (registers the games)
from duels.games import load
from duels.solve import solve

Choose = Callable[[Any, Any], int]  # from an observation and a mask to an action
Curve = list[tuple[int, float]]  # steps learned, regret a game


def make(slug: str, opponent: str) -> Any:
    name = slug.title().replace("-", "")
    return gymnasium.make(f"duels/{name}-v0", opponent=opponent, seat="random")


def regret(slug: str, opponent: str, choose: Choose, games: int) -> float:
    """The expected score given away in a game, on average over games with fixed seeds."""
    env, solution, lost = make(slug, opponent), solve(load(slug)), 0.0
    for seed in range(games):
        observation, info = env.reset(seed=seed)
        over = False
        while not over:
            duel = env.unwrapped
            action = choose(observation, info["action_mask"])
            choice = solution.assess(duel.episode.view(duel.player))
            lost += float(choice.regret(duel.move_name(action)))
            observation, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
    return lost / games


class Table:
    """Q-learning: the value of each action in each observation, towards what came of it.

    The more often an action was tried, the less one outcome counts, so that luck evens out.
    """

    def __init__(self, actions: int, curiosity: float = 0.2) -> None:
        self.values: dict[bytes, Any] = {}
        self.tries: dict[tuple[bytes, int], int] = {}
        self.actions, self.curiosity = actions, curiosity
        self.randomness = Random(1)

    def of(self, observation: Any) -> Any:
        return self.values.setdefault(observation.tobytes(), np.zeros(self.actions))

    def best(self, observation: Any, mask: Any) -> int:
        return int(np.where(mask, self.of(observation), -np.inf).argmax())

    def explore(self, observation: Any, mask: Any) -> int:
        if self.randomness.random() < self.curiosity:
            return self.randomness.choice(np.flatnonzero(mask).tolist())
        return self.best(observation, mask)

    def learn(self, env: Any, steps: int, seed: int | None) -> None:
        observation, info = env.reset(seed=seed)
        for _ in range(steps):
            action = self.explore(observation, info["action_mask"])
            after, reward, terminated, truncated, info = env.step(action)
            if not terminated:
                reward = self.of(after)[info["action_mask"].astype(bool)].max(initial=-1.0)
            values, key = self.of(observation), (observation.tobytes(), action)
            self.tries[key] = self.tries.get(key, 0) + 1
            values[action] += self.tries[key] ** -0.7 * (reward - values[action])
            observation = after
            if terminated or truncated:
                observation, info = env.reset()


def learn_table(slug: str, opponent: str, steps: int, points: int, games: int) -> Curve:
    env = make(slug, opponent)
    table = Table(env.action_space.n)
    curve = [(0, regret(slug, opponent, table.best, games))]
    for point in range(1, points + 1):
        table.learn(env, steps // points, seed=1 if point == 1 else None)
        curve.append((point * steps // points, regret(slug, opponent, table.best, games)))
        print(f"{curve[-1][0]:>9} steps   regret {curve[-1][1]:.4f} a game", flush=True)
    return curve


def learn_ppo(slug: str, opponent: str, steps: int, points: int, games: int) -> Curve:
    # Networks this small lose more than they gain by sharing the work.
    import_module("torch").set_num_threads(1)
    ppo = import_module("sb3_contrib").MaskablePPO
    rollout = min(1024, steps // points)
    model = ppo("MlpPolicy", make(slug, opponent), n_steps=rollout, device="cpu", seed=1)

    def choose(observation: Any, mask: Any) -> int:
        return int(model.predict(observation, action_masks=mask, deterministic=True)[0])

    curve = [(0, regret(slug, opponent, choose, games))]
    for _ in range(points):
        model.learn(steps // points, reset_num_timesteps=False)
        curve.append((model.num_timesteps, regret(slug, opponent, choose, games)))
        print(f"{curve[-1][0]:>9} steps   regret {curve[-1][1]:.4f} a game", flush=True)
    return curve


def picture(curve: Curve, title: str) -> str:
    """The curve as an SVG picture."""
    wide, high, left, top = 520, 240, 70, 50
    most, last = max(max(value for _, value in curve), 1e-9), curve[-1][0]
    points = " ".join(
        f"{left + wide * steps / last:.1f},{top + high * (1 - value / most):.1f}"
        for steps, value in curve
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + wide + 30}" '
        f'height="{top + high + 50}" font-family="DejaVu Sans,Helvetica,sans-serif" '
        f'font-size="13">\n<rect width="100%" height="100%" fill="#ffffff"/>\n'
        f'<text x="20" y="26" font-size="16" font-weight="bold">{title}</text>\n'
        f'<path d="M{left},{top} V{top + high} H{left + wide}" fill="none" stroke="#888888"/>\n'
        f'<text x="{left - 8}" y="{top + 5}" text-anchor="end">{most:.3f}</text>\n'
        f'<text x="{left - 8}" y="{top + high}" text-anchor="end">0</text>\n'
        f'<text x="{left + wide}" y="{top + high + 20}" text-anchor="end">{last} steps</text>\n'
        f'<polyline points="{points}" fill="none" stroke="#4c78a8" stroke-width="2"/>\n</svg>\n'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="learn a game and plot the regret while learning")
    parser.add_argument("--game", default="firewall-breach")
    parser.add_argument("--opponent", default="greedy")
    parser.add_argument("--agent", choices=["table", "ppo"], default="table")
    parser.add_argument("--steps", type=int, default=40_000)
    parser.add_argument("--points", type=int, default=20, help="how often the regret is measured")
    parser.add_argument("--games", type=int, default=300, help="played to measure it")
    parser.add_argument("--out", default="regret.svg")
    given = parser.parse_args()
    learn = learn_table if given.agent == "table" else learn_ppo
    curve = learn(given.game, given.opponent, given.steps, given.points, given.games)
    title = f"{load(given.game).title}: regret a game while learning ({given.agent})"
    with open(given.out, "w", encoding="utf-8") as file:
        file.write(picture(curve, title))
    print(f"regret {curve[0][1]:.4f} at first, {curve[-1][1]:.4f} in the end: {given.out}")


if __name__ == "__main__":
    main()
