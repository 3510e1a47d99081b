"""PettingZoo environments of every game: turn-based, or parallel if all choices are simultaneous.

>>> zoo = env("digit-duel", life="9/10")
>>> zoo.reset(seed=3)
>>> zoo.agent_selection, zoo.unwrapped.move_name(6)
('player_1', '7')
>>> observation, reward, terminated, truncated, info = zoo.last()
>>> observation["action_mask"].tolist()
[1, 1, 1, 1, 1, 1, 1, 1, 1]
>>> zoo.step(6)
>>> zoo.agent_selection
'player_2'
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from duels.core.chance import new_seed
from duels.core.errors import DuelsError, IllegalMove
from duels.core.extras import Array, need, whole
from duels.core.game import AnyGame, Move
from duels.core.match import TURN_LIMIT
from duels.core.presentation import listed
from duels.envs.encoding import encoding, np
from duels.envs.episode import Episode
from duels.envs.policy import ArrayFunction, EnvPolicy
from duels.envs.registration import env_id, loaded
from duels.envs.render import METADATA, MODES, EpisodeRenderer
from duels.envs.settings import ILLEGAL, Scale, one_of, rules_of
from duels.envs.snapshot import always_sealed

pettingzoo: Any = need("pettingzoo", extra="rl")
spaces: Any = need("gymnasium.spaces", extra="rl")
wrappers: Any = need("pettingzoo.utils.wrappers", extra="rl")

AGENTS = ("player_1", "player_2")
SETTINGS = ("game", "render_mode", "turn_limit", "illegal")
SEAT = {agent: seat for seat, agent in enumerate(AGENTS)}


class _Duel:
    """Base of both environments: spaces, seeds, names and rendering."""

    metadata: dict[str, Any]

    def __init__(
        self,
        game: str | AnyGame,
        *,
        render_mode: str | None = None,
        turn_limit: int = TURN_LIMIT,
        illegal: str = "forfeit",
        **options: object,
    ) -> None:
        super().__init__()
        self.encoding = encoding(rules_of(game, SETTINGS, options))
        self.game = self.encoding.game
        self.render_mode = one_of("render_mode", render_mode, (None, *MODES))
        self.turn_limit = whole("turn_limit", turn_limit, low=1)
        self.illegal = one_of("illegal", illegal, ILLEGAL)
        self.possible_agents = list(AGENTS)
        self.metadata = {
            **METADATA,
            "name": f"duels_{self.game.slug.replace('-', '_')}_v0",
            "is_parallelizable": False,
        }
        self._scale = scale = Scale(self.game)
        moves = (len(self.encoding.moves),)
        self.action_spaces = {agent: spaces.Discrete(moves[0]) for agent in AGENTS}
        self.observation_spaces = {
            agent: spaces.Dict(
                observation=scale.space(spaces),
                action_mask=spaces.Box(0, 1, moves, np.int8),
            )
            for agent in AGENTS
        }
        self._seeds: Random | None = None
        self._screen = EpisodeRenderer()

    # Names of actions and features.

    def move_name(self, action: int) -> Move:
        """The move that an action stands for."""
        return self.encoding.move(action)

    def feature_names(self) -> tuple[str, ...]:
        """The names of an observation's numbers, in order."""
        return self.encoding.features

    def policy(self, function: ArrayFunction) -> EnvPolicy:
        """`function` over this environment's observations, as `duels.measure` takes it."""
        return EnvPolicy(function, self.game, self._scale, memory=False)

    # PettingZoo's common interface.

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def observe(self, agent: str) -> dict[str, Any]:
        """An agent's observation and action mask; the mask is all 0 out of turn."""
        episode, seat = self.episode, SEAT[agent]
        node = episode.node
        mask = node.turn.masks[seat] if seat in episode.deciders else self.encoding.nothing
        return {"observation": node.observation(seat), "action_mask": mask.copy()}

    def render(self) -> str | Array | None:
        """The game as text or as an image, from a spectator's view: hands are hidden."""
        return self._screen.render(self.render_mode, self.episode, viewer=None)

    def close(self) -> None:
        """There is nothing to release."""

    # Internal.

    def _begin(self, seed: int | None) -> None:
        """The first episode of a seed is the match with that seed; those after follow from it."""
        if seed is not None or self._seeds is None:
            seed = new_seed() if seed is None else whole("a seed", seed)
            self._seeds = Random(str(seed))
        else:
            seed = self._seeds.getrandbits(63)
        keep = self.render_mode is not None
        self.episode = Episode(self.encoding, seed, self.turn_limit, keep, self.illegal)
        self._screen = EpisodeRenderer()
        self.agents = list(AGENTS)


