"""Games of other packages in the environments: as good as the built-in ones, or refused in a line.

Each test is a program of its own, in which the games are installed: registries outlive a test.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugins import GOOFSPIEL, install

ROOT = Path(__file__).parents[2]
RL = pytest.mark.extra("rl")
SPIEL = pytest.mark.extra("openspiel")
REFUSED = (
    "NotEncoded: bare-goofspiel has no numerical encoding: "
    "it does not define moves, features, encode"
)
TELL = (
    "def told(ask, *given, **settings):\n"
    "    try:\n"
    "        return ask(*given, **settings)\n"
    "    except Exception as error:\n"
    "        print(f'{type(error).__name__}: {error}')\n"
)


def run(place: Path, script: str) -> str:
    """What a program prints, warnings included, where what is in a folder is installed."""
    done = subprocess.run(
        [sys.executable, "-c", TELL + script],
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{place}"},
        capture_output=True, text=True, cwd=place,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout + "".join(line for line in done.stderr.splitlines() if "left out" in line)


@RL
def test_pettingzoo_plays_a_game_of_another_package(tmp_path: Path) -> None:
    install(tmp_path)
    script = (
        "import duels.envs.pettingzoo as zoo, pettingzoo\n"
        "from pettingzoo.test import parallel_api_test\n"
        "both = zoo.parallel_env('goofspiel', cards=4)\n"
        "parallel_api_test(both, num_cycles=200)\n"
        "if hasattr(pettingzoo, 'make'):\n"
        "    both = pettingzoo.make('parallel', 'duels/Goofspiel-v0')\n"
        "env = zoo.env('goofspiel')\n"
        "for seed in range(20):\n"
        "    env.reset(seed=seed)\n"
        "    for agent in env.agent_iter():\n"
        "        seen, reward, over, cut, info = env.last()\n"
        "        done = over or cut\n"
        "        env.step(None if done else env.action_space(agent).sample(seen['action_mask']))\n"
        "print(seen['observation'].tolist()[:10], info['reason'])\n"
        "told(zoo.env, 'bare-goofspiel')\n"
        "told(zoo.parallel_env, 'bare-goofspiel')\n"
        "zoo.env('number-clash').reset(seed=1)\n"
    )
    last = "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0] All prizes are gone."
    assert run(tmp_path, script).splitlines()[-3:] == [last, REFUSED, REFUSED]


@RL
def test_gymnasium_plays_a_game_of_another_package(tmp_path: Path) -> None:
    install(tmp_path)
    script = (
        "import gymnasium, duels.envs.gymnasium\n"
        "for opponent in ('greedy', 'perfect', 'ismcts'):\n"
        "    env = gymnasium.make('duels/Goofspiel-v0', opponent=opponent, cards=3)\n"
        "    for seed in range(5):\n"
        "        _, info = env.reset(seed=seed)\n"
        "        over = False\n"
        "        while not over:\n"
        "            action = env.action_space.sample(info['action_mask'])\n"
        "            _, _, over, _, info = env.step(action)\n"
        "    print(info['by'])\n"
        "told(gymnasium.make, 'duels/BareGoofspiel-v0')\n"
        "gymnasium.make('duels/NumberClash-v0').reset(seed=1)\n"
    )
    assert run(tmp_path, script).splitlines() == ["rules", "rules", "rules", REFUSED]


@SPIEL
def test_openspiel_plays_a_game_of_another_package(tmp_path: Path) -> None:
    install(tmp_path)
    script = (
        "import pyspiel, duels.envs.openspiel\n"
        "game = pyspiel.load_game('python_duels_goofspiel(cards=3)')\n"
        "pyspiel.random_sim_test(game, 20, False, False, True)\n"
        "print(game.get_type().dynamics, game.get_type().chance_mode)\n"
        "state = game.new_initial_state()\n"
        "state.apply_action(1)\n"
        "state.apply_actions([2, 0])\n"
        "print(state.information_state_string(0))\n"
        "told(pyspiel.load_game, 'python_duels_bare_goofspiel')\n"
        "pyspiel.load_game('python_duels_number_clash').new_initial_state()\n"
    )
    assert run(tmp_path, script).splitlines()[-3:] == [
        "Dynamics.SIMULTANEOUS ChanceMode.EXPLICIT_STOCHASTIC",
        "Player 1: chance:2; 1:3; 2:1",
        REFUSED,
    ]


@RL
def test_a_batch_of_a_game_that_is_not_encoded_is_refused_in_one_line(tmp_path: Path) -> None:
    install(tmp_path)
    script = (
        "import gymnasium, duels.envs.gymnasium, duels.games\n"
        "told(gymnasium.make_vec, 'duels/BareGoofspiel-v0', num_envs=4)\n"
    )
    assert run(tmp_path, script).splitlines() == [
        "NoKernel: BareGoofspiel has no kernel, and none can be built from its rules: "
        "it does not define moves, features, encode"
    ]


@pytest.mark.slow
@RL
def test_a_batch_of_a_game_without_a_kernel_is_played_on_its_tree(tmp_path: Path) -> None:
    install(tmp_path)
    script = (
        "import gymnasium, duels.envs.gymnasium\n"
        "games = gymnasium.make_vec('duels/Goofspiel-v0', num_envs=4, cards=3)\n"
        "games.reset(seed=1)\n"
        "ends = 0\n"
        "for _ in range(9):\n"
        "    actions = games.action_masks().argmax(axis=1)\n"
        "    ends += int(games.step(actions)[2].sum())\n"
        "print(ends)\n"
    )
    assert run(tmp_path, script).splitlines() == ["12"]


@pytest.mark.slow
@RL
def test_a_kernel_of_another_package_is_used(tmp_path: Path) -> None:
    games = {"coin-wars": "tests.plugins.coin_wars:SPEC"}
    install(tmp_path, games)
    script = (
        "from duels.envs.vector import Batch\n"
        "batch = Batch('coin-wars', 8, seed=1)\n"
        "while not batch.step(batch.random_actions()).terminated.any():\n"
        "    pass\n"
        "print(type(batch.game).__name__)\n"
        "import gymnasium, duels.envs.gymnasium\n"
        "games = gymnasium.make_vec('duels/CoinWars-v0', num_envs=3, opponent='greedy')\n"
        "print(games.reset(seed=1)[0].shape)\n"
    )
    assert run(tmp_path, script).splitlines() == ["CoinWars", "(3, 23)"]


@RL
@SPIEL
def test_a_game_that_cannot_be_loaded_takes_no_other_with_it(tmp_path: Path) -> None:
    install(tmp_path, {**GOOFSPIEL, "broken": "nowhere:Broken"})
    script = (
        "import duels.envs.pettingzoo as zoo, duels.envs.gymnasium, duels.envs.openspiel, pyspiel\n"
        "zoo.env('goofspiel').reset(seed=1)\n"
        "pyspiel.load_game('python_duels_goofspiel')\n"
    )
    said = run(tmp_path, script)
    assert "broken is left out: No module named 'nowhere'" in said
