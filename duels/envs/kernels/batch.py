"""Thousands of games at a time, in arrays: the plain interface, without any library of agents.

    from duels.envs.vector import Batch
    from duels.games import load

    batch = Batch(load("cipher-siege"), size=4096, seed=1)
    for _ in range(100):
        actions = your_policy(batch.observation, batch.mask)
        rewards, terminated, truncated = batch.step(actions)

docs/envs/vector.md says how the arrays are laid out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from duels.core.chance import new_seed
from duels.core.game import AnyGame, Decide
from duels.core.match import TURN_LIMIT
from duels.envs.extras import whole
from duels.envs.kernels import DECISIONS, Array, Chooser, kernel_of, np
from duels.envs.kernels.drive import BY_LIMIT, RUNNING, Drivers, drivers, misplaced
from duels.envs.kernels.oppose import Opposing, nothing, opposing
from duels.envs.kernels.stream import fill_luck, keys
from duels.envs.policy import ArrayFunction, EnvPolicy
from duels.games import game_of


class Step(NamedTuple):
    """What a step brought: each game's rewards by player, and whether it ended."""

    rewards: Array
    terminated: Array
    truncated: Array


class Batch:
    """Games in step with each other. Players 0 and 1 are both yours to play."""

    def __init__(
        self,
        game: str | AnyGame,
        size: int,
        seed: int | None = None,
        *,
        turn_limit: int = TURN_LIMIT,
        memory: bool = False,
    ) -> None:
        game = game_of(game)
        kernel = kernel_of(game)
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
        self.changes = 0  # how often all arrays to look at became out of date
        self._streams: Array = None
        # How each game ended in the last step, and what both players saw of it then.
        self.ending = np.zeros(size, np.int8)
        self.final_observation = np.zeros((size, 2, len(self.features)), np.int16)
        self.reset(new_seed() if seed is None else seed)

    @property
    def _run(self) -> Drivers:
        # Looked up and not kept, so that a batch can be copied and pickled.
        return drivers(self.game.slug, self.sealed)

    def _against(self, opponent: Chooser) -> Opposing:
        return opposing(self.game.slug, self.sealed, opponent.choose, opponent.ahead or nothing)

    def policy(self, function: ArrayFunction) -> EnvPolicy:
        """`function` over this batch's observations, as `duels.measure` takes it."""
        from duels.envs.settings import Scale  # needs numpy, which this module can do without

        return EnvPolicy(function, self.game, Scale(self.game, memory=self.memory), self.memory)

    # Playing

    def reset(self, seed: int | None = None, where: Any = None) -> None:
        """Begin games anew, all or those `where` says.

        From a seed, which all streams of random numbers then begin from, or going on along them.
        """
        chosen = self.rows(where)
        self.reseed(seed)
        self._run.begin(self._rules, self._state, self._streams, chosen)
        self._changed()

    def reseed(self, seed: int | None) -> None:
        """Begin the random numbers of all games anew, if there is a seed to begin from."""
        if seed is not None:
            self.seed = whole("a seed", seed)
            self._streams = keys(self.seed, self.size)

    def step(self, actions: Any, where: Any = None) -> Step:
        """Play one action in every game, or in those `where` says; sealed choices take two each."""
        taken = self.checked(actions, 2 if self.sealed else 1, where)
        chosen = self.rows(where)
        self.ending = np.empty(self.size, np.int8)  # new, so that the last one may be kept
        rewards = np.empty((self.size, 2), np.float32)
        self._run.step(
            self._rules, self._state, self._streams, taken, chosen, self.turn_limit,
            rewards, self.ending, self.final_observation,
        )  # fmt: skip
        self._changed()
        return Step(rewards, *self.ends())

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

    def luck(self, rows: Array) -> Array:
        """A number from 0 up to 1 for each of these games, from its stream of random picks."""
        out = np.empty(len(rows), np.float64)
        fill_luck(self._streams, rows, out)
        return out

    # Looking. Arrays are filled when they are first asked for after a step, then kept until the
    # next: who does not look does not pay.

    @property
    def player(self) -> Array:
        """Who chooses in each game; -1 where both do."""
        if self._player is None:
            self._player = np.empty(self.size, np.int8)
            self._run.movers(self._rules, self._state, self._player)
        return self._player

    @property
    def mask(self) -> Array:
        """Which moves are legal: size x moves, or size x 2 x moves where choices are sealed."""
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
        """What who chooses may see, as `Game.encode` gives it; laid out like `mask`."""
        if not self._observation_known:
            self._run.observations(self._rules, self._state, self._observation)
            self._observation_known = True
        return self._observation if self.sealed else self._observation[:, 0]

    @property
    def state_bytes(self) -> int:
        """What one game takes: its state and its random numbers, without masks and observations."""
        return int(self._state[0].nbytes + self._streams[0].nbytes)

    def state(self, index: int) -> Any:
        """One game's state as the pure rules have it."""
        row = tuple(self._state[index].tolist())
        return kernel_of(self.game).unpack(self.game, row[DECISIONS + 1 :])

    def decisions(self, index: int) -> int:
        """How many decisions have been resolved in one game."""
        return int(self._state[index, DECISIONS])

    def set_state(self, index: int, state: Any, decisions: int = 0) -> None:
        """Go on from another state in one game; somebody must have a choice there."""
        if not isinstance(self.game.turn(state), Decide):
            raise ValueError(f"nobody chooses in {state}")
        self._state[index] = (decisions, *kernel_of(self.game).pack(self.game, state))
        self._changed()

    # For the players of one side that are built on this.

    def copies(self) -> tuple[Array, Array]:
        """All that games go on from, for `go_back`."""
        return self._state.copy(), self._streams.copy()

    def go_back(self, to: tuple[Array, Array]) -> None:
        """Undo what happened since `copies` were taken."""
        self._state, self._streams = to
        self._changed()

    def checked(self, actions: Any, choosers: int, where: Any = None) -> Array:
        """Actions as the kernels take them, or an error that says which is none."""
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
        wrong = misplaced(played.reshape(-1), len(self.moves)) // choosers
        if wrong >= 0:
            game = wrong if where is None else np.flatnonzero(rows)[wrong]
            raise IndexError(
                f"game {game}: action {taken[game].tolist()} is out of range; "
                f"actions are 0 to {len(self.moves) - 1}"
            )
        return taken

    def rows(self, where: Any) -> Array:
        """In which games something is to happen: all, or true or false for each."""
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
        self, opponent: Chooser, seats: Array, skipped: Array, seed: int | None, where: Any
    ) -> bool:
        """As `reset`, until the agents in `seats` must choose; False if some game never let it.

        Games that the opponent ends before the agent had a choice are added to `skipped`.
        """
        chosen = self.rows(where)
        self.reseed(seed)
        fair = self._against(opponent).begin(
            self._rules, opponent.tables, self._state, self._streams, seats, chosen,
            self.turn_limit, skipped,
        )  # fmt: skip
        self._changed()
        return bool(fair)

    def step_against(
        self, opponent: Chooser, actions: Array, seats: Array, skipped: Array, final: Array,
        where: Any,
    ) -> tuple[Array, bool]:  # fmt: skip
        """The agents' own rewards; what they saw at the end of games goes into `final`."""
        self.ending = np.empty(self.size, np.int8)
        rewards = np.empty(self.size, np.float32)
        fair = self._against(opponent).step(
            self._rules, opponent.tables, self._state, self._streams, seats, actions,
            self.rows(where), self.turn_limit, rewards, self.ending, final, skipped,
        )  # fmt: skip
        self._changed()
        return rewards, bool(fair)

    def choices_of(self, opponent: Chooser, seats: Array) -> Array:
        """What an opponent in these seats chooses now, where they must choose; it is not played."""
        out = np.empty(self.size, np.int64)
        self._against(opponent).pick(
            self._rules, opponent.tables, self._state, self._streams, seats, out
        )
        return out

    def masks_of(self, seats: Array, out: Array) -> None:
        """What these seats may choose, where they choose: size x 1 x moves."""
        self._run.masks_of(self._rules, self._state, seats, out.view(np.uint8))

    def observations_of(self, seats: Array, out: Array) -> None:
        """What these seats see: size x 1 x features."""
        self._run.observations_of(self._rules, self._state, seats, out)

    def ends(self) -> tuple[Array, Array]:
        """Which games ended in the last step: by the rules or a forfeit, and by the turn limit."""
        truncated = self.ending == BY_LIMIT
        return (self.ending != RUNNING) ^ truncated, truncated

    def _changed(self) -> None:
        self._player = None
        self._mask_known = self._observation_known = False
        self.changes += 1
