"""A portion of a tournament, played: by the rules themselves, or in compiled code.

Whoever plays a portion, wherever and when, gets the same result: all randomness comes from the
tournament's seed. (A program that draws random numbers of its own is its own master.)

>>> from duels.arena.played import Setting
>>> cup = Tournament(("greedy", "random"), (Setting("firewall-breach"),), pairs=5, seed=1)
>>> match = play_game(cup, Place(game=0, pairing=0, pair=3, seat=1)).match
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

from duels.arena.keeping import Done, columns_of, packed
from duels.arena.luck import NOTHING, adjusted
from duels.arena.played import DISQUALIFIED, Place, Played, Tournament
from duels.arena.schedule import (
    WATCHED,
    Portion,
    encounter_seed,
    game_of,
    game_seed,
    player_stream,
)
from duels.core.game import AnyGame, Move, Pick
from duels.core.match import Match
from duels.core.player import Player, View
from duels.core.record import to_json
from duels.core.referee import wall_clock
from duels.players import CLASS, COMMAND, OPPONENT, named, player
from duels.players.external import External
from duels.players.hosting import Host, reason
from duels.players.isolated import Isolated, isolated

Mix = Mapping[Move, float] | None
MOST_PROGRAMS = 8  # that run on between portions


class Failing:
    """The players of one run that fail to start or to answer, as far as this process knows.

    Each such failure costs seconds, so a player with `cup.max_failures` of them in a row is out:
    it forfeits what is left without being asked.
    """

    def __init__(self) -> None:
        self.row: dict[str, int] = {}  # failures since it last played a match without one
        self.out: dict[str, str] = {}  # who is disqualified, and why

    def note(self, cup: Tournament, name: str, why: str | None) -> None:
        """A player was asked in a match, and did or did not fail."""
        self.row[name] = 0 if why is None else self.row.get(name, 0) + 1
        if why is not None and self.row[name] >= cup.max_failures:
            times = "a failure" if self.row[name] == 1 else f"{self.row[name]} failures in a row"
            self.out.setdefault(name, f"disqualified after {times}: {why}")


@lru_cache(maxsize=4)
def failing(run: str) -> Failing:
    """What this process knows in a run of a tournament; nothing of other runs."""
    return Failing()


def play(
    cup: Tournament, portion: Portion, run: str = "", out: Mapping[str, str] | None = None
) -> Done:
    """Play a portion in a run; `out` are the players that are known to be disqualified in it."""
    if portion.compiled:
        from duels.arena.batched import play_compiled

        return play_compiled(cup, portion)
    known = failing(run)
    known.out |= out or {}
    played, records = [], []
    for pair in range(portion.start, portion.stop):
        for seat in (0, 1):
            place = Place(portion.game, portion.pairing, pair, seat)
            game = play_game(cup, place, known)
            played.append(result_of(place, game))
            records.append(to_json(game.match))
    text = json.dumps(records, separators=(",", ":"), ensure_ascii=False)
    return Done(portion, packed(columns_of(played)), zlib.compress(text.encode()))


class Game(NamedTuple):
    """A finished match and how its players said they would choose."""

    match: Match
    mixes: tuple[Callable[[View], Mix], Callable[[View], Mix]]
    disqualified: bool = False


def play_game(cup: Tournament, place: Place, known: Failing | None = None) -> Game:
    """One game by the rules; it is forfeited at once where a player is disqualified."""
    given = identity(cup, place)
    rules, names = game_of(cup.games[place.game]), given["players"]
    match = Match(
        rules, game_seed(cup, place), **given, time_limit=cup.time_limit,
        now=wall_clock if cup.time_limit is not None else _no_clock,
    )  # fmt: skip
    known = Failing() if known is None else known
    if out := {seat: known.out[name] for seat, name in enumerate(names) if name in known.out}:
        match.forfeit(tuple(out), reason(out))
        return Game(match, (_silent, _silent), disqualified=True)
    seats = [
        seated(name, player_stream(cup, place, seat), rules) for seat, name in enumerate(names)
    ]
    host, said = Host(match, dict(enumerate(seats))), dict[tuple[int, int], Mix]()
    while match.result is None:
        moment, asked = len(match.events), match.deciders
        host.choose()
        for seat in asked:
            said[seat, moment] = getattr(seats[seat], "last_mix", None)
    chose = {seat for entry in match.events if isinstance(entry, Pick) for seat, _ in entry.moves}
    for seat, name in enumerate(names):
        why = getattr(seats[seat], "stalled", None)
        if seat in chose or why is not None:
            known.note(cup, name, why)

    def mix_of(seat: int) -> Callable[[View], Mix]:
        if named(names[seat]).kind == COMMAND:
            return lambda view: said.get((seat, view.moment))
        return _guarded(seats[seat])

    return Game(match, (mix_of(0), mix_of(1)))


def identity(cup: Tournament, place: Place) -> dict[str, Any]:
    """What a match of a tournament is called, by whatever way it is played."""
    one, two = (cup.players[index] for index in cup.pairings[place.pairing])
    text = f"duels arena {encounter_seed(cup, place.game, place.pairing)} {place.pair} {place.seat}"
    return {
        "players": (one, two) if place.seat == 0 else (two, one),
        "turn_limit": cup.turn_limit,
        "id": sha256(text.encode()).hexdigest()[:32],
        "about": {"arena": {"number": cup.number(place), "pair": place.pair + 1}},
    }


def result_of(place: Place, game: Game) -> Played:
    """What a finished match says."""
    result = game.match.result
    assert result is not None
    score = 0.5 if result.winner is None else float(result.winner == 0)
    failed = result.by in ("forfeit", "time") and result.winner is not None
    by = DISQUALIFIED if game.disqualified else result.by
    choices = sum(isinstance(entry, Pick) for entry in game.match.events)
    found = NOTHING
    if place.pair < WATCHED:
        found = adjusted(game.match, game.mixes, game.match.players)
    loser = 1 - result.winner if failed and result.winner is not None else None
    return Played(*place, score, by, choices, found.score, found.regret, found.graded, loser)


# Players


class Programs(threading.local):
    """The programs of a thread: started once, to serve game after game. A cluster has threads."""

    def __init__(self) -> None:
        self.started: dict[str, External] = {}
        _everywhere.append(self.started)


_everywhere: list[dict[str, External]] = []  # of all threads
_programs = Programs()


def seated(name: str, own: str, game: AnyGame) -> Player:
    """A player for one match: new, but for a program, which remembers nothing.

    A class plays in a program of its own, which makes it anew.
    """
    kind = named(name).kind
    if kind == OPPONENT:
        return player(name, own)
    started = _programs.started
    program: Player | None = started.pop(name, None)
    if program is None:
        while len(started) >= MOST_PROGRAMS:  # the first is the one that is longest unused
            started.pop(next(iter(started))).close()
        program = isolated(name, own) if kind == CLASS else player(name, own)
    if isinstance(program, External):
        started[name] = program
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


def _guarded(player: Player) -> Callable[[View], Mix]:
    """A player's word on how it chooses; none where it fails to give it."""

    def mix(view: View) -> Mix:
        try:
            return player.mix(view)
        except Exception:
            return None

    return mix


def _silent(view: View) -> Mix:
    """How a player chooses that was not asked."""
    return None


def _no_clock() -> None:
    """Records of a tournament without clocks say no times, so that they are always the same."""
    return None
