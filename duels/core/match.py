"""A sans-IO referee: seats, sealed picks, seeded chance, clocks, the turn limit, resignation.

A match knows no terminal, socket or database. Everything that happens is appended to `events`;
that list with its header is the record of the match, and folding it again gives the same match.

>>> from duels.games import load
>>> match = Match(load("number-clash"), seed=7)
>>> match.submit(0, "7")
>>> match.events                        # a lone sealed pick is nowhere to be seen
[]
>>> match.submit(1, "8")
>>> match.events
[Pick(moves=((0, '7'), (1, '8')))]
>>> match.resign(1)
>>> match.result
Result(winner=0, by='resignation', reason='Player 2 resigned.')
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from duels.core.chance import draw, new_seed
from duels.core.errors import IllegalMove, quote
from duels.core.game import AnyGame, Chance, Decide, Event, Move, Outcome, Over, Pick, Result
from duels.core.player import View
from duels.core.show import listed, player_name

TURN_LIMIT = 500


class Resign(NamedTuple):
    player: int


class Timeout(NamedTuple):
    """Out of time: one player, or both in a sealed choice."""

    players: tuple[int, ...]


class Forfeit(NamedTuple):
    player: int
    why: str


class Limit(NamedTuple):
    decisions: int


class Undo(NamedTuple):
    """Back to just before event number `to`, counted from 0. Nothing is erased."""

    player: int
    to: int


Entry = Pick | Outcome | Resign | Timeout | Forfeit | Limit | Undo


class Moment(NamedTuple):
    """Where a match stood: its state, and how many decisions had been resolved."""

    state: Any
    decisions: int


class Match:
    """One game between two seats. Without a seed, outcomes must be enacted from outside."""

    def __init__(
        self,
        game: AnyGame,
        seed: int | None = None,
        *,
        players: tuple[str, str] = ("human", "human"),
        turn_limit: int = TURN_LIMIT,
        time_limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.game = game
        self.seed = seed
        self.players = players
        self.turn_limit = turn_limit
        self.time_limit = time_limit
        self.events: list[Entry] = []
        self.result: Result | None = None
        self.turn: Decide | Chance | Over
        self._clock = clock
        self._now = Moment(game.start(), 0)
        self._before: list[Moment] = []  # one for each event
        self._live: list[int] = []  # numbers of the events that no undo has taken back
        self._outcomes = 0
        self._sealed: dict[int, Move | None] = {}  # None: out of time
        self._since: dict[int, float] = {}
        self._settle()

    @classmethod
    def new(cls, game: AnyGame, **settings: Any) -> Match:
        """A match with a seed of its own."""
        return cls(game, new_seed(), **settings)

    # What anyone may ask.

    @property
    def state(self) -> Any:
        return self._now.state

    def state_before(self, number: int) -> Any:
        """The state in which an event happened."""
        return self._before[number].state

    @property
    def deciders(self) -> tuple[int, ...]:
        """The players whose pick is awaited."""
        if self.result is not None or not isinstance(self.turn, Decide):
            return ()
        return tuple(player for player in self.turn.options if player not in self._sealed)

    @property
    def line(self) -> tuple[int, ...]:
        """The numbers of the events that no undo has taken back."""
        return tuple(self._live)

    def view(self, player: int) -> View:
        options = self.turn.options.get(player, ()) if isinstance(self.turn, Decide) else ()
        seen = self.game.observe(self.state, player)
        history = self.history(player)
        left = self.remaining(player)
        return View(self.game, player, seen, history, options, left, len(self.events))

    def view_before(self, number: int, player: int) -> View:
        """What a player knew when an event of the `line` was about to happen."""
        state = self.state_before(number)
        turn = self.game.turn(state)
        options = turn.options.get(player, ()) if isinstance(turn, Decide) else ()
        history = self.history(player, before=number)
        seen = self.game.observe(state, player)
        return View(self.game, player, seen, history, options, None, number)

    def history(self, viewer: int | None, before: int | None = None) -> tuple[Event, ...]:
        """What has happened and not been taken back, as a viewer saw it."""
        end = len(self.events) if before is None else before
        shown = (self.shown(number, viewer)[1] for number in self._live if number < end)
        return tuple(event for event in shown if event is not None)

    def shown(self, number: int, viewer: int | None) -> tuple[Any, Event | None, Any]:
        """One event with what a viewer saw before and after it, for telling it."""
        entry, before = self.events[number], self._before[number].state
        later = self._before[number + 1] if number + 1 < len(self._before) else self._now
        event: Event | None = None
        if isinstance(entry, Timeout) and self.game.timeout_move is not None:
            event = Pick(tuple((player, self.game.timeout_move) for player in entry.players))
        elif isinstance(entry, Pick | Outcome):
            event = self.game.seen(before, entry, viewer)
        return self.game.observe(before, viewer), event, self.game.observe(later.state, viewer)

    def latest_outcomes(self) -> list[int]:
        """The numbers of the chance events since the last pick, oldest first."""
        numbers: list[int] = []
        for number in reversed(self._live):
            if not isinstance(self.events[number], Outcome):
                break
            numbers.insert(0, number)
        return numbers

    # What players may do.

    def submit(self, player: int, move: Move) -> None:
        """A player's pick. Refused with a reason, changing nothing, if it is not an option."""
        self._awaited(player)
        if self.late(player):
            self.time_out(player)
            return
        assert isinstance(self.turn, Decide)
        options = self.turn.options[player]
        if move not in options:
            shown = listed(options) if len(options) <= 20 else f"{len(options)} others"
            raise IllegalMove(f"{quote(move)} is not an option; the options are {shown}")
        self._sealed[player] = move
        self._resolve()

    def resign(self, player: int) -> None:
        self._in_play()
        self._append(Resign(player))
        self._end(1 - player, "resignation", f"{player_name(player)} resigned.")

    def forfeit(self, player: int, why: str) -> None:
        """A player loses by the match's policy: too many refusals, a crash, a lost connection."""
        self._in_play()
        self._append(Forfeit(player, why))
        self._end(1 - player, "forfeit", f"{player_name(player)} forfeits: {why}.")

    def undo(self, player: int) -> None:
        """Take back a player's last pick and all that followed. Chance goes on to new outcomes."""
        self._in_play()
        for number in reversed(self._live):
            entry = self.events[number]
            if isinstance(entry, Pick) and any(mover == player for mover, _ in entry.moves):
                self._undo(Undo(player, number))
                return
        raise IllegalMove("There is nothing to undo.")

    # The clock. It runs per choice; the owner of the match asks whether someone is late.

    def start_clock(self, player: int) -> None:
        """Count a player's time from now, where something other than play held it up."""
        self._since[player] = self._clock()

    def remaining(self, player: int) -> float | None:
        if self.time_limit is None or player not in self.deciders:
            return None
        return max(0.0, self._since[player] + self.time_limit - self._clock())

    def late(self, player: int) -> bool:
        return self.remaining(player) == 0.0

    def time_out(self, player: int) -> None:
        """A player has run out of time. In a sealed choice the other's pick is waited for."""
        self._awaited(player)
        self._sealed[player] = None
        self._resolve()

    # Following a record.

    def enact(self, entry: Entry) -> None:
        """Do what a recorded event says, or refuse it with a reason."""
        match entry:
            case Pick(moves):
                if [player for player, _ in moves] != sorted(self.deciders):
                    raise IllegalMove(f"the choice is for {self._choosers()}")
                assert isinstance(self.turn, Decide)
                for player, move in moves:
                    if move not in self.turn.options[player]:
                        raise IllegalMove(f"{quote(move)} is not an option")
                self._sealed.update(moves)
                self._resolve()
            case Timeout(players):
                if self.time_limit is None:
                    raise IllegalMove("there is no time limit to run out")
                if not players or not set(players) <= set(self.deciders):
                    raise IllegalMove(f"the choice is for {self._choosers()}")
                if list(players) != sorted(set(players)):
                    raise IllegalMove("each player runs out of time once")
                self._append(entry)
                self._run_out(players)
            case Resign(player):
                self.resign(player)
            case Forfeit(player, why):
                self.forfeit(player, why)
            case Undo():
                self._undo(entry)
            case Outcome(outcome):
                if self.result is not None or not isinstance(self.turn, Chance):
                    raise IllegalMove("nothing is left to chance here")
                if outcome not in self.turn.odds:
                    raise IllegalMove(f"{quote(outcome)} cannot come up")
                self._append(Outcome(outcome, self.turn.by))
                self._move_to(self.game.play(self.state, outcome))
            case Limit():
                raise IllegalMove("the turn limit is not reached here")

    # Inside.

    def _choosers(self) -> str:
        return listed((player_name(player) for player in self.deciders), " and ") or "nobody"

    def _in_play(self) -> None:
        if self.result is not None:
            raise IllegalMove("the match is over")

    def _awaited(self, player: int) -> None:
        self._in_play()
        if player not in self.deciders:
            raise IllegalMove(f"it is not {player_name(player)}'s choice now")

    def _append(self, entry: Entry) -> None:
        self._before.append(self._now)
        self._live.append(len(self.events))
        self.events.append(entry)

    def _move_to(self, state: Any, decisions: int = 0) -> None:
        self._now = Moment(state, self._now.decisions + decisions)
        self._settle()

    def _end(self, winner: int | None, by: str, reason: str) -> None:
        self.result = Result(winner, by, reason)
        self._sealed = {}

    def _settle(self) -> None:
        """Let chance and the limits act until somebody must choose or the match is over."""
        self._sealed = {}
        while True:
            self.turn = self.game.turn(self.state)
            if isinstance(self.turn, Over):
                self._end(self.turn.winner, "rules", self.turn.reason)
                return
            if isinstance(self.turn, Decide):
                break
            if self.seed is None:
                return
            outcome = draw(self.seed, self._outcomes + 1, self.turn.odds)
            self._outcomes += 1
            self._append(Outcome(outcome, self.turn.by))
            self._now = Moment(self.game.play(self.state, outcome), self._now.decisions)
        if self._now.decisions >= self.turn_limit:
            self._append(Limit(self._now.decisions))
            self._end(None, "limit", f"The turn limit of {self.turn_limit} is reached.")
            return
        now = self._clock()
        self._since = dict.fromkeys(self.turn.options, now)

    def _resolve(self) -> None:
        """Once every pick is in, play them; whoever was late pays for it."""
        if self.deciders:
            return
        picks = sorted(self._sealed.items())
        late = tuple(player for player, move in picks if move is None)
        if late:
            self._append(Timeout(late))
            self._run_out(late)
            return
        moves = tuple((player, move) for player, move in picks if move is not None)
        self._append(Pick(moves))
        self._move_to(self.game.play(self.state, *(move for _, move in moves)), decisions=1)

    def _run_out(self, late: tuple[int, ...]) -> None:
        if self.game.timeout_move is not None:
            self._move_to(self.game.play(self.state, self.game.timeout_move), decisions=1)
        elif len(late) == 2:
            self._end(None, "time", "Both players ran out of time.")
        else:
            self._end(1 - late[0], "time", f"{player_name(late[0])} ran out of time.")

    def _undo(self, entry: Undo) -> None:
        self._in_play()
        target = self.events[entry.to] if entry.to in self._live else None
        if not isinstance(target, Pick) or all(mover != entry.player for mover, _ in target.moves):
            raise IllegalMove(f"there is no pick of {player_name(entry.player)} to take back")
        kept, back = self._live.index(entry.to), self._before[entry.to]
        self._append(entry)
        del self._live[kept:]
        self._now = back
        self._settle()
