"""A sans-IO referee: seats, sealed picks, seeded chance, clocks, the turn limit, resignation.

A match does no input or output. Everything that happens is appended to `events`. That list with its
header is the record of the match, and replaying it gives the same match. `log` returns what one
viewer may know of the events.

>>> from duels.games import load
>>> match = Match(load("number-clash"), seed=7)
>>> match.submit(0, "7", at=0)
>>> match.events, match.view(1).sealed  # a sealed pick is not visible before the other one
([], (0,))
>>> match.submit(1, "8", at=0)
>>> match.events
[Pick(moves=((0, '7'), (1, '8')))]
>>> match.submit(1, "8", at=0)
Traceback (most recent call last):
duels.core.errors.StaleMove: this was meant for moment 0; the match is at moment 1
>>> match.resign(1)
>>> match.result
Result(winner=0, by='resignation', reason='Player 2 resigned.', payoff=1)
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import Any

from duels.core.chance import commitment, draw, new_id
from duels.core.clock import Clocks, TimeControl, is_seconds
from duels.core.entries import (
    Entry,
    Forfeit,
    Limit,
    Logged,
    Pause,
    Resign,
    Resume,
    Stamp,
    Timeout,
    Undo,
)
from duels.core.errors import IllegalMove, OptionError, StaleMove, plain, quote
from duels.core.game import (
    AnyGame,
    Chance,
    Decide,
    Event,
    Game,
    History,
    Move,
    Outcome,
    Over,
    Payoff,
    Pick,
    Result,
)
from duels.core.player import Player, View
from duels.core.presentation import listed, player_name
from duels.core.timeline import Timeline

__all__ = [
    "TURN_LIMIT", "Entry", "Forfeit", "Limit", "Logged", "Match", "Pause", "Resign", "Resume",
    "Timeout", "Undo", "inform", "wall_clock",
]  # fmt: skip

TURN_LIMIT = 500
LONGEST_NAME = 200  # characters
SEEDS = 2**1024  # seeds are below this
NO_CLOCK = TimeControl()
BY_THE_RULES = (Pick, Outcome)  # a tuple: making a union each time takes longer

Spent = tuple[tuple[int, float], ...]  # seconds by player


def wall_clock() -> float:
    """Seconds since 1970, to the millisecond, as in records."""
    return round(time.time(), 3)


class Match:
    """One game between two seats. Without a seed, the caller supplies chance outcomes by `enact`.

    Every way to change a match ends in `_append`.
    """

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
            raise OptionError("time_limit is short for a time_control: give one of them, not both")
        self.time_control = time_control if time_limit is None else TimeControl(time_limit)
        self.time_control.check()
        self._has_clock = bool(self.time_control)
        self.id = new_id() if id is None else plain("id", id, LONGEST_NAME)
        self.about = {} if about is None else _checked_about(about)
        self.result: Result | None = None
        self.turn: Decide | Chance | Over
        self.deciders: tuple[int, ...] = ()  # the players whose pick is awaited; read only
        self.offer: Undo | None = None  # an undo that the other player may accept
        self.clocks = Clocks(self.time_control)
        self.clock = now
        self.begun = self._at()
        # Caches by viewer, filled on request: all events, and those of the current line. A game
        # without hidden events has one list for all viewers.
        self._hides = type(game).redact is not Game.redact
        self._seen: dict[int | None, list[Entry]] = {}
        self._stood: dict[int | None, tuple[int, int, History]] = {}  # undos and events it is of
        self._timeline = Timeline(game.start())
        self._sealed: dict[int, tuple[Move | None, float]] = {}  # with time spent; None: too late
        self._settle()

    # State and history.

    @property
    def events(self) -> list[Entry]:
        """All events, undone or not. Do not modify."""
        return self._timeline.entries

    @property
    def stamps(self) -> list[Stamp]:
        """The time of each event and the seconds charged to clocks. Do not modify."""
        return self._timeline.stamps

    @property
    def state(self) -> Any:
        """The current state of the game, hidden information included."""
        return self._timeline.now.state

    def state_before(self, number: int) -> Any:
        """The state in which an event happened."""
        return self._timeline.before[number].state

    def state_after(self, number: int) -> Any:
        """The state that an event led to; -1 for the start."""
        return self._timeline.after(number).state

    def place_before(self, number: int) -> int:
        """The node of the tree of lines at which an event happened; equal lines share nodes."""
        return self._timeline.before[number].node

    @property
    def line(self) -> tuple[int, ...]:
        """The numbers of the events that were not undone."""
        return self._timeline.line

    @property
    def taken_back(self) -> int:
        """How many picks were undone."""
        standing = set(self.line)
        return sum(
            isinstance(entry, Pick) and number not in standing
            for number, entry in enumerate(self.events)
        )

    @property
    def commitment(self) -> str | None:
        """The commitment to the seed, which may be published before the end; None without one."""
        return None if self.seed is None else commitment(self.seed)

    # What a viewer may know: a player, or None for a spectator.

    def view(self, viewer: int | None) -> View:
        """The current view of a viewer."""
        _check(viewer)
        options: tuple[Move, ...] = ()
        if viewer in self.deciders and isinstance(self.turn, Decide):
            options = self.turn.options[viewer]
        seen = self.game.observe(self.state, viewer)
        version, history = len(self.events), self.history(viewer)
        clock: float | None = None
        clocks: tuple[float | None, float | None] = (None, None)
        if self._has_clock:
            clocks = self.left(0), self.left(1)
            clock = clocks[viewer] if viewer is not None and viewer in self.deciders else None
        offer = None if self.offer is None else self.offer.player
        return View(
            self.game, viewer, seen, history, options, clock, version, self.sealed, self.result,
            clocks, offer,
        )  # fmt: skip

    @property
    def sealed(self) -> tuple[int, ...]:
        """The players whose sealed pick waits for the other's. This is public."""
        return tuple(sorted(self._sealed)) if self._sealed else ()

    def view_before(self, number: int, viewer: int | None) -> View:
        """The view of a viewer just before an event."""
        _check(viewer)
        state = self.state_before(number)
        turn = self.game.turn(state)
        options: tuple[Move, ...] = ()
        if isinstance(turn, Decide) and viewer is not None:
            options = turn.options.get(viewer, ())
        seen = self.game.observe(state, viewer)
        history = self.history(viewer, before=number)
        return View(self.game, viewer, seen, history, options, None, number)

    def log(self, viewer: int | None, since: int = 0) -> tuple[Logged, ...]:
        """The events from number `since` on, undone or not, as a viewer may know them.

        The result, if there is one, is the last item and has the next number.
        """
        _check(viewer)
        since, end = max(0, since), len(self.events)
        found = [
            Logged(n, self.redact(n, viewer), self.stamps[n].at) for n in range(since, end)
        ]  # fmt: skip
        if self.result is not None and since <= end:
            found.append(Logged(end, self.result, self.stamps[-1].at if end else self.begun))
        return tuple(found)

    def redact(self, number: int, viewer: int | None) -> Entry:
        """One event as a viewer may know it."""
        _check(viewer)
        if not self._hides:
            return self.events[number]
        if (known := self._seen.get(viewer)) is None:
            known = self._seen[viewer] = []
        for n in range(len(known), number + 1):
            entry = self.events[n]
            if isinstance(entry, BY_THE_RULES):
                entry = self.game.redact(self.state_before(n), entry, viewer)
            known.append(entry)
        return known[number]

    def history(self, viewer: int | None, before: int | None = None) -> History:
        """The picks and outcomes that led here, or to an event, as a viewer saw them."""
        timeline = self._timeline
        if before is not None and not timeline.is_live(before):
            observed = (
                self.observed_event(number, viewer) for number in timeline.line_before(before)
            )
            return tuple(event for event in observed if event is not None)
        key = viewer if self._hides else None
        undone, count, known = self._stood.get(key, (-1, 0, ()))
        if undone != timeline.undone:
            count, known = 0, ()
        if count != len(timeline.live):
            new = [self.observed_event(number, viewer) for number in timeline.live[count:]]
            known += tuple(event for event in new if event is not None)
            self._stood[key] = timeline.undone, len(timeline.live), known
        return known if before is None else known[: bisect_left(timeline.live, before)]

    def observed_event(self, number: int, viewer: int | None) -> Event | None:
        """A pick or an outcome as a viewer saw it; None for any other kind of entry.

        A timeout that cost the turn counts as a pick.
        """
        entry = self.redact(number, viewer)
        if isinstance(entry, Timeout) and self._cost_the_turn(number):
            assert self.game.timeout_move is not None
            return Pick(tuple((player, self.game.timeout_move) for player in entry.players))
        return entry if isinstance(entry, BY_THE_RULES) else None

    def remaining(self, player: int) -> float | None:
        """Seconds left for a player's choice; None if no clock runs."""
        if not self._has_clock or player not in self.deciders:
            return None
        now = self._at()
        return None if now is None else self.clocks.remaining(player, now)

    def left(self, player: int) -> float | None:
        """Seconds left for a player: for the current choice, or of the budget if it has none."""
        return self.remaining(player) if player in self.deciders else self.clocks.left[player]

    def deadline(self, player: int) -> float | None:
        """When a player's time is up, in seconds since 1970; None if no clock runs."""
        return self.clocks.deadline(player) if player in self.deciders else None

    def late(self, player: int) -> bool:
        """Whether a player's pick is awaited and the time for it is up."""
        return self.remaining(player) == 0.0

    def late_players(self) -> tuple[int, ...]:
        """The players who are late; the match continues when each of them is timed out."""
        return tuple(player for player in self.deciders if self.late(player))

    def _cost_the_turn(self, number: int) -> bool:
        """Whether a timeout cost the player only a turn and did not end the match."""
        last = number == len(self.events) - 1
        return not (last and self.result is not None and self.result.by == "time")

    def shown(self, number: int, viewer: int | None) -> tuple[Any, Event | None, Any]:
        """One event with a viewer's observations before and after it, for the narrator."""
        before, after = self.state_before(number), self.state_after(number)
        observe = self.game.observe
        return observe(before, viewer), self.observed_event(number, viewer), observe(after, viewer)

    # Actions of players

    def submit(self, player: int, move: Move, at: int | None = None) -> None:
        """Submit a player's pick; a move that is not an option is refused and changes nothing.

        `at` is the version of the match that the player saw: a pick for another version is refused,
        here and in the other methods that take `at`. A late pick counts as running out of time.
        """
        self._current(at)
        self._awaited(player)
        if self.late(player):
            self.time_out(player)
            return
        assert isinstance(self.turn, Decide)
        options = self.turn.options[player]
        if move not in options:
            raise IllegalMove(_not_among(move, "an option", "options", options))
        self._seal(player, move, self._spent(player))

    def resign(self, player: int, at: int | None = None) -> None:
        """Resign, on the player's own turn or not: the other player wins."""
        self._current(at)
        self._in_play(player)
        self._append(Resign(player))
        self._end(1 - player, "resignation", f"{player_name(player)} resigned.")

    def forfeit(self, players: int | tuple[int, ...], why: str) -> None:
        """Players lose by the match's policy: too many refusals, a crash, a lost connection.

        If both players forfeit a simultaneous choice, there is no winner.
        """
        lost = (players,) if isinstance(players, int) else tuple(players)
        for player in lost:
            self._in_play(player)
        if list(lost) not in ([0], [1], [0, 1]):
            raise IllegalMove(f"expected 0, 1 or (0, 1) as the players who forfeit; got {lost}")
        self._append(Forfeit(lost, plain("why", why)))
        who = "Both players forfeit" if len(lost) == 2 else f"{player_name(lost[0])} forfeits"
        self._end(None if len(lost) == 2 else 1 - lost[0], "forfeit", f"{who}: {why}.")

    def undo(self, player: int, at: int | None = None) -> None:
        """Undo a player's last pick and all events after it.

        If the same moves are played again, chance outcomes are the same; after other moves they are
        new. A turn lost on time is not a pick: it is undone only with an earlier pick. Spent time
        is not given back, and the time spent on the open choice is charged.
        """
        self._current(at)
        self._undo(self._undoing(player), self._open_times())

    def offer_undo(self, player: int, at: int | None = None) -> None:
        """Offer to undo the player's last pick. The offer is valid until the next event."""
        self._current(at)
        self.offer = self._undoing(player)

    def accept_undo(self, player: int, at: int | None = None) -> None:
        """Accept the undo that the other player offers."""
        self._current(at)
        self._undo(self._offered_to(player), self._open_times())

    def decline_undo(self, player: int) -> None:
        """Decline the other player's offer, or withdraw the player's own."""
        self._in_play(player)
        if self.offer is None:
            raise IllegalMove("no undo was requested")
        self.offer = None

    # The clock. The caller asks which players are late (`late_players`) and calls `time_out`.

    def start_clock(self, player: int) -> None:
        """Start a player's clock now: time before that is not charged to the choice.

        This is not recorded: in a loaded match the clock runs since the last event.
        """
        if (at := self._at()) is not None:
            self.clocks.start(player, at)

    def pause(self) -> None:
        """Stop all clocks until `resume`; time spent so far counts."""
        self._in_play()
        self.enact(Pause(), tuple((player, self._spent(player)) for player in self.deciders))

    def resume(self) -> None:
        """Start the clocks that a pause has stopped."""
        self.enact(Resume())

    def time_out(self, player: int) -> None:
        """Time a player out. In a sealed choice the match still waits for the other's pick.

        A player is never charged more time than was left, even if the caller is late.
        """
        self._awaited(player)
        self._timed()
        spent, allowed = self._spent(player), self.clocks.allowed(player)
        self._seal(player, None, spent if allowed is None else float(min(spent, allowed)))

    # For stores: sealed picks, which are not part of the record yet

    def pending(self) -> dict[str, Any]:
        """Sealed picks that wait for the other player, with the time spent, as JSON values.

        They are secret. Store them again whenever a pick is sealed.
        """
        picks = {str(player + 1): list(pick) for player, pick in self._sealed.items()}
        return {"moment": self._choice_began(), "picks": picks}

    def restore(self, pending: Mapping[str, Any]) -> None:
        """Restore the sealed picks of `pending` in a loaded match.

        Has no effect if their choice is no longer open.
        """
        try:
            version, sealed = pending["moment"], pending["picks"]
            picks = [(int(player) - 1, move, spent) for player, (move, spent) in sealed.items()]
        except (KeyError, TypeError, ValueError, AttributeError):
            raise IllegalMove(f"expected the result of pending(); got {quote(pending)}") from None
        for player, move, spent in picks if version == self._choice_began() else ():
            self._awaited(player)
            assert isinstance(self.turn, Decide)
            if move is not None and move not in self.turn.options[player]:
                raise IllegalMove(f"{quote(move)} is not an option")
            if not is_seconds(spent):
                raise IllegalMove(f"expected seconds spent; got {quote(spent)}")
            self._seal(player, move, float(spent))

    def _choice_began(self) -> int:
        """The version of the match at which the current choice began, without later pauses."""
        number = len(self.events)
        while number and isinstance(self.events[number - 1], Pause | Resume):
            number -= 1
        return number

    # Replaying a record

    def enact(self, entry: Entry, spent: Spent = ()) -> None:
        """Apply a recorded event, with the time charged; `IllegalMove` if it is not possible."""
        match entry:
            case Pick(moves):
                self._chosen_by([player for player, _ in moves])
                assert isinstance(self.turn, Decide)
                for player, move in moves:
                    if move not in (options := self.turn.options[player]):
                        raise IllegalMove(_not_among(move, "an option", "options", options))
                self._pick(moves, spent)
            case Timeout(players):
                self._timed()
                if not players or not set(players) <= set(self.deciders):
                    raise IllegalMove(self._choosers())
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
                    outcomes = tuple(self.turn.odds)
                    raise IllegalMove(
                        _not_among(outcome, "a possible outcome", "outcomes", outcomes)
                    )
                self._timeline.draw_number()
                self._append(Outcome(outcome, self.turn.by))
                self._timeline.move_to(self.game.play(self.state, outcome))
                self._settle()
            case Limit():
                raise IllegalMove("the turn limit is not reached here")

    # Checks, and events without a choice: chance, limits, timeouts, the end of the game

    def _at(self) -> float | None:
        """The current time; None while replaying a record without times."""
        return self.clock()

    def _spent(self, player: int) -> float:
        """Seconds a player has spent on this choice; 0 without a clock."""
        now = self._at() if self._has_clock else None
        return 0.0 if now is None else self.clocks.spent(player, now)

    def _choosers(self) -> str:
        """The deciders in words, for an error message."""
        if not self.deciders:
            return "no choice is open"
        return f"it is the choice of {listed(map(player_name, self.deciders), ' and ')}"

    def _chosen_by(self, players: list[int]) -> None:
        if not self.deciders or players != sorted(self.deciders):
            raise IllegalMove(self._choosers())

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

    def _end(self, winner: int | None, by: str, reason: str, payoff: Payoff | None = None) -> None:
        """End the match; a win that the rules did not make pays the most that one can."""
        if payoff is None:
            payoff = 1 if winner is None else self.game.highest_payoff()
        self.result = Result(winner, by, reason, payoff)
        self._sealed, self.deciders = {}, ()
        self.clocks.end()

    def _settle(self) -> None:
        """Resolve chance events and limits until a player must choose or the match is over."""
        self._sealed, self.deciders = {}, ()
        timeline = self._timeline
        while True:
            self.turn = self.game.turn(self.state)
            if isinstance(self.turn, Over):
                self._end(self.turn.winner, "rules", self.turn.reason, self.turn.payoff)
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
        """Keep a pick, or None for a timeout, until all picks are there."""
        self._sealed[player] = move, spent
        self.deciders = tuple(other for other in self.deciders if other != player)
        self._resolve()

    def _resolve(self) -> None:
        """Play the picks once all are there; players who were late are timed out."""
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
            raise IllegalMove("no undo was requested")
        return self.offer

    def _open_times(self) -> Spent:
        """The seconds spent by player in the open choice, sealed picks included."""
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


