"""Every game counts, also those decided before the agent's first move; held to exact values."""

from __future__ import annotations

import importlib
import math
from typing import Any

import pytest

from duels.core.chance import stream
from duels.core.errors import OptionError
from duels.core.game import AnyGame
from duels.core.match import Match
from duels.core.player import View
from duels.games import load
from duels.measure import head_to_head
from duels.players import make_opponent

EXTRA = "needs the extra: pip install 'duels[rl]'"
np: Any = pytest.importorskip("numpy", reason=EXTRA)
gymnasium: Any = pytest.importorskip("gymnasium", reason=EXTRA)
gym: Any = importlib.import_module("duels.envs.gymnasium")
statistics: Any = importlib.import_module("duels.envs.statistics")
evaluate: Any = statistics.evaluate

SIEGE, BREACH = "duels/CipherSiege-v0", "duels/FirewallBreach-v0"
# The first attack wins at once where it hits.
SHORT = {"strength": 3, "hit": 3}
SIGMAS = 4.5

needs_numba = pytest.mark.extra("solve")


def batch(test: Any) -> Any:
    """Mark a test that compiles a kernel."""
    return pytest.mark.slow(needs_numba(test))


def uniform(seed: int) -> Any:
    """Every legal action equally likely, of one game or of rows of them."""
    rng = np.random.default_rng(seed)

    def choose(observation: Any, info: dict[str, Any]) -> Any:
        mask = info["action_mask"]
        return (mask * (1 + rng.random(mask.shape))).argmax(axis=-1)

    return choose


def first(observation: Any, info: dict[str, Any]) -> Any:
    return info["action_mask"].argmax(axis=-1)


def exact(game: AnyGame, opponent: str, seat: int) -> float:
    """The expected return of uniform play, computed over all positions."""
    pair = ("random", opponent) if seat == 0 else (opponent, "random")
    score = head_to_head(game, *pair)
    return 2 * (score if seat == 0 else 1 - score) - 1


def check(found: Any, true: float, games: int) -> None:
    assert found.games == found.wins + found.draws + found.losses == games
    assert found.mean == pytest.approx((found.wins - found.losses) / games)
    spread = (found.wins + found.losses) / games - found.mean**2
    assert found.standard_error == pytest.approx(math.sqrt(spread / (games - 1)))
    assert abs(found.mean - true) < SIGMAS * found.standard_error


def made(kind: str, **settings: Any) -> Any:
    if kind == "single":
        return gymnasium.make(BREACH, **settings, **SHORT)
    if kind == "sync":
        return gymnasium.make_vec(BREACH, 7, vectorization_mode="sync", **settings, **SHORT)
    return gymnasium.make_vec(BREACH, 64, autoreset_mode=kind, **settings, **SHORT)


KINDS = [
    "single",
    "sync",
    pytest.param("SAME_STEP", marks=[needs_numba, pytest.mark.slow]),
    pytest.param("NEXT_STEP", marks=[needs_numba, pytest.mark.slow]),
]


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_is_the_exact_value_and_that_of_episodes_alone_is_not(kind: str) -> None:
    games = 3000
    env = made(kind, opponent="greedy", seat=1)
    found = evaluate(env, uniform(1), games=games, seed=4)
    true = exact(load("firewall-breach", **SHORT), "greedy", seat=1)
    check(found, true, games)
    episodes = games - found.early
    assert found.early > games / 10
    alone = (found.mean * games + found.early) / episodes  # each of the early ones brought -1
    assert alone - true > 2 * SIGMAS * found.standard_error


@pytest.mark.parametrize("seat", ["random", "alternate"])
@pytest.mark.parametrize("kind", KINDS)
def test_both_seats_are_half_of_all_games(kind: str, seat: str) -> None:
    game = load("firewall-breach", **SHORT)
    true = (exact(game, "greedy", 0) + exact(game, "greedy", 1)) / 2
    games = 64 * 50
    settings: dict[str, Any] = {"seat": seat}
    if kind == "sync" and seat == "alternate":
        games = 7 * 500  # of each environment half
    check(evaluate(made(kind, **settings), uniform(2), games=games, seed=9), true, games)


@batch
def test_seats_are_drawn_for_each_game_where_a_function_is_the_opponent() -> None:
    def attack(observations: Any, masks: Any) -> Any:
        return np.zeros(len(masks), np.int64)

    env = made("SAME_STEP", opponent=attack, seat="random")
    _, info = env.reset(seed=3)
    from_seat = [0, 0]
    for _ in range(300):
        from_seat[1] += int(info["skipped"].sum())
        seats = info["seat"]
        _, _, terminated, truncated, info = env.step(first(None, info))
        for seat in (0, 1):
            from_seat[seat] += int(((terminated | truncated) & (seats == seat)).sum())
    share = from_seat[1] / sum(from_seat)
    assert abs(share - 0.5) < 0.05, from_seat


@pytest.mark.parametrize("slug", ["cipher-siege", "firewall-breach"])
def test_each_game_is_the_match_with_its_seed(slug: str) -> None:
    """Not in the mean but game by game, against the referee that people play with."""
    env = gym.DuelEnv(slug, "greedy", seat=1)
    early = 0
    for seed in range(60):
        match = Match(load(slug), seed)
        one = make_opponent("greedy", stream(seed, 0))
        moved = False
        while match.result is None:
            if 0 in match.deciders:
                match.submit(0, one.choose(match.view(0)))
            else:
                moved = True
                options = match.view(1).options
                match.submit(1, min(options, key=env.encoding.index.__getitem__))
        found = evaluate(env, first, games=1, seed=seed)
        assert (found.wins, found.losses) == (match.result.winner == 1, match.result.winner == 0)
        assert found.early == (not moved)
        assert math.isnan(found.standard_error)
        early += found.early
    assert (early > 5) == (slug == "cipher-siege")


