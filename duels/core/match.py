"""A sans-IO referee: seats, sealed picks, seeded chance, clocks, the turn limit, resignation.

A match knows no terminal, socket or database. Everything that happens is appended to `events`;
that list with its header is the record of the match, and folding it again gives the same match.
What each viewer may know of it is the `log`.

>>> from duels.games import load
>>> match = Match(load("number-clash"), seed=7)
>>> match.submit(0, "7", at=0)
>>> match.events, match.view(1).sealed  # a lone sealed pick is nowhere to be seen
([], (0,))
>>> match.submit(1, "8", at=0)
>>> match.events
[Pick(moves=((0, '7'), (1, '8')))]
>>> match.submit(1, "8", at=0)
Traceback (most recent call last):
duels.core.errors.StaleMove: this was meant for moment 0; the match is at moment 1
>>> match.resign(1)
>>> match.result
Result(winner=0, by='resignation', reason='Player 2 resigned.')
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duels.core.chance import new_seed
from duels.core.clock import is_seconds
from duels.core.entries import (
    Entry,
    Forfeit,
    Limit,
    Logged,
    Pause,
    Resign,
    Resume,
    Timeout,
    Undo,
)
from duels.core.errors import IllegalMove, plain, quote
from duels.core.game import AnyGame, Chance, Decide, Move, Outcome, Pick
from duels.core.referee import TURN_LIMIT, Spent
from duels.core.show import listed, player_name
from duels.core.views import Views

__all__ = [
    "TURN_LIMIT", "Entry", "Forfeit", "Limit", "Logged", "Match", "Pause", "Resign", "Resume",
    "Timeout", "Undo",
]  # fmt: skip


class Match(Views):
    """One game between two seats. Without a seed, outcomes must be enacted from outside."""

    @classmethod
    def new(cls, game: AnyGame, **settings: Any) -> Match:
        """A match with a seed of its own."""
        return cls(game, new_seed(), **settings)

    # What players may do.

    def submit(self, player: int, move: Move, at: int | None = None) -> None:
        """A player's pick. Refused with a reason, changing nothing, if it is not an option.

        With `at`, the `moment` of the view it answers, a pick meant for another moment is refused;
        so it is wherever `at` can be given. A pick that comes too late is running out of time.
        """
        self._current(at)
        self._awaited(player)
        if self.late(player):
            self.time_out(player)
            return
        assert isinstance(self.turn, Decide)
        options = self.turn.options[player]
        if move not in options:
            shown = listed(options) if len(options) <= 20 else f"{len(options)} others"
            raise IllegalMove(f"{quote(move)} is not an option; the options are {shown}")
        self._seal(player, move, self._spent(player))

    def resign(self, player: int, at: int | None = None) -> None:
        """Give up, whoever's choice it is: the other player has won."""
        self._current(at)
        self._in_play(player)
        self._append(Resign(player))
        self._end(1 - player, "resignation", f"{player_name(player)} resigned.")

    def forfeit(self, players: int | tuple[int, ...], why: str) -> None:
        """Players lose by the match's policy: too many refusals, a crash, a lost connection.

        Two forfeit a sealed choice together, and nobody has won.
        """
        lost = (players,) if isinstance(players, int) else tuple(players)
        for player in lost:
            self._in_play(player)
        if list(lost) not in ([0], [1], [0, 1]):
            raise IllegalMove("one player forfeits, or both")
        self._append(Forfeit(lost, plain("why", why)))
        who = "Both players forfeit" if len(lost) == 2 else f"{player_name(lost[0])} forfeits"
        self._end(None if len(lost) == 2 else 1 - lost[0], "forfeit", f"{who}: {why}.")

    def undo(self, player: int, at: int | None = None) -> None:
        """Take back a player's last pick and all that followed. The same line meets the same
        chance again; another line meets new chance.

        A turn lost on time is no pick, and goes only with a pick before it. Time that was spent is
        not given back, and what was spent in the choice that is open is charged.
        """
        self._current(at)
        self._undo(self._undoing(player), self._open_times())

    def offer_undo(self, player: int, at: int | None = None) -> None:
        """Ask the other player to let one's last pick be taken back. The next event ends it."""
        self._current(at)
        self.offer = self._undoing(player)

    def accept_undo(self, player: int, at: int | None = None) -> None:
        """Take back what the other player asked to take back."""
        self._current(at)
        self._undo(self._offered_to(player), self._open_times())

    def decline_undo(self, player: int) -> None:
        """Refuse the other player's offer, or withdraw one's own."""
        self._in_play(player)
        if self.offer is None:
            raise IllegalMove("no undo is offered")
        self.offer = None

    # The clock. The owner of the match asks who is late (`late_players`) and calls `time_out`.

    def start_clock(self, player: int) -> None:
        """Count a player's time from now on, where something other than play held it up.

        No record tells of it: whoever loads the match finds the clock running since the last event.
        """
        if (at := self._at()) is not None:
            self.clocks.start(player, at)

    def pause(self) -> None:
        """Stop all clocks until they run again, keeping what was spent."""
        self._in_play()
        self.enact(Pause(), tuple((player, self._spent(player)) for player in self.deciders))

    def resume(self) -> None:
        """Let the clocks that a pause stopped run on from now."""
        self.enact(Resume())

    def time_out(self, player: int) -> None:
        """A player has run out of time. In a sealed choice the other's pick is waited for.

        No more is charged than the player had, however late the owner of the match comes to it.
        """
        self._awaited(player)
        self._timed()
        spent, allowed = self._spent(player), self.clocks.allowed(player)
        self._seal(player, None, spent if allowed is None else float(min(spent, allowed)))

    # For whoever keeps a match: what is in no record yet.

    def pending(self) -> dict[str, Any]:
        """Sealed picks that wait for the other, with the time spent on each, as JSON values.

        To be kept secret, and anew whenever a pick is sealed.
        """
        picks = {str(player + 1): list(pick) for player, pick in self._sealed.items()}
        return {"moment": self._choice_began(), "picks": picks}

    def restore(self, pending: Mapping[str, Any]) -> None:
        """Put what was pending back into a match that was loaded again.

        Nothing happens if the choice it was meant for is no longer open.
        """
        try:
            moment, kept = pending["moment"], pending["picks"]
            picks = [(int(player) - 1, move, spent) for player, (move, spent) in kept.items()]
        except (KeyError, TypeError, ValueError, AttributeError):
            raise IllegalMove(f"{quote(pending)} is not what was pending") from None
        for player, move, spent in picks if moment == self._choice_began() else ():
            self._awaited(player)
            assert isinstance(self.turn, Decide)
            if move is not None and move not in self.turn.options[player]:
                raise IllegalMove(f"{quote(move)} is not an option")
            if not is_seconds(spent):
                raise IllegalMove(f"{quote(spent)} is no time to have spent")
            self._seal(player, move, float(spent))

    def _choice_began(self) -> int:
        """The moment at which the present choice began; pauses since then do not count."""
        number = len(self.events)
        while number and isinstance(self.events[number - 1], Pause | Resume):
            number -= 1
        return number

    # Following a record.

    def enact(self, entry: Entry, spent: Spent = ()) -> None:
        """Do what a recorded event says, with the time it was charged, or refuse it."""
        match entry:
            case Pick(moves):
                self._chosen_by([player for player, _ in moves])
                assert isinstance(self.turn, Decide)
                for player, move in moves:
                    if move not in self.turn.options[player]:
                        raise IllegalMove(f"{quote(move)} is not an option")
                self._pick(moves, spent)
            case Timeout(players):
                self._timed()
                if not players or not set(players) <= set(self.deciders):
                    raise IllegalMove(f"the choice is for {self._choosers()}")
                if list(players) != sorted(set(players)):
                    raise IllegalMove("each player runs out of time once")
                self._run_out(players, spent)
            case Resign(player):
                self.resign(player)
            case Forfeit(players, why):
                self.forfeit(players, why)
            case Undo():
                self._undo(entry, spent)
            case Pause():
                self._in_play()
                self._timed()
                self.clocks.stop(dict(spent))
                self._append(entry, spent)
            case Resume():
                self._in_play()
                self._timed()
                self._append(entry)
                self.clocks.resume(self.stamps[-1].at)
            case Outcome(outcome):
                if self.result is not None or not isinstance(self.turn, Chance):
                    raise IllegalMove("nothing is left to chance here")
                if outcome not in self.turn.odds:
                    raise IllegalMove(f"{quote(outcome)} cannot come up")
                self._timeline.draw_number()
                self._append(Outcome(outcome, self.turn.by))
                self._timeline.move_to(self.game.play(self.state, outcome))
                self._settle()
            case Limit():
                raise IllegalMove("the turn limit is not reached here")
