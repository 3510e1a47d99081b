"""Learn a game against a built-in opponent and plot, while learning, how good the agent is.

    python3 examples/learn_and_plot.py [--game firewall-breach] [--agent table|ppo] [--out FILE.svg]

The agent is a table of action values in plain numpy, or sb3-contrib's MaskablePPO. Every so often
two figures are taken, and both are drawn into one SVG picture:

- on-policy regret: the agent plays games against its opponent without exploring, and each of its
  moves is held against the solution. It is what the agent gave away in the positions it went to.
- exploitability: what the agent gives away against the best response to it, computed exactly over
  every position that any opponent can bring about (`duels.measure`), both seats on average.

The first can be 0 for an agent that is far from perfect: its opponent never asked the right
questions. The second is 0 only if no opponent can gain anything against the agent.

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
from duels.algorithms import solve
from duels.envs.policy import EnvPolicy
from duels.games import load
from duels.measure import exploitability

Choose = Callable[[Any, Any], int]  # from an observation and a mask to an action
Curve = list[tuple[int, float, float]]  # steps learned, on-policy regret a game, exploitability


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


class Meter:
    """Takes both figures of an agent, as it plays without exploring, and keeps the curve."""

    def __init__(self, slug: str, opponent: str, games: int) -> None:
        self.slug, self.opponent, self.games = slug, opponent, games
        self.curve: Curve = []

    def measure(self, steps: int, choose: Choose, policy: EnvPolicy) -> None:
        lost = regret(self.slug, self.opponent, choose, self.games)
        exact = exploitability(self.slug, policy).total / 2
        self.curve.append((steps, lost, exact))
        print(
            f"{steps:>9} steps   on-policy regret {lost:.4f} a game   "
            f"exploitability {exact:.4f} a seat",
            flush=True,
        )


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

    def policy(self, observations: Any, masks: Any) -> Any:
        """The same for many positions, as probabilities: the best action for certain."""
        nothing = np.zeros(self.actions)
        known = np.array([self.values.get(row.tobytes(), nothing) for row in observations])
        chosen = np.where(masks, known, -np.inf).argmax(axis=1)
        return np.eye(self.actions)[chosen]

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


def learn_table(meter: Meter, steps: int, points: int) -> None:
    env = make(meter.slug, meter.opponent)
    table = Table(env.action_space.n)
    policy = env.unwrapped.policy(table.policy)
    meter.measure(0, table.best, policy)
    for point in range(1, points + 1):
        table.learn(env, steps // points, seed=1 if point == 1 else None)
        meter.measure(point * steps // points, table.best, policy)


def learn_ppo(meter: Meter, steps: int, points: int) -> None:
    # Networks this small lose more than they gain by sharing the work.
    import_module("torch").set_num_threads(1)
    ppo = import_module("sb3_contrib").MaskablePPO
    rollout = min(1024, steps // points)
    env = make(meter.slug, meter.opponent)
    model = ppo("MlpPolicy", env, n_steps=rollout, device="cpu", seed=1)

    def choose(observation: Any, mask: Any) -> int:
        return int(model.predict(observation, action_masks=mask, deterministic=True)[0])

    def policy(observations: Any, masks: Any) -> Any:
        chosen = model.predict(observations, action_masks=masks, deterministic=True)[0]
        return np.eye(masks.shape[1])[chosen]

    measured = env.unwrapped.policy(policy)
    meter.measure(0, choose, measured)
    for _ in range(points):
        model.learn(steps // points, reset_num_timesteps=False)
        meter.measure(model.num_timesteps, choose, measured)


def picture(curve: Curve, title: str) -> str:
    """Both curves as an SVG picture, on one scale."""
    wide, high, left, top = 520, 240, 70, 74
    most, last = max(max(one, two, 1e-9) for _, one, two in curve), curve[-1][0]

    def line(which: int, colour: str) -> str:
        points = " ".join(
            f"{left + wide * row[0] / last:.1f},{top + high * (1 - row[which] / most):.1f}"
            for row in curve
        )
        return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>\n'

    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + wide + 30}" '
        f'height="{top + high + 50}" font-family="DejaVu Sans,Helvetica,sans-serif" '
        f'font-size="13">\n<rect width="100%" height="100%" fill="#ffffff"/>\n'
        f'<text x="20" y="26" font-size="16" font-weight="bold">{title}</text>\n'
        f'<text x="{left}" y="52" fill="#c44e52">exploitability: what its best response gains, '
        f"a seat</text>\n"
        f'<text x="{left + wide}" y="52" text-anchor="end" fill="#4c78a8">on-policy regret, '
        f"a game</text>\n"
        f'<path d="M{left},{top} V{top + high} H{left + wide}" fill="none" stroke="#888888"/>\n'
        f'<text x="{left - 8}" y="{top + 5}" text-anchor="end">{most:.3f}</text>\n'
        f'<text x="{left - 8}" y="{top + high}" text-anchor="end">0</text>\n'
        f'<text x="{left + wide}" y="{top + high + 20}" text-anchor="end">{last} steps</text>\n'
        f"{line(1, '#4c78a8')}{line(2, '#c44e52')}</svg>\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="learn a game and plot how good the agent is")
    parser.add_argument("--game", default="firewall-breach")
    parser.add_argument("--opponent", default="greedy")
    parser.add_argument("--agent", choices=["table", "ppo"], default="table")
    parser.add_argument("--steps", type=int, default=40_000)
    parser.add_argument("--points", type=int, default=20, help="how often it is measured")
    parser.add_argument("--games", type=int, default=300, help="played to measure the regret")
    parser.add_argument("--out", default="learning.svg")
    given = parser.parse_args()
    meter = Meter(given.game, given.opponent, given.games)
    learn = learn_table if given.agent == "table" else learn_ppo
    learn(meter, given.steps, given.points)
    curve, title = meter.curve, f"{load(given.game).title}: how good while learning ({given.agent})"
    with open(given.out, "w", encoding="utf-8") as file:
        file.write(picture(curve, title))
    print(
        f"regret {curve[0][1]:.4f} at first, {curve[-1][1]:.4f} in the end; "
        f"exploitability {curve[0][2]:.4f} at first, {curve[-1][2]:.4f} in the end: {given.out}"
    )


if __name__ == "__main__":
    main()
