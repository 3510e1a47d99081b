"""`Versus` as a `gymnasium.vector.VectorEnv`, for `gymnasium.make_vec`."""

from __future__ import annotations

import importlib
from typing import Any

from duels.algorithms.solution import Progress
from duels.core.errors import IllegalMove, MissingExtra, OptionError, quote
from duels.core.extras import Array, install_command
from duels.core.game import AnyGame
from duels.core.match import TURN_LIMIT
from duels.core.payoffs import unit_of
from duels.core.presentation import listed
from duels.envs.final_observations import FinalObservations
from duels.envs.policy import ArrayFunction, EnvPolicy
from duels.envs.settings import ILLEGAL, SEATS, Scale, one_of, rules_of
from duels.envs.vector import Policy, Versus
from duels.kernels import kernel_of, np
from duels.kernels.driver import BY_FORFEIT

gymnasium: Any
try:
    gymnasium = importlib.import_module("gymnasium")
    importlib.import_module("gymnasium.vector")
except ImportError:
    gymnasium = None

SETTINGS = (
    "game", "num_envs", "opponent", "seat", "turn_limit", "illegal", "normalize", "memory",
    "autoreset_mode", "render_mode", "progress",
)  # fmt: skip
MODES = ("SAME_STEP", "NEXT_STEP", "DISABLED")


def _base() -> Any:
    return object if gymnasium is None else gymnasium.vector.VectorEnv


