"""Runs a match between players: asks for their picks, and forfeits players that fail.

>>> from duels.core import Match, Player
>>> from duels.games import load
>>> class Crashes(Player):
...     def choose(self, view):
...         return {}["a plan"]
>>> from duels.players import make_player
>>> match = Match(load("number-clash"), seed=1)
>>> MatchRunner(match, {0: Crashes(), 1: make_player("greedy", "")}).finish()
>>> match.result.reason
"Player 1 forfeits: KeyError: 'a plan'."
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TypeVar

from duels.core.errors import IllegalMove, MalformedMove, Misbehaved, one_line
from duels.core.match import Match, inform
from duels.core.player import Player, View, answer
from duels.core.presentation import player_name
from duels.players import BUILT_IN

OURS = {listed.place for listed in BUILT_IN.values()}
Made = TypeVar("Made")


class MatchRunner:
    """Runs one or both players of a match: informs them, asks for moves, forfeits those that fail.

    A player that crashes, is too late or returns an invalid move forfeits the match, with the
    reason in the record. An exception of a built-in opponent is raised, since it is a bug.
    """

    def __init__(
        self, match: Match, players: Mapping[int, Player], *, charged: bool = True
    ) -> None:
        """Without `charged`, answers in time cost no time.

        This is for built-in opponents, which budget their time, so that a slow machine does not
        make them lose.
        """
        self.match, self.players, self.charged = match, players, charged
        self._ended = False
        # By seat: events sent so far, for players that listen. Informing takes longer than playing.
        self._told = {
            seat: 0
            for seat, player in players.items()
            if type(player).on_event is not Player.on_event
        }

    def choose(self) -> None:
        """Ask each of these players whose pick is awaited, and submit the picks.

        In a simultaneous choice both are asked before a player forfeits, so that no seat has an
        advantage. A clock begins to run when its player is asked.
        """
        match, failed = self.match, dict[int, str]()
        version = len(match.events)
        for seat in match.deciders:
            if (player := self.players.get(seat)) is None:
                continue
            try:
                guarded(player, player.prepare)
                self._inform(seat)
                match.start_clock(seat)
                move = choice(player, match.view(seat))
                if not self.charged:
                    match.start_clock(seat)
                match.submit(seat, move, at=version)
            except (Misbehaved, IllegalMove) as error:
                failed[seat] = str(error)
        if failed and match.result is None:
            match.forfeit(tuple(failed), reason(failed))
        if match.result is not None:
            self.end()

    def finish(self) -> None:
        """Play the match to its end; both players must be here."""
        while self.match.result is None:
            self.choose()

    def close(self) -> None:
        """Release the resources of the players."""
        for player in self.players.values():
            with suppress(Misbehaved):
                guarded(player, player.close)

    def end(self) -> None:
        """Inform the players of the result, once; a failure then has no effect on the match."""
        result = self.match.result
        if result is None or self._ended:
            return
        self._ended = True
        for seat, player in self.players.items():
            with suppress(Misbehaved):
                if self._listens(seat):
                    self._inform(seat)
                else:
                    guarded(player, partial(player.on_end, result))

    def _inform(self, seat: int) -> None:
        if self._listens(seat):
            player, since = self.players[seat], self._told[seat]
            self._told[seat] = guarded(player, lambda: inform(player, self.match, seat, since))

    def _listens(self, seat: int) -> bool:
        return seat in self._told and listens(self.players[seat])


def listens(player: Player) -> bool:
    """Whether a player uses events; one in another process declares it when it is ready."""
    return type(player).on_event is not Player.on_event and getattr(player, "listening", True)


def reason(failed: Mapping[int, str]) -> str:
    """The reason of a forfeit; both reasons with names if those of a sealed choice differ.

    >>> reason({0: "it crashed", 1: "it hung"})
    'Player 1: it crashed; Player 2: it hung'
    """
    if len(set(failed.values())) == 1:
        return next(iter(failed.values()))
    return "; ".join(f"{player_name(seat)}: {why}" for seat, why in failed.items())


def reasons_by_player(players: tuple[int, ...], why: str) -> dict[int, str]:
    """The reasons by player, from the text that `reason` returned.

    >>> reasons_by_player((0, 1), "Player 1: it crashed; Player 2: it hung")
    {0: 'it crashed', 1: 'it hung'}
    """
    first, second = f"{player_name(0)}: ", f"; {player_name(1)}: "
    if len(players) == 2 and why.startswith(first) and second in why:
        one, _, two = why.removeprefix(first).partition(second)
        return {0: one, 1: two}
    return dict.fromkeys(players, why)


def choice(player: Player, view: View) -> str:
    """A player's move; any exception of an external player becomes `Misbehaved`."""
    try:
        return guarded(player, lambda: answer(player, view))
    except MalformedMove as error:
        raise Misbehaved(str(error)) from None


def guarded(player: Player, work: Callable[[], Made]) -> Made:
    """Turn any exception of an external player into `Misbehaved`, with the reason."""
    try:
        return work()
    except (Misbehaved, MalformedMove):
        raise
    except (Exception, SystemExit) as error:
        kind = type(player)
        if f"{kind.__module__}:{kind.__qualname__}" in OURS:
            raise
        raise Misbehaved(one_line(error)) from error
