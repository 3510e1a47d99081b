"""Observations at the end of games, built on first use."""

from __future__ import annotations

from typing import Any

from duels.kernels import Array, np


class FinalObservations:
    """The last observations of games that ended, None for the others, as an array of objects.

    The array is built on first use: few learners read it, and building hundreds of small arrays
    takes as long as the step itself.
    """

    def __init__(self, observations: Array, ended: Array) -> None:
        self._source: tuple[Array, Array] | None = (observations, ended)
        self._built: Array = None

    def _array(self) -> Array:
        if self._source is not None:
            observations, ended = self._source
            rows = np.flatnonzero(ended)
            self._built = np.full(len(observations), None, object)
            self._built[rows] = np.fromiter(observations[rows], object, len(rows))
            self._source = None
        return self._built

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.array(self._array(), dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self._array())

    def __getitem__(self, at: Any) -> Any:
        return self._array()[at]

    def __setitem__(self, at: Any, value: Any) -> None:
        self._array()[at] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # looked up by copy and pickle
            raise AttributeError(name)
        return getattr(self._array(), name)