def _not_among(word: str, what: str, all_of_them: str, known: tuple[str, ...]) -> str:
    """The error for a word that is not among the known ones, which it lists."""
    shown = listed(known) if len(known) <= 20 else f"{len(known)} others"
    return f"{quote(word)} is not {what}; the {all_of_them} are {shown}"


def inform(player: Player, match: Match, seat: int, since: int = 0) -> int:
    """Call `on_event` and `on_end` of a player for everything from event `since` on.

    Returns the next `since`: call `since = inform(player, match, seat, since)` after every change.

    >>> from duels.core import Match, Player
    >>> class Told(Player):
    ...     def on_event(self, number: int, entry: Any) -> None:
    ...         print(number, entry)
    >>> from duels.games import load
    >>> match = Match(load("digit-duel"), seed=1)
    >>> match.submit(0, "7")
    >>> inform(Told(), match, seat=1)
    0 Pick(moves=((0, '7'),))
    1
    """
    for number, entry, _ in match.log(seat, since):
        if isinstance(entry, Result):
            player.on_end(entry)
        else:
            player.on_event(number, entry)
        since = number + 1
    return since


def _check(viewer: int | None) -> None:
    """Refuse a viewer other than 0, 1 and None: games do not know what to hide from it."""
    if viewer is not None and viewer not in (0, 1):
        raise IllegalMove(f"there is no viewer {quote(viewer)}; viewers are 0, 1 and None")


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
        text.encode()  # refuses lone surrogates
        kept: dict[str, Any] = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise OptionError("about: expected values that JSON can represent") from None
    if kept != dict(about):
        raise OptionError(
            "about: expected texts as keys, and values that JSON returns as they were"
        )
    return kept
