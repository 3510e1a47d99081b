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
import zlib
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from duels.arena.keeping import Done, columns_of, packed
from duels.arena.luck import NOTHING, adjusted
from duels.arena.played import Place, Played, Tournament
from duels.arena.schedule import (
    WATCHED,
    Portion,
    encounter_seed,
    game_of,
    game_seed,
    player_stream,
)
from duels.core.errors import DuelsError, Misbehaved
from duels.core.game import Move, Pick
from duels.core.match import Match
from duels.core.player import Player, View
from duels.core.record import to_json
from duels.core.referee import wall_clock
from duels.players import COMMAND, OPPONENT, named, player
from duels.players.hosting import Host

Mix = Mapping[Move, float] | None
MOST_PROGRAMS = 8  # that run on between portions


def play(cup: Tournament, portion: Portion) -> Done:
    """Play a portion."""
    if portion.compiled:
        from duels.arena.batched import play_compiled

        return play_compiled(cup, portion)
    played, records = [], []
    for pair in range(portion.start, portion.stop):
        for seat in (0, 1):
            place = Place(portion.game, portion.pairing, pair, seat)
            game = play_game(cup, place)
            played.append(result_of(place, game))
            records.append(to_json(game.match))
    text = json.dumps(records, separators=(",", ":"), ensure_ascii=False)
    return Done(portion, packed(columns_of(played)), zlib.compress(text.encode()))


class Game(NamedTuple):
    """A finished match and how its players said they would choose."""

    match: Match
    mixes: tuple[Callable[[View], Mix], Callable[[View], Mix]]


def play_game(cup: Tournament, place: Place) -> Game:
    """One game by the rules."""
    given = identity(cup, place)
    seats = [
        seated(name, player_stream(cup, place, seat)) for seat, name in enumerate(given["players"])
    ]
    match = Match(
        game_of(cup.games[place.game]), game_seed(cup, place), **given, time_limit=cup.time_limit,
        now=wall_clock if cup.time_limit is not None else _no_clock,
    )  # fmt: skip
    host, said = Host(match, dict(enumerate(seats))), dict[tuple[int, int], Mix]()
    while match.result is None:
        moment, asked = len(match.events), match.deciders
        host.choose()
        for seat in asked:
            said[seat, moment] = getattr(seats[seat], "last_mix", None)

    def mix_of(seat: int) -> Callable[[View], Mix]:
        if hasattr(seats[seat], "last_mix"):
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
    choices = sum(isinstance(entry, Pick) for entry in game.match.events)
    found = NOTHING
    if place.pair < WATCHED:
        found = adjusted(game.match, game.mixes, game.match.players)
    loser = 1 - result.winner if failed and result.winner is not None else None
    return Played(*place, score, result.by, choices, found.score, found.regret, found.graded, loser)


# Players


class Absent(Player):
    """Sits where a player could not be made."""

    def __init__(self, why: str) -> None:
        self.why = why

    def choose(self, view: View) -> Move:
        raise Misbehaved(self.why)


_programs: dict[str, Any] = {}  # programs are started once and serve game after game


def seated(name: str, own: str) -> Player:
    """A player for one match: new, but for a program, which remembers nothing."""
    kind = named(name).kind
    if kind == COMMAND:
        if name not in _programs:
            while len(_programs) >= MOST_PROGRAMS:
                _programs.pop(next(iter(_programs))).close()
            _programs[name] = player(name, own)
        _programs[name].stream = own
        program: Player = _programs[name]
        return program
    try:
        return player(name, own)
    except DuelsError as error:
        if kind == OPPONENT:
            raise
        return Absent(str(error))


@atexit.register
def end_programs() -> None:
    """End every program that was started here."""
    while _programs:
        _programs.popitem()[1].close()


def _guarded(player: Player) -> Callable[[View], Mix]:
    """A player's word on how it chooses; none where it fails to give it."""

    def mix(view: View) -> Mix:
        try:
            return player.mix(view)
        except Exception:
            return None

    return mix


def _no_clock() -> None:
    """Records of a tournament without clocks say no times, so that they are always the same."""
    return None
