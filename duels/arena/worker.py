"""Plays a chunk of a tournament, by the rules in Python or in compiled code.

The result does not depend on the process, the machine or the time: all randomness is derived from
the tournament's seed. Only a program that draws random numbers of its own is not reproducible.

>>> from duels.arena.model import Setting
>>> tournament = Tournament(("greedy", "random"), (Setting("firewall-breach"),), pairs=5, seed=1)
>>> match = play_game(tournament, GameIndex(game=0, pairing=0, pair=3, seat=1)).match
>>> match.players, match.result.by
(('random', 'greedy'), 'rules')
"""

from __future__ import annotations

import atexit
import json
import threading
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

from duels.arena.aivat import NO_ADJUSTMENT, adjusted
from duels.arena.chunk_encoding import ChunkResult, columns_of, packed_columns
from duels.arena.model import DISQUALIFIED, GameIndex, GameResult, Tournament
from duels.arena.schedule import (
    ADJUSTED_PAIRS,
    Chunk,
    encounter_seed,
    game_of,
    game_seed,
    player_stream,
)
from duels.core.game import AnyGame, Pick
from duels.core.match import Match, wall_clock
from duels.core.payoffs import payoffs
from duels.core.player import MixedStrategy, Player, View
from duels.core.record import to_json
from duels.players import COMMAND, OPPONENT, bare, make_player, parse_spec
from duels.players.external import External
from duels.players.isolated import Isolated
from duels.players.runner import MatchRunner, reason

MaybeStrategy = MixedStrategy | None  # None: it is not known
MOST_PROGRAMS = 8  # kept running between chunks


class FailureTracker:
    """Counts failures to start or to answer by player, in one run and as seen by this process.

    Each such failure costs seconds, so a player with `tournament.max_failures` consecutive ones is
    disqualified: it forfeits its remaining games without being started.
    """

    def __init__(self) -> None:
        self.consecutive: dict[str, int] = {}  # failures since the last match without one
        self.disqualified: dict[str, str] = {}  # the disqualified players, with the reason

    def add(self, tournament: Tournament, name: str, why: str | None) -> None:
        """Record whether a player failed in a match; `why` is the reason, None if it did not."""
        self.consecutive[name] = 0 if why is None else self.consecutive.get(name, 0) + 1
        if why is not None and self.consecutive[name] >= tournament.max_failures:
            times = (
                "a failure"
                if self.consecutive[name] == 1
                else f"{self.consecutive[name]} failures in a row"
            )
            self.disqualified.setdefault(name, f"disqualified after {times}: {why}")


@lru_cache(maxsize=4)
def failure_tracker(run: str) -> FailureTracker:
    """The failures of one run of a tournament."""
    return FailureTracker()


def play(
    tournament: Tournament, chunk: Chunk, run: str = "", out: Mapping[str, str] | None = None
) -> ChunkResult:
    """Play a chunk in a run; `out` are the players already disqualified in it."""
    if chunk.compiled:
        from duels.arena.compiled_worker import play_compiled

        return play_compiled(tournament, chunk)
    known = failure_tracker(run)
    known.disqualified |= out or {}
    played, records = [], []
    for pair in range(chunk.start, chunk.stop):
        for seat in (0, 1):
            game_index = GameIndex(chunk.game, chunk.pairing, pair, seat)
            game = play_game(tournament, game_index, known)
            played.append(result_of(game_index, game))
            records.append(to_json(game.match))
    text = json.dumps(records, separators=(",", ":"), ensure_ascii=False)
    return ChunkResult(chunk, packed_columns(columns_of(played)), zlib.compress(text.encode()))


class FinishedGame(NamedTuple):
    """A finished match and the mixed strategies of its players."""

    match: Match
    strategies: tuple[Callable[[View], MaybeStrategy], Callable[[View], MaybeStrategy]]
    opponents: tuple[str, str] = ("", "")  # names by which stored values know the players
    disqualified: bool = False


