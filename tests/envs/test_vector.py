"""Batches, one side of them, and the Gymnasium vector environment: conventions and errors."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import duels
from duels.core.errors import OptionError
from duels.core.game import AnyGame
from duels.envs.kernels import NoKernel, have_numba, np
from duels.envs.vector import (
    BY_FORFEIT,
    BY_LIMIT,
    BY_RULES,
    RUNNING,
    Batch,
    DuelVectorEnv,
    Versus,
    gymnasium,
)
from duels.games import BUILT_IN, load
from duels.games.firewall_breach import FirewallBreach
from tests.variants import VARIANTS, name

pytestmark = pytest.mark.skipif(not have_numba(), reason="needs the extra duels[rl]")
needs_gymnasium = pytest.mark.skipif(gymnasium is None, reason="needs the extra duels[rl]")

GAMES = [load(slug) for slug in BUILT_IN] + [load("digit-duel", hidden=True)]
OPEN = [load(slug) for slug in BUILT_IN if slug != "number-clash"]  # no sealed choices


def first_legal(observation: Any, mask: Any) -> Any:
    """A policy of an agent or an opponent: the first legal move of each row."""
    return mask.argmax(axis=-1)


def history(game: AnyGame, size: int, keep: int, steps: int = 60) -> list[Any]:
    """All that happens in the first games of a batch."""
    batch = Batch(game, size, seed=21)
    shown = []
    for _ in range(steps):
        actions = batch.random_actions()
        step = batch.step(actions)
        arrays = (actions, *step, batch.ending, batch.player, batch.mask, batch.observation)
        shown.append([array[:keep].tolist() for array in arrays])
    return shown


@pytest.mark.parametrize("game", GAMES, ids=name)
def test_a_game_does_not_depend_on_the_size_of_its_batch(game: AnyGame) -> None:
    alone = history(game, 1, 1)
    assert alone == history(game, 4096, 1)
    assert history(game, 7, 7) == history(game, 100, 7)


@pytest.mark.parametrize("game", GAMES, ids=name)
def test_seeds_matter_and_repeat(game: AnyGame) -> None:
    def actions(seed: int | None) -> Any:
        return Batch(game, 50, seed).random_actions().tolist()

    assert actions(4) == actions(4) != actions(5)
    assert actions(2**200) == actions(2**200) != actions(2**200 + 1)
    assert actions(None) != actions(None)
    batch = Batch(game, 50, 4)
    began = batch.random_actions().tolist()
    batch.reset()
    assert batch.random_actions().tolist() != began
    batch.reset(4)
    assert batch.random_actions().tolist() == began


@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_shapes_and_size_of_state(game: AnyGame) -> None:
    batch = Batch(game, 3, seed=1)
    sides = (2,) if batch.sealed else ()
    assert batch.mask.shape == (3, *sides, len(game.moves()))
    assert batch.observation.shape == (3, *sides, len(game.features()))
    assert (batch.mask.dtype, batch.observation.dtype) == (np.bool_, np.int16)
    assert batch.player.tolist() == [-1 if batch.sealed else game.first] * 3
    assert batch.state_bytes < 256
    rewards, terminated, truncated = batch.step(batch.random_actions())
    assert rewards.shape == (3, 2)
    assert terminated.shape == truncated.shape == (3,)


def test_an_illegal_action_forfeits() -> None:
    batch = Batch(load("digit-duel"), 3, seed=1)
    batch.step(np.array([6, 6, 6]))
    batch.step(np.array([0, 0, 0]))  # now Player 2 attacks, who has used the 1
    rewards, terminated, truncated = batch.step(np.array([3, 0, 5]))
    assert rewards.tolist() == [[0, 0], [1, -1], [0, 0]]
    assert terminated.tolist() == [False, True, False]
    assert not truncated.any()
    assert batch.ending.tolist() == [RUNNING, BY_FORFEIT, RUNNING]
    assert batch.state(1) == batch.game.start()
    assert batch.final_observation[1, 0, -4:].tolist() == [10, 4, 0, 0]


def test_in_a_sealed_choice_both_may_forfeit() -> None:
    batch = Batch(load("number-clash"), 4, seed=1)
    batch.step(np.array([[0, 1]] * 4))
    rewards, terminated, _ = batch.step(np.array([[0, 0], [2, 1], [0, 1], [2, 3]]))
    assert rewards.tolist() == [[-1, 1], [1, -1], [0, 0], [0, 0]]
    assert terminated.tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("actions", "error"),
    [
        ([0, 2], IndexError),
        ([-1, 0], IndexError),
        ([0], ValueError),
        ([[0, 0], [0, 0]], ValueError),
        ([0.0, 1.0], ValueError),
        ([True, False], ValueError),
    ],
)
def test_what_is_no_action_changes_nothing(actions: Any, error: type[Exception]) -> None:
    batch = Batch(load("firewall-breach"), 2, seed=1)
    before = pickle.dumps(batch)
    with pytest.raises(error):
        batch.step(actions)
    assert pickle.dumps(batch) == before
    assert batch.state(0) == batch.game.start()
    games = Versus(load("firewall-breach"), 2, seed=1)
    with pytest.raises(error):
        games.step(actions)
    assert games.batch.state(0) == games.batch.game.start()


def test_games_elsewhere_stand_still() -> None:
    batch = Batch(load("firewall-breach"), 3, seed=1)
    where = np.array([True, False, True])
    rewards, terminated, truncated = batch.step(np.array([1, 99, 1]), where=where)
    assert [batch.state(i).mover for i in range(3)] == [1, 0, 1]
    assert not rewards.any()
    assert not (terminated | truncated).any()
    with pytest.raises(ValueError, match="where"):
        batch.step(np.array([1, 1, 1]), where=[True])


def test_the_turn_limit_truncates() -> None:
    batch = Batch(load("firewall-breach", strength=999, hit=1), 2, seed=1)
    for _ in range(499):
        rewards, terminated, truncated = batch.step(batch.random_actions())
        assert not (truncated | terminated).any()
    rewards, terminated, truncated = batch.step(batch.random_actions())
    assert truncated.all()
    assert not terminated.any()
    assert not rewards.any()
    assert batch.ending.tolist() == [BY_LIMIT] * 2
    assert batch.decisions(0) == 0
    assert batch.state(0) == batch.game.start()


def test_a_game_that_ends_at_the_limit_has_ended_by_the_rules() -> None:
    batch = Batch(load("firewall-breach", strength=2), 1, seed=1, turn_limit=3)
    for _ in range(3):
        _, terminated, truncated = batch.step(np.array([1]))
    assert (terminated[0], truncated[0], batch.ending[0]) == (True, False, BY_RULES)


def test_the_next_game_begins_in_the_same_step() -> None:
    batch = Batch(load("firewall-breach", strength=1, first=1), 2, seed=1)
    rewards, terminated, _ = batch.step(np.array([1, 1]))
    assert rewards.tolist() == [[-1, 1]] * 2
    assert terminated.all()
    assert batch.final_observation.tolist() == [[[0, 1, 1], [1, 0, 0]]] * 2
    assert batch.observation.tolist() == [[1, 1, 1]] * 2
    assert batch.player.tolist() == [1, 1]


def test_results_of_a_step_are_kept_and_looks_are_not() -> None:
    batch = Batch(load("firewall-breach", strength=1), 1, seed=1)
    first, looked = batch.step([1]), batch.observation
    batch.set_state(0, batch.game.start()._replace(strength=(3, 5)))
    batch.step([0])
    assert first.rewards.tolist() == [[1, -1]]
    assert np.shares_memory(looked, batch.observation)


def test_a_copy_goes_on_identically() -> None:
    for game in GAMES:
        batch = Batch(game, 5, seed=9)
        for _ in range(3):
            batch.step(batch.random_actions())
        doubles = [batch, copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))]
        ends = []
        for double in doubles:
            for _ in range(20):
                double.step(double.random_actions())
            ends.append([double.state(i) for i in range(5)])
        assert ends[0] == ends[1] == ends[2]


def test_wrong_settings_are_refused() -> None:
    game = load("firewall-breach")
    with pytest.raises(ValueError, match="at least 1"):
        Batch(game, 0)
    with pytest.raises(ValueError, match="at least 1"):
        Batch(game, 1, turn_limit=0)
    with pytest.raises(OptionError, match="'random' or a policy"):
        Versus(game, 1, opponent="perfect")
    with pytest.raises(OptionError, match="alternate"):
        Versus(game, 1, seat=2)
    with pytest.raises(ValueError, match="nobody chooses"):
        Batch(game, 1).set_state(0, game.play(game.start(), "attack"))

    class Variant(FirewallBreach):
        pass

    with pytest.raises(NoKernel, match="Variant has no kernel"):
        Batch(Variant(), 1)
    with pytest.raises(NoKernel, match="92378 possible hands"):
        Batch(load("cipher-siege", values=9, limit=9), 1)


# One side


def any_legal(observation: Any, mask: Any) -> Any:
    """A policy: some legal move of each row, always the same for the same rows."""
    liking = np.random.default_rng(len(mask)).random(mask.shape)
    return np.where(mask, liking, -1.0).argmax(axis=-1)


@pytest.mark.parametrize("opponent", ["random", any_legal])
@pytest.mark.parametrize("seat", [0, 1, "alternate"])
@pytest.mark.parametrize("game", GAMES, ids=name)
def test_one_side_of_every_game(game: AnyGame, seat: Any, opponent: Any) -> None:
    """Always the agent's choice, rewards at the end only, and nobody forfeits."""
    games = Versus(game, 40, seed=6, seat=seat, opponent=opponent, turn_limit=30)
    met: set[int] = set()
    for _ in range(60):
        rewards, terminated, truncated = games.step(first_legal(games.observation, games.mask))
        assert games.batch.sealed or (games.batch.player == games.seats).all()
        assert games.mask.any(axis=1).all()
        assert not rewards[~terminated].any()
        assert not (terminated & truncated).any()
        assert ((games.ending != RUNNING) == (terminated | truncated)).all()
        met |= set(games.ending.tolist())
    assert RUNNING in met
    assert BY_FORFEIT not in met
    assert met & {BY_RULES, BY_LIMIT}


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("game", OPEN, ids=name)
def test_the_random_opponent_is_random_actions_between(game: AnyGame, seat: int) -> None:
    """Alone in its batch, the opponent's part of a game can be played from outside as well."""
    games, batch = Versus(game, 1, seed=6, seat=seat), Batch(game, 1, seed=6)

    def answer() -> Any:
        """The first result that the opponent's moves bring, and all moves until the agent's."""
        result = None
        while batch.player[0] != seat:
            rewards, terminated, truncated = batch.step(batch.random_actions())
            if result is None and (terminated[0] or truncated[0]):
                result = (rewards[0, seat], terminated[0], truncated[0])
        return result

    answer()
    for _ in range(100):
        assert games.observation.tolist() == batch.observation.tolist()
        assert games.mask.tolist() == batch.mask.tolist()
        rewards, terminated, truncated = batch.step(first_legal(None, batch.mask))
        mine = (rewards[0, seat], terminated[0], truncated[0])
        then = answer()
        if not (terminated[0] or truncated[0]) and then is not None:
            mine = then
        rewards, terminated, truncated = games.step(first_legal(None, games.mask))
        assert (rewards[0], terminated[0], truncated[0]) == mine


