"""No player from outside can predict the chance of a tournament or the picks of its opponents."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from duels.arena.archive import Archive
from duels.arena.model import GameIndex
from duels.arena.records import record
from duels.arena.schedule import game_seed, player_stream
from duels.core.game import Outcome
from tests.arena.helpers import HERE, make_tournament, played
from tests.arena.test_command import ENV, duels

CHEAT = Path(__file__).parent / "cheat.py"
PAIRS = 40


def scores(how: str, folder: Path, *words: str) -> tuple[float, float]:
    """What the cheating bot scores against perfect play, in first and second games of pairs."""
    done = duels(
        "arena", f"{sys.executable} {CHEAT} {how}", "perfect", "--games", "number-clash",
        "-n", str(PAIRS), "--out", str(folder), *words,
        env={**ENV, "DUELS_BOT_SECONDS": "60"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with Archive.open(str(folder)) as archive:
        games = archive.results(0, 0)
    assert len(games) == 2 * PAIRS
    assert {game.by for game in games} <= {"rules", "limit"}
    first, second = ([game.first_score for game in games[seat::2]] for seat in (0, 1))
    return sum(first) / PAIRS, sum(second) / PAIRS


@pytest.mark.slow
def test_picks_cannot_be_computed_from_a_guessed_seed(tmp_path: Path) -> None:
    assert 0.25 < sum(scores("guess", tmp_path)) / 2 < 0.75  # a half, within 4.5 standard errors


@pytest.mark.slow
def test_picks_follow_from_a_seed_that_is_known(tmp_path: Path) -> None:
    """The bot is able to cheat: a public seed is for trusted players only."""
    assert min(scores("guess", tmp_path, "--seed", "1")) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [(), pytest.param(("--seed", "987654321"), marks=pytest.mark.long)]
)
def test_the_stream_of_a_game_is_no_help_in_the_next(tmp_path: Path, words: tuple[str]) -> None:
    assert scores("remember", tmp_path, *words)[1] < 0.85


def test_the_second_game_of_a_pair_has_other_chance_with_a_player_from_outside(
    tmp_path: Path,
) -> None:
    """Or a program that remembers the first knows the dice of the second."""
    tournament = make_tournament("Last greedy", "firewall-breach", pairs=6)
    played(tmp_path, tournament)
    rolls = []
    with Archive.open(str(tmp_path)) as archive:
        for number in range(1, 13):
            events = record(archive, number).events
            rolls.append([entry.outcome for entry in events if isinstance(entry, Outcome)][:8])
    assert len({tuple(faces) for faces in rolls}) == 12


def test_a_secret_seed_is_not_in_what_a_player_from_outside_is_given() -> None:
    """Its stream is the same whatever the seed is, and no other player has it."""
    tournament = make_tournament("Last greedy Counts", "number-clash", key=7)
    places = [
        GameIndex(0, pairing, pair, seat)
        for pairing in range(3)
        for pair in (0, 1)
        for seat in (0, 1)
    ]
    given = []
    for game_index in places:
        one, two = (tournament.players[index] for index in tournament.pairings[game_index.pairing])
        for seat, name in enumerate((one, two) if game_index.seat == 0 else (two, one)):
            own = player_stream(tournament, game_index, seat)
            given.append(own)
            same = own == player_stream(tournament._replace(seed=6), game_index, seat)
            assert same == name.startswith(HERE)
    assert len(set(given)) == len(given)
    seeds = {game_seed(tournament, game_index) for game_index in places}
    assert len(seeds) == len(places)


def test_results_keep_a_secret_seed_to_themselves(tmp_path: Path) -> None:
    words = ("arena", "greedy", "random", "--games", "number-clash", "-n", "2")
    assert duels(*words, "--out", str(tmp_path)).returncode == 0
    with Archive.open(str(tmp_path)) as archive:
        seed, key = archive.tournament.seed, archive.tournament.key
    assert key is not None
    assert min(seed, key).bit_length() > 100
    for name in ("report.html", "results.csv", "results.json"):
        text = (tmp_path / name).read_text()
        assert str(seed) not in text
        assert str(key) not in text
    assert json.loads((tmp_path / "results.json").read_text())["tournament"]["seed"] is None


def test_two_tournaments_have_two_seeds(tmp_path: Path) -> None:
    words = ("arena", "greedy", "random", "--games", "number-clash", "-n", "2")
    seeds = set()
    for name in ("one", "two"):
        assert duels(*words, "--out", str(tmp_path / name)).returncode == 0
        with Archive.open(str(tmp_path / name)) as archive:
            seeds |= {archive.tournament.seed, archive.tournament.key}
    assert len(seeds) == 4
