"""Gymnasium's checker over every game, opponent and seat; opponents; forfeits; masks."""

from __future__ import annotations

import asyncio
import copy
import importlib
import pickle
import warnings
from random import Random
from typing import Any

import pytest

from duels.algorithms import Unsolved
from duels.core.chance import stream
from duels.core.errors import DuelsError, IllegalMove, OptionError, UnknownName
from duels.core.game import AnyGame, Pick
from duels.core.match import Match
from duels.core.player import Player, View
from duels.games import BUILT_IN, load
from duels.players import make_opponent
from tests.variants import VARIANTS, name

EXTRA = "needs the extra: pip install 'duels[rl]'"
np: Any = pytest.importorskip("numpy", reason=EXTRA)
gymnasium: Any = pytest.importorskip("gymnasium", reason=EXTRA)
gym: Any = importlib.import_module("duels.envs.gymnasium")
checker: Any = importlib.import_module("gymnasium.utils.env_checker")

IDS = {slug: f"duels/{slug.title().replace('-', '')}-v0" for slug in BUILT_IN}


@pytest.mark.parametrize("slug", BUILT_IN)
@pytest.mark.parametrize("opponent", ["random", "greedy"])
@pytest.mark.parametrize("seat", [0, 1, "random"])
def test_gymnasiums_own_check(slug: str, opponent: str, seat: int | str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(IDS[slug], opponent=opponent, seat=seat, render_mode="ansi")
        checker.check_env(env.unwrapped)


@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_every_variant_passes_the_check(game: AnyGame) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(gym.DuelEnv(game, "random", seat=1), skip_render_check=True)


@pytest.mark.parametrize("slug", BUILT_IN)
@pytest.mark.parametrize("opponent", ["easy", "perfect"])
def test_opponents_that_know_the_solution_play(slug: str, opponent: str) -> None:
    env = gymnasium.make(IDS[slug], opponent=opponent, seat="random")
    env.reset(seed=5)
    assert len(follow(env, 15, Random(3))) == 15


@pytest.mark.parametrize("slug", BUILT_IN)
@pytest.mark.parametrize("seat", [0, 1])
def test_an_episode_is_a_match_against_the_opponent(slug: str, seat: int) -> None:
    """The same seed at the terminal's table gives the same dice and the same answers."""
    for seed in range(5):
        env = gymnasium.make(IDS[slug], opponent="greedy", seat=seat)
        _, info = env.reset(seed=seed)
        number = env.unwrapped.episode.seed
        assert (number == seed) is (not info["skipped"])
        match = Match(load(slug), number)
        other = make_opponent("greedy", stream(number, 1 - seat))
        randomness, terminated, reward = Random(seed), False, 0.0
        while not terminated:
            assert reward == 0.0
            action = randomness.choice(info["action_mask"].nonzero()[0].tolist())
            while seat not in match.deciders:
                match.submit(1 - seat, other.choose(match.view(1 - seat)))
            answers = 1 - seat in match.deciders  # a sealed choice: both at once
            answer = other.choose(match.view(1 - seat)) if answers else None
            match.submit(seat, env.unwrapped.move_name(action))
            if answer is not None:
                match.submit(1 - seat, answer)
            _, reward, terminated, truncated, info = env.step(action)
            assert not truncated
        while match.result is None:
            match.submit(1 - seat, other.choose(match.view(1 - seat)))
        assert env.unwrapped.episode.state == match.state
        assert env.unwrapped.episode.result == match.result
        winner = match.result.winner
        assert reward == (0 if winner is None else 1 if winner == seat else -1)


def test_games_without_a_choice_are_skipped_and_counted() -> None:
    env = gymnasium.make(IDS["cipher-siege"], seat=1)
    skipped = []
    for seed in range(60):
        _, info = env.reset(seed=seed)
        assert info["action_mask"].any()
        skipped.append((info["skipped"], info["skipped_return"]))
    assert any(games for games, _ in skipped)
    assert all(brought == -games for games, brought in skipped)  # the very first attack won
    with pytest.raises(DuelsError, match="never has a choice"):
        gym.DuelEnv("cipher-siege", seat=1, turn_limit=1).reset(seed=1)


class Silly:
    """Plays the same again and again, whether it is an option or not."""

    def __init__(self, move: str) -> None:
        self.move = move

    def choose(self, view: View) -> str:
        return self.move


def test_a_game_that_the_opponent_forfeits_at_once_is_a_win_that_was_skipped() -> None:
    env = gym.DuelEnv("cipher-siege", Silly("defend 5"), seat=1)
    env.reset(seed=1)
    told = [env.reset()[1] for _ in range(20)]
    assert sum(info["skipped"] for info in told) > 5
    assert all(info["skipped_return"] == info["skipped"] for info in told)


def test_an_opponent_that_forfeits_is_not_the_agents_illegal_action() -> None:
    env = gym.DuelEnv("number-clash", Silly("1"), seat=1)
    env.reset(seed=1)
    env.step(5)
    _, reward, terminated, _, info = env.step(6)
    assert (reward, terminated, info["by"], info["illegal"]) == (1.0, True, "forfeit", False)


def test_an_opponent_that_chooses_what_is_no_move_is_named() -> None:
    env = gym.DuelEnv("number-clash", Silly("eleven"), seat=1)
    with pytest.raises(IllegalMove, match="the opponent chose 'eleven', which is not a move"):
        env.reset(seed=1)


def test_a_forbidden_action_forfeits() -> None:
    env = gymnasium.make(IDS["number-clash"])
    env.reset(seed=1)
    env.step(4)
    _, reward, terminated, truncated, info = env.step(4)
    assert (reward, terminated, truncated, info["illegal"]) == (-1.0, True, False, True)
    assert not info["action_mask"].any()


def test_a_forbidden_action_raises_if_so_wished() -> None:
    env = gymnasium.make(IDS["number-clash"], illegal="raise")
    env.reset(seed=1)
    env.step(4)
    with pytest.raises(IllegalMove, match="5 is not an option"):
        env.step(4)
    env.step(5)


def test_an_index_out_of_range_is_an_error() -> None:
    env = gym.DuelEnv("number-clash")
    env.reset(seed=1)
    for action in (-1, 10):
        with pytest.raises(IllegalMove, match="from 0 to 9"):
            env.step(action)


def test_a_finished_or_missing_episode_wants_a_reset() -> None:
    env = gym.DuelEnv("number-clash", points=1)
    with pytest.raises(IllegalMove, match="call reset"):
        env.step(0)
    env.reset(seed=1)
    while env.episode.result is None:
        env.step(int(env.action_masks().nonzero()[0][0]))
    with pytest.raises(IllegalMove, match="call reset"):
        env.step(0)


def test_the_turn_limit_truncates() -> None:
    env = gymnasium.make(IDS["firewall-breach"], turn_limit=2)
    env.reset(seed=1)
    _, reward, terminated, truncated, _ = env.step(1)
    assert (reward, terminated, truncated) == (0.0, False, True)


def test_masks_are_what_maskable_ppo_asks_for() -> None:
    env = gymnasium.make(IDS["cipher-siege"], seat="random")
    seats = set()
    for seed in range(8):
        _, info = env.reset(seed=seed)
        masks = env.get_wrapper_attr("action_masks")()
        assert masks.dtype == bool
        assert masks.any()
        assert masks.tolist() == info["action_mask"].astype(bool).tolist()
        seats.add(info["seat"])
    assert seats == {0, 1}


@pytest.mark.parametrize("slug", BUILT_IN)
def test_copies_and_pickles_go_on_alike(slug: str) -> None:
    env = gymnasium.make(IDS[slug], opponent="random", seat="random")
    env.reset(seed=4)
    follow(env, 2, Random(1))
    others = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    wanted = follow(env, 40, Random(2))
    for other in others:
        assert follow(other, 40, Random(2)) == wanted


def follow(env: Any, steps: int, randomness: Random) -> list[Any]:
    came: list[Any] = []
    for _ in range(steps):
        actions = env.unwrapped.action_masks().nonzero()[0].tolist()
        if not actions:
            env.reset()
            actions = env.unwrapped.action_masks().nonzero()[0].tolist()
        observation, *rest = env.step(randomness.choice(actions))
        rest[-1]["action_mask"] = rest[-1]["action_mask"].tolist()
        came.append((observation.tolist(), rest))
    return came


def test_the_agent_reads_its_own_hand_and_no_other() -> None:
    env = gymnasium.make(IDS["cipher-siege"], seat=1, render_mode="ansi")
    env.reset(seed=3)
    text = env.render()
    hands = env.unwrapped.episode.state.hands
    assert "Hand: 3 cards" in text
    assert f"Player 2 Hand: {' '.join(map(str, hands[1]))}\n" in text


@pytest.mark.cases(10)
@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_observations_keep_to_the_bounds_of_each_feature(game: AnyGame) -> None:
    for normalize in (False, True):
        env = gym.DuelEnv(game, "random", seat="alternate", normalize=normalize, turn_limit=60)
        observation, info = env.reset(seed=1)
        for _ in range(200):
            assert observation in env.observation_space
            action = env.action_space.sample(info["action_mask"])
            observation, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                assert observation in env.observation_space
                observation, info = env.reset()
    assert env.observation_space.dtype == np.float32
    assert game.bounds() == tuple(gym.DuelEnv(game, "random").observation_space.high)


def test_memory_adds_what_is_known_from_swaps_and_the_last_actions() -> None:
    env = gymnasium.make(IDS["cipher-siege"], opponent="random", memory=True)
    names = env.unwrapped.feature_names()
    assert len(names) == env.observation_space.shape[0] == 33
    observation, info = env.reset(seed=2)
    assert not observation[17:].any()
    swap = next(a for a in info["action_mask"].nonzero()[0] if "swap" in env.unwrapped.move_name(a))
    observation, *_ = env.step(swap)
    told = dict(zip(names, observation.tolist(), strict=True))
    assert told["own swapped last"] == 1
    assert sum(told[f"own {card}s known"] for card in range(1, 6)) == 1
    checker.check_env(gym.DuelEnv("cipher-siege", memory=True, normalize=True))
    with pytest.raises(OptionError, match="observations of digit-duel need no memory"):
        gym.DuelEnv("digit-duel", memory=True)


def test_seats_alternate_from_game_to_game() -> None:
    env = gym.DuelEnv("firewall-breach", "random", seat="alternate")
    seats = [env.reset(seed=5)[1]["seat"], *(env.reset()[1]["seat"] for _ in range(3))]
    assert seats == [0, 1, 0, 1]
    assert env.reset(seed=5)[1]["seat"] == 0


def test_an_argument_that_is_none_is_called_an_argument() -> None:
    for make_env in (gymnasium.make, gymnasium.make_vec):
        with pytest.raises(OptionError, match=r"no argument 'seats'; choose from game, .*opp"):
            make_env(IDS["number-wars"], seats=1)


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in ({"seat": 2}, {"illegal": "perhaps"}, {"render_mode": "3d"}):
        with pytest.raises(OptionError):
            gym.DuelEnv("number-wars", **wrong)
    for unknown in ("nobody", "human"):
        with pytest.raises(UnknownName):
            gym.DuelEnv("number-wars", opponent=unknown)
    with pytest.raises(OptionError, match="turn_limit is a whole number from 1 up; got 0"):
        gym.DuelEnv("number-wars", turn_limit=0)


@pytest.mark.parametrize("variant", [{"integrity": 20}, {"swap": "chosen"}])
def test_an_opponent_that_cannot_play_a_variant_says_so_at_once(variant: dict[str, Any]) -> None:
    with pytest.raises(Unsolved):
        gym.DuelEnv("cipher-siege", opponent="perfect", **variant)


class Last:
    """An opponent of one's own."""

    def choose(self, view: View) -> str:
        return view.options[-1]


@pytest.mark.parametrize("slug", BUILT_IN)
def test_an_opponent_may_be_any_player(slug: str) -> None:
    env = gymnasium.make(IDS[slug], opponent=Last(), seat="random", render_mode="ansi")
    checker.check_env(env.unwrapped, skip_render_check=True)
    _, info = env.reset(seed=4)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        over = terminated or truncated
    picks = [event for _, event in env.unwrapped.episode.happened if isinstance(event, Pick)]
    assert picks


class Awaited(Player):
    """Another, which answers when it is awaited."""

    async def choose(self, view: View) -> str:
        await asyncio.sleep(0)
        return view.options[-1]


@pytest.mark.parametrize("slug", BUILT_IN)
def test_an_opponent_may_be_asynchronous(slug: str) -> None:
    def played(opponent: object) -> list[Any]:
        env = gymnasium.make(IDS[slug], opponent=opponent, seat=1, turn_limit=30)
        _, info = env.reset(seed=4)
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
            over = terminated or truncated
        happened: list[Any] = env.unwrapped.episode.happened
        return happened

    assert played(Awaited()) == played(Last())


@pytest.mark.parametrize("unknown", [None, 5, b"greedy"])
def test_what_cannot_choose_is_no_opponent(unknown: object) -> None:
    with pytest.raises(UnknownName, match=r"or has a method choose\(view\); got"):
        gym.DuelEnv("number-wars", opponent=unknown)
