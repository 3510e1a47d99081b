"""One side of a batch."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("numba", reason="needs the extra: pip install 'duels[solve]'")

from duels.core.game import AnyGame
from duels.envs.vector import BY_FORFEIT, BY_LIMIT, BY_RULES, RUNNING, Batch, Versus
from duels.games import BUILT_IN, load
from duels.kernels import np
from tests.variants import name

pytestmark = pytest.mark.slow

GAMES = [load(slug) for slug in BUILT_IN] + [load("digit-duel", hidden=True)]
OPEN = [load(slug) for slug in BUILT_IN if slug != "number-clash"]  # no sealed choices


def first_legal(observation: Any, mask: Any) -> Any:
    """A policy of an agent or an opponent: the first legal move of each row."""
    return mask.argmax(axis=-1)


def any_legal(observation: Any, mask: Any) -> Any:
    """A policy: some legal move of each row, always the same for the same rows."""
    liking = np.random.default_rng(len(mask)).random(mask.shape)
    return np.where(mask, liking, -1.0).argmax(axis=-1)


@pytest.mark.cases(12)
@pytest.mark.parametrize("opponent", ["random", any_legal])
@pytest.mark.parametrize("seat", [0, 1, "alternate"])
@pytest.mark.parametrize("game", GAMES, ids=name)
def test_one_side_of_every_game(game: AnyGame, seat: Any, opponent: Any) -> None:
    """Always the agent's choice, rewards at the end only, and no forfeits."""
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
    """Digit Duel, both sides playing their lowest digit: no damage, the last attacker wins."""
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


def test_a_policy_that_fails_leaves_the_games_as_they_were() -> None:
    failing = False

    def policy(observation: Any, mask: Any) -> Any:
        if failing:
            raise KeyError("out of order")
        return mask.argmax(axis=-1)

    for game in (*OPEN, load("number-clash")):
        games = Versus(game, 20, seed=1, opponent=policy)
        if game.slug == "digit-duel":  # its first step is followed by one without the opponent
            games.step(games.random_actions())
        games.step(games.random_actions())
        before = [games.batch.state(row) for row in range(20)]
        seen = games.observation.copy()
        actions = games.random_actions()
        failing = True
        with pytest.raises(KeyError):
            games.step(actions)
        failing = False
        assert [games.batch.state(row) for row in range(20)] == before
        assert np.array_equal(games.observation, seen)
        games.step(actions)


def attack(observation: Any, mask: Any) -> Any:
    return np.zeros(len(mask), np.int64)


@pytest.mark.parametrize("answer", [1.5, None, [[0], [1]], [0, 1, 0]])
@pytest.mark.parametrize("slug", ["firewall-breach", "number-clash"])
def test_what_a_policy_gives_must_be_actions(slug: str, answer: Any) -> None:
    games = Versus(load(slug), 2, seed=1, opponent=lambda seen, mask: np.array(answer))
    with pytest.raises(ValueError, match="the opponent's policy gives a whole number for each of"):
        games.step(games.random_actions())


def test_a_game_without_a_choice_of_the_agent_is_dealt_again() -> None:
    game = load("firewall-breach", strength=1)
    games = Versus(game, 500, seed=1, seat=1)
    assert (games.batch.player == 1).all()
    assert {games.batch.state(i).strength for i in range(500)} == {(1, 1)}
    rewards, terminated, _ = games.step(np.ones(500, np.int64))
    assert terminated.all()
    assert (rewards == 1).all()
    # A bypass wins surely and an attack every other time.
    assert abs(Versus(game, 500, seed=1, seat=1).skipped.mean() - 3) < 0.7
    attacking = Versus(game, 500, seed=1, seat=1, opponent=attack)
    assert abs(attacking.skipped.mean() - 1) < 0.4
    attacking.step(np.ones(500, np.int64))  # the agent wins everywhere
    assert abs(attacking.skipped.mean() - 2) < 0.5
    attacking.reset(seed=2)
    assert abs(attacking.skipped.mean() - 1) < 0.4
    with pytest.raises(RuntimeError, match="before the agent has a choice"):
        Versus(game, 2, seed=1, seat=1, opponent=lambda seen, mask: np.ones(len(mask), np.int64))
    with pytest.raises(RuntimeError, match="before the agent has a choice"):
        Versus(load("firewall-breach", strength=1, hit=1), 1, seed=1, seat=1, turn_limit=1)


@pytest.mark.parametrize("slug", ["firewall-breach", "number-clash"])
def test_an_opponents_action_that_is_no_move_is_named(slug: str) -> None:
    games = Versus(load(slug), 2, seed=1, opponent=lambda seen, mask: np.full(len(mask), 99))
    with pytest.raises(ValueError, match="the opponent's policy gives 99 in game 0, which is no"):
        games.step(games.random_actions())


def test_games_elsewhere_stand_still_against_any_opponent() -> None:
    for opponent in ("random", "perfect", first_legal):
        games = Versus(load("number-wars"), 4, seed=1, opponent=opponent)
        before = [games.batch.state(row) for row in range(4)]
        where = np.array([True, False, True, False])
        games.step(np.full(4, 3), where=where)
        after = [games.batch.state(row) for row in range(4)]
        assert [one == two for one, two in zip(before, after, strict=True)] == [False, True] * 2
        games.reset(where=where)
        assert [games.batch.state(row) == before[row] for row in range(4)] == [True] * 4
