"""A policy over arrays together with the observations it was made for.

What a network expects depends on the environment it was trained in: whole numbers or numbers from
0 to 1, with or without the features of memory. `env.policy(function)` keeps that with the function,
so that `duels.measure` asks it about the observations which the environment would give.

>>> from duels.envs.gymnasium import DuelEnv
>>> env = DuelEnv("firewall-breach", normalize=True)
>>> policy = env.policy(lambda observations, masks: masks / masks.sum(1, keepdims=True))
>>> policy.normalize, policy.memory, policy.game
(True, False, FirewallBreach(strength=(10, 10), hit=3, bypass=1, first=0))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from duels.core.errors import OptionError, quote
from duels.core.game import AnyGame

if TYPE_CHECKING:
    from duels.envs.settings import Scale

# From rows of observations and of masks to a probability for each move. A function with a parameter
# named `seat` is also told the seat: 0 for Player 1, 1 for Player 2.
ArrayFunction = Callable[..., Any]


class EnvPolicy:
    """A function over an environment's observations; made by the environment's method `policy`."""

    def __init__(
        self, function: ArrayFunction, game: AnyGame, scale: Scale, memory: bool,
        seat: int | str | None = None,
    ) -> None:  # fmt: skip
        if not callable(function):
            raise OptionError(
                "policy takes a function from observations and masks to probabilities; "
                f"got {quote(function)}"
            )
        self.function, self.game = function, game
        self.normalize, self.memory = scale.normalize, memory
        self.seat = seat if isinstance(seat, int) else None  # the only one its agent has, if so
        self._scale = scale

    def observations(self, raw: Any) -> Any:
        """Rows of whole numbers, memory included where the policy has it, as the function gets
        them."""
        return self._scale.of(raw)

    def __call__(self, observations: Any, masks: Any, **seat: int) -> Any:
        """The function itself, for observations that the environment gave."""
        return self.function(observations, masks, **seat)
