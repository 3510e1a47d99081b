"""Batches: conventions and errors."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

pytest.importorskip("numba", reason="needs the extra: pip install 'duels[solve]'")

from duels.core.errors import OptionError
from duels.core.game import AnyGame
from duels.envs.vector import BY_FORFEIT, BY_LIMIT, BY_RULES, RUNNING, Batch, Versus
from duels.games import BUILT_IN, load
from duels.games.firewall_breach.rules import FirewallBreach
from duels.kernels import NoKernel, kernel_of, np, tree
from tests.variants import VARIANTS, name

pytestmark = pytest.mark.slow

GAMES = [load(slug) for slug in BUILT_IN] + [load("digit-duel", hidden=True)]


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


@pytest.mark.cases(3)
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
    with pytest.raises(ValueError, match="whole number from 1 up"):
        Batch(game, 0)
    with pytest.raises(ValueError, match="whole number from 1 up"):
        Batch(game, 1, turn_limit=0)
    for seed in (1.0, "x", [1, 2], np.random.default_rng(1)):
        with pytest.raises(OptionError, match="a seed is a whole number"):
            Batch(game, 1, seed)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="true or false for each of 3 games; got int64"):
        Batch(game, 3).step([0, 0, 0], where=[0, 1, 2])
    with pytest.raises(OptionError, match="alternate"):
        Versus(game, 1, seat=2)
    with pytest.raises(ValueError, match="no player chooses"):
        Batch(game, 1).set_state(0, game.play(game.start(), "attack"))

    class Variant(FirewallBreach):
        pass

    Batch(Variant(), 1)
    assert kernel_of(Variant()) is tree.KERNEL  # a subclass may have changed any rule
    with pytest.raises(NoKernel, match="92378 possible hands"):
        Batch(load("cipher-siege", values=9, limit=9), 1)


def test_a_packed_mask_is_the_mask() -> None:
    for game in GAMES:
        batch = Batch(game, 50, seed=3)
        for _ in range(10):
            packed = batch.packed_mask
            count = len(batch.moves)
            plain = np.unpackbits(packed, axis=-1, count=count, bitorder="little")
            assert plain.tolist() == batch.mask.astype(int).tolist()
            batch.step(batch.random_actions())
