"""Policies over arrays get the observations they were made for, the seat, and one policy a seat."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from duels.algorithms.solution import Unsolved
from duels.algorithms.tree_size import clearly_larger
from duels.analysis.datasets import positions
from duels.core import Match
from duels.core.errors import OptionError, UnknownName
from duels.core.game import Move
from duels.core.player import Player, View
from duels.games import charts, load, solve
from duels.measure import (
    BestResponse,
    NotMeasurable,
    best_response,
    exploitability,
    head_to_head,
    value,
)
from duels.measure.sampled import sampled_exploitability
from duels.players import make_opponent
from duels.players.runner import MatchRunner

np = pytest.importorskip("numpy", reason="needs the extra: pip install 'duels[rl]'")
gymnasium = pytest.importorskip("gymnasium", reason="needs the extra: pip install 'duels[rl]'")

from duels.envs.gymnasium import DuelEnv  # noqa: E402
from duels.envs.pettingzoo import env as zoo_env  # noqa: E402
from duels.envs.vector import Batch, Versus  # noqa: E402
from duels.envs.vector_env import DuelVectorEnv  # noqa: E402

ROOT = Path(__file__).parents[2]
TINY = {"values": 2, "copies": 2, "integrity": 3, "hand": 1, "limit": 2}
ATTACK = json.loads((ROOT / "benchmarks/data/firewall-ppo.json").read_text("utf-8"))["attack"]


def uniform(observations: Any, masks: Any) -> Any:
    return masks / masks.sum(1, keepdims=True)


class Agent(Player):
    """The trained agent as a player, which is asked about views: no array is involved."""

    def mixed_strategy(self, view: View) -> Mapping[Move, float]:
        own = view.player or 0
        seat, strength = ("first", "second")[own], view.observation.strength
        attack = ATTACK[f"{seat}/{strength[own]}"][strength[1 - own] - 1]
        return {"attack": attack, "bypass": 1 - attack}


def agent(observations: Any, masks: Any, seat: int) -> Any:
    """The trained agent, as a function of observations from 0 to 1."""
    own, other = np.clip(np.rint(10 * observations[:, :2]), 1, 10).astype(int).T
    table = [[ATTACK[f"{('first', 'second')[seat]}/{n}"][m - 1] for m in range(1, 11)]
             for n in range(1, 11)]  # fmt: skip
    attack = np.array(table)[own - 1, other - 1]
    return np.stack([attack, 1 - attack], axis=1)


def test_a_normalized_agent_is_measured_with_normalized_observations_and_its_seat() -> None:
    game = load("firewall-breach")
    wanted = exploitability(game, Agent())
    env = DuelEnv(game, normalize=True, seat="random")
    found = exploitability(game, env.policy(agent))
    assert found.exploitability == pytest.approx(wanted.exploitability, abs=1e-12)
    told = {"declared": True, "normalize": True, "memory": False}
    assert found.to_json()["observations"] == {"1": told, "2": told}
    assert any("given normalized observations" in line for line in found.text())


def test_a_plain_function_is_given_raw_observations_and_the_result_says_so() -> None:
    game = load("firewall-breach")
    found = exploitability(game, agent)
    assert found.total > 2 * exploitability(game, Agent()).total  # the trap, and why it is said
    told = {"declared": False, "normalize": False, "memory": False}
    assert found.to_json()["observations"] == {"1": told, "2": told}
    assert any("plain function" in line and "env.policy" in line for line in found.text())
    assert exploitability(game, "greedy").to_json()["observations"] == {"1": None, "2": None}
    assert not any("plain function" in line for line in exploitability(game, "greedy").text())


def exact_scores(attack: Any) -> tuple[Fraction, Fraction]:
    """An agent's scores against its best response, when it starts and when it does not.

    From the rulebook, in fractions, without the code of the project: `attack[own][other]` is the
    chance of an attack. A miss leads from one player's turn to the other's and back.
    """
    mine: dict[tuple[int, int], Fraction] = {}  # by own and other firewall, on the agent's turn
    theirs: dict[tuple[int, int], Fraction] = {}

    def after(found: dict[tuple[int, int], Fraction], own: int, other: int) -> Fraction:
        return Fraction(other <= 0) if own <= 0 or other <= 0 else found[own, other]

    for own, other in sorted(product(range(1, 11), repeat=2), key=sum):
        p = Fraction(str(attack[own - 1][other - 1]))
        ended = p / 2 * after(theirs, own, other - 3) + (1 - p) * after(theirs, own, other - 1)
        bypassed = after(mine, own - 1, other)
        attacked = (after(mine, own - 3, other) / 2 + ended / 2) / (1 - p / 4)
        theirs[own, other] = min(bypassed, attacked)
        mine[own, other] = ended + p / 2 * theirs[own, other]
    return mine[10, 10], theirs[10, 10]


@pytest.mark.parametrize("seats", [("first", "second"), ("second", "first"), ("always", "always")])
def test_a_pair_of_trained_agents_scores_what_fractions_say(seats: tuple[str, str]) -> None:
    """The agent, the agent with its seats confused, and what it plays if its inputs saturate."""
    attack = [[[ATTACK.get(f"{seat}/{own}", [1] * 10)[other - 1] for other in range(1, 11)]
               for own in range(1, 11)] for seat in seats]  # fmt: skip

    def by_table(seat: int) -> Any:
        def policy(observations: Any, masks: Any) -> Any:
            p = np.array(attack[seat])[observations[:, 0] - 1, observations[:, 1] - 1]
            return np.stack([p, 1 - p], axis=1)

        return policy

    found = exploitability("firewall-breach", (by_table(0), by_table(1)))
    exact = exact_scores(attack[0])[0], exact_scores(attack[1])[1]
    assert found.value_vs_best_response == pytest.approx([float(v) for v in exact], abs=1e-12)
    known = {"first": (0.0225, 0.0203), "second": (0.0251, 0.0189), "always": (0.1252, 0.1063)}
    assert tuple(round(v, 4) for v in found.exploitability) == known[seats[0]]


def recorder(seen: set[tuple[Any, ...]]) -> Any:
    def policy(observations: Any, masks: Any, seat: int) -> Any:
        assert observations.dtype == kinds[0]
        seen.update((seat, *map(float, row)) for row in observations)
        return uniform(observations, masks)

    kinds: list[Any] = []
    policy.kinds = kinds  # type: ignore[attr-defined]
    return policy


@pytest.mark.cases(4)
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("slug", ["firewall-breach", "number-clash", "cipher-siege"])
def test_what_an_environment_shows_is_what_its_policy_is_asked_about(
    slug: str, normalize: bool
) -> None:
    """Every observation of real episodes is among those of the measurement, in the same seat."""
    options: dict[str, Any] = {"number-clash": {"numbers": 4}, "cipher-siege": TINY}.get(slug, {})
    memory = slug == "cipher-siege"
    game = load(slug, **options)
    env = DuelEnv(
        game, "random", "random", normalize=normalize, memory=memory, turn_limit=4 if memory else 99
    )
    asked: set[tuple[Any, ...]] = set()
    policy = recorder(asked)
    policy.kinds.append(env.observation_space.dtype)
    found = exploitability(game, env.policy(policy), turn_limit=4 if memory else None)
    assert found.to_json()["observations"]["1"]["memory"] is memory
    shown = set()
    for seed in range(200):
        observation, info = env.reset(seed=seed)
        over = False
        while not over:
            shown.add((info["seat"], *map(float, observation)))
            action = int(np.flatnonzero(info["action_mask"])[seed % info["action_mask"].sum()])
            observation, _, ended, cut, info = env.step(action)
            over = ended or cut
    assert len(shown) > 20
    assert shown <= asked


def test_memory_makes_a_difference_that_is_measured() -> None:
    """A policy by what was done last is another one without its memory, and equals the player that
    goes by its history."""
    game = load("cipher-siege", **TINY)
    env = DuelEnv(game, memory=True)
    last = env.feature_names().index("other last attack")

    def policy(observations: Any, masks: Any) -> Any:
        out = np.zeros(masks.shape)
        for row, (seen, mask) in enumerate(zip(observations, masks, strict=True)):
            legal = np.flatnonzero(mask)
            share = 0.9 if seen[last] > 0 else 0.2
            out[row, legal[0]] += share
            out[row, legal[-1]] += 1 - share
        return out

    class Remembers(Player):
        def mixed_strategy(self, view: View) -> Mapping[Move, float]:
            assert view.player is not None
            attacked = game.recall(view.history, view.player)[last - len(game.features())] > 0
            legal = [move for move in game.moves() if move in view.options]
            share = 0.9 if attacked else 0.2
            return {legal[0]: share, legal[-1]: 1 - share} if len(legal) > 1 else {legal[0]: 1.0}

    def forgetful(observations: Any, masks: Any) -> Any:
        return policy(np.pad(observations, ((0, 0), (0, 10))), masks)

    found, wanted, bare = (
        head_to_head(game, given, "random", turn_limit=5)
        for given in (env.policy(policy), Remembers(), forgetful)
    )
    assert found == pytest.approx(wanted, abs=1e-12)
    assert bare != pytest.approx(wanted, abs=1e-3)


def test_every_kind_of_environment_makes_policies() -> None:
    game = load("number-clash", numbers=4)
    wanted = exploitability(game, "random").exploitability
    made = [
        DuelEnv(game).policy(uniform),
        gymnasium.make("duels/NumberClash-v0", numbers=4).unwrapped.policy(uniform),
        DuelVectorEnv(game, 3, normalize=True).policy(uniform),
        zoo_env(game).policy(uniform),
        Batch(game, 3).policy(uniform),
        Versus(game, 3).batch.policy(uniform),
    ]
    for policy in made:
        assert exploitability(game, policy).exploitability == pytest.approx(wanted, abs=1e-12)
    assert [policy.normalize for policy in made] == [False, False, True, False, False, False]
    assert DuelVectorEnv("cipher-siege", 2, memory=True).policy(uniform).memory
    assert Batch("cipher-siege", 2, memory=True).policy(uniform).memory
    masks = np.ones((2, 4), bool)
    assert made[0](np.zeros((2, 9)), masks).tolist() == [[0.25] * 4] * 2


def test_a_policy_for_other_rules_is_refused() -> None:
    policy = DuelEnv("firewall-breach", strength=5, normalize=True).policy(uniform)
    with pytest.raises(NotMeasurable, match="same options"):
        exploitability("firewall-breach", policy)
    with pytest.raises(OptionError, match="policy takes a function"):
        DuelEnv("firewall-breach").policy(7)  # type: ignore[arg-type]


def test_the_result_says_that_a_seat_was_never_the_agents() -> None:
    game = load("firewall-breach", strength=3)
    text = exploitability(game, DuelEnv(game, seat=1).policy(uniform)).text()
    assert "In the policy's environment the agent is never Player 1." in text
    text = exploitability(game, DuelEnv(game, seat="alternate").policy(uniform)).text()
    assert not any("the agent is never" in line for line in text)


# One policy for each seat


@pytest.mark.parametrize(
    ("slug", "options", "limit"),
    [
        ("firewall-breach", {}, None),
        ("number-clash", {"numbers": 5}, None),
        ("cipher-siege", TINY, 4),
    ],
)
def test_each_seat_may_have_a_policy_of_its_own(
    slug: str, options: dict[str, object], limit: int | None
) -> None:
    game = load(slug, **options)
    both = exploitability(game, ("greedy", uniform), turn_limit=limit)
    one, two = (exploitability(game, p, turn_limit=limit) for p in ("greedy", "random"))
    assert both.value_vs_best_response == pytest.approx(
        (one.value_vs_best_response[0], two.value_vs_best_response[1]), abs=1e-12
    )
    assert both.value_vs_perfect[0] == one.value_vs_perfect[0]
    assert both.to_json()["observations"]["1"] is None
    assert both.to_json()["observations"]["2"]["declared"] is False
    assert both.total == pytest.approx(1 - sum(both.value_vs_best_response), abs=1e-9)
    for seat, policies in enumerate([("random", "greedy"), ("greedy", "random")]):
        player = best_response(game, policies, seat, turn_limit=limit)
        assert player.value == pytest.approx(1 - one.value_vs_best_response[1 - seat], abs=1e-12)


@pytest.mark.parametrize("wrong", [(), ("greedy",), ("greedy", "random", "random")])
def test_a_pair_is_two(wrong: tuple[str, ...]) -> None:
    with pytest.raises(NotMeasurable, match=r"a pair of policies, \(first, second\); got"):
        exploitability("firewall-breach", wrong)


# The best response, wherever exploitability is known


@pytest.mark.cases(1)
@pytest.mark.parametrize("policy", ["random", "greedy", uniform])
def test_the_best_response_to_hidden_hands_scores_what_it_says(policy: Any) -> None:
    game = load("cipher-siege", **TINY)
    found = exploitability(game, policy, turn_limit=4)
    for seat in (0, 1):
        player = best_response(game, policy, seat, turn_limit=4)
        assert player.value == pytest.approx(1 - found.value_vs_best_response[1 - seat], abs=1e-12)
        pair = (player, policy) if seat == 0 else (policy, player)
        score = head_to_head(game, *pair, turn_limit=4)
        assert (score if seat == 0 else 1 - score) == pytest.approx(player.value, abs=1e-12)


@pytest.mark.extra("solve")
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("first", [0, 1])
def test_the_learned_response_to_the_full_game_plays_and_scores_what_it_says(first: int) -> None:
    """In real matches against the strategy, within five standard errors."""
    game = load("cipher-siege", first=first)
    player: BestResponse = best_response(game, "perfect", 0, seconds=5)
    games, won = 400, 0.0
    for seed in range(games):
        match = Match(game, seed=seed)
        MatchRunner(match, {0: player, 1: make_opponent("perfect", f"{seed}")}).finish()
        assert match.result is not None
        won += {0: 1.0, 1: 0.0, None: 0.5}[match.result.winner]
    assert won / games == pytest.approx(float(player.value), abs=5 * 0.5 / games**0.5)


@pytest.mark.parametrize("seat", [2, -1, "0", None, 0.0, True])
def test_a_seat_that_there_is_not_is_refused(seat: Any) -> None:
    with pytest.raises(OptionError, match=r"seat takes 0 \(Player 1\) or 1 \(Player 2\); got"):
        best_response("firewall-breach", "greedy", seat)


# Refusals, and names for games


@pytest.mark.parametrize("policy", ["random", "hard", uniform, (uniform, "greedy")])
@pytest.mark.parametrize("limit", [None, 8])
def test_a_game_that_is_too_large_is_refused_before_it_is_walked(
    policy: Any, limit: int | None
) -> None:
    """Few positions are asked about, which takes a moment; a walk takes a million."""
    asked = []

    def counting(observations: Any, masks: Any) -> Any:
        asked.append(len(masks))
        return uniform(observations, masks)

    given = counting if policy is uniform else policy
    game = load("cipher-siege")
    said = "has more than 1,000,000 positions to look at"
    with pytest.raises(Unsolved, match=said):
        exploitability(game, given, turn_limit=limit)
    with pytest.raises(Unsolved, match=said):
        best_response(game, given, 0, turn_limit=limit)
    with pytest.raises(Unsolved, match=said):
        head_to_head(game, given, given, turn_limit=limit)
    assert sum(asked) < 1000


def test_a_tree_that_is_just_small_enough_is_walked() -> None:
    """The size is known by walking; no smaller limit is refused without that, and no larger one."""
    from duels.measure import hidden_information
    from duels.measure.policies import QueriedPolicy

    game = load("cipher-siege", **TINY)
    tree = hidden_information.ResponseTree(game, 0, QueriedPolicy(game, "random"), turn_limit=3)
    size = hidden_information.MOST - tree._left
    assert size > 100
    assert (
        hidden_information.ResponseTree(
            game, 0, QueriedPolicy(game, "random"), turn_limit=3, most=size
        ).value
        == tree.value
    )
    with pytest.raises(Unsolved, match=f"more than {size - 1:,} positions"):
        hidden_information.ResponseTree(
            game, 0, QueriedPolicy(game, "random"), turn_limit=3, most=size - 1
        )
    for seed in range(30):  # a refusal by chance would show, were it at all likely
        assert not clearly_larger(partial(tree._estimated_size, Random(seed)), size)


class Picks(Player):
    def choose(self, view: View) -> Move:
        self.asked = getattr(self, "asked", 0) + 1
        return view.options[0]


def test_a_player_that_only_picks_is_refused_soon_in_a_game_that_is_too_large() -> None:
    player = Picks()
    with pytest.raises(Unsolved, match="more than 1,000,000 positions"):
        sampled_exploitability("cipher-siege", player)
    assert player.asked < 1000


def test_games_go_by_their_names_everywhere() -> None:
    game = load("firewall-breach")
    wanted = exploitability(game, "greedy")
    assert exploitability("firewall-breach", "greedy").exploitability == wanted.exploitability
    assert best_response("firewall-breach", "greedy", 0).game == game
    assert head_to_head("firewall-breach", "greedy", "random") == head_to_head(
        game, "greedy", "random"
    )
    assert value("firewall-breach") == value(game) == solve("firewall-breach").start_value()
    assert sampled_exploitability("firewall-breach", Picks(), games=2).game == game
    assert charts("firewall-breach")[0].title == charts(game)[0].title
    assert next(iter(positions("firewall-breach", 1))).player in (0, 1)
    with pytest.raises(UnknownName, match="there is no game 'chess'"):
        exploitability("chess", "greedy")
    with pytest.raises(OptionError, match="expected the name of a game or the result of load"):
        exploitability(type(game), "greedy")  # type: ignore[arg-type]
