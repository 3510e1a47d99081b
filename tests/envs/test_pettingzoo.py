"""PettingZoo's own tests over every variant, and what they do not look at: leaks and copies."""

from __future__ import annotations

import copy
import importlib
import pickle
import warnings
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from duels.algorithms.belief import consistent_events
from duels.core.errors import DuelsError, IllegalMove, OptionError
from duels.core.game import AnyGame
from duels.games import load
from duels.games.cipher_siege.rules import CipherSiege, Seen, State
from tests.variants import VARIANTS, name

EXTRA = "needs the extra: pip install 'duels[rl]'"
np: Any = pytest.importorskip("numpy", reason=EXTRA)
pettingzoo: Any = pytest.importorskip("pettingzoo", reason=EXTRA)
zoo: Any = importlib.import_module("duels.envs.pettingzoo")
positions: Any = importlib.import_module("duels.envs.snapshot")
render: Any = importlib.import_module("duels.envs.render")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PettingZoo's tests import its deprecated modules
    checks: Any = importlib.import_module("pettingzoo.test")
    api: Any = importlib.import_module("pettingzoo.test.api_test")

ALL = pytest.mark.parametrize("game", VARIANTS, ids=name)
SEALED = [game for game in VARIANTS if positions.always_sealed(game)]
IDS = {"ids": name}


