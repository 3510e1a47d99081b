"""`Versus` as a `gymnasium.vector.VectorEnv`: what `gymnasium.make_vec` gives."""

from __future__ import annotations

import importlib
from typing import Any

from duels.core.errors import MissingExtra, OptionError, quote
from duels.core.game import AnyGame
from duels.core.match import TURN_LIMIT
from duels.envs.extras import Array
from duels.envs.kernels import np
from duels.envs.kernels.drive import BY_FORFEIT
from duels.envs.vector import Policy, Versus
from duels.games import load

TOP = 2**15 - 1  # of an observation's numbers

gymnasium: Any
try:
    gymnasium = importlib.import_module("gymnasium")
    importlib.import_module("gymnasium.vector")
except ImportError:
    gymnasium = None


def _base() -> Any:
    return object if gymnasium is None else gymnasium.vector.VectorEnv


class DuelVectorEnv(_base()):  # type: ignore[misc]
    """`Versus` as Gymnasium has it: one agent, autoreset in the same step, masks in `info`."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        game: str | AnyGame,
        num_envs: int = 1,
        opponent: str | Policy = "greedy",
        seat: int | str = 0,
        *,
        turn_limit: int = TURN_LIMIT,
        render_mode: str | None = None,
        **options: object,
    ) -> None:
        if gymnasium is None:
            raise MissingExtra("gymnasium is not installed: pip install 'duels[rl]'")
        if render_mode is not None:
            raise OptionError(f"thousands of games are not rendered; got {quote(render_mode)}")
        rules = load(game, **options) if isinstance(game, str) else game
        self.games = Versus(rules, num_envs, opponent=opponent, seat=seat, turn_limit=turn_limit)
        self.num_envs = num_envs
        self.metadata = {
            **type(self).metadata,
            "autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP,
        }
        batch_space = gymnasium.vector.utils.batch_space
        features, moves = len(self.games.batch.features), len(self.games.batch.moves)
        self.single_observation_space = gymnasium.spaces.Box(0, TOP, (features,), np.int16)
        self.single_action_space = gymnasium.spaces.Discrete(moves)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def move_name(self, action: int) -> str:
        """The move that an action stands for."""
        return self.games.batch.moves[action]

    def feature_names(self) -> tuple[str, ...]:
        """The names of an observation's numbers, in order."""
        return self.games.batch.features

    def action_masks(self) -> Array:
        """Which actions are legal, one row for each game."""
        return self.games.mask.copy()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin all games anew. With a seed, game i is the same whatever `num_envs` is."""
        if options and "reset_mask" in options:
            raise ValueError("games begin anew by themselves; reset_mask is not supported")
        super().reset(seed=seed)
        self.games.reset(seed)
        return self._shown()

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        rewards, terminated, truncated = self.games.step(actions)
        observation, info = self._shown()
        ended = terminated | truncated
        rows = np.flatnonzero(ended)
        if len(rows):
            final = np.full(self.num_envs, None, object)
            final[rows] = np.fromiter(self.games.final_observation[rows], object, len(rows))
            illegal = (self.games.ending == BY_FORFEIT) & (rewards <= 0)
            info |= {
                "final_obs": final, "_final_obs": ended,
                "final_info": {"illegal": illegal, "_illegal": ended}, "_final_info": ended,
            }  # fmt: skip
        return observation, rewards.astype(np.float64), terminated, truncated, info

    def _shown(self) -> tuple[Array, dict[str, Any]]:
        """New arrays of what the agent sees and may choose, as `reset` and `step` give them."""
        observation, mask = self.games.new_views()
        everywhere = np.ones(self.num_envs, np.bool_)
        return observation, {
            "action_mask": mask, "_action_mask": everywhere,
            "seat": self.games.seats.copy(), "_seat": everywhere,
        }  # fmt: skip
