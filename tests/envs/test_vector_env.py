"""The Gymnasium vector environment."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

import duels
from duels.core.errors import OptionError
from duels.envs.kernels import have_numba, np
from duels.envs.naming import env_id
from duels.envs.vector_env import DuelVectorEnv, gymnasium
from duels.games import BUILT_IN

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not have_numba() or gymnasium is None, reason="needs the extra duels[rl]"),
]


@pytest.mark.parametrize("slug", BUILT_IN)
def test_make_vec_gives_the_batch(slug: str) -> None:
    importlib.import_module("duels.envs.gymnasium")
    env = gymnasium.make_vec(env_id(slug), num_envs=8, seat="alternate")
    assert isinstance(env.unwrapped, DuelVectorEnv)
    observation, info = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert info["action_mask"].any(axis=1).all()
    assert info["seat"].tolist() == [0, 1] * 4
    alone = gymnasium.make_vec(env_id(slug), num_envs=2, vectorization_mode="sync")
    assert alone.reset(seed=1)[0].shape == (2, observation.shape[1])


@pytest.mark.parametrize("slug", BUILT_IN)
def test_the_vector_environment_keeps_gymnasiums_promises(slug: str) -> None:
    env = DuelVectorEnv(slug, num_envs=64, seat="alternate", turn_limit=30)
    assert env.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    assert isinstance(env, gymnasium.vector.VectorEnv)
    recorded = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
    observation, info = recorded.reset(seed=5)
    ended = 0
    for _ in range(80):
        assert observation in env.observation_space
        assert info["action_mask"].shape == (64, env.single_action_space.n)
        actions = env.games.random_actions()
        assert actions in env.action_space
        assert info["action_mask"][np.arange(64), actions].all()
        observation, rewards, terminated, truncated, info = recorded.step(actions)
        assert rewards.dtype == np.float64
        over = terminated | truncated
        assert set(np.unique(rewards[~terminated]).tolist()) <= {0.0}
        if over.any():
            ended += int(over.sum())
            assert (info["_final_obs"] == over).all()
            assert not info["final_info"]["illegal"].any()
            for row in np.flatnonzero(over):
                assert info["final_obs"][row] in env.single_observation_space
                assert info["final_obs"][row].tolist() != observation[row].tolist()
        else:
            assert "final_obs" not in info
    assert ended > 0
    assert recorded.episode_count == ended
    recorded.close()


def test_seeds_and_unmasked_actions_in_the_vector_environment() -> None:
    def story(size: int) -> list[Any]:
        env = DuelVectorEnv("number-clash", num_envs=size, numbers=5, points=2)
        env.action_space.seed(1)
        observation, info = env.reset(seed=5)
        told = [observation[:3].tolist()]
        for step in range(20):
            actions = (np.arange(size) % 3 + step) % 5
            observation, rewards, terminated, _, info = env.step(actions)
            told += [observation[:3].tolist(), rewards[:3].tolist(), terminated[:3].tolist()]
            if "final_info" in info:
                wrong = info["final_info"]["illegal"]
                assert (rewards[wrong] <= 0).all()
        actions = np.zeros(size, np.int64)
        for _ in range(2):
            _, rewards, terminated, _, info = env.step(actions)
        assert info["final_info"]["illegal"].any()
        return told

    assert story(3) == story(50)
    env = DuelVectorEnv("number-clash", num_envs=2)
    assert (env.move_name(2), env.feature_names()[-1]) == ("3", "round")
    with pytest.raises(IndexError, match="out of range"):
        env.step(np.array([0, 10]))
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(OptionError, match="rendered"):
        DuelVectorEnv("number-clash", render_mode="ansi")


def test_the_example_of_the_page_runs() -> None:
    page = Path(duels.__file__).parent.parent / "docs" / "envs" / "vector.md"
    examples = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, str(page), "exec"), {})
