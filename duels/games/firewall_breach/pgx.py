"""Firewall Breach as a Pgx environment: rules in JAX, for `jax.vmap` and `jax.jit`.

>>> env = FirewallEnv(strength="3/7")
>>> state = env.init(jax.random.PRNGKey(1))
>>> state.observation.tolist(), state.legal_action_mask.tolist()
([3, 7, 1], [True, True])
>>> state = env.step(state, BYPASS, jax.random.PRNGKey(2))
>>> state.observation.tolist(), bool(state.terminated)
([6, 3, 1], False)

`FirewallEnv` is a `pgx.Env`, so functions of Pgx such as `pgx.experimental.auto_reset` accept it.
As in other Pgx games, player ids are independent of seats: `init` draws which player starts. `step`
needs a key for the die. docs/reference/envs/speed.md compares its speed with that of batches.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from duels.core.extras import need
from duels.games.firewall_breach.rules import ACTIONS, FACES, HITS, FirewallBreach

jax: Any = need("jax", extra="jax")
pgx: Any = need("pgx", extra="jax")
jnp: Any = jax.numpy

Array = Any
ATTACK, BYPASS = range(len(ACTIONS))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class State(pgx.State):  # type: ignore[misc]
    """The fields of every Pgx state, and those of a state of the pure rules."""

    current_player: Array
    observation: Array
    rewards: Array
    terminated: Array
    truncated: Array
    legal_action_mask: Array
    _step_count: Array
    _strength: Array  # of the firewalls: that of the player to move first
    _mover: Array  # the seat of the player to move

    @property
    def env_id(self) -> str:
        return FirewallBreach.slug


class FirewallEnv(pgx.Env):  # type: ignore[misc]
    """The Pgx environment; takes the options of the game."""

    def __init__(self, **options: object) -> None:
        super().__init__()
        self.game = FirewallBreach(**options)
        first = self.game.first
        self._start = self.game.strength[first], self.game.strength[1 - first]
        self._damage = self.game.hit, self.game.bypass

    def _init(self, key: Array) -> State:
        strength = jnp.array(self._start, jnp.int32)
        return State(
            current_player=jax.random.bernoulli(key).astype(jnp.int32),
            observation=jnp.zeros(3, jnp.int32),
            rewards=jnp.zeros(2, jnp.float32),
            terminated=jnp.bool_(False),
            truncated=jnp.bool_(False),
            legal_action_mask=jnp.ones(len(ACTIONS), jnp.bool_),
            _step_count=jnp.int32(0),
            _strength=strength,
            _mover=jnp.int32(self.game.first),
        )

    def _step(self, state: State, action: Array, key: Array) -> State:
        if key is None:
            raise ValueError("a step needs a key, for the die: env.step(state, action, key)")
        hit, bypass = self._damage
        damage = jnp.where(jax.random.bernoulli(key, HITS / FACES), hit, 0)
        damage = jnp.where(action == BYPASS, bypass, damage)
        left = jnp.maximum(0, state._strength[1] - damage)
        won = left == 0
        sign = jnp.where(jnp.arange(2) == state.current_player, 1.0, -1.0)
        return dataclasses.replace(
            state,
            current_player=1 - state.current_player,
            rewards=jnp.where(won, sign, 0.0).astype(jnp.float32),
            terminated=won,
            _strength=jnp.stack([left, state._strength[0]]),
            _mover=1 - state._mover,
        )

    def _observe(self, state: State, player_id: Array) -> Array:
        """As `Game.encode`: own firewall, opponent's firewall, whether it is the player's turn."""
        mine = player_id == state.current_player
        strength = jnp.where(mine, state._strength, state._strength[::-1])
        return jnp.append(strength, mine.astype(jnp.int32))

    @property
    def id(self) -> str:
        return FirewallBreach.slug

    @property
    def version(self) -> str:
        return "v0"

    @property
    def num_players(self) -> int:
        return 2