def play_game(
    tournament: Tournament, game_index: GameIndex, known: FailureTracker | None = None
) -> FinishedGame:
    """Play one game by the rules; a disqualified player forfeits at once."""
    given = identity(tournament, game_index)
    rules, names = game_of(tournament.games[game_index.game]), given["players"]
    match = Match(
        rules, game_seed(tournament, game_index), **given, time_limit=tournament.time_limit,
        now=wall_clock if tournament.time_limit is not None else _no_clock,
    )  # fmt: skip
    texts = tournament.text_of(names[0]), tournament.text_of(names[1])
    opponents = bare(texts[0]), bare(texts[1])
    known = FailureTracker() if known is None else known
    if out := {
        seat: known.disqualified[name]
        for seat, name in enumerate(names)
        if name in known.disqualified
    }:
        match.forfeit(tuple(out), reason(out))
        strategies = _unknown_strategy, _unknown_strategy
        return FinishedGame(match, strategies, opponents, disqualified=True)
    seats = [
        seated(text, player_stream(tournament, game_index, seat), rules)
        for seat, text in enumerate(texts)
    ]
    host, stated = (
        MatchRunner(match, dict(enumerate(seats))),
        dict[tuple[int, int], MaybeStrategy](),
    )
    while match.result is None:
        version, deciders = len(match.events), match.deciders
        host.choose()
        for seat in deciders:
            stated[seat, version] = getattr(seats[seat], "last_strategy", None)
    chose = {seat for entry in match.events if isinstance(entry, Pick) for seat, _ in entry.moves}
    for seat, name in enumerate(names):
        why = getattr(seats[seat], "stalled", None)
        if seat in chose or why is not None:
            known.add(tournament, name, why)

    def strategy_of(seat: int) -> Callable[[View], MaybeStrategy]:
        if parse_spec(texts[seat]).kind == COMMAND:
            return lambda view: stated.get((seat, view.version))
        return _guarded(seats[seat])

    return FinishedGame(match, (strategy_of(0), strategy_of(1)), opponents)


def identity(tournament: Tournament, game_index: GameIndex) -> dict[str, Any]:
    """The players, limit, id and metadata of a match, the same for both engines."""
    one, two = (tournament.players[index] for index in tournament.pairings[game_index.pairing])
    seed = encounter_seed(tournament, game_index.game, game_index.pairing)
    text = f"duels arena {seed} {game_index.pair} {game_index.seat}"
    return {
        "players": (one, two) if game_index.seat == 0 else (two, one),
        "turn_limit": tournament.turn_limit,
        "id": sha256(text.encode()).hexdigest()[:32],
        "about": {"arena": {"number": tournament.number(game_index), "pair": game_index.pair + 1}},
    }


def result_of(game_index: GameIndex, game: FinishedGame) -> GameResult:
    """The result of a finished match."""
    result = game.match.result
    assert result is not None
    score = 0.5 if result.winner is None else float(result.winner == 0)
    failed = result.by in ("forfeit", "time") and result.winner is not None
    by = DISQUALIFIED if game.disqualified else result.by
    choices = sum(isinstance(entry, Pick) for entry in game.match.events)
    found = NO_ADJUSTMENT
    if game_index.pair < ADJUSTED_PAIRS:
        found = adjusted(game.match, game.strategies, game.opponents)
    loser = 1 - result.winner if failed and result.winner is not None else None
    return GameResult(
        *game_index,
        score,
        by,
        choices,
        found.score,
        found.regret,
        found.graded,
        loser,
        payoff=payoffs(result)[0],
    )


# Players


class Programs(threading.local):
    """The running programs of a thread, reused from game to game; cluster workers use threads."""

    def __init__(self) -> None:
        self.started: dict[str, External] = {}
        _everywhere.append(self.started)


_everywhere: list[dict[str, External]] = []  # the programs of all threads
_programs = Programs()


def seated(text: str, own: str, game: AnyGame) -> Player:
    """The player for one match: a new one, except that a running program is reused.

    A class plays in a process of its own, which creates a new instance for each match.
    """
    if parse_spec(text).kind == OPPONENT:
        return make_player(text, own)
    started = _programs.started
    program: Player | None = started.pop(text, None)
    if program is None:
        while len(started) >= MOST_PROGRAMS:  # the first is the least recently used
            started.pop(next(iter(started))).close()
        program = make_player(text, own, own_process=True)
    if isinstance(program, External):
        started[text] = program
        program.stream, program.stalled = own, None
    if isinstance(program, Isolated):
        program.renew(own, game)
    return program


def end_programs() -> None:
    """End every program that this thread started."""
    _end(_programs.started)


@atexit.register
def _end_all() -> None:
    for started in _everywhere:
        _end(started)


def _end(started: dict[str, External]) -> None:
    while started:
        started.popitem()[1].close()


def _guarded(player: Player) -> Callable[[View], MaybeStrategy]:
    """A player's mixed strategy by view; None where computing it fails."""

    def mixed_strategy(view: View) -> MaybeStrategy:
        try:
            return player.mixed_strategy(view)
        except Exception:
            return None

    return mixed_strategy


def _unknown_strategy(view: View) -> MaybeStrategy:
    """The strategy of a player that made no choice."""
    return None


def _no_clock() -> None:
    """A clock without times, so that records of untimed tournaments are reproducible."""
    return None
