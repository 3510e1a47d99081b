"""Evaluation that includes every game, also those decided before the agent's first move.

`reset` cannot report to Gymnasium that a game is over, so an environment begins another game and
reports the skipped one in `info`. Statistics of episodes alone, Gymnasium's and those of training
libraries, leave these games out. `evaluate` and the wrappers here include them, for single and for
vector environments.

>>> duel = gymnasium.make("duels/CipherSiege-v0", opponent="greedy", seat=1)
>>> first = lambda observation, info: info["action_mask"].argmax()
>>> found = evaluate(duel, first, games=200, seed=1)
>>> found.games, found.wins + found.draws + found.losses, found.early
(200, 200, 51)
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from duels.core.errors import OptionError, quote
from duels.core.extras import Array, need, whole
from duels.envs.encoding import np
from duels.envs.gymnasium import gymnasium  # the games are registered with it

wrappers: Any = need("gymnasium.wrappers", extra="rl")
vector: Any = need("gymnasium.vector", extra="rl")

# From an observation and the info that came with it to an action; in a vector environment from
# arrays with a row for each game to an array of actions. `info["action_mask"]` says what is legal.
Choose = Callable[[Any, dict[str, Any]], Any]

SKIPPED = ("skipped", "skipped_return", "skipped_wins")


class Evaluation(NamedTuple):
    """The agent's results. A game that the turn limit ended counts as a draw."""

    mean: float  # of the returns of all games: 1 for a win, 0 for a draw, -1 for a loss
    standard_error: float  # of that mean; nan with fewer than two games
    games: int
    wins: int
    draws: int
    losses: int
    early: int  # games among them that were decided before the agent's first move


def evaluate(env: Any, policy: Choose, games: int = 1000, seed: int | None = None) -> Evaluation:
    """Play this many games, including those decided before the agent's first move.

    `env` is an environment, a vector environment, or an id for `gymnasium.make`. Each of the n
    games of a vector environment is played `games / n` times, so that short games are not counted
    more often than long ones.
    """
    games = whole("games", games, low=1)
    if not callable(policy):
        raise OptionError(
            "policy is a function of an observation and its info that returns an action, such as "
            f"lambda observation, info: model.predict(observation)[0]; got {quote(policy)}"
        )
    if isinstance(env, str):
        made = gymnasium.make(env)
        try:
            return evaluate(made, policy, games, seed)
        finally:
            made.close()
    tally = Tally(seed)
    if isinstance(env, vector.VectorEnv):
        _play_rows(env, policy, games, seed, tally)
    else:
        _play(env, policy, games, seed, tally)
    return tally.result()


def _play(env: Any, policy: Choose, left: int, seed: int | None, tally: Tally) -> None:
    observation, info = env.reset(seed=seed)
    while left := left - len(tally.add_early(_skips(info), left)):
        total, over = 0.0, False
        while not over:
            step = env.step(policy(observation, info))
            observation, reward, terminated, truncated, info = step
            total, over = total + float(reward), terminated or truncated
        tally.add([total])
        left -= 1
        if not left:
            return
        observation, info = env.reset()


def _play_rows(env: Any, policy: Choose, games: int, seed: int | None, tally: Tally) -> None:
    if _mode(env) == "DISABLED":
        raise OptionError(
            "evaluate needs a vector environment that resets finished games by itself: "
            "autoreset_mode SAME_STEP or NEXT_STEP; got DISABLED"
        )
    size = env.num_envs
    left = games // size + (np.arange(size) < games % size)
    returns = np.zeros(size)
    observation, info = env.reset(seed=seed)
    while True:
        skips = _skips(info, size)
        fits = skips[0] <= left
        tally.add_early(skips[:, fits].sum(axis=1))
        left[fits] -= skips[0, fits]
        for row in np.flatnonzero(~fits):
            tally.add_early(skips[:, row], left[row])
            left[row] = 0
        if not left.any():
            return
        actions = policy(observation, info)
        observation, rewards, terminated, truncated, info = env.step(actions)
        returns += rewards
        over = terminated | truncated
        counted = over & (left > 0)
        tally.add(returns[counted])
        left -= counted
        returns[over] = 0


class Tally:
    """Totals over games. `seed` is for the rare case that only some skipped games count."""

    def __init__(self, seed: int | None = None) -> None:
        self._wins = self._losses = self._games = self._early = 0
        self._sum = self._squares = 0.0
        self._rng = np.random.default_rng(seed)

    def add(self, returns: Any) -> None:
        """Add games with these returns."""
        found = np.asarray(returns, np.float64)
        self._games += len(found)
        self._wins += int((found > 0).sum())
        self._losses += int((found < 0).sum())
        self._sum += float(found.sum())
        self._squares += float((found**2).sum())

    def add_early(self, skips: Array, most: int | None = None) -> list[float]:
        """Add skipped games, at most `most` of them; returns their returns.

        Their order is not known, but they are exchangeable: a random subset stands for the first.
        """
        count, brought, wins = map(int, skips)
        losses = wins - brought
        kinds = np.array([wins, count - wins - losses, losses])
        if most is not None and most < count:
            kinds = self._rng.multivariate_hypergeometric(kinds, most)
        returns: list[float] = np.repeat([1.0, 0.0, -1.0], kinds).tolist()
        self.add(returns)
        self._early += len(returns)
        return returns

    def result(self) -> Evaluation:
        games = self._games
        mean = self._sum / games if games else math.nan
        error = math.nan
        if games > 1:
            error = math.sqrt(max(0.0, self._squares / games - mean**2) / (games - 1))
        draws = games - self._wins - self._losses
        return Evaluation(mean, error, games, self._wins, draws, self._losses, self._early)