class raw_env(_Duel, pettingzoo.AECEnv):  # type: ignore[misc]  # noqa: N801
    """Turn-based environment; the first of two simultaneous picks is hidden until the second."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._begin(seed)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self._select()

    def step(self, action: int | None) -> None:
        episode = self.episode
        if episode.result is not None:
            self._was_dead_step(action)
            return
        episode.pick(SEAT[self.agent_selection], action)
        # Rewards come at the end only, so until then none are cleared or added up.
        self._select()
        if self.render_mode == "human":
            self.render()

    def _select(self) -> None:
        episode = self.episode
        if episode.deciders:
            self.agent_selection = AGENTS[episode.deciders[0]]
            return
        self.rewards = dict(zip(AGENTS, episode.rewards, strict=True))
        self._cumulative_rewards = dict(self.rewards)
        self.terminations = dict.fromkeys(AGENTS, not episode.limited)
        self.truncations = dict.fromkeys(AGENTS, episode.limited)
        self.infos = {agent: _ending(episode, seat) for agent, seat in SEAT.items()}
        self.agent_selection = AGENTS[0]


class parallel_env(_Duel, pettingzoo.ParallelEnv):  # type: ignore[misc]  # noqa: N801
    """Both agents at once, for games in which every choice is simultaneous."""

    def __init__(self, game: str | AnyGame, **settings: Any) -> None:
        super().__init__(game, **settings)
        self.metadata["is_parallelizable"] = True
        if not always_sealed(self.game):
            raise DuelsError(f"in {self.game.slug} players take turns: use env, not parallel_env")

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        self._begin(seed)
        return self._observations(), {agent: {} for agent in AGENTS}

    def step(
        self, actions: dict[str, int]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        if not self.agents:
            return {}, {}, {}, {}, {}
        if missing := [agent for agent in AGENTS if agent not in actions]:
            raise IllegalMove(f"both agents choose at once; {listed(missing)} did not")
        self.episode.pick_both(*(actions[agent] for agent in AGENTS))
        episode = self.episode
        over = episode.result is not None
        infos = {agent: _ending(episode, seat) if over else {} for agent, seat in SEAT.items()}
        if self.render_mode == "human":
            self.render()
        if over:
            self.agents = []
        return (
            self._observations(),
            dict(zip(AGENTS, episode.rewards, strict=True)),
            dict.fromkeys(AGENTS, over and not episode.limited),
            dict.fromkeys(AGENTS, episode.limited),
            infos,
        )

    def _observations(self) -> dict[str, Any]:
        return {agent: self.observe(agent) for agent in AGENTS}


def _ending(episode: Episode, seat: int) -> dict[str, Any]:
    """The end of an episode for an agent's info; `illegal` marks the agent that forfeited."""
    assert episode.result is not None
    info: dict[str, Any] = {"by": episode.result.by, "reason": episode.result.reason}
    if episode.result.by == "forfeit" and episode.result.winner != seat:
        info["illegal"] = True
    return info


class OrderEnforcing(wrappers.OrderEnforcingWrapper):  # type: ignore[misc]
    """PettingZoo's check of the order of calls, with direct access to attributes read often.

    The base class looks attributes up in `__getattr__`, several times a step. Illegal actions and
    indices out of range need no wrapper: the environment itself handles them.
    """

    agent_selection = property(lambda self: self.env.agent_selection)
    agents = property(lambda self: self.env.agents)
    rewards = property(lambda self: self.env.rewards)
    terminations = property(lambda self: self.env.terminations)
    truncations = property(lambda self: self.env.truncations)
    infos = property(lambda self: self.env.infos)
    _cumulative_rewards = property(lambda self: self.env._cumulative_rewards)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._has_reset = self._has_updated = True
        self.env.reset(seed, options)

    def step(self, action: int | None) -> None:
        if self._has_reset and self.env.agents:
            self._has_updated = True
            self.env.step(action)
        else:
            super().step(action)

    def last(self, observe: bool = True) -> Any:
        return self.env.last(observe) if self._has_reset else super().last(observe)

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        if not self._has_reset:
            super().agent_iter(max_iter)
        return self._selected(max_iter)

    def _selected(self, most: int) -> Iterator[str]:
        env = self.env
        while env.agents and most > 0:
            assert self._has_updated, "need to call step() or reset() in a loop over `agent_iter`"
            self._has_updated = False
            yield env.agent_selection
            most -= 1


def env(game: str | AnyGame, **settings: Any) -> Any:
    """The turn-based environment: `raw_env` with checks of the order of calls."""
    return OrderEnforcing(raw_env(game, **settings))


def register() -> None:
    """Let `pettingzoo.make` find every game of the catalogue, as "aec" and as "parallel".

    Whether choices are simultaneous may depend on the options, so `parallel_env` checks it.
    """
    places = {"aec": "duels.envs.pettingzoo:env", "parallel": "duels.envs.pettingzoo:parallel_env"}
    for slug, _ in loaded():
        for api, place in places.items():
            if env_id(slug) not in getattr(pettingzoo, f"{api}_registry"):
                pettingzoo.register(api, env_id(slug), entry_point=place, kwargs={"game": slug})


if hasattr(pettingzoo, "register"):  # older releases have no registry
    register()
