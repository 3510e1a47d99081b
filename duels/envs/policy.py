"""A policy over arrays together with the observations it was made for.

What a network expects depends on its environment: integers or numbers from 0 to 1, with or without
memory features. `env.policy(function)` stores that with the function, so that `duels.measure`
queries it with the observations that the environment would give.

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
from duels.core.game import AnyGame, Decide
from duels.core.player import View

if TYPE_CHECKING:
    from duels.envs.settings import Scale

# From rows of observations and of masks to a probability for each move. A function with a parameter
# named `seat` also gets the seat: 0 for Player 1, 1 for Player 2.
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
        self.seat = seat if isinstance(seat, int) else None  # None: the agent plays both seats
        self._scale = scale

    def observations(self, raw: Any) -> Any:
        """The function's observations, from rows of integers that include memory if it is used."""
        return self._scale.of(raw)

    def __call__(self, observations: Any, masks: Any, **seat: int) -> Any:
        """The function itself, for observations of the environment."""
        return self.function(observations, masks, **seat)


def view_of(game: AnyGame, state: Any, player: int) -> View:
    """The view of a player who chooses in a state, without history."""
    turn = game.turn(state)
    assert isinstance(turn, Decide)
    return View(game, player, game.observe(state, player), (), turn.options[player])