class RecordGameStatistics(wrappers.RecordEpisodeStatistics):  # type: ignore[misc]
    """Gymnasium's RecordEpisodeStatistics, including games without a move of the agent.

    They are in `episode_count` and, with length 0, in the queues. `info["episode"]` at the end of a
    game holds "r", "l" and "t" of that game and two more: "skipped", how many games were decided
    before the agent's first move since the game before, and "skipped_r", the sum of their returns.
    `statistics` has the totals.
    """

    def __init__(self, env: Any, buffer_length: int = 100, stats_key: str = "episode") -> None:
        super().__init__(env, buffer_length, stats_key)
        self._tally = Tally()
        self._early: list[float] = []

    @property
    def statistics(self) -> Evaluation:
        """All games since this wrapper was made."""
        return self._tally.result()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = super().reset(seed=seed, options=options)
        early = self._tally.add_early(_skips(info))
        self._early += early
        self.episode_count += len(early)
        _enqueue(self, early, [0] * len(early), [0.0] * len(early))
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = super().step(action)
        if terminated or truncated:
            self._tally.add([info[self._stats_key]["r"]])
            skips = {"skipped": len(self._early), "skipped_r": sum(self._early)}
            info[self._stats_key] |= skips
            self._early = []
        return observation, reward, terminated, truncated, info


class RecordVectorGameStatistics(vector.VectorWrapper):  # type: ignore[misc]
    """The same for a vector environment in any autoreset mode; values are arrays by row.

    Its queues, `episode_count` and `info["episode"]` are those of Gymnasium's own vector wrapper,
    with the early games and their two keys.
    """

    def __init__(self, env: Any, buffer_length: int = 100, stats_key: str = "episode") -> None:
        super().__init__(env)
        self._stats_key = stats_key
        self._tally = Tally()
        self._next_step = _mode(env) == "NEXT_STEP"
        self.episode_count = 0
        self.time_queue: deque[float] = deque(maxlen=buffer_length)
        self.return_queue: deque[float] = deque(maxlen=buffer_length)
        self.length_queue: deque[int] = deque(maxlen=buffer_length)
        size = self.num_envs
        self._returns, self._lengths = np.zeros(size), np.zeros(size, int)
        self._began = np.zeros(size)
        self._skips = np.zeros((3, size), int)  # since the last finished game, by row
        self._over = np.zeros(size, np.bool_)  # where the next step is a reset

    @property
    def statistics(self) -> Evaluation:
        """All games since this wrapper was made."""
        return self._tally.result()

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        rows = (options or {}).get("reset_mask")
        observation, info = self.env.reset(seed=seed, options=options)
        self._begin(slice(None) if rows is None else rows)
        self._count_early(info)
        return observation, info

    def step(self, actions: Any) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        observation, rewards, terminated, truncated, info = self.env.step(actions)
        self._returns += rewards
        self._lengths += 1
        self._begin(self._over)
        ended = terminated | truncated
        if ended.any():
            times = np.round(time.perf_counter() - self._began, 6)
            found = {
                "r": self._returns, "l": self._lengths, "t": times,
                "skipped": self._skips[0], "skipped_r": self._skips[1].astype(float),
            }  # fmt: skip
            info[self._stats_key] = {k: np.where(ended, of, 0) for k, of in found.items()}
            info[f"_{self._stats_key}"] = ended
            self.episode_count += int(ended.sum())
            self._tally.add(self._returns[ended])
            _enqueue(self, self._returns[ended], self._lengths[ended], times[ended])
            self._skips[:, ended] = 0
            if self._next_step:
                self._over = ended.copy()
            else:
                self._begin(ended)
        self._count_early(info)
        return observation, rewards, terminated, truncated, info

    def _begin(self, rows: Any) -> None:
        self._returns[rows] = self._lengths[rows] = self._over[rows] = 0
        self._began[rows] = time.perf_counter()

    def _count_early(self, info: dict[str, Any]) -> None:
        skips = _skips(info, self.num_envs)
        self._skips += skips
        early = self._tally.add_early(skips.sum(axis=1))
        self.episode_count += len(early)
        _enqueue(self, early, [0] * len(early), [0.0] * len(early))


def _enqueue(wrapper: Any, returns: Any, lengths: Any, times: Any) -> None:
    wrapper.return_queue.extend(returns)
    wrapper.length_queue.extend(lengths)
    wrapper.time_queue.extend(times)


def _mode(env: Any) -> str:
    """The autoreset mode of a vector environment; Gymnasium's default is NEXT_STEP."""
    return getattr(env.metadata.get("autoreset_mode"), "name", "NEXT_STEP")


def _skips(info: dict[str, Any], *shape: int) -> Array:
    """The skipped games in an info: their number, total return and wins; by row if any."""
    if not all(key in info for key in SKIPPED):
        return np.zeros((3, *shape), int)
    return np.array([info[key] for key in SKIPPED]).astype(int)
