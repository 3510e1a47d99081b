"""How a match goes from one choice to the next: chance, limits, time and the rules decide.

`Referee` holds what a match is made of and lets happen what must happen without anyone's choosing;
`duels.core.match.Match` is what everybody else uses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from duels.core.chance import commitment, draw, new_id
from duels.core.clock import Clocks, TimeControl
from duels.core.entries import Entry, Limit, Stamp, Timeout, Undo
from duels.core.errors import IllegalMove, OptionError, StaleMove, plain, quote
from duels.core.game import AnyGame, Chance, Decide, Move, Outcome, Over, Pick, Result
from duels.core.show import listed, player_name
from duels.core.timeline import Timeline

TURN_LIMIT = 500
LONGEST_NAME = 200  # characters
SEEDS = 2**1024  # all are below
NO_CLOCK = TimeControl()

Spent = tuple[tuple[int, float], ...]  # seconds by player


def wall_clock() -> float:
    """Seconds since 1970, to the millisecond, as records keep them."""
    return round(time.time(), 3)


class Referee:
    """A match and what happens in it by itself. Every way to change it ends in `_append`."""

    def __init__(
        self,
        game: AnyGame,
        seed: int | None = None,
        *,
        players: tuple[str, str] = ("human", "human"),
        turn_limit: int = TURN_LIMIT,
        time_limit: float | None = None,
        time_control: TimeControl = NO_CLOCK,
        now: Callable[[], float | None] = wall_clock,
        id: str | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self.game = game
        self.seed = _checked_seed(seed)
        self.players = _checked_names(players)
        if type(turn_limit) is not int or not 1 <= turn_limit < 10**9:
            raise OptionError(
                f"turn_limit: expected a number from 1 to 999999999; got {quote(turn_limit)}"
            )
        self.turn_limit = turn_limit
        if time_limit is not None and time_control:
            raise OptionError("time_limit is short for a time_control: expected one of them")
        self.time_control = time_control if time_limit is None else TimeControl(time_limit)
        self.time_control.check()
        self._has_clock = bool(self.time_control)
        self.id = new_id() if id is None else plain("id", id, LONGEST_NAME)
        self.about = {} if about is None else _checked_about(about)
        self.result: Result | None = None
        self.turn: Decide | Chance | Over
        self.deciders: tuple[int, ...] = ()  # the players whose pick is awaited; to be read only
        self.offer: Undo | None = None  # an undo that waits for the other player's word
        self.clocks = Clocks(self.time_control)
        self.clock = now
        self.begun = self._at()
        self._timeline = Timeline(game.start())
        self._sealed: dict[int, tuple[Move | None, float]] = {}  # with time spent; None: too late
        self._settle()

    # What anyone may ask.

    @property
    def events(self) -> list[Entry]:
        """All that has happened, taken back or not. Not to be changed."""
        return self._timeline.entries

    @property
    def stamps(self) -> list[Stamp]:
        """When each event was, and what it was charged to clocks. Not to be changed."""
        return self._timeline.stamps

    @property
    def state(self) -> Any:
        """The game's state now. Holds everybody's secrets."""
        return self._timeline.now.state

    def state_before(self, number: int) -> Any:
        """The state in which an event happened."""
        return self._timeline.before[number].state

    def state_after(self, number: int) -> Any:
        """The state that an event led to; -1 for the start."""
        return self._timeline.after(number).state

    def place_before(self, number: int) -> int:
        """Which place in the tree of lines an event happened at: the same line, the same place."""
        return self._timeline.before[number].node

    @property
    def line(self) -> tuple[int, ...]:
        """The numbers of the events that no undo has taken back."""
        return self._timeline.line

    @property
    def taken_back(self) -> int:
        """How many picks were taken back."""
        standing = set(self.line)
        return sum(
            isinstance(entry, Pick) and number not in standing
            for number, entry in enumerate(self.events)
        )

    @property
    def commitment(self) -> str | None:
        """What may be published of the seed before the end; None where it would give it away."""
        return None if self.seed is None else commitment(self.seed)

    # Inside.

    def _at(self) -> float | None:
        """The time now; None while a record is followed that does not say."""
        return self.clock()

    def _spent(self, player: int) -> float:
        """Seconds a player has spent in this choice; none where no clock is set."""
        now = self._at() if self._has_clock else None
        return 0.0 if now is None else self.clocks.spent(player, now)

    def _choosers(self) -> str:
        return listed((player_name(player) for player in self.deciders), " and ") or "nobody"

    def _chosen_by(self, players: list[int]) -> None:
        if not self.deciders or players != sorted(self.deciders):
            raise IllegalMove(f"the choice is for {self._choosers()}")

    def _current(self, at: int | None) -> None:
        if at is not None and at != len(self.events):
            raise StaleMove(
                f"this was meant for moment {at}; the match is at moment {len(self.events)}"
            )

    def _in_play(self, player: int = 0) -> None:
        if type(player) is not int or player not in (0, 1):
            raise IllegalMove(f"there is no player {quote(player)}; players are 0 and 1")
        if self.result is not None:
            raise IllegalMove("the match is over")

    def _awaited(self, player: int) -> None:
        self._in_play(player)
        if player not in self.deciders:
            raise IllegalMove(f"it is not {player_name(player)}'s choice now")

    def _timed(self) -> None:
        if not self._has_clock:
            raise IllegalMove("there is no time limit to run out, and no clock")

    def _append(self, entry: Entry, spent: Spent = ()) -> None:
        self._timeline.append(entry, Stamp(self._at(), spent))
        self.offer = None

    def _end(self, winner: int | None, by: str, reason: str) -> None:
        self.result = Result(winner, by, reason)
        self._sealed, self.deciders = {}, ()
        self.clocks.end()

    def _settle(self) -> None:
        """Let chance and the limits act until somebody must choose or the match is over."""
        self._sealed, self.deciders = {}, ()
        timeline = self._timeline
        while True:
            self.turn = self.game.turn(self.state)
            if isinstance(self.turn, Over):
                self._end(self.turn.winner, "rules", self.turn.reason)
                return
            if isinstance(self.turn, Decide):
                break
            if self.seed is None:
                self.clocks.end()
                return
            outcome = draw(self.seed, timeline.draw_number(), self.turn.odds)
            self._append(Outcome(outcome, self.turn.by))
            timeline.move_to(self.game.play(self.state, outcome))
        decisions = timeline.now.decisions
        if decisions >= self.turn_limit:
            self._append(Limit(decisions))
            self._end(None, "limit", f"The turn limit of {self.turn_limit} is reached.")
            return
        self.deciders = tuple(self.turn.options)
        if self._has_clock:
            last = self.stamps[-1].at if self.stamps else self.begun
            self.clocks.begin(self.deciders, last)

    def _seal(self, player: int, move: Move | None, spent: float) -> None:
        """Keep a pick, or None for running out of time, until every pick is in."""
        self._sealed[player] = move, spent
        self.deciders = tuple(other for other in self.deciders if other != player)
        self._resolve()

    def _resolve(self) -> None:
        """Once every pick is in, play them; whoever was late pays for it."""
        if self.deciders:
            return
        picks = sorted(self._sealed.items())
        spent = tuple((player, seconds) for player, (_, seconds) in picks)
        spent = spent if self._has_clock else ()
        late = tuple(player for player, (move, _) in picks if move is None)
        if late:
            self._run_out(late, spent)
        else:
            self._pick(tuple((p, move) for p, (move, _) in picks if move is not None), spent)

    def _pick(self, moves: tuple[tuple[int, Move], ...], spent: Spent) -> None:
        for player, seconds in spent:
            self.clocks.charge(player, seconds)
        self._append(Pick(moves), spent)
        after = self.game.play(self.state, *(move for _, move in moves))
        self._timeline.move_to(after, decisions=1)
        self._settle()

    def _run_out(self, late: tuple[int, ...], spent: Spent) -> None:
        for player, seconds in spent:
            self.clocks.charge(player, seconds, chosen=player not in late)
        self._append(Timeout(late), spent)
        if self.game.timeout_move is not None and self.clocks.left[late[0]] != 0.0:
            after = self.game.play(self.state, self.game.timeout_move)
            self._timeline.move_to(after, decisions=1)
            self._settle()
        elif len(late) == 2:
            self._end(None, "time", "Both players ran out of time.")
        else:
            self._end(1 - late[0], "time", f"{player_name(late[0])} ran out of time.")

    def _undoing(self, player: int) -> Undo:
        self._in_play(player)
        number = self._timeline.last_pick(player)
        if number is None:
            raise IllegalMove("There is nothing to undo.")
        return Undo(player, number)

    def _offered_to(self, player: int) -> Undo:
        self._in_play(player)
        if self.offer is None or self.offer.player == player:
            raise IllegalMove("no undo is offered")
        return self.offer

    def _open_times(self) -> Spent:
        """What everybody has spent in the choice that is open, on picks that are sealed too."""
        if not self._has_clock or not isinstance(self.turn, Decide):
            return ()
        sealed = {player: seconds for player, (_, seconds) in self._sealed.items()}
        return tuple(
            (player, sealed[player] if player in sealed else self._spent(player))
            for player in sorted(self.turn.options)
        )

    def _undo(self, entry: Undo, spent: Spent) -> None:
        self._in_play(entry.player)
        target = self.events[entry.to] if self._timeline.is_live(entry.to) else None
        if not isinstance(target, Pick) or all(mover != entry.player for mover, _ in target.moves):
            raise IllegalMove(f"there is no pick of {player_name(entry.player)} to take back")
        for player, seconds in spent:
            self.clocks.charge(player, seconds, chosen=False)
        self._timeline.go_back(entry, Stamp(self._at(), spent))
        self.offer = None
        self._settle()


def _checked_seed(seed: int | None) -> int | None:
    if seed is not None and (type(seed) is not int or not 0 <= seed < SEEDS):
        raise OptionError(f"seed: expected a whole number from 0 to 2**1024 - 1; got {quote(seed)}")
    return seed


def _checked_names(players: tuple[str, str]) -> tuple[str, str]:
    if len(players) != 2 or not all(isinstance(name, str) for name in players):
        raise OptionError("players: expected two names")
    one, two = (plain("players", name, LONGEST_NAME) for name in players)
    return one, two


def _checked_about(about: Mapping[str, Any]) -> dict[str, Any]:
    """Anything that JSON can hold exactly."""
    import json

    try:
        text = json.dumps(dict(about), allow_nan=False, ensure_ascii=False)
        text.encode()  # a lone surrogate is no text
        kept: dict[str, Any] = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise OptionError("about: expected what JSON can hold") from None
    if kept != dict(about):
        raise OptionError("about: expected texts as names and JSON's own kinds of values")
    return kept
