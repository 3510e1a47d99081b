"""The Gymnasium vector environment."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="needs the extra duels[solve]")
pytest.importorskip("gymnasium", reason="needs the extra duels[rl]")

import duels
from duels.core.errors import IllegalMove, OptionError
from duels.core.game import Outcome, Pick
from duels.core.pieces import without
from duels.envs.registration import env_id
from duels.envs.vector import Batch
from duels.envs.vector_env import DuelVectorEnv, gymnasium
from duels.games import BUILT_IN, load
from duels.kernels import np

pytestmark = pytest.mark.slow


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
    with pytest.raises(OptionError, match="rendered"):
        DuelVectorEnv("number-clash", render_mode="ansi")


def lowest(observation: Any, mask: Any) -> Any:
    return mask.argmax(axis=1)


MODES = ("SAME_STEP", "NEXT_STEP", "DISABLED")


def episodes(env: Any, steps: int) -> list[list[list[Any]]]:
    """By row, each episode as what was seen, won and whether it ended; the lowest moves are played.

    Written down as each mode tells it: what is left out is only where the ends are found.
    """
    mode, size = env.autoreset_mode.name, env.num_envs
    observation, info = env.reset(seed=3)
    found = [[[observation[row].tolist(), int(info["seat"][row])]] for row in range(size)]
    waiting = np.zeros(size, np.bool_)
    for _ in range(steps):
        actions = info["action_mask"].argmax(axis=1)
        observation, rewards, terminated, truncated, info = env.step(actions)
        over = terminated | truncated
        assert not (over & waiting).any()
        assert not rewards[waiting].any()
        last = info["final_obs"] if mode == "SAME_STEP" and over.any() else observation
        for row in np.flatnonzero(~waiting):
            seen = last[row] if over[row] else observation[row]
            found[row][-1] += [seen.tolist(), float(rewards[row]), bool(terminated[row])]
        if mode == "DISABLED" and over.any():
            assert not info["action_mask"][over].any()
            with pytest.raises(IllegalMove, match="are over: reset them with"):
                env.step(actions)
            observation, info = env.reset(options={"reset_mask": over})
        if mode == "NEXT_STEP":
            assert info["action_mask"][over].all()
        begun, waiting = (waiting, over) if mode == "NEXT_STEP" else (over, waiting)
        for row in np.flatnonzero(begun):
            found[row].append([observation[row].tolist(), int(info["seat"][row])])
    return found


@pytest.mark.parametrize("seat", ["alternate", "random"])
@pytest.mark.parametrize("opponent", ["random", lowest], ids=["compiled", "policy"])
@pytest.mark.parametrize("slug", ["firewall-breach", "number-clash", "cipher-siege"])
def test_the_ways_to_go_on_tell_the_same_games(slug: str, opponent: Any, seat: str) -> None:
    same, following, disabled = (
        episodes(DuelVectorEnv(slug, 6, opponent, seat, autoreset_mode=mode), 60) for mode in MODES
    )
    for row in range(6):
        count = min(len(same[row]), len(following[row])) - 1
        assert count >= 3
        assert same[row][:count] == following[row][:count]
        assert disabled[row][0] == same[row][0]  # later ones are dealt once more, by `reset`
    if seat == "random":
        assert {episode[1] for row in same for episode in row} == {0, 1}


def test_gymnasiums_wrappers_take_the_next_step_mode() -> None:
    env = DuelVectorEnv("firewall-breach", 16, autoreset_mode="NEXT_STEP")
    wrappers = gymnasium.wrappers.vector
    wrapped = wrappers.NormalizeReward(wrappers.NormalizeObservation(env))
    wrapped.reset(seed=1)
    for _ in range(30):
        observation, *_ = wrapped.step(env.games.random_actions())
    assert observation.shape == (16, 3)
    with pytest.raises(ValueError, match="NEXT_STEP or DISABLED"):
        wrappers.NormalizeObservation(DuelVectorEnv("firewall-breach", 2))


@pytest.mark.parametrize("slug", BUILT_IN)
def test_observations_are_from_0_to_1_if_so_wished(slug: str) -> None:
    plain, scaled = (DuelVectorEnv(slug, 32, "random", normalize=yes) for yes in (False, True))
    assert scaled.single_observation_space.dtype == np.float32
    assert (plain.single_observation_space.high == plain.games.batch.game.bounds()).all()
    (seen, _), (within, _) = plain.reset(seed=1), scaled.reset(seed=1)
    for _ in range(60):
        assert within in scaled.observation_space
        assert seen in plain.observation_space
        assert np.allclose(within * plain.single_observation_space.high, seen)
        actions = plain.games.random_actions()
        seen, _, terminated, _, _ = plain.step(actions)
        scaled.games.random_actions()  # of the same stream
        within, _, _, _, info = scaled.step(actions)
        for row in np.flatnonzero(terminated):
            assert info["final_obs"][row] in scaled.single_observation_space


def test_skipped_games_are_told_once_with_what_they_brought() -> None:
    moves = DuelVectorEnv("cipher-siege").games.batch.moves

    def silly(observation: Any, mask: Any) -> Any:
        return np.full(len(mask), moves.index("defend 5"))

    for opponent, sign in (("greedy", -1), (silly, 1)):
        for mode in ("SAME_STEP", "NEXT_STEP"):
            env = DuelVectorEnv("cipher-siege", 64, opponent, 1, autoreset_mode=mode)
            _, info = env.reset(seed=1)
            told = info["skipped"].copy()
            assert (info["skipped_return"] == sign * info["skipped"]).all()
            for _ in range(40):
                *_, info = env.step(info["action_mask"].argmax(axis=1))
                told += info["skipped"]
                assert (info["skipped_return"] == sign * info["skipped"]).all()
            late = env.games.skipped - told  # of games whose first observation is not shown yet
            assert (late == 0).all() or mode == "NEXT_STEP"
            assert told.sum() > 20


@pytest.mark.parametrize("swap", ["random", "chosen"])
def test_what_a_batch_recalls_is_what_the_rules_recall(swap: str) -> None:
    """Both seats of one batch, at every choice and at the end, by histories kept here."""
    game, size = load("cipher-siege", swap=swap), 40
    batch = Batch(game, size, seed=4, memory=True)
    assert batch.features[17:] == tuple(game.recalled())
    courses: list[tuple[list[Any], list[Any]]] = [([], []) for _ in range(size)]
    told = 0
    for _ in range(60):
        actions = batch.random_actions()
        swaps = np.array([move.startswith("swap") for move in batch.moves])
        wanted = (batch.mask & swaps).argmax(axis=1)  # many swaps, or little is recalled
        eager = np.arange(size) % 2 == 0
        actions = np.where(eager & (batch.mask & swaps).any(axis=1), wanted, actions)
        before = [batch.state(row) for row in range(size)]
        ended = batch.step(actions).terminated
        for row in range(size):
            state = before[row]
            move = batch.moves[actions[row]]
            event_list: list[tuple[Any, Pick | Outcome]] = []
            mover = 1 - state.mover if state.phase == "swap" else state.mover
            event_list.append((state, Pick(((mover, move),))))
            if move.startswith("swap") and swap == "random" and not ended[row]:
                swapping = game.play(state, move)
                after = batch.state(row).hands[state.mover]  # who swaps draws nothing more
                left = without(state.hands[state.mover], (int(move[5:]),))
                taken = next(card for card in after if after.count(card) > left.count(card))
                event_list.append((swapping, Outcome(str(taken), state.mover)))
            for viewer in (0, 1):
                courses[row][viewer].extend(game.redact(s, e, viewer) for s, e in event_list)
                if ended[row]:
                    seen = batch.final_observation[row, viewer, 17:].tolist()
                    assert seen == list(game.recall(tuple(courses[row][viewer]), viewer))
            if ended[row]:
                courses[row] = ([], [])
        for row in range(size):
            player = int(batch.player[row])
            recalled = game.recall(tuple(courses[row][player]), player)
            assert batch.observation[row, 17:].tolist() == list(recalled)
            told += sum(recalled[:10])
    assert told > 500


def test_a_batch_with_memory_is_the_same_game() -> None:
    plain, more = (DuelVectorEnv("cipher-siege", 32, "greedy", memory=yes) for yes in (False, True))
    (seen, _), (wider, _) = plain.reset(seed=1), more.reset(seed=1)
    for _ in range(30):
        assert (wider[:, :17] == seen).all()
        assert wider in more.observation_space
        actions = plain.games.random_actions()
        assert (actions == more.games.random_actions()).all()
        seen, *_ = plain.step(actions)
        wider, *_ = more.step(actions)
    assert len(more.feature_names()) == 33
    with pytest.raises(OptionError, match="observations of number-wars need no memory"):
        DuelVectorEnv("number-wars", memory=True)


def test_an_action_that_is_no_option_is_refused_if_so_wished() -> None:
    env = DuelVectorEnv("number-clash", 3, illegal="raise", autoreset_mode="NEXT_STEP")
    env.reset(seed=1)
    env.step(np.array([4, 4, 4]))
    before = env.games.observation.copy()
    with pytest.raises(IllegalMove, match="game 1: 5 is not an option now"):
        env.step(np.array([3, 4, 3]))
    assert (env.games.observation == before).all()


def test_masks_and_modes_that_make_no_sense_are_refused() -> None:
    env = DuelVectorEnv("number-clash", 3, autoreset_mode="DISABLED")
    for mask, error in (([True] * 3, TypeError), (np.ones(2, np.bool_), ValueError)):
        with pytest.raises(error, match="reset_mask"):
            env.reset(options={"reset_mask": mask})
    with pytest.raises(ValueError, match="at least one true value"):
        env.reset(options={"reset_mask": np.zeros(3, np.bool_)})
    with pytest.raises(OptionError, match="autoreset_mode takes SAME_STEP or NEXT_STEP or DIS"):
        DuelVectorEnv("number-clash", autoreset_mode="never")
    assert DuelVectorEnv("number-clash", autoreset_mode="NextStep").autoreset_mode is (
        gymnasium.vector.AutoresetMode.NEXT_STEP
    )


def test_the_example_of_the_page_runs() -> None:
    page = Path(duels.__file__).parent.parent / "docs" / "reference" / "envs" / "vector.md"
    examples = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, str(page), "exec"), {})


def test_last_observations_are_an_array_of_objects_that_no_later_step_writes_to() -> None:
    env = DuelVectorEnv("firewall-breach", 200, opponent="random", strength=2)
    env.reset(seed=1)
    _, _, terminated, _, info = env.step(np.ones(200, np.int64))
    final = info["final_obs"]
    env.step(np.ones(200, np.int64))
    rows = np.flatnonzero(terminated)
    assert 0 < len(rows) < 200
    assert (len(final), final.dtype, np.asarray(final).shape) == (200, object, (200,))
    assert [row for row, seen in enumerate(final) if seen is not None] == rows.tolist()
    assert all(0 in seen[:2] for seen in final[terminated])
