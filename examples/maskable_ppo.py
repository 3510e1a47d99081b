"""MaskablePPO of sb3-contrib on the compiled batch, through an adapter, measured exactly.

    python3 examples/maskable_ppo.py [--game firewall-breach] [--opponent perfect] [--out curve.svg]

`DuelVecEnv` is the adapter: thousands of games as one `VecEnv` of Stable-Baselines3, with masks.

Needs `pip install '.[rl,torch]'`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from curve import Curve
from sb3_contrib import MaskablePPO
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

from duels.envs.vector_env import DuelVectorEnv
from duels.games import load

RATE, CURIOSITY = 1e-3, 0.02  # both fall to 0
SMALL = 20  # the most of a number that is also given value by value


class DuelVecEnv(VecEnv):
    """A `DuelVectorEnv` as Stable-Baselines3 wants it; takes the same arguments."""

    def __init__(self, game: Any, num_envs: int, *arguments: Any, **settings: Any) -> None:
        settings["autoreset_mode"] = "SAME_STEP"  # as SB3 has it
        self.env = DuelVectorEnv(game, num_envs, *arguments, **settings)
        super().__init__(num_envs, self.env.single_observation_space, self.env.single_action_space)
        self.actions: Any = None

    def reset(self) -> Any:
        (seed, *_), _ = self._seeds, self._reset_seeds()  # of the batch: each game has its stream
        return self.env.reset(seed=seed)[0]

    def step_async(self, actions: Any) -> None:
        self.actions = actions

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        seen, rewards, terminated, truncated, info = self.env.step(self.actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(terminated | truncated):
            infos[row]["terminal_observation"] = info["final_obs"][row]
            infos[row]["TimeLimit.truncated"] = bool(truncated[row])
        return seen, rewards.astype(np.float32), terminated | truncated, infos

    # What SB3 asks of each game in turn.

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        if method_name != "action_masks":
            raise AttributeError(f"games in a batch have no method {method_name} of their own")
        return list(self.env.action_masks()[list(self._get_indices(indices))])

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.env, attr_name) for _ in self._get_indices(indices)]

    def has_attr(self, attr_name: str) -> bool:
        return hasattr(self.env, attr_name)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise AttributeError("the games of a batch share their settings: make a new one")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Any]:
        raise NotImplementedError("thousands of games are not drawn")

    def close(self) -> None:
        self.env.close()


class Numbers(BaseFeaturesExtractor):
    """Numbers from 0 to 1, and an input for each value that a small number can take.

    Perfect play changes from one number to the next: hard to learn from a single scaled input.
    """

    def __init__(self, space: Any) -> None:
        pairs = [(place, value) for place, most in enumerate(space.high) if 1 < most <= SMALL
                 for value in range(most + 1)]  # fmt: skip
        super().__init__(space, len(space.high) + len(pairs))
        self.places, self.values = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
        self.most = torch.tensor(space.high, dtype=torch.float32)

    def forward(self, seen: Any) -> Any:
        return torch.cat([seen / self.most, (seen[:, self.places] == self.values).float()], 1)


def mix_of(model: Any) -> Any:
    """The model's probabilities, as `duels.measure` asks for them."""

    @torch.no_grad()
    def mix(observations: Any, masks: Any) -> Any:
        seen = torch.as_tensor(observations, dtype=torch.float32)
        return (
            model.policy.get_distribution(seen, np.asarray(masks))
            .distribution.probs.double()
            .numpy()
        )

    return mix


def main() -> None:
    parser = argparse.ArgumentParser(description="MaskablePPO on a batch, measured exactly")
    parser.add_argument("--game", default="firewall-breach")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE")
    parser.add_argument("--opponent", default="perfect")
    parser.add_argument("--steps", type=int, default=1_600_000)
    parser.add_argument("--points", type=int, default=12, help="how often it is measured")
    parser.add_argument("--size", type=int, default=1024, help="games at a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="an SVG picture of the curve")
    given = parser.parse_args()

    torch.set_num_threads(1)  # networks this small lose more than they gain by sharing the work
    game = load(given.game, **dict(text.split("=", 1) for text in given.set))
    env = DuelVecEnv(game, given.size, given.opponent, "alternate")
    model = MaskablePPO(
        "MlpPolicy", VecMonitor(env), n_steps=16, batch_size=4096, n_epochs=4, gamma=1.0,
        gae_lambda=0.8, learning_rate=RATE, ent_coef=CURIOSITY, seed=given.seed, device="cpu",
        policy_kwargs={"features_extractor_class": Numbers},
    )  # fmt: skip
    policy = env.env.policy(mix_of(model))
    curve = Curve(game, f"{game.title}: MaskablePPO, opponent {given.opponent}")
    curve.measure(0, policy)
    for point in range(given.points):
        left = 1 - point / given.points
        model.lr_schedule = lambda _, left=left: RATE * left
        model.ent_coef = CURIOSITY * left
        model.learn(given.steps // given.points, reset_num_timesteps=False)
        curve.measure(model.num_timesteps, policy)
    if given.out:
        curve.save(given.out)


if __name__ == "__main__":
    main()
