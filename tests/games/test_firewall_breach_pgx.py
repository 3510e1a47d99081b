"""The environment in JAX, held to the pure rules step for step."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from duels.core.game import Decide, Over
from duels.games import load

WHY = "needs the extra, 0.6 GB: pip install 'duels[jax]'"
jax: Any = pytest.importorskip("jax", reason=WHY)
pgx: Any = pytest.importorskip("pgx", reason=WHY)

from duels.games.firewall_breach.pgx import ATTACK, BYPASS, FirewallEnv, State  # noqa: E402

SIZE = 512
VARIANTS: list[dict[str, object]] = [
    {},
    {"strength": "3/7", "first": 1},
    {"strength": 9, "hit": 5, "bypass": 2},
]


def row(state: Any, i: int) -> Any:
    return jax.tree_util.tree_map(lambda part: part[i], state)


def pure(shown: Any) -> tuple[tuple[int, int], int]:
    """The strengths by seat and the mover, as the pure rules have them."""
    own, other = shown._strength.tolist()
    mover = int(shown._mover)
    return ((own, other) if mover == 0 else (other, own)), mover


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_every_step_is_one_of_the_pure_rules(options: dict[str, object]) -> None:
    """A batch with Pgx's own autoreset, compiled; the die is read from what it did."""
    env, game = FirewallEnv(**options), load("firewall-breach", **options)
    step = jax.jit(jax.vmap(pgx.experimental.auto_reset(env.step, env.init)))
    key = jax.random.PRNGKey(3)
    states = jax.jit(jax.vmap(env.init))(jax.random.split(key, SIZE))
    follow = 24  # games that the pure rules follow
    mine = [game.start()] * follow
    firsts = states.current_player[:follow].tolist()  # the number of who began
    begins, rolls, ended = Counter(firsts), Counter[bool](), 0
    for _ in range(60):
        key, picks, dice = jax.random.split(key, 3)
        actions = pgx.experimental.act_randomly(picks, states.legal_action_mask)
        states = step(states, actions, jax.random.split(dice, SIZE))
        for i in range(follow):
            shown, before = row(states, i), mine[i]
            action = game.moves()[int(actions[i])]
            results = [game.play(before, action)]
            if action == "attack":
                results = [game.play(results[0], face) for face in ("1", "6")]
            over = bool(shown.terminated)
            if over:  # the state is the next game's already, and the mover has won
                winner = firsts[i] ^ int(before.mover != game.first)
                assert any(isinstance(game.turn(after), Over) for after in results)
                assert shown.rewards.tolist() == [1.0 - 2 * (player != winner) for player in (0, 1)]
                mine[i], firsts[i] = game.start(), int(shown.current_player)
                begins[firsts[i]] += 1
                ended += 1
            else:
                (mine[i],) = {
                    after
                    for after in results
                    if (after.strength, after.mover) == pure(shown)
                    and isinstance(game.turn(after), Decide)
                }
                assert shown.rewards.tolist() == [0.0, 0.0]
                assert shown.current_player == firsts[i] ^ int(mine[i].mover != game.first)
                if action == "attack":
                    rolls[mine[i].strength != before.strength] += 1
            assert pure(shown) == (mine[i].strength, mine[i].mover)
            assert shown.observation.tolist() == list(game.encode(mine[i], mine[i].mover))
            assert shown.legal_action_mask.all()
    assert ended > follow
    assert abs(begins[0] - begins[1]) < 6 * (begins[0] + begins[1]) ** 0.5
    assert rolls[True] > 0
    assert rolls[False] > 0


def test_an_attack_hits_half_of_the_time_and_a_bypass_always() -> None:
    env = FirewallEnv()
    start = env.init(jax.random.PRNGKey(1))
    keys = jax.random.split(jax.random.PRNGKey(2), 100_000)
    for action, damage in ((ATTACK, 3), (BYPASS, 1)):
        after = jax.vmap(lambda key, action=action: env.step(start, action, key))(keys)
        lost = 10 - after._strength[:, 0]
        assert set(lost.tolist()) <= {0, damage}
        hits = int((lost == damage).sum())
        assert hits == 100_000 if action == BYPASS else abs(hits - 50_000) < 6 * 158


def test_it_is_an_environment_of_pgx() -> None:
    env = FirewallEnv()
    assert isinstance(env, pgx.Env)
    assert (env.num_actions, env.observation_shape, env.num_players) == (2, (3,), 2)
    state = env.init(jax.random.PRNGKey(1))
    assert isinstance(state, State)
    assert isinstance(state, pgx.State)
    with pytest.raises(ValueError, match="a step needs a key, for the die"):
        env.step(state, ATTACK)
    over = env.step(
        FirewallEnv(strength=1).init(jax.random.PRNGKey(1)), BYPASS, jax.random.PRNGKey(1)
    )
    assert over.terminated
    again = env.step(over, BYPASS, jax.random.PRNGKey(1))
    assert again.rewards.tolist() == [0.0, 0.0]
    assert again._strength.tolist() == over._strength.tolist()
