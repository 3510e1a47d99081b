"""The recipes run, learn and draw; each for seconds, where its extra is installed."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="needs the extra: pip install 'duels[solve]'")

from duels.kernels import np

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


def run(name: str, *words: str) -> list[float]:
    """The exploitabilities that a recipe prints, in order."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name), *words],
        check=True, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    return [float(found) for found in re.findall(r"exploitability (\S+)", done.stdout)]


def test_the_table_learns_perfect_play(tmp_path: Path) -> None:
    picture = tmp_path / "curve.svg"
    curve = run("tabular_q.py", "--steps", "300000", "--out", str(picture))
    assert curve[0] > 0.1
    assert curve[-1] < 0.01
    assert picture.read_text(encoding="utf-8").count("<polyline") == 2


def test_the_table_refuses_what_does_not_fit() -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        run("tabular_q.py", "--game", "number-wars")
    assert refused.value.stderr.startswith("number-wars is not for a table")


@pytest.mark.long
@pytest.mark.extra("torch")
@pytest.mark.parametrize("opponent", ["self", "perfect"])
def test_ppo_gets_better(opponent: str) -> None:
    curve = run("ppo.py", "--opponent", opponent, "--updates", "8", "--points", "1")
    assert curve[-1] < 0.6 * curve[0]


@pytest.mark.long
@pytest.mark.extra("torch")
def test_ppo_plays_sealed_games_too() -> None:
    small = ("--set", "numbers=4", "--set", "points=2", "--size", "64", "--horizon", "4")
    curve = run("ppo.py", "--game", "number-clash", *small, "--updates", "1", "--points", "1")
    assert len(curve) == 2


@pytest.mark.long
@pytest.mark.extra("torch")
def test_maskable_ppo_gets_better_on_the_batch() -> None:
    curve = run("maskable_ppo.py", "--steps", "131072", "--points", "1")
    assert curve[-1] < 0.6 * curve[0]


@pytest.mark.extra("torch")
def test_the_adapter_tells_what_the_batch_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    adapter: Any = importlib.import_module("maskable_ppo").DuelVecEnv
    vector: Any = importlib.import_module("duels.envs.vector_env").DuelVectorEnv
    env, plain = adapter("number-clash", 16, "random"), vector("number-clash", 16, "random")
    env.seed(5)
    assert (env.reset() == plain.reset(seed=5)[0]).all()
    ended = 0
    for _ in range(40):
        masks = np.stack(env.env_method("action_masks"))
        assert (masks == plain.action_masks()).all()
        actions = masks.argmax(axis=1)
        seen, rewards, dones, infos = env.step(actions)
        wanted, won, terminated, truncated, told = plain.step(actions)
        assert (seen == wanted).all()
        assert (rewards == won).all()
        assert (dones == terminated | truncated).all()
        for row in np.flatnonzero(dones):
            ended += 1
            assert (infos[row]["terminal_observation"] == told["final_obs"][row]).all()
    assert ended > 20
    assert env.env_method("action_masks", indices=3)[0].shape == (10,)
