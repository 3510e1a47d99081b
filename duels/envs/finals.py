"""What a learner saw at the end of games, made when it is looked at."""

from __future__ import annotations

from typing import Any

from duels.envs.kernels import Array, np


class Finals:
    """The last observations of games that ended, None for the others: numpy's array of objects.

    It is made when it is first used in any way. Few learners look at it, and making hundreds of
    small arrays would take as long as the step itself.
    """

    def __init__(self, observations: Array, ended: Array) -> None:
        self._from: tuple[Array, Array] | None = (observations, ended)
        self._made: Array = None

    def _array(self) -> Array:
        if self._from is not None:
            observations, ended = self._from
            rows = np.flatnonzero(ended)
            self._made = np.full(len(observations), None, object)
            self._made[rows] = np.fromiter(observations[rows], object, len(rows))
            self._from = None
        return self._made

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.array(self._array(), dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self._array())

    def __getitem__(self, at: Any) -> Any:
        return self._array()[at]

    def __setitem__(self, at: Any, value: Any) -> None:
        self._array()[at] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copies and pickles look for
            raise AttributeError(name)
        return getattr(self._array(), name)
