"""Vectorised environments: a call steps thousands of games, on compiled kernels.

- `Batch` plays both sides;
- `Versus` plays one side against any opponent or any policy over arrays;
- `DuelVectorEnv` is the same as a `gymnasium.vector.VectorEnv`.

docs/reference/envs/vector.md describes the layout of the arrays, the masks and when games restart.

    games = Versus(load("cipher-siege"), size=4096, seed=1)
    rewards, terminated, truncated = games.step(your_policy(games.observation, games.mask))
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from duels.algorithms.solution import Progress
from duels.core.errors import OptionError, quote
from duels.core.extras import Array
from duels.core.game import AnyGame
from duels.core.match import TURN_LIMIT
from duels.envs.batch import Batch, BatchStep
from duels.envs.opponents import CachedOpponent, ExternalOpponent, chooser, opponent_name
from duels.kernels import CompiledPolicy, NoKernel, np
from duels.kernels.driver import BY_FORFEIT, BY_LIMIT, BY_RULES, RUNNING, first_invalid
from duels.kernels.opponent_loops import MOST_DEALS
from duels.players import external_kind

__all__ = [
    "BY_FORFEIT", "BY_LIMIT", "BY_RULES", "RUNNING",
    "Batch", "BatchStep", "NoKernel", "Policy", "Versus",
]  # fmt: skip

# Maps the observations and masks of the games to act in to an action for each of them.
Policy = Callable[[Array, Array], Array]

SEATS = (0, 1, "alternate")


class Versus:
    """One side of a batch of games; the opponent and chance play between two steps."""

    def __init__(
        self,
        game: str | AnyGame,
        size: int,
        seed: int | None = None,
        *,
        opponent: str | Policy = "random",
        seat: int | str = 0,
        turn_limit: int = TURN_LIMIT,
        memory: bool = False,
        progress: Progress | None = None,
    ) -> None:
        if seat not in SEATS or isinstance(seat, float):
            raise OptionError(f"seat takes 0, 1 or 'alternate'; got {quote(seat)}")
        self.batch = Batch(
            game, size, seed, turn_limit=turn_limit, memory=memory, progress=progress
        )
        # An opponent with a chooser plays in compiled code; any other is called between two steps.
        self.opponent = opponent if callable(opponent) else opponent_name(self.batch.game, opponent)
        self._find_opponent(progress)
        self._rows = np.arange(size)
        self.seats = self._rows % 2 if seat == "alternate" else np.full(size, seat)
        self.ending = np.zeros(size, np.int8)  # how games ended in the last step
        self.skips = np.zeros((size, 3))  # columns: `skipped`, `skipped_return`, `skipped_wins`
        moves, features = len(self.batch.moves), len(self.batch.features)
        self._mask = np.zeros((size, 1, moves), np.bool_)
        self._observation = np.zeros((size, 1, features), np.int16)
        self._final = np.zeros((size, 1, features), np.int16)
        self._mask_of = self._observation_of = -1  # `batch.changes` when they were last filled
        self.reset(self.batch.seed)

    def _find_opponent(self, progress: Progress | None = None) -> None:
        """Set the compiled policy of the opponent if it has one, else the object to call."""
        self._chooser: CompiledPolicy | None = None
        self.policy: CachedOpponent | ExternalOpponent | Policy | None = None
        if callable(self.opponent):
            self.policy = self.opponent
            return
        self._chooser = chooser(self.batch.game, self.opponent, progress)
        if self._chooser is None:
            kind = ExternalOpponent if external_kind(self.opponent) else CachedOpponent
            self.policy = kind(self.batch.game, self.opponent)

    def __getstate__(self) -> dict[str, Any]:
        # Without what is large and recreated by `__setstate__`.
        return self.__dict__ | {"_chooser": None, "policy": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self._find_opponent()

    def close(self) -> None:
        """End the opponent's program, if there is one."""
        if isinstance(self.policy, ExternalOpponent):
            self.policy.player.close()

    @property
    def skipped(self) -> Array:
        """Games since `reset` that ended before the agent's first choice and were restarted."""
        return self.skips[:, 0].astype(np.int64)

    @property
    def skipped_return(self) -> Array:
        """The agent's total return of these games; a forfeit of the opponent is a win."""
        return self.skips[:, 1]

    @property
    def skipped_wins(self) -> Array:
        """How many of these games the agent won."""
        return self.skips[:, 2].astype(np.int64)

    @property
    def observation(self) -> Array:
        """The agent's observations: size x features."""
        if self._observation_of != self.batch.changes:
            self.batch.observations_of(self.seats, self._observation)
            self._observation_of = self.batch.changes
        return self._observation[:, 0]

    @property
    def mask(self) -> Array:
        """The agent's masks: size x moves."""
        if self._mask_of != self.batch.changes:
            self.batch.masks_of(self.seats, self._mask)
            self._mask_of = self.batch.changes
        return self._mask[:, 0]

    @property
    def final_observation(self) -> Array:
        """The agent's observations at the end of the games that ended in the last step."""
        return self._final[:, 0]

    def new_views(self) -> tuple[Array, Array]:
        """`observation` and `mask` in new arrays, which no later step writes to."""
        mask, observation = np.empty_like(self._mask), np.empty_like(self._observation)
        self.batch.observations_of(self.seats, observation)
        self.batch.masks_of(self.seats, mask)
        return observation[:, 0], mask[:, 0]

    def random_actions(self) -> Array:
        """A legal action for each game, all equally likely."""
        return self.batch.random_actions_of(self.seats)

    def reset(self, seed: int | None = None, where: Any = None) -> None:
        """Restart all games, or those where `where` is true; a seed restarts the random streams."""
        self.skips[self.batch.rows(where)] = 0
        if self._chooser is not None:
            _require(self.batch.begin_against(self._chooser, self.seats, self.skips, seed, where))
        else:
            self.batch.reset(seed, where)
            self._let_opponent_play(None)

    def step(self, actions: Any, where: Any = None) -> BatchStep:
        """Play the agent's action and what follows, in every game or where `where` is true."""
        taken = self.batch.checked(actions, 1, where)
        self._final = np.empty_like(self._final)  # a new array: callers may keep the last one
        if self._chooser is not None:
            rewards, playable = self.batch.step_against(
                self._chooser, taken, self.seats, self.skips, self._final, where
            )
            self.ending = self.batch.ending
            _require(playable)
            return BatchStep(rewards, *self.batch.ends())
        if self.batch.sealed:
            step = self.batch.step(self._sealed(taken[:, 0]), where)
            self._update_ends()
        else:
            step = self._step_with_policy(taken[:, 0], where)
        return step._replace(rewards=step.rewards[self._rows, self.seats])

    def _step_with_policy(self, own: Array, where: Any) -> BatchStep:
        before = self.batch.save()
        step = self.batch.step(own, where)
        self._update_ends()
        try:
            self._let_opponent_play(step)
        except BaseException:  # otherwise the agent would choose for the opponent in the next step
            self.batch.restore(before)
            raise
        return step

    def _update_ends(self) -> None:
        """Copy how games ended, and the agent's last observations, from the batch."""
        self.ending = self.batch.ending
        self._final[:, 0] = self.batch.final_observation[self._rows, self.seats]

    def _sealed(self, own: Array) -> Array:
        """The actions of both players in a simultaneous choice."""
        both = np.empty((self.batch.size, 2), np.int64)
        both[self._rows, self.seats] = own
        both[self._rows, 1 - self.seats] = self._answers(self._rows)
        return both

    def _answers(self, rows: Array) -> Array:
        """The opponent's action in each of these games."""
        others = 1 - self.seats[rows]
        side = (rows, others) if self.batch.sealed else rows
        seen = self.batch.observation[side]
        if isinstance(self.policy, CachedOpponent | ExternalOpponent):
            return self.policy.choose(self.batch, rows, others, seen)
        assert self.policy is not None
        given = np.asarray(self.policy(seen, self.batch.mask[side]))
        if given.shape != rows.shape or given.dtype.kind not in "iu":
            raise ValueError(
                f"the opponent's policy gives a whole number for each of {len(rows)} games; "
                f"got {given.dtype} in the shape {given.shape}"
            )
        wrong = first_invalid(given.astype(np.int64), len(self.batch.moves))
        if wrong >= 0:
            raise ValueError(
                f"the opponent's policy gives {given[wrong]} in game {rows[wrong]}, which is not "
                f"an action; actions are 0 to {len(self.batch.moves) - 1}"
            )
        return given

    def _let_opponent_play(self, step: BatchStep | None) -> None:
        """Play until the agent must choose in every game; ends of games are added to `step`.

        A game that the opponent ends before the agent's first choice is restarted and counted as
        skipped, as in the kernel.
        """
        for _ in range(MOST_DEALS):
            waiting = self.batch.player != self.seats
            if self.batch.sealed or not waiting.any():
                return
            theirs = np.zeros(self.batch.size, np.int64)
            theirs[waiting] = self._answers(np.flatnonzero(waiting))
            more = self.batch.step(theirs, where=waiting)
            over = self.batch.ending != RUNNING
            skipped = over
            if step is not None:
                ended = over & (self.ending == RUNNING)
                skipped = over & ~ended
                for array, new in zip(step, more, strict=True):
                    array[ended] = new[ended]
                self.ending[ended] = self.batch.ending[ended]
                final = self.batch.final_observation[self._rows, self.seats]
                self._final[ended, 0] = final[ended]
            brought = more.rewards[self._rows, self.seats][skipped]
            self.skips[skipped] += np.stack([np.ones_like(brought), brought, brought > 0], axis=1)
        _require(False)


def _require(playable: bool) -> None:
    """Raise unless every game has reached a choice of the agent."""
    if not playable:
        raise RuntimeError("the opponent ends every game before the agent has a choice")


def __getattr__(name: str) -> Any:
    """`DuelVectorEnv` is imported on first use: its module imports this one."""
    if name == "DuelVectorEnv":
        return import_module("duels.envs.vector_env").DuelVectorEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