class DuelVectorEnv(_base()):  # type: ignore[misc]
    """`Versus` with Gymnasium's interface: one agent, masks in `info`, three autoreset modes.

    `autoreset_mode` is one of `gymnasium.vector.AutoresetMode` or its name. Where a game has ended,

    - SAME_STEP, the default here since no step is lost, returns the next game at once; the last
      observation is in `info["final_obs"]`;
    - NEXT_STEP returns the end; the next step ignores the action and returns the next game. Until
      then the mask allows all actions;
    - DISABLED returns the end and waits for `reset(options={"reset_mask": ...})`.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        game: str | AnyGame,
        num_envs: int = 1,
        opponent: str | Policy = "greedy",
        seat: int | str = 0,
        *,
        turn_limit: int = TURN_LIMIT,
        illegal: str = "forfeit",
        normalize: bool = False,
        memory: bool = False,
        autoreset_mode: Any = "SAME_STEP",
        render_mode: str | None = None,
        progress: Progress | None = None,
        **options: object,
    ) -> None:
        if gymnasium is None:
            raise MissingExtra(f"gymnasium is not installed: {install_command('rl')}")
        if render_mode is not None:
            raise OptionError(
                f"a compiled batch cannot be rendered; got render_mode={quote(render_mode)}. "
                "Use vectorization_mode='sync' to render"
            )
        rules = rules_of(game, SETTINGS, options)
        kernel_of(rules, progress)  # raises first if there is none
        self.scale = Scale(rules, normalize, memory)  # raises if there is no memory to add
        self.memory = memory
        self.illegal = one_of("illegal", illegal, ILLEGAL)
        self.seat = one_of("seat", seat, SEATS)
        self.autoreset_mode = mode_of(autoreset_mode)
        fixed = 0 if seat == "random" else seat
        self.games = Versus(
            rules, num_envs, opponent=opponent, seat=fixed, turn_limit=turn_limit, memory=memory,
            progress=progress,
        )  # fmt: skip
        self.num_envs = num_envs
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        batch_space = gymnasium.vector.utils.batch_space
        self.single_observation_space = self.scale.space(gymnasium.spaces)
        self.single_action_space = gymnasium.spaces.Discrete(len(self.games.batch.moves))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._over = np.zeros(num_envs, np.bool_)  # returned as ended and not restarted yet
        self._waiting = False  # whether any is: cached, since `any` takes time
        self._reported = np.zeros((num_envs, 3))  # skipped games that an info has reported

    def move_name(self, action: int) -> str:
        """The move that an action stands for."""
        return self.games.batch.moves[action]

    def feature_names(self) -> tuple[str, ...]:
        """The names of an observation's numbers, in order."""
        return self.games.batch.features

    def action_masks(self) -> Array:
        """The masks of legal actions, a row for each game, in the form of MaskablePPO."""
        return self._after_the_end(self.games.mask.copy())

    def policy(self, function: ArrayFunction) -> EnvPolicy:
        """`function` over this environment's observations, as `duels.measure` takes it."""
        game = self.games.batch.game
        return EnvPolicy(function, game, self.scale, self.memory, self.seat)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Restart all games, or those where `options["reset_mask"]` is true.

        With a seed, game i is the same whatever `num_envs` is.
        """
        where = None
        if options and "reset_mask" in options:
            where = checked_mask(options["reset_mask"], self.num_envs)
        super().reset(seed=seed)
        rows = np.ones(self.num_envs, np.bool_) if where is None else where
        self.games.reset(seed, where)
        self._reported[rows] = 0
        self._over &= ~rows
        self._waiting = bool(self._over.any())
        self._draw_seats(rows)
        return self._shown()

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Play the agent's action in each game (docs/reference/envs/gymnasium.md)."""
        where = None
        if self._waiting:  # never with SAME_STEP
            if self.autoreset_mode.name == "DISABLED":
                raise IllegalMove(
                    f"games {listed(np.flatnonzero(self._over))} are over: reset them with "
                    "reset(options={'reset_mask': ...})"
                )
            where = ~self._over
            actions = np.where(self._over, 0, actions)
        if self.illegal == "raise":
            self._refuse(actions)
        rewards, terminated, truncated = self.games.step(actions, where)
        ended = terminated | truncated
        final: dict[str, Any] = {}
        if some := ended.any():
            final = {
                "illegal": (self.games.ending == BY_FORFEIT) & (rewards <= 0), "_illegal": ended
            }  # fmt: skip
        last = self.games.final_observation
        if self.autoreset_mode.name == "SAME_STEP":
            if some:
                self._draw_seats(ended)
                final = {
                    "final_obs": FinalObservations(self.scale.of(last), ended), "_final_obs": ended,
                    "final_info": final, "_final_info": ended,
                }  # fmt: skip
            observation, info = self._shown()
            return observation, rewards.astype(np.float64), terminated, truncated, info | final
        again, self._over, self._waiting = self._over, ended, bool(some)
        self._draw_seats(again)
        observation, info = self._shown()
        observation[ended] = self.scale.of(last[ended])
        return observation, rewards.astype(np.float64), terminated, truncated, info | final

    def close_extras(self, **kwargs: Any) -> None:
        """Called by Gymnasium's `close`."""
        self.games.close()

    # Internal.

    def _draw_seats(self, rows: Array) -> None:
        """Draw the seats of restarted games, if seats are random.

        The seat is drawn for each game, also after a skipped one: otherwise more than half of all
        games would be played from the seat in which games are skipped. The batch restarts games in
        one seat, so only one of the games that it skipped counts, and the others are replaced.
        """
        if self.seat != "random" or not rows.any():
            return
        found = np.zeros_like(self._reported)
        chosen = np.flatnonzero(rows)
        while len(chosen):
            self.games.seats[chosen] = self.games.batch.uniforms(chosen) < 0.5
            self.games.reset(None, np.isin(np.arange(self.num_envs), chosen))
            chosen = chosen[self.games.skips[chosen, 0] > 0]
            count, brought, wins = self.games.skips[chosen].T
            any_of_them = self.games.batch.uniforms(chosen) * count
            won, lost = any_of_them < wins, any_of_them >= count - (wins - brought)
            one = brought / count if unit_of(self.games.batch.game).pays else won * 1.0 - lost
            found[chosen] += np.stack([np.ones_like(count), one, won], axis=1)
        self.games.skips[rows], self._reported[rows] = found[rows], 0

    def _refuse(self, actions: Any) -> None:
        taken = self.games.batch.checked(actions, 1)[:, 0]
        wrong = np.flatnonzero(~self.games.mask[np.arange(self.num_envs), taken] & ~self._over)
        if len(wrong):
            row = int(wrong[0])
            raise IllegalMove(f"game {row}: {self.move_name(taken[row])} is not an option now")

    def _after_the_end(self, mask: Array) -> Array:
        """The mask with ended games: no action is allowed, or with NEXT_STEP all are."""
        if self._waiting:
            mask[self._over] = self.autoreset_mode.name == "NEXT_STEP"
        return mask

    def _shown(self) -> tuple[Array, dict[str, Any]]:
        """New arrays of observations and an info with masks, as `reset` and `step` return them."""
        observation, mask = self.games.new_views()
        everywhere, new = np.ones(self.num_envs, np.bool_), self.games.skips - self._reported
        if self._waiting:
            new[self._over] = 0  # reported with the first observation of the next game
        self._reported += new
        return self.scale.of(observation), {
            "action_mask": self._after_the_end(mask).view(np.int8), "_action_mask": everywhere,
            "seat": self.games.seats.copy(), "_seat": everywhere,
            "skipped": new[:, 0].astype(np.int64), "_skipped": everywhere,
            "skipped_return": new[:, 1], "_skipped_return": everywhere,
            "skipped_wins": new[:, 2].astype(np.int64), "_skipped_wins": everywhere,
        }  # fmt: skip


def mode_of(given: Any) -> Any:
    """One of Gymnasium's autoreset modes, given as itself, its value or its name."""
    for mode in gymnasium.vector.AutoresetMode:
        if given in (mode, mode.name, mode.value):
            return mode
    raise OptionError(f"autoreset_mode takes {' or '.join(MODES)}; got {quote(given)}")


def checked_mask(mask: Any, size: int) -> Array:
    """`reset_mask` checked by Gymnasium's rules."""
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        raise TypeError("options['reset_mask'] must be a numpy array of booleans")
    if mask.shape != (size,) or not mask.any():
        raise ValueError(
            f"options['reset_mask'] must have the shape ({size},) and at least one true value"
        )
    return mask