@pytest.fixture
def _strict(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Warnings are errors. PettingZoo lists by name the games that may observe with a mask."""
    names = [zoo.raw_env(game).metadata["name"] for game in VARIANTS]
    monkeypatch.setattr(api, "env_obs_dicts", api.env_obs_dicts + names)
    monkeypatch.setattr(api, "env_obs_space", api.env_obs_space + names)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Said of agents whose game is over; theirs is the only mask without an action in turn.
        warnings.filterwarnings("ignore", message="Action mask numpy array is all zeros")
        yield


@pytest.mark.cases(10)
@ALL
@pytest.mark.usefixtures("_strict")
def test_pettingzoos_own_tests(game: AnyGame) -> None:
    for make in (zoo.env, zoo.raw_env):
        checks.api_test(make(game), num_cycles=1100)
    checks.seed_test(lambda: zoo.env(game), num_cycles=1100)
    checks.render_test(lambda **mode: zoo.env(game, **mode))


@pytest.mark.parametrize("game", SEALED, ids=name)
@pytest.mark.usefixtures("_strict")
def test_pettingzoos_own_parallel_tests(game: AnyGame) -> None:
    checks.parallel_api_test(zoo.parallel_env(game), num_cycles=1100)
    checks.parallel_seed_test(lambda: zoo.parallel_env(game), num_cycles=1100)


def test_sealed_games_are_those_that_say_so() -> None:
    assert {game.slug for game in SEALED} == {"number-clash", "digit-duel"}
    with pytest.raises(DuelsError, match="players take turns"):
        zoo.parallel_env("number-wars")


@pytest.mark.cases(10)
@ALL
def test_a_thousand_steps_hold_to_the_rules_of_the_interface(game: AnyGame) -> None:
    """Masks in turn only, rewards zero-sum and at the end only, the right kind of end."""
    env, randomness, steps = zoo.env(game), Random(name(game)), 0
    env.reset(seed=1)
    while steps < 1000:
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            if terminated or truncated:
                assert not observation["action_mask"].any()
                result = env.unwrapped.episode.result
                assert (terminated, truncated) == (result.by == "rules", result.by == "limit")
                won = (
                    0 if result.winner is None else 1 if zoo.AGENTS[result.winner] == agent else -1
                )
                assert reward == won
                env.step(None)
                continue
            assert reward == 0
            assert sum(env.rewards.values()) == 0
            assert observation in env.observation_space(agent)
            other = zoo.AGENTS[1 - zoo.SEAT[agent]]
            if len(env.unwrapped.episode.node.turn.deciders) == 1:
                assert not env.observe(other)["action_mask"].any()
            env.step(randomness.choice(observation["action_mask"].nonzero()[0].tolist()))
            steps += 1
        env.reset()


@ALL
def test_two_games_an_agent_cannot_tell_apart_look_the_same(game: AnyGame) -> None:
    env, randomness, different = zoo.env(game), Random(name(game)), 0
    for seat, agent in enumerate(zoo.AGENTS * 3):
        true = other = positions.initial(env.unwrapped.encoding, limit=12)
        while true.result is None:
            event = positions.random_event(true.node.turn.source, randomness)
            true = true.after(positions.event_key(env.unwrapped.encoding, event))
            fits = list(consistent_events(game, other.node.state, true.redact(seat % 2), seat % 2))
            if not fits:
                break  # the other course cannot go on like this; so far it could
            event = randomness.choice(fits)
            other = other.after(positions.event_key(env.unwrapped.encoding, event))
            different += other.node.state != true.node.state
            assert shown(env, true, agent) == shown(env, other, agent)
    assert different or not game.private or game.settings()["values"] == "1"


class LeakyHand(CipherSiege):
    def observe(self, state: State, viewer: int | None) -> Seen:
        return super().observe(state, viewer)._replace(discard=state.hands[0])


def test_the_leak_test_finds_a_leak() -> None:
    with pytest.raises(AssertionError):
        test_two_games_an_agent_cannot_tell_apart_look_the_same(LeakyHand())


def shown(env: Any, snapshot: Any, agent: str) -> list[Any]:
    """All that an agent is given at a position."""
    env.reset(seed=1)
    episode = env.unwrapped.episode
    episode.node, episode.deciders = snapshot.node, snapshot.node.turn.deciders
    seen = env.observe(agent)
    episode.happened = [step.event() for step in snapshot.path()]
    text = render.EpisodeRenderer().text(episode, viewer=zoo.SEAT[agent])
    return [seen["observation"].tolist(), seen["action_mask"].tolist(), env.infos[agent], text]


@pytest.mark.parametrize("game", SEALED, ids=name)
def test_a_sealed_pick_is_not_seen_by_the_second_agent(game: AnyGame) -> None:
    told = set()
    for pick in range(len(game.moves())):
        env = zoo.env(game, render_mode="ansi")
        env.reset(seed=1)
        assert env.agent_selection == "player_1"
        before = env.observe("player_2")
        env.step(pick)
        assert env.agent_selection == "player_2"
        after, *rest = env.last()
        assert {key: value.tolist() for key, value in after.items()} == {
            key: value.tolist() for key, value in before.items()
        }
        told.add(str([after["observation"].tolist(), rest, env.rewards, env.render()]))
        assert not env.observe("player_1")["action_mask"].any()
    assert len(told) == 1


@ALL
@pytest.mark.parametrize("make", [zoo.env, zoo.raw_env], ids=["env", "raw_env"])
def test_copies_and_pickles_go_on_alike(game: AnyGame, make: Any) -> None:
    """In mid-game, through its end and into the next game."""
    env = make(game)
    env.reset(seed=3)
    advance(env, 3, Random(1))
    others = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    wanted = advance(env, 60, Random(2))
    for other in others:
        assert advance(other, 60, Random(2)) == wanted


def advance(env: Any, steps: int, randomness: Random) -> list[Any]:
    """Random steps, and what came of each."""
    came = []
    for _ in range(steps):
        if not env.agents:
            env.reset()
        observation, *rest = env.last()
        came.append((env.agent_selection, {k: v.tolist() for k, v in observation.items()}, rest))
        actions = observation["action_mask"].nonzero()[0].tolist()
        env.step(randomness.choice(actions) if actions else None)
    return came


@pytest.mark.parametrize("game", SEALED, ids=name)
def test_parallel_and_one_after_the_other_are_one_game(game: AnyGame) -> None:
    both, each, randomness = zoo.parallel_env(game), zoo.env(game), Random(4)
    observations, _ = both.reset(seed=9)
    each.reset(seed=9)
    copied = pickle.loads(pickle.dumps(both))
    while both.agents:
        actions = {}
        for agent in zoo.AGENTS:
            mask = observations[agent]["action_mask"]
            actions[agent] = randomness.choice(mask.nonzero()[0].tolist())
            each.step(actions[agent])
        observations, rewards, terminations, truncations, _ = both.step(actions)
        assert copied.step(actions)[1:4] == (rewards, terminations, truncations)
        assert (rewards, terminations) == (each.rewards, each.terminations)
        for agent in zoo.AGENTS:
            seen = each.observe(agent)["observation"].tolist()
            assert observations[agent]["observation"].tolist() == seen


def test_a_forbidden_action_forfeits_or_raises() -> None:
    env = zoo.env("digit-duel")
    env.reset(seed=1)
    env.step(4)
    env.step(3)
    env.step(3)  # player_2 attacks with the digit just used to defend
    assert env.rewards == {"player_1": 1.0, "player_2": -1.0}
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    assert env.infos["player_2"]["illegal"]
    assert "illegal" not in env.infos["player_1"]
    strict = zoo.env("digit-duel", illegal="raise")
    strict.reset(seed=1)
    strict.step(4)
    strict.step(3)
    with pytest.raises(IllegalMove, match="4 is not an option"):
        strict.step(3)
    with pytest.raises(IllegalMove, match="from 0 to 8"):
        strict.step(9)
    strict.step(4)
    assert not any(strict.terminations.values())


def test_a_forbidden_action_forfeits_in_parallel() -> None:
    env = zoo.parallel_env("number-clash")
    env.reset(seed=1)
    env.step({"player_1": 0, "player_2": 9})
    _, rewards, terminations, _, infos = env.step({"player_1": 1, "player_2": 9})
    assert rewards == {"player_1": 1.0, "player_2": -1.0}
    assert all(terminations.values())
    assert infos["player_2"]["illegal"]
    assert env.agents == []
    env.reset(seed=1)
    env.step({"player_1": 0, "player_2": 9})
    _, rewards, terminations, _, infos = env.step({"player_1": 0, "player_2": 9})
    assert rewards == {"player_1": 0.0, "player_2": 0.0}  # both forbidden: as in a batch
    assert all(terminations.values())
    assert infos["player_1"]["illegal"]
    assert infos["player_2"]["illegal"]


@pytest.mark.parametrize("wrong", [{"player_1": 0, "player_2": 99}, {"player_1": 0}, {}])
def test_a_refused_pair_of_actions_changes_nothing(wrong: dict[str, int]) -> None:
    for illegal in ("forfeit", "raise"):
        env = zoo.parallel_env("number-clash", illegal=illegal)
        env.reset(seed=1)
        with pytest.raises(IllegalMove, match=r"from 0 to 9; got 99|did not"):
            env.step(wrong)
        env.step({"player_1": 9, "player_2": 0})
        assert env.episode.state.numbers[0] == tuple(range(1, 10))
        if illegal == "raise":
            with pytest.raises(IllegalMove, match="1 is not an option"):
                env.step({"player_1": 4, "player_2": 0})
            env.step({"player_1": 5, "player_2": 1})
            assert 5 in env.episode.state.numbers[0]


def test_the_turn_limit_truncates() -> None:
    env = zoo.env("number-wars", turn_limit=2)
    env.reset(seed=1)
    env.step(0)
    env.step(0)
    assert all(env.truncations.values())
    assert not any(env.terminations.values())
    assert set(env.rewards.values()) == {0.0}


def test_moves_and_features_have_names() -> None:
    env = zoo.env("cipher-siege").unwrapped
    assert env.move_name(0) == "attack 1"
    assert [env.move_name(i) for i in range(env.action_space("player_1").n)] == list(
        load("cipher-siege").moves()
    )
    assert env.feature_names()[:2] == ("own CI", "other CI")


def test_the_same_seed_is_the_same_match_and_the_next_game_follows() -> None:
    first, second = zoo.env("cipher-siege"), zoo.env("cipher-siege")
    for env in (first, second):
        env.reset(seed=11)
    seeds = set()
    for _ in range(3):
        assert first.unwrapped.episode.seed == second.unwrapped.episode.seed
        seeds.add(first.unwrapped.episode.seed)
        first.reset()
        second.reset()
    assert len(seeds) == 3
    assert 11 in seeds


def test_calls_in_the_wrong_order_are_refused() -> None:
    env = zoo.env("number-wars")
    with pytest.raises(AttributeError, match="before reset"):
        print(env.rewards)
    with pytest.raises(AttributeError, match="before reset"):
        print(env.agent_selection)


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(OptionError, match="render_mode"):
        zoo.env("number-wars", render_mode="3d")
    with pytest.raises(OptionError, match="illegal"):
        zoo.env("number-wars", illegal="perhaps")
    with pytest.raises(OptionError, match="no argument 'speed'"):
        zoo.env("number-wars", speed=3)
    for limit in (0, -1, 1.5, None, "9"):
        with pytest.raises(OptionError, match="turn_limit is a whole number from 1 up"):
            zoo.env("number-wars", turn_limit=limit)
    with pytest.raises(OptionError, match=r"a seed is a whole number; got 7.9"):
        zoo.raw_env("number-wars").reset(seed=7.9)


def test_seeds_may_be_numpys_or_negative() -> None:
    env, followers = zoo.env("number-wars"), set()
    for seed in (np.int64(7), -7, 7, 2**70):
        env.reset(seed=seed)
        assert env.unwrapped.episode.seed == seed
        env.reset()
        followers.add(env.unwrapped.episode.seed)
    assert len(followers) == 3


def test_human_rendering_prints(capsys: pytest.CaptureFixture[str]) -> None:
    env = zoo.env("cipher-siege", render_mode="human")
    env.reset(seed=1)
    env.step(0)
    env.step(0) if env.observe(env.agent_selection)["action_mask"][0] else None
    said = capsys.readouterr().out
    assert "Player 2" in said
    assert "Draws card" not in said  # a spectator sees no hand


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="this PettingZoo has no registry")
def test_pettingzoos_registry_knows_the_games() -> None:
    both = pettingzoo.make("parallel", "duels/NumberClash-v0", numbers=4)
    assert set(both.reset(seed=1)[0]) == {"player_1", "player_2"}
    env = pettingzoo.make("aec", "duels/DigitDuel-v0", life="9/10")
    env.reset(seed=1)
    assert env.unwrapped.game == load("digit-duel", life="9/10")


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="this PettingZoo has no registry")
def test_a_variant_that_seals_its_choices_is_made_as_parallel() -> None:
    env = pettingzoo.make("parallel", "duels/DigitDuel-v0", hidden=True)
    observations, _ = env.reset(seed=1)
    assert all(seen["action_mask"].all() for seen in observations.values())
    with pytest.raises(DuelsError, match="in digit-duel players take turns"):
        pettingzoo.make("parallel", "duels/DigitDuel-v0")


def test_two_illegal_sealed_picks_are_a_draw_one_after_the_other_too() -> None:
    env = zoo.env("number-clash")
    env.reset(seed=1)
    for action in (4, 4, 4, 4):
        assert not any(env.terminations.values())
        env.step(action)
    assert env.terminations == {"player_1": True, "player_2": True}
    assert env.rewards == {"player_1": 0.0, "player_2": 0.0}
    assert all(info["illegal"] for info in env.infos.values())
