"""The `Player` interface and the `View` that a player chooses from.

A player gets what it may see, never the state, and returns one of its options.

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
    history: tuple[Event, ...]  # what has happened and was not taken back, as this viewer saw it
    options: tuple[Move, ...]  # empty unless this player's pick is awaited
    clock: float | None = None  # seconds left for this choice; None without a limit
    moment: int = 0  # how many entries the record has; grows even when a move is taken back
    sealed: tuple[int, ...] = ()  # the players whose sealed picks are in
    result: Result | None = None
    # Seconds each player has left: for the choice where one chooses, else of the budget.
    clocks: tuple[float | None, float | None] = (None, None)
    offer: int | None = None  # the player who asks the other to let a pick be taken back


class Player:
    """Anything that can choose a move: a built-in opponent, another program, a language model.

    `choose` may be a coroutine function; `answer` serves callers that cannot await. The
    caller that runs the match informs its players with `duels.core.match.inform`.
    """

    needs_solution: ClassVar[bool] = False  # plays only games that are solved
    needs_history: ClassVar[bool] = False  # an observation alone does not tell it what to do
    stream: str = ""  # its own randomness in a match, for one that has any (`chance.stream`)

    def prepare(self) -> None:
        """Get ready for a match. Called before a clock runs, and more than once for nothing."""

    def choose(self, view: View) -> Move | Awaitable[Move]:
        """One of `view.options`, in `view.clock` seconds if that is not None."""
        raise NotImplementedError

    def mix(self, view: View) -> MixedStrategy | None:
        """How likely each move is to be chosen; None where the player does not say."""
        return None

    def on_event(self, number: int, entry: Any) -> None:
        """Something was appended to the record, as this player may know it."""

    def on_end(self, result: Result) -> None:
        """The match is over."""

    def cancel(self) -> None:
        """The choice under way is no longer wanted: return anything soon. From any thread."""

    def close(self) -> None:
        """Release what the player has started. Called once by its creator; no choice follows."""


def answer(player: Player, view: View) -> Move:
    """A player's move, waited for. Inside an event loop, await `answer_async` instead.

    Whether it is one of the options is for the match to say; what is no text is refused here.
    """
    move = player.choose(view)
    if isinstance(move, str):
        return move
    import asyncio

    async def awaited() -> Move:
        return _text(await _awaitable(move))

    return asyncio.run(awaited())


async def answer_async(player: Player, view: View) -> Move:
    """A player's move, inside an event loop, which goes on meanwhile.

    A player that does not await thinks in a thread of its own. Cancelling the task cancels the
    player as well, so that no thread goes on thinking.
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
        raise MalformedMove(f"a move is a text; got {quote(move)}")
    return move


def _awaitable(move: object) -> Awaitable[object]:
    return move if isinstance(move, Awaitable) else _text(move)  # type: ignore[return-value]
