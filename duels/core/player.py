"""The `Player` interface and the `View` that a player chooses from.

A player gets a view, never the state, and returns one of its options.

>>> class Last(Player):
...     def choose(self, view: View) -> str:
...         return view.options[-1]
>>> from duels.core import Match
>>> from duels.games import load
>>> answer(Last(), Match(load("firewall-breach"), seed=1).view(0))
'bypass'
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which slows start-up.

from collections.abc import Awaitable, Mapping
from typing import Any, ClassVar, NamedTuple

from duels.core.errors import MalformedMove, quote
from duels.core.game import AnyGame, Event, Move, Result

MixedStrategy = Mapping[Move, float]  # the probability of each move


class View(NamedTuple):
    """All that a player, or a spectator (None), may know of a match at one moment."""

    game: AnyGame
    player: int | None
    observation: Any
    history: tuple[Event, ...]  # the events that were not undone, as this viewer saw them
    options: tuple[Move, ...]  # empty unless this player's pick is awaited
    clock: float | None = None  # seconds left for this choice; None without a limit
    version: int = 0  # how many entries the record has; an undo adds one, too
    sealed: tuple[int, ...] = ()  # the players who have made a sealed pick
    result: Result | None = None
    # Seconds left by player: for the current choice, or of the budget for a player without one.
    clocks: tuple[float | None, float | None] = (None, None)
    offer: int | None = None  # the player who offers an undo


class Player:
    """Anything that can choose a move: a built-in opponent, another program, a language model.

    `choose` may be a coroutine function; `answer` serves callers that cannot await. The
    caller that runs the match informs its players with `duels.core.match.inform`.
    """

    needs_solution: ClassVar[bool] = False  # plays only games that are solved
    needs_history: ClassVar[bool] = False  # an observation alone is not sufficient to choose
    stream: str = ""  # label of its random stream in a match (`chance.stream`), if it uses one

    def prepare(self) -> None:
        """Get ready for a match. Called before a clock runs; further calls have no effect."""

    def choose(self, view: View) -> Move | Awaitable[Move]:
        """One of `view.options`, in `view.clock` seconds if that is not None."""
        raise NotImplementedError

    def mixed_strategy(self, view: View) -> MixedStrategy | None:
        """The probability of each move; None if the player does not disclose its strategy."""
        return None

    def on_event(self, number: int, entry: Any) -> None:
        """Called when an entry was appended to the record, with what this player may know."""

    def on_end(self, result: Result) -> None:
        """Called when the match is over."""

    def cancel(self) -> None:
        """Abort the current `choose`, which may return anything. Called from any thread."""

    def close(self) -> None:
        """Release resources. Called once, by the creator of the player, after the last choice."""


def answer(player: Player, view: View) -> Move:
    """Wait for a player's move. Inside an event loop, await `answer_async` instead.

    A move that is not text is refused here; the match checks whether it is an option.
    """
    move = player.choose(view)
    if isinstance(move, str):
        return move
    import asyncio

    async def awaited() -> Move:
        return _text(await _awaitable(move))

    return asyncio.run(awaited())


async def answer_async(player: Player, view: View) -> Move:
    """Wait for a player's move without blocking the event loop.

    A player whose `choose` is not a coroutine runs in a thread. Cancelling the task also cancels
    the player, so that no thread is left running.
    """
    import asyncio

    try:
        move = await asyncio.to_thread(player.choose, view)
        return move if isinstance(move, str) else _text(await _awaitable(move))
    except asyncio.CancelledError:
        player.cancel()
        raise


def _text(move: object) -> Move:
    if not isinstance(move, str):
        raise MalformedMove(f"expected a move as text; got {quote(move)}")
    return move


def _awaitable(move: object) -> Awaitable[object]:
    return move if isinstance(move, Awaitable) else _text(move)  # type: ignore[return-value]