@pytest.mark.parametrize("game", GAMES, ids=name)
def test_one_side_does_not_depend_on_the_size_of_its_batch(game: AnyGame) -> None:
    def story(size: int) -> list[Any]:
        games = Versus(game, size, seed=30, seat="alternate")
        told = []
        for _ in range(40):
            step = games.step(games.random_actions())
            told.append([array[:2].tolist() for array in (*step, games.observation, games.mask)])
        return told

    assert story(2) == story(300)


def test_a_policy_and_the_pure_rules_agree() -> None:
    """Digit Duel, both sides playing their lowest digit: nobody is hurt, the last attacker wins."""
    for seat in (0, 1):
        games = Versus(load("digit-duel"), 2, seed=1, opponent=first_legal, seat=seat)
        for turn in range(9):
            rewards, terminated, _ = games.step(games.mask.argmax(axis=1))
            assert terminated.tolist() == [turn == 8] * 2
        assert rewards.tolist() == [1 if seat == 0 else -1] * 2
        assert games.final_observation[0].tolist() == [0] * 18 + [10, 10, seat, 0]


def test_an_opponents_illegal_action_forfeits_too() -> None:
    def stubborn(observation: Any, mask: Any) -> Any:
        return np.zeros(len(mask), np.int64)

    games = Versus(load("number-clash"), 3, seed=1, opponent=stubborn, seat=1)
    games.step([4, 4, 4])
    rewards, terminated, _ = games.step([5, 5, 4])
    assert rewards.tolist() == [1, 1, 0]
    assert terminated.all()


