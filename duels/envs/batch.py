"""Batches of thousands of games in arrays, independent of any library of agents.

    from duels.envs.vector import Batch
    from duels.games import load

    batch = Batch(load("cipher-siege"), size=4096, seed=1)
    for _ in range(100):
        actions = your_policy(batch.observation, batch.mask)
        rewards, terminated, truncated = batch.step(actions)

docs/reference/envs/vector.md describes the layout of the arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from duels.algorithms.solution import Progress
from duels.core.chance import new_seed
from duels.core.extras import whole
from duels.core.game import AnyGame, Decide
from duels.core.match import TURN_LIMIT
from duels.envs.policy import ArrayFunction, EnvPolicy
from duels.games import game_of
from duels.kernels import DECISIONS, Array, CompiledPolicy, kernel_of, np
from duels.kernels.driver import BY_LIMIT, RUNNING, Drivers, drivers, first_invalid
from duels.kernels.opponent_loops import OpponentLoops, no_prefetch, opponent_loops
from duels.kernels.random_streams import fill_uniform, keys


class BatchStep(NamedTuple):
    """The result of a step: each game's rewards by player, and whether it ended."""

    rewards: Array
    terminated: Array
    truncated: Array


class Batch:
    """Games that are stepped together; the caller chooses for both players.

    `progress` is called while a game without a kernel of its own is prepared.
    """

    def __init__(
        self,
        game: str | AnyGame,
        size: int,
        seed: int | None = None,
        *,
        turn_limit: int = TURN_LIMIT,
        memory: bool = False,
        progress: Progress | None = None,
    ) -> None:
        game = game_of(game)
        kernel = kernel_of(game, progress)
        self.game = game
        self.size = whole("size", size, low=1)
        self.turn_limit = whole("turn_limit", turn_limit, low=1)
        self.memory = memory and bool(game.recalled())
        self.sealed = kernel.sealed(game)
        self.moves = game.moves()
        self.features = (*game.features(), *(game.recalled() if memory else ()))
        self._rules = kernel.rules(game)
        self._state = np.zeros((size, kernel.columns), kernel.dtype)
        choosers = 2 if self.sealed else 1
        self._mask = np.zeros((size, choosers, len(self.moves)), np.bool_)
        self._observation = np.zeros((size, choosers, len(self.features)), np.int16)
        self._all = np.ones(size, np.bool_)
        self._player: Array = None
        self._mask_known = self._observation_known = False
        self.changes = 0  # how often cached observations and masks became invalid
        self._streams: Array = None
        # How each game ended in the last step, and both players' observations then.
        self.ending = np.zeros(size, np.int8)
        self.final_observation = np.zeros((size, 2, len(self.features)), np.int16)
        self.reset(new_seed() if seed is None else seed)

    @property
    def _run(self) -> Drivers:
        # Looked up each time, so that a batch can be copied and pickled.
        return drivers(kernel_of(self.game), self.sealed)

    def _against(self, opponent: CompiledPolicy) -> OpponentLoops:
        return opponent_loops(
            kernel_of(self.game), self.sealed, opponent.choose, opponent.prefetch or no_prefetch
        )

    def policy(self, function: ArrayFunction) -> EnvPolicy:
        """`function` over this batch's observations, as `duels.measure` takes it."""
        from duels.envs.settings import Scale  # needs numpy, which importing this module does not

        return EnvPolicy(function, self.game, Scale(self.game, memory=self.memory), self.memory)

    # Playing

    def reset(self, seed: int | None = None, where: Any = None) -> None:
        """Restart all games, or those where the mask `where` is true.

        A seed restarts all random streams; without one they continue.
        """
        chosen = self.rows(where)
        self.reseed(seed)
        self._run.begin(self._rules, self._state, self._streams, chosen)
        self._changed()

    def reseed(self, seed: int | None) -> None:
        """Restart the random streams of all games, if a seed is given."""
        if seed is not None:
            self.seed = whole("a seed", seed)
            self._streams = keys(self.seed, self.size)

    def step(self, actions: Any, where: Any = None) -> BatchStep:
        """Play an action in every game, or where `where` is true; simultaneous choices take two."""
        taken = self.checked(actions, 2 if self.sealed else 1, where)
        chosen = self.rows(where)
        self.ending = np.empty(
            self.size, np.int8
        )  # a new array, so that callers may keep the last one
        rewards = np.empty((self.size, 2), np.float32)
        self._run.step(
            self._rules, self._state, self._streams, taken, chosen, self.turn_limit,
            rewards, self.ending, self.final_observation,
        )  # fmt: skip
        self._changed()
        return BatchStep(rewards, *self.ends())

    def random_actions(self) -> Array:
        """A legal action for every choice, each equally likely."""
        out = np.empty((self.size, 2 if self.sealed else 1), np.int64)
        self._run.pick(self._rules, self._state, self._streams, out)
        return out if self.sealed else out[:, 0]

    def random_actions_of(self, seats: Array) -> Array:
        """The same for one seat in each game, in which it must choose."""
        out = np.empty(self.size, np.int64)
        self._run.pick_of(self._rules, self._state, self._streams, seats, out)
        return out

    def uniforms(self, rows: Array) -> Array:
        """A uniform random number in [0, 1) for each of these games, from the game's stream."""
        out = np.empty(len(rows), np.float64)
        fill_uniform(self._streams, rows, out)
        return out

    # Observations and masks. Arrays are filled at the first access after a step and cached until
    # the next, so that unused ones cost nothing.

    @property
    def player(self) -> Array:
        """The player who chooses in each game; -1 if both do."""
        if self._player is None:
            self._player = np.empty(self.size, np.int8)
            self._run.movers(self._rules, self._state, self._player)
        return self._player

    @property
    def mask(self) -> Array:
        """Which moves are legal: size x moves, or size x 2 x moves for simultaneous choices."""
        if not self._mask_known:
            self._run.masks(self._rules, self._state, self._mask.view(np.uint8))
            self._mask_known = True
        return self._mask if self.sealed else self._mask[:, 0]

    @property
    def packed_mask(self) -> Array:
        """`mask` as bits in bytes, the lowest of the first byte first; a new array each time.

        `np.unpackbits(packed, axis=-1, count=len(batch.moves), bitorder="little")` is `mask`.
        """
        if self._run.packed is None:
            return np.packbits(self.mask, axis=-1, bitorder="little")
        shape = (*self._mask.shape[:2], -(-len(self.moves) // 8))
        out = np.empty(shape, np.uint8)
        self._run.packed(self._rules, self._state, out)
        return out if self.sealed else out[:, 0]

    @property
    def observation(self) -> Array:
        """The observation of the player who chooses, from `Game.encode`; laid out like `mask`."""
        if not self._observation_known:
            self._run.observations(self._rules, self._state, self._observation)
            self._observation_known = True
        return self._observation if self.sealed else self._observation[:, 0]

    @property
    def state_bytes(self) -> int:
        """The memory of one game: its state and random stream, without masks and observations."""
        return int(self._state[0].nbytes + self._streams[0].nbytes)

    def state(self, index: int) -> Any:
        """One game's state of the pure rules."""
        row = tuple(self._state[index].tolist())
        return kernel_of(self.game).unpack(self.game, row[DECISIONS + 1 :])

    def decisions(self, index: int) -> int:
        """How many decisions have been resolved in one game."""
        return int(self._state[index, DECISIONS])

    def set_state(self, index: int, state: Any, decisions: int = 0) -> None:
        """Continue one game from another state, in which a player must have a choice."""
        if not isinstance(self.game.turn(state), Decide):
            raise ValueError(f"no player chooses in {state}")
        self._state[index] = (decisions, *kernel_of(self.game).pack(self.game, state))
        self._changed()

    # For `Versus`, which plays one side.

    def save(self) -> tuple[Array, Array]:
        """Copies of the states and random streams, for `restore`."""
        return self._state.copy(), self._streams.copy()

    def restore(self, to: tuple[Array, Array]) -> None:
        """Return to what `save` returned."""
        self._state, self._streams = to
        self._changed()

    def checked(self, actions: Any, choosers: int, where: Any = None) -> Array:
        """Actions as the kernels take them; raises if one is out of range."""
        given = np.asarray(actions)
        shape = (self.size,) if choosers == 1 else (self.size, choosers)
        if given.shape != shape or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions are whole numbers in the shape {shape}; "
                f"got {given.dtype} in the shape {given.shape}"
            )
        rows = self.rows(where)
        taken = np.ascontiguousarray(given, np.int64).reshape(self.size, choosers)
        played = taken if where is None else taken[rows]
        wrong = first_invalid(played.reshape(-1), len(self.moves)) // choosers
        if wrong >= 0:
            game = wrong if where is None else np.flatnonzero(rows)[wrong]
            raise IndexError(
                f"game {game}: action {taken[game].tolist()} is out of range; "
                f"actions are 0 to {len(self.moves) - 1}"
            )
        return taken

    def rows(self, where: Any) -> Array:
        """The mask of selected games: all if `where` is None."""
        if where is None:
            return self._all
        rows = np.ascontiguousarray(where)
        if rows.shape != (self.size,) or rows.dtype != np.bool_:
            raise ValueError(
                f"where is true or false for each of {self.size} games; "
                f"got {rows.dtype} in the shape {rows.shape}"
            )
        return rows

    def begin_against(
        self, opponent: CompiledPolicy, seats: Array, skipped: Array, seed: int | None, where: Any
    ) -> bool:
        """`reset`, then play until the agents in `seats` must choose; False if one never does.

        Games that the opponent ends before the agent's first choice are added to `skipped`.
        """
        chosen = self.rows(where)
        self.reseed(seed)
        playable = self._against(opponent).begin(
            self._rules, opponent.tables, self._state, self._streams, seats, chosen,
            self.turn_limit, skipped,
        )  # fmt: skip
        self._changed()
        return bool(playable)

    def step_against(
        self, opponent: CompiledPolicy, actions: Array, seats: Array, skipped: Array, final: Array,
        where: Any,
    ) -> tuple[Array, bool]:  # fmt: skip
        """The agents' rewards; their observations at the end of games are written to `final`."""
        self.ending = np.empty(self.size, np.int8)
        rewards = np.empty(self.size, np.float32)
        playable = self._against(opponent).step(
            self._rules, opponent.tables, self._state, self._streams, seats, actions,
            self.rows(where), self.turn_limit, rewards, self.ending, final, skipped,
        )  # fmt: skip
        self._changed()
        return rewards, bool(playable)

    def choices_of(self, opponent: CompiledPolicy, seats: Array) -> Array:
        """The actions that an opponent in these seats would choose now, without playing them."""
        out = np.empty(self.size, np.int64)
        self._against(opponent).pick(
            self._rules, opponent.tables, self._state, self._streams, seats, out
        )
        return out

    def masks_of(self, seats: Array, out: Array) -> None:
        """The masks of these seats where they choose: size x 1 x moves."""
        self._run.masks_of(self._rules, self._state, seats, out.view(np.uint8))

    def observations_of(self, seats: Array, out: Array) -> None:
        """The observations of these seats: size x 1 x features."""
        self._run.observations_of(self._rules, self._state, seats, out)

    def ends(self) -> tuple[Array, Array]:
        """Which games ended in the last step: by the rules or a forfeit, and by the turn limit."""
        truncated = self.ending == BY_LIMIT
        return (self.ending != RUNNING) ^ truncated, truncated

    def _changed(self) -> None:
        self._player = None
        self._mask_known = self._observation_known = False
        self.changes += 1
