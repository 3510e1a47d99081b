"""Compiled games: legal by the rules, the same in law as by the rules, and paired."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="needs the extra: pip install 'duels[solve]'")

from duels.arena.archive import Archive
from duels.arena.chunk_encoding import unpacked_results
from duels.arena.compiled_worker import play_compiled
from duels.arena.model import Tournament
from duels.arena.records import record
from duels.arena.schedule import Chunk, chooser_of, compiled, encounter_seed, game_of
from duels.arena.worker import play
from duels.core.errors import RecordError
from duels.core.game import Outcome
from duels.core.match import Match
from duels.core.record import dumps, loads
from duels.games import BUILT_IN, load
from tests.arena.helpers import contents, make_tournament, played
from tests.variants import long_unless

pytestmark = pytest.mark.slow


def cup_of(players: str, slug: str, pairs: int = 60, **settings: Any) -> Tournament:
    return make_tournament(players, slug, pairs, compiled=True, **settings)


EVERY_GAME = pytest.mark.parametrize(
    "slug", long_unless(lambda slug: slug == "firewall-breach", BUILT_IN)
)


@EVERY_GAME
def test_every_game_becomes_a_record_that_the_rules_accept(slug: str, tmp_path: Path) -> None:
    tournament = cup_of("easy greedy", slug, turn_limit=20)
    assert compiled(tournament, 0, 0)
    (found,) = played(tmp_path, tournament)
    with Archive.open(str(tmp_path)) as archive:
        for game in found.results[:60]:
            match = record(archive, tournament.number(game))
            again: Match = loads(dumps(match), load)  # which plays it again by the rules
            assert again.result is not None
            assert again.result.by == game.by
            assert game.score == (0.5 if again.result.winner is None else 1 - again.result.winner)
            assert again.players == (("easy", "greedy"), ("greedy", "easy"))[game.seat]


@EVERY_GAME
def test_the_law_is_that_of_the_rules(slug: str) -> None:
    """Scores, by seat, and lengths of games: both ways within four standard errors."""
    pairs = 400
    tournament = cup_of("easy greedy", slug, pairs)
    ways = []
    for fast in (True, False):
        done = play(tournament, Chunk(0, 0, 0, pairs, fast))
        ways.append(unpacked_results(done.chunk, done.results))
    for seat in (0, 1):
        for measure in ("score", "choices"):
            one, two = (
                [float(getattr(game, measure)) for game in way if game.seat == seat] for way in ways
            )
            assert abs(mean(one) - mean(two)) <= 4 * sqrt(error(one) ** 2 + error(two) ** 2) + 1e-9


def mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)


def error(numbers: list[float]) -> float:
    middle = mean(numbers)
    return sqrt(sum((number - middle) ** 2 for number in numbers)) / len(numbers)


def test_law_is_tested_for_real() -> None:
    """Another player would be noticed."""
    tournament = cup_of("easy greedy", "firewall-breach", 400)
    other = cup_of("random greedy", "firewall-breach", 400)
    one, two = (
        [game.score for game in unpacked_results(done.chunk, done.results) if game.seat == 0]
        for done in (play(it, Chunk(0, 0, 0, 400, True)) for it in (tournament, other))
    )
    assert abs(mean(one) - mean(two)) > 4 * sqrt(error(one) ** 2 + error(two) ** 2)


@EVERY_GAME
def test_a_chunk_does_not_depend_on_where_it_is_cut(slug: str) -> None:
    tournament = cup_of("medium greedy", slug)
    whole = play_compiled(tournament, Chunk(0, 0, 0, 60, True))
    cuts = [0, 1, 7, 60]
    parts = [play_compiled(tournament, Chunk(0, 0, *cut, True)) for cut in pairwise(cuts)]
    found = [game for part in parts for game in unpacked_results(part.chunk, part.results)]
    assert found == unpacked_results(whole.chunk, whole.results)


@pytest.mark.parametrize(
    "slug", ["firewall-breach", pytest.param("cipher-siege", marks=pytest.mark.long)]
)
def test_equal_players_play_the_same_game_twice(slug: str) -> None:
    """The games of a pair share chance and both seats' streams."""
    from duels.kernels.pairs import play_pairs

    tournament = cup_of("random greedy", slug)
    chooser = chooser_of(tournament.games[0], "greedy")
    assert chooser is not None
    met = play_pairs(
        game_of(tournament.games[0]), chooser, chooser, encounter_seed(tournament, 0, 0), range(50)
    )
    assert (met.winner[::2] == met.winner[1::2]).all()
    assert (met.choices[::2] == met.choices[1::2]).all()
    assert len(set(met.winner.tolist())) > 1


def test_pairs_share_chance(tmp_path: Path) -> None:
    """The first cards that are dealt and drawn are those of the other game of the pair."""
    tournament = cup_of("random greedy", "cipher-siege")
    played(tmp_path, tournament)
    with Archive.open(str(tmp_path)) as archive:
        for pair in range(20):
            one, two = (record(archive, 2 * pair + seat + 1) for seat in (0, 1))
            assert one.players == two.players[::-1]
            hands = [match.state_before(7).hands for match in (one, two)]
            assert hands[0] == hands[1]
        others = {record(archive, 2 * pair + 1).state_before(7).hands for pair in range(20)}
    assert len(others) > 15


def test_outcomes_that_look_alike_have_their_odds(tmp_path: Path) -> None:
    """A die that hits is any of four faces: each of six comes about as often."""
    tournament = cup_of("random greedy", "firewall-breach", 120)
    played(tmp_path, tournament)
    faces: Counter[str] = Counter()
    with Archive.open(str(tmp_path)) as archive:
        for number in range(1, 241):
            events = record(archive, number).events
            faces.update(entry.outcome for entry in events if isinstance(entry, Outcome))
            again = record(archive, number)
            assert again.events == events  # the same whenever it is asked for
    count = sum(faces.values())
    assert count > 1000
    for face in "123456":
        assert abs(faces[face] - count / 6) < 5 * sqrt(count * 5 / 36)


def test_a_game_that_was_played_otherwise_is_refused(tmp_path: Path) -> None:
    """Actions that the random numbers no longer lead to, as after a change of a kernel."""
    tournament = cup_of("random greedy", "cipher-siege", 20)
    played(tmp_path / "1", tournament)
    (done,) = contents(tmp_path / "1")
    other = tournament._replace(seed=6)
    refused = 0
    with Archive.begin(str(tmp_path / "2"), other) as archive:
        archive.add(done)
        for number in range(1, 41):
            try:
                record(archive, number)
            except RecordError:
                refused += 1
    assert refused > 30


@pytest.mark.extra("arena")
def test_the_same_at_any_number_of_jobs(tmp_path: Path) -> None:
    tournament = cup_of("random greedy", "firewall-breach", 2500)
    assert played(tmp_path / "1", tournament) == played(tmp_path / "2", tournament, jobs=2)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_what_was_begun_with_kernels_goes_on_with_kernels(tmp_path: Path) -> None:
    from duels.core.errors import OptionError

    tournament = cup_of("random greedy", "firewall-breach", 20)
    played(tmp_path, tournament)
    with pytest.raises(OptionError, match="its engine is compiled, not python"):
        Archive.begin(str(tmp_path), tournament._replace(compiled=False))