def test_a_game_without_a_choice_of_the_agent_is_dealt_again() -> None:
    game = load("firewall-breach", strength=1)
    games = Versus(game, 500, seed=1, seat=1)
    assert (games.batch.player == 1).all()
    assert {games.batch.state(i).strength for i in range(500)} == {(1, 1)}
    rewards, terminated, _ = games.step(np.ones(500, np.int64))
    assert terminated.all()
    assert (rewards == 1).all()
    with pytest.raises(RuntimeError, match="before the agent has a choice"):
        Versus(game, 2, seed=1, seat=1, opponent=lambda seen, mask: np.ones(len(mask), np.int64))
    with pytest.raises(RuntimeError, match="before the agent has a choice"):
        Versus(load("firewall-breach", strength=1, hit=1), 1, seed=1, seat=1, turn_limit=1)


# Gymnasium


@needs_gymnasium
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


@needs_gymnasium
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


@needs_gymnasium
def test_make_vec_can_build_it() -> None:
    spec = gymnasium.envs.registration.EnvSpec(
        id="test/Duel-v0",
        vector_entry_point="duels.envs.vector:DuelVectorEnv",
        kwargs={"game": "firewall-breach"},
    )
    env = gymnasium.make_vec(spec, num_envs=4, seat=1)
    observation, _ = env.reset(seed=1)
    assert observation.shape == (4, 3)
    env.close()


@needs_gymnasium
def test_the_example_of_the_page_runs() -> None:
    page = Path(duels.__file__).parent.parent / "docs" / "envs" / "vector.md"
    examples = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, str(page), "exec"), {})
