"""Portions in compiled code, and the ordinary records of games that were played so."""

from __future__ import annotations

import zlib
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from duels.arena.keeping import ENDS, NOBODY, Done, packed, unpacked
from duels.arena.played import Place, Setting, Tournament
from duels.arena.playing import identity
from duels.arena.schedule import Portion, encounter_seed, game_of
from duels.core.errors import RecordError
from duels.core.game import AnyGame, Chance, Outcome
from duels.core.match import Match
from duels.envs.kernels import Chooser, kernel_of, np
from duels.envs.kernels.drive import BY_FORFEIT, BY_LIMIT, BY_RULES
from duels.envs.kernels.meet import meet, retrace
from duels.envs.opponents import chooser

ENDINGS = {BY_RULES: "rules", BY_LIMIT: "limit", BY_FORFEIT: "forfeit"}
CHANGED = "the game cannot be played again: another version of this program played it"
ACTIONS = np.dtype("<i2") if np is not None else None


@lru_cache(maxsize=16)
def chooser_of(setting: Setting, name: str) -> Chooser:
    """A player in compiled code, with what it has worked out so far."""
    found = chooser(game_of(setting), name)
    assert found is not None, name
    return found


def play_compiled(cup: Tournament, portion: Portion) -> Done:
    """Play a portion between two choosers."""
    setting, pairing = cup.games[portion.game], cup.pairings[portion.pairing]
    one, two = (chooser_of(setting, cup.players[index]) for index in pairing)
    met = meet(
        game_of(setting), one, two, encounter_seed(cup, portion.game, portion.pairing),
        range(portion.start, portion.stop), cup.turn_limit,
    )  # fmt: skip
    twice = np.array([2, 0, 1], np.int8)[met.winner]  # seat 0 has won, seat 1 has, nobody has
    ends = np.zeros(max(ENDINGS) + 1, np.int8)
    for code, name in ENDINGS.items():
        ends[code] = ENDS.index(name)
    loser = np.where((met.ending == BY_FORFEIT) & (twice != 1), 1 - met.winner, NOBODY)
    unknown = np.full(portion.games, np.nan)
    columns = [twice, ends[met.ending], loser, met.choices, unknown, *[unknown] * 4]
    actions = zlib.compress(met.actions.astype(ACTIONS, copy=False).tobytes(), 1)
    return Done(portion, packed(columns), actions)


# Records


def record_of(cup: Tournament, place: Place, done: Done) -> Match:
    """The match of a game that was played in compiled code.

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
    actions = np.frombuffer(zlib.decompress(done.records), ACTIONS).reshape(-1, choosers)
    actions = actions[begin : begin + result.choices]
    encounter = encounter_seed(cup, place.game, place.pairing)
    again = retrace(game, actions, encounter, place.pair, cup.turn_limit)
    given, moves = identity(cup, place), game.moves()
    luck = Random(given["id"])
    match = Match(game, None, now=lambda: None, **given)
    for choice, state in enumerate(again.states):
        if choice:
            for seat, action in zip(match.deciders, actions[choice - 1].tolist(), strict=True):
                match.submit(seat, moves[action])
        for outcome in between(game, match.state, state, luck):
            match.enact(Outcome(outcome))
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
    [['6'], ['3'], ['6'], ['3']]
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
