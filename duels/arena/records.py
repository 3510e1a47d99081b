"""The ordinary record of any game of a tournament, by its number."""

from __future__ import annotations

import json
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from duels.arena.batched import ACTIONS
from duels.arena.keeping import Archive, Done, inflated, unpacked
from duels.arena.played import Place, Tournament
from duels.arena.playing import identity
from duels.arena.schedule import encounter_seed, game_of
from duels.arena.store import damaged
from duels.core.errors import RecordError
from duels.core.game import AnyGame, Chance, Outcome
from duels.core.match import Match
from duels.core.record import loads
from duels.envs.kernels import kernel_of, np
from duels.envs.kernels.meet import retrace
from duels.games import load

CHANGED = "the game cannot be played again: another version of this program played it"


def record(archive: Archive, number: int) -> Match:
    """The match with a number, from 1, as `Tournament.number` counts."""
    cup = archive.cup
    most = len(cup.games) * len(cup.pairings) * cup.pairs * 2
    if not 1 <= number <= most:
        raise RecordError(f"the games of {archive.folder} are numbered 1 to {most}; got {number}")
    place = cup.place(number)
    done = archive.stored(place)
    if done is None:
        raise RecordError(f"game {number} of {archive.folder} was not played")
    if done.portion.compiled:
        return compiled_record(cup, place, done)
    try:
        kept = json.loads(inflated(done.records))
        text = json.dumps(kept[2 * (place.pair - done.portion.start) + place.seat])
    except (ValueError, IndexError, KeyError, TypeError):
        raise damaged("games in it are damaged", archive.folder) from None
    match = loads(text, load)
    match.about = identity(cup, place)["about"]  # more players change the numbers of games
    return match


def compiled_record(cup: Tournament, place: Place, done: Done) -> Match:
    """The match of a game that was played in compiled code, checked by the rules as it goes.

    The kernel plays the actions again and tells the states; what chance must have brought between
    two of them follows from the rules. Where several outcomes lead to the same state, as the faces
    of a die that hit, one is drawn by their odds.
    """
    game = game_of(cup.games[place.game])
    played = unpacked(done.portion, done.played)
    number = 2 * (place.pair - done.portion.start) + place.seat
    begin = sum(earlier.choices for earlier in played[:number])
    result = played[number]
    choosers = 2 if kernel_of(game).sealed(game) else 1
    actions = np.frombuffer(inflated(done.records), ACTIONS).reshape(-1, choosers)
    actions = actions[begin : begin + result.choices]
    encounter = encounter_seed(cup, place.game, place.pairing)
    again = retrace(game, actions, encounter, place.pair, cup.turn_limit)
    given, moves = identity(cup, place), game.moves()
    luck = Random(given["id"])
    match = Match(game, None, now=lambda: None, **given)
    try:
        for choice, state in enumerate(again.states):
            if choice:
                for seat, action in zip(match.deciders, actions[choice - 1].tolist(), strict=True):
                    match.submit(seat, moves[action])
            for outcome in between(game, match.state, state, luck):
                match.enact(Outcome(outcome))
    except ValueError:  # an action that is no option, or a choice that is nobody's
        raise RecordError(CHANGED) from None
    told = match.result
    score = None if told is None else 0.5 if told.winner is None else float(told.winner == 0)
    if told is None or (score, told.by) != (result.score, result.by):
        raise RecordError(CHANGED)
    return match


class Reached(NamedTuple):
    """How likely a state is after so many chance events, and the ways that led to it."""

    chance: list[float]  # of each way
    ways: list[tuple[Any, str]]  # the state before, and the outcome


@lru_cache(maxsize=64)
def _reachable(game: AnyGame, state: Any) -> list[dict[Any, Reached]]:
    """All that chance alone can lead to from a state, by the number of events."""
    layers = [{state: Reached([1.0], [])}]
    while True:
        after: dict[Any, Reached] = {}
        for before, reached in layers[-1].items():
            turn = game.turn(before)
            for outcome, odd in turn.odds.items() if isinstance(turn, Chance) else ():
                found = after.setdefault(game.play(before, outcome), Reached([], []))
                found.chance.append(sum(reached.chance) * float(odd))
                found.ways.append((before, outcome))
        if not after:
            return layers
        layers.append(after)


def between(game: AnyGame, before: Any, after: Any, luck: Random) -> list[str]:
    """The chance outcomes that lead from one state to another, drawn by the odds of all that do.

    >>> from duels.games import load
    >>> game = load("firewall-breach")
    >>> rolling = game.play(game.start(), "attack")
    >>> [between(game, rolling, game.play(rolling, "5"), Random(n)) for n in range(4)]
    [['6'], ['4'], ['6'], ['4']]
    """
    layers = _reachable(game, before)
    for depth in reversed(range(len(layers))):
        if after in layers[depth]:
            found: list[str] = []
            for layer in layers[depth:0:-1]:
                chance, ways = layer[after]
                after, outcome = luck.choices(ways, chance)[0]
                found.append(outcome)
            return found[::-1]
    raise RecordError(CHANGED)
