"""Records of the games of a tournament, by number."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from duels.arena.archive import Archive
from duels.arena.chunk_encoding import ChunkResult, damaged, inflated, unpacked_results
from duels.arena.model import GameIndex, GameResult, Tournament
from duels.arena.schedule import encounter_seed, game_of
from duels.arena.worker import identity
from duels.core.errors import RecordError
from duels.core.game import AnyGame, Chance, Outcome
from duels.core.match import Match
from duels.core.record import loads, to_json
from duels.games import load

CHANGED = "the game cannot be played again: another version of this program played it"


def record(archive: Archive, number: int) -> Match:
    """The match with a number, from 1, as `Tournament.number` counts."""
    tournament = archive.tournament
    most = len(tournament.games) * len(tournament.pairings) * tournament.pairs * 2
    if not 1 <= number <= most:
        raise RecordError(f"the games of {archive.folder} are numbered 1 to {most}; got {number}")
    game_index = tournament.game_index(number)
    done = archive.stored(game_index)
    if done is None:
        raise RecordError(f"game {number} of {archive.folder} was not played")
    if done.chunk.compiled:
        return compiled_record(tournament, game_index, done)
    number = 2 * (game_index.pair - done.chunk.start) + game_index.seat
    match = loads(json.dumps(_stored_records(archive, done)[number]), load)
    match.about = identity(tournament, game_index)[
        "about"
    ]  # more players change the numbers of games
    return match


def all_records(archive: Archive) -> Iterator[dict[str, Any]]:
    """The record of every stored game as JSON values, by game, pairing, pair and seat."""
    tournament = archive.tournament
    for done in archive.everything():
        stored = None if done.chunk.compiled else _stored_records(archive, done)
        for number in range(done.chunk.games):
            pair, seat = done.chunk.start + number // 2, number % 2
            game_index = GameIndex(done.chunk.game, done.chunk.pairing, pair, seat)
            if stored is None:
                yield to_json(compiled_record(tournament, game_index, done))
            else:
                yield stored[number] | {"about": identity(tournament, game_index)["about"]}


def _stored_records(archive: Archive, done: ChunkResult) -> list[dict[str, Any]]:
    try:
        records: list[dict[str, Any]] = json.loads(inflated(done.records))
        if len(records) != done.chunk.games or not all(isinstance(one, dict) for one in records):
            raise ValueError(len(records))
    except (ValueError, TypeError):
        raise damaged("games in it are damaged", archive.folder) from None
    return records


@lru_cache(maxsize=2)
def _compiled_games(done: ChunkResult) -> tuple[list[GameResult], bytes]:
    """The results of a chunk and its actions; cached, since its games are read one by one."""
    return unpacked_results(done.chunk, done.results), inflated(done.records)


def compiled_record(tournament: Tournament, game_index: GameIndex, done: ChunkResult) -> Match:
    """The match of a game that was played in compiled code, checked against the rules.

    The kernel replays the actions and returns the states; the chance outcomes between two states
    are inferred from the rules. If several outcomes lead to the same state, like the faces of a die
    that hit, one is drawn by their odds.
    """
    from duels.arena.compiled_worker import ACTIONS
    from duels.kernels import kernel_of, np
    from duels.kernels.pairs import replay_game

    game = game_of(tournament.games[game_index.game])
    results, stored = _compiled_games(done)
    number = 2 * (game_index.pair - done.chunk.start) + game_index.seat
    begin = sum(earlier.choices for earlier in results[:number])
    result = results[number]
    choosers = 2 if kernel_of(game).sealed(game) else 1
    actions = np.frombuffer(stored, ACTIONS).reshape(-1, choosers)
    actions = actions[begin : begin + result.choices]
    encounter = encounter_seed(tournament, game_index.game, game_index.pairing)
    again = replay_game(game, actions, encounter, game_index.pair, tournament.turn_limit)
    given, moves = identity(tournament, game_index), game.moves()
    rng = Random(given["id"])
    match = Match(game, None, now=lambda: None, **given)
    try:
        for choice, state in enumerate(again.states):
            if choice:
                for seat, action in zip(match.deciders, actions[choice - 1].tolist(), strict=True):
                    match.submit(seat, moves[action])
            for outcome in chance_outcomes(game, match.state, state, rng):
                match.enact(Outcome(outcome))
    except ValueError:  # an illegal action, or a choice where no player decides
        raise RecordError(CHANGED) from None
    ended = match.result
    score = None if ended is None else 0.5 if ended.winner is None else float(ended.winner == 0)
    if ended is None or (score, ended.by) != (result.score, result.by):
        raise RecordError(CHANGED)
    return match


class ChancePaths(NamedTuple):
    """The ways to reach a state by chance events, with their probabilities."""

    chance: list[float]  # of each predecessor and outcome
    ways: list[tuple[Any, str]]  # the state before, and the outcome


@lru_cache(maxsize=64)
def _reachable(game: AnyGame, state: Any) -> list[dict[Any, ChancePaths]]:
    """The states that chance events alone can reach from a state, by the number of events."""
    layers = [{state: ChancePaths([1.0], [])}]
    while True:
        after: dict[Any, ChancePaths] = {}
        for before, reached in layers[-1].items():
            turn = game.turn(before)
            for outcome, odd in turn.odds.items() if isinstance(turn, Chance) else ():
                found = after.setdefault(game.play(before, outcome), ChancePaths([], []))
                found.chance.append(sum(reached.chance) * float(odd))
                found.ways.append((before, outcome))
        if not after:
            return layers
        layers.append(after)


def chance_outcomes(game: AnyGame, before: Any, after: Any, rng: Random) -> list[str]:
    """Chance outcomes that lead from one state to another, drawn by the odds of all that do.

    >>> from duels.games import load
    >>> game = load("firewall-breach")
    >>> rolling = game.play(game.start(), "attack")
    >>> [chance_outcomes(game, rolling, game.play(rolling, "5"), Random(n)) for n in range(4)]
    [['6'], ['4'], ['6'], ['4']]
    """
    layers = _reachable(game, before)
    for depth in reversed(range(len(layers))):
        if after in layers[depth]:
            found: list[str] = []
            for layer in layers[depth:0:-1]:
                chance, ways = layer[after]
                after, outcome = rng.choices(ways, chance)[0]
                found.append(outcome)
            return found[::-1]
    raise RecordError(CHANGED)