class Attacker:
    """Attacks with its first card if it can, and else does what is no option."""

    def choose(self, view: View) -> str:
        return "attack 1" if "attack 1" in view.options else "defend 5"


def test_early_games_may_be_won_and_lost() -> None:
    env = gym.DuelEnv("cipher-siege", Attacker(), seat=1, integrity="15/1")
    told = [env.reset(seed=seed)[1] for seed in range(40)]
    games, brought, wins = (sum(info[key] for info in told) for key in statistics.SKIPPED)
    assert 0 < wins < games
    assert brought == 2 * wins - games
    with pytest.raises(Exception, match="never has a choice"):
        gym.DuelEnv("cipher-siege", seat=1, turn_limit=1).reset(seed=1)


def test_of_early_games_only_so_many_count() -> None:
    tally = statistics.Tally(seed=1)
    assert sorted(tally.add_early((4, -1, 1))) == [-1.0, -1.0, 0.0, 1.0]
    chosen = [tuple(tally.add_early((4, -1, 1), most=1)) for _ in range(400)]
    assert abs(chosen.count((-1.0,)) - 200) < 60
    assert abs(chosen.count((0.0,)) - 100) < 50
    assert tally.result().early == 404


def test_the_wrapper_counts_early_games_in_gymnasiums_own_terms() -> None:
    env = statistics.RecordGameStatistics(gymnasium.make(SIEGE, seat=1), buffer_length=10_000)
    usual = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make(SIEGE, seat=1))
    returns: list[float] = []
    early = 0
    for number in range(80):
        seed = 3 if number == 0 else None
        _, info = env.reset(seed=seed)
        usual.reset(seed=seed)
        early += info["skipped"]
        returns += [-1.0] * info["skipped"]
        skipped, over = info["skipped"], False
        while not over:
            action = first(None, info)
            _, _, terminated, truncated, info = env.step(action)
            other = usual.step(action)[-1]
            over = terminated or truncated
        returns.append(info["episode"]["r"])
        assert {key: info["episode"][key] for key in "rl"} == {
            key: other["episode"][key] for key in "rl"
        }
        assert info["episode"]["skipped"] == -info["episode"]["skipped_r"] == skipped
    assert early > 10
    assert list(env.return_queue) == returns
    assert list(env.length_queue).count(0) == list(env.time_queue).count(0.0) == early
    assert env.episode_count == env.statistics.games == 80 + early
    assert env.statistics.mean == pytest.approx(sum(returns) / len(returns))
    assert env.statistics.early == early


@batch
@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP", "DISABLED"])
def test_the_vector_wrapper_agrees_with_gymnasiums_on_all_other_games(mode: str) -> None:
    envs = [gymnasium.make_vec(SIEGE, 16, seat=1, autoreset_mode=mode) for _ in range(2)]
    ours = statistics.RecordVectorGameStatistics(envs[0], buffer_length=10_000)
    usual = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs[1], buffer_length=10_000)
    _, info = ours.reset(seed=5)
    usual.reset(seed=5)
    early, played, told = int(info["skipped"].sum()), 0, 0
    for _ in range(60):
        actions = first(None, info)
        _, _, terminated, truncated, info = ours.step(actions)
        other = usual.step(actions)[-1]
        ended = terminated | truncated
        early += int(info["skipped"].sum())
        played += int(ended.sum())
        assert ("episode" in info) == ("episode" in other) == bool(ended.any())
        if ended.any():
            assert (info["_episode"] == ended).all()
            for key in "rl":
                assert (info["episode"][key] == other["episode"][key]).all()
            assert (info["episode"]["skipped_r"] == -info["episode"]["skipped"]).all()
            told += int(info["episode"]["skipped"].sum())
        if mode == "DISABLED" and ended.any():
            _, info = ours.reset(options={"reset_mask": ended})
            usual.reset(options={"reset_mask": ended})
            early += int(info["skipped"].sum())
    assert early > 20
    assert early - 60 < told <= early  # the rest belongs to games that go on
    assert ours.episode_count == ours.statistics.games == played + early
    assert ours.statistics.early == list(ours.length_queue).count(0) == early
    assert sum(ours.return_queue) == sum(usual.return_queue) - early


@pytest.mark.extra("torch")
def test_the_wrapper_in_stable_baselines() -> None:
    util = pytest.importorskip("stable_baselines3.common.env_util", reason="needs duels[torch]")
    envs = util.make_vec_env(
        SIEGE, 2, seed=1, env_kwargs={"seat": 1},
        wrapper_class=statistics.RecordGameStatistics, wrapper_kwargs={"stats_key": "games"},
    )  # fmt: skip
    envs.reset()
    for _ in range(40):
        masks = envs.env_method("action_masks")
        envs.step(np.array([mask.argmax() for mask in masks]))
    for found in envs.get_attr("statistics"):
        assert 0 < found.early < found.games


def test_what_cannot_be_evaluated_is_said() -> None:
    with pytest.raises(OptionError, match=r"policy is a function .*got 'greedy'"):
        evaluate(BREACH, "greedy")
    with pytest.raises(OptionError, match="games is a whole number from 1 up; got 0"):
        evaluate(BREACH, first, games=0)
    assert evaluate(BREACH, first, games=3, seed=1).games == 3
    assert evaluate("CartPole-v1", lambda observation, info: 0, games=2, seed=1).wins == 2


@batch
def test_games_that_do_not_begin_by_themselves_are_refused() -> None:
    with pytest.raises(OptionError, match="SAME_STEP or NEXT_STEP; got DISABLED"):
        evaluate(made("DISABLED"), first)
    assert evaluate(made("SAME_STEP"), first, games=5, seed=1).games == 5
