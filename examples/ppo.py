"""PPO in plain PyTorch, in one file: by self-play or against an opponent, measured exactly.

    python3 examples/ppo.py [--game firewall-breach] [--opponent self] [--out curve.svg]

`--opponent self` plays against the policy as it is at the moment; `greedy`, `perfect` and the other
built-in opponents play inside the batch. Half of the games are played from each seat, illegal moves
have probability 0, and the last reward of a game is not discounted.

Needs `pip install '.[rl,torch]'`.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import torch
from curve import Curve
from torch import nn
from torch.distributions import Categorical

from duels.envs.vector_env import DuelVectorEnv
from duels.games import load

SMALL = 20  # the most of a number that is also given value by value


class Network(nn.Module):
    """From observations to a mix over the legal moves and a value.

    Small numbers are also given as one input for each value they can take: perfect play changes
    from one number to the next, which a network is slow to learn from a single scaled input.
    """

    def __init__(self, game: Any, width: int) -> None:
        super().__init__()
        pairs = [(place, value) for place, most in enumerate(game.bounds()) if 1 < most <= SMALL
                 for value in range(most + 1)]  # fmt: skip
        self.places, self.values = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
        self.most = torch.tensor(game.bounds(), dtype=torch.float32)
        features, moves = len(game.features()) + len(pairs), len(game.moves())

        def layers(out: int) -> nn.Sequential:
            return nn.Sequential(
                nn.Linear(features, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
                nn.Linear(width, out),
            )  # fmt: skip

        self.actor, self.critic = layers(moves), layers(1)

    def forward(self, seen: Any, mask: Any) -> tuple[Categorical, Any]:
        inputs = torch.cat([seen / self.most, (seen[:, self.places] == self.values).float()], 1)
        logits = self.actor(inputs).masked_fill(~mask, -1e9)
        return Categorical(logits=logits), self.critic(inputs)[:, 0]

    @torch.no_grad()
    def mix(self, observations: Any, masks: Any) -> Any:
        """Probabilities, as `duels.measure` asks for them."""
        found, _ = self(floats(observations), torch.as_tensor(masks, dtype=torch.bool))
        return found.probs.double().numpy()

    @torch.no_grad()
    def play(self, observations: Any, masks: Any) -> Any:
        """An action for each game, as an opponent in a batch is asked for it."""
        found, _ = self(floats(observations), torch.as_tensor(masks, dtype=torch.bool))
        return found.sample().numpy()


def floats(numbers: Any) -> Any:
    return torch.as_tensor(np.asarray(numbers, np.float32))


class Rollout:
    """Some steps of every game, and what each step was worth by generalised advantages."""

    def __init__(self, env: Any, network: Network, seen: Any, info: Any, given: Any) -> None:
        steps, games = given.horizon, given.size
        shape = (steps, games)
        self.seen = torch.zeros(*shape, env.single_observation_space.shape[0])
        self.mask = torch.zeros(*shape, int(env.single_action_space.n), dtype=torch.bool)
        self.action = torch.zeros(shape, dtype=torch.long)
        self.chance, self.value, self.reward = (torch.zeros(shape) for _ in range(3))
        going_on = torch.zeros(shape)
        for step in range(steps):
            self.seen[step] = floats(seen)
            self.mask[step] = torch.as_tensor(info["action_mask"], dtype=torch.bool)
            with torch.no_grad():
                mix, self.value[step] = network(self.seen[step], self.mask[step])
                self.action[step] = mix.sample()
                self.chance[step] = mix.log_prob(self.action[step])
            seen, rewards, ended, cut, info = env.step(self.action[step].numpy())
            self.reward[step] = floats(rewards)
            going_on[step] = floats(~(ended | cut))
        self.last = seen, info
        with torch.no_grad():
            following = network(floats(seen), torch.as_tensor(info["action_mask"]).bool())[1]
        self.advantage, ahead = torch.zeros(shape), torch.zeros(games)
        for step in reversed(range(steps)):
            error = self.reward[step] + following * going_on[step] - self.value[step]
            ahead = error + given.trace * going_on[step] * ahead
            self.advantage[step], following = ahead, self.value[step]

    def flat(self) -> list[Any]:
        parts = (self.seen, self.mask, self.action, self.chance, self.advantage,
                 self.advantage + self.value)  # fmt: skip
        return [part.flatten(0, 1) for part in parts]


def improve(
    network: Network, optimizer: Any, rollout: Rollout, curiosity: float, given: Any
) -> None:
    """Several passes of clipped policy improvement over one rollout."""
    parts = rollout.flat()
    for _ in range(given.passes):
        for rows in torch.randperm(len(parts[0])).split(given.minibatch):
            seen, mask, action, chance, advantage, target = (part[rows] for part in parts)
            mix, value = network(seen, mask)
            ratio = (mix.log_prob(action) - chance).exp()
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            clipped = ratio.clamp(1 - given.clip, 1 + given.clip)
            loss = -torch.min(ratio * advantage, clipped * advantage).mean()
            loss = loss + 0.5 * (value - target).pow(2).mean() - curiosity * mix.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="PPO in plain PyTorch, measured exactly")
    parser.add_argument("--game", default="firewall-breach")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE")
    parser.add_argument("--opponent", default="self", help="self, or the name of a player")
    parser.add_argument("--updates", type=int, default=150)
    parser.add_argument("--points", type=int, default=15, help="how often it is measured")
    parser.add_argument("--size", type=int, default=1024, help="games at a time")
    parser.add_argument("--horizon", type=int, default=16, help="steps of each game in an update")
    parser.add_argument("--passes", type=int, default=4)
    parser.add_argument("--minibatch", type=int, default=4096)
    parser.add_argument("--width", type=int, default=64, help="of the network's two layers")
    parser.add_argument("--rate", type=float, default=1e-3, help="of learning, falling to 0")
    parser.add_argument(
        "--curiosity", type=float, default=0.02, help="worth of entropy, falling to 0"
    )
    parser.add_argument("--trace", type=float, default=0.8, help="lambda of the advantages")
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="an SVG picture of the curve")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    torch.manual_seed(given.seed)
    torch.set_num_threads(1)  # networks this small lose more than they gain by sharing the work
    game = load(given.game, **dict(text.split("=", 1) for text in given.set))
    network = Network(game, given.width)
    opponent = network.play if given.opponent == "self" else given.opponent
    env = DuelVectorEnv(game, given.size, opponent, seat="alternate")
    optimizer = torch.optim.Adam(network.parameters(), lr=given.rate, eps=1e-5)
    curve = Curve(game, f"{game.title}: PPO, opponent {given.opponent}")
    policy = env.policy(network.mix)
    curve.measure(0, policy)
    seen, info = env.reset(seed=given.seed)
    for update in range(1, given.updates + 1):
        left = 1 - (update - 1) / given.updates
        optimizer.param_groups[0]["lr"] = given.rate * left
        rollout = Rollout(env, network, seen, info, given)
        seen, info = rollout.last
        improve(network, optimizer, rollout, given.curiosity * left, given)
        if update * given.points % given.updates < given.points:  # as many, evenly spread
            curve.measure(update * given.size * given.horizon, policy)
    if given.out:
        curve.save(given.out)


if __name__ == "__main__":
    main()
