"""Tournaments by the rules: the same at any number of jobs, going on, and players that fail."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

from duels.arena.archive import Archive
from duels.arena.chunk_encoding import unpacked_results
from duels.arena.records import record
from duels.arena.schedule import chunks
from duels.arena.scheduler import run
from duels.arena.sprt import decide
from duels.core.chance import stream
from duels.core.errors import DuelsError, OptionError, RecordError
from duels.core.game import Outcome
from tests.arena.helpers import HERE, contents, make_tournament, played

JOBLIB = pytest.mark.extra("arena")


@JOBLIB
@pytest.mark.slow
def test_the_same_at_any_number_of_jobs(tmp_path: Path) -> None:
    tournament = make_tournament("random Counts", "firewall-breach number-clash cipher-siege", 6)
    assert played(tmp_path / "1", tournament) == played(tmp_path / "2", tournament, jobs=2)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")  # every byte of every record


@JOBLIB
@pytest.mark.slow
def test_what_a_lost_worker_played_is_played_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loky = pytest.importorskip("joblib.externals.loky")
    tournament = make_tournament("greedy Dies", "number-wars", pairs=20)
    played(tmp_path / "whole", tournament)
    order = tmp_path / "die"
    monkeypatch.setenv("DUELS_TEST_DIES", str(order))
    monkeypatch.setenv("DUELS_BOT_ENV", "DUELS_TEST_DIES")
    loky.get_reusable_executor().shutdown()  # workers of earlier tests do not know of it
    told: list[float] = []

    def tell(part: float, what: str) -> None:
        told.append(part)
        if len(told) == 2:  # something is kept: a run that gets nowhere gives up
            order.touch()

    played(tmp_path / "lost", tournament, jobs=2, progress=tell)
    assert not order.exists(), "no worker died"
    assert contents(tmp_path / "lost") == contents(tmp_path / "whole")


@JOBLIB
@pytest.mark.slow
def test_a_run_that_gets_nowhere_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loky = pytest.importorskip("joblib.externals.loky")
    monkeypatch.setenv("DUELS_TEST_DIES", str(tmp_path))
    monkeypatch.setenv("DUELS_BOT_ENV", "DUELS_TEST_DIES")
    loky.get_reusable_executor().shutdown()
    with pytest.raises(DuelsError, match="a worker failed; finished games are stored"):
        played(tmp_path / "lost", make_tournament("greedy Dies", "number-wars"), jobs=2)


def test_games_of_a_pair_share_chance_and_swap_seats(tmp_path: Path) -> None:
    tournament = make_tournament("random greedy", "firewall-breach")
    played(tmp_path, tournament)
    shared = 0
    with Archive.open(str(tmp_path)) as archive:
        for pair in range(tournament.pairs):
            one, two = record(archive, 2 * pair + 1), record(archive, 2 * pair + 2)
            assert one.players == two.players[::-1] == ("random", "greedy")
            assert one.seed == two.seed
            assert one.id != two.id
            rolls = [
                [entry.outcome for entry in match.events if isinstance(entry, Outcome)]
                for match in (one, two)
            ]
            assert all(a == b for a, b in zip(*rolls, strict=False))
            shared += min(map(len, rolls))
    assert shared > 20


@pytest.mark.slow
def test_a_player_and_itself_play_the_same_game_twice(tmp_path: Path) -> None:
    """Both seats have the same streams in both games of a pair, so every pair is even."""
    tournament = make_tournament("random duels.players.uniform:Uniform", "cipher-siege")
    (found,) = played(tmp_path, tournament)
    assert found.pair_scores() == [0.5] * tournament.pairs
    assert len({game.choices for game in found.results}) > 1


def test_a_record_can_be_played_again_from_its_seed(tmp_path: Path) -> None:
    """What `duels play --seed` would give: streams are the core's own."""
    from duels.core.match import Match
    from duels.players import make_player
    from duels.players.runner import MatchRunner

    tournament = make_tournament("random greedy", "number-wars")
    played(tmp_path, tournament)
    with Archive.open(str(tmp_path)) as archive:
        kept = record(archive, 6)
    assert kept.seed is not None
    match = Match(kept.game, kept.seed)
    seats = {n: make_player(name, stream(kept.seed, n)) for n, name in enumerate(kept.players)}
    MatchRunner(match, seats).finish()
    assert match.events == kept.events


@pytest.mark.slow
def test_going_on_plays_only_what_is_left(tmp_path: Path) -> None:
    tournament = make_tournament("greedy Counts", "digit-duel number-clash")
    whole = played(tmp_path / "whole", tournament)
    done: list[str] = []

    def stop(part: float, what: str) -> None:
        done.append(what)
        if len(done) == 4:  # once before anything is played
            raise KeyboardInterrupt

    with Archive.begin(str(tmp_path / "parts"), tournament) as archive:
        with pytest.raises(KeyboardInterrupt):
            run(archive, progress=stop)
        assert len(archive.chunks()) == 3
    done.clear()
    with Archive.begin(str(tmp_path / "parts"), tournament) as archive:
        run(archive, progress=lambda part, what: done.append(what))
        assert list(archive.encounters()) == whole
    assert len(done) == 1 + len(list(chunks(tournament))) - 3
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def test_a_chunk_that_comes_twice_counts_once(tmp_path: Path) -> None:
    tournament = make_tournament("greedy random", "digit-duel")
    before = played(tmp_path, tournament)
    with Archive.begin(str(tmp_path), tournament) as archive:
        for done in list(archive.everything()):
            archive.add(done._replace(results=b"something else"))
        assert list(archive.encounters()) == before


def test_what_is_missing_in_the_middle_is_not_counted_around(tmp_path: Path) -> None:
    """A pairing counts as far as it was played without a gap."""
    tournament = make_tournament("greedy random", "digit-duel")
    whole = played(tmp_path / "whole", tournament)[0].results
    with Archive.begin(str(tmp_path / "gap"), tournament) as archive:
        for done in contents(tmp_path / "whole"):
            if done.chunk.start != 5:
                archive.add(done)
        (found,) = archive.encounters()
        assert found.results == whole[:10]
        run(archive)
        assert next(archive.encounters()).results == whole


@pytest.mark.parametrize(
    "changes", [{"seed": 6}, {"time_limit": 13}, {"sprt": (0.0, 5.0)}, {"gauntlet": True}]
)
def test_another_tournament_is_refused(tmp_path: Path, changes: dict[str, object]) -> None:
    tournament = make_tournament("greedy random", "digit-duel")
    played(tmp_path, tournament)
    with pytest.raises(OptionError, match=f"its {next(iter(changes))} is"):
        Archive.begin(str(tmp_path), tournament._replace(**changes))  # type: ignore[arg-type]


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    tournament = make_tournament("greedy random", "digit-duel")
    with (
        Archive.begin(str(tmp_path), tournament),
        pytest.raises(DuelsError, match="another process"),
    ):
        Archive.begin(str(tmp_path), tournament)
    Archive.begin(str(tmp_path), tournament).__exit__()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Crashes", "ValueError: no"),
        ("Leaves", "SystemExit"),
        ("Cheats", "'win' is not an option"),
        ("Mute", "expected a move as text"),
    ],
)
def test_a_player_that_fails_loses_with_the_reason(tmp_path: Path, name: str, why: str) -> None:
    tournament = make_tournament(f"greedy {name}", "number-clash cipher-siege", pairs=3)
    for encounter in played(tmp_path, tournament):
        for game in encounter.results:
            if game.by == "forfeit":
                assert game.first_score == 1.0
                assert game.loser == 1 - game.seat
    with Archive.open(str(tmp_path)) as archive:
        match = record(archive, 1)
    assert match.result is not None
    assert match.result.by == "forfeit"
    assert why in match.result.reason


@pytest.mark.slow
def test_both_fail_in_a_sealed_choice_and_neither_has_won(tmp_path: Path) -> None:
    tournament = make_tournament("Crashes Cheats", "number-clash", pairs=3)
    (found,) = played(tmp_path, tournament)
    assert {(game.by, game.score, game.loser) for game in found.results} == {("forfeit", 0.5, None)}


@pytest.mark.slow
def test_what_a_player_does_after_the_end_changes_nothing(tmp_path: Path) -> None:
    tournament = make_tournament("greedy Lies", "firewall-breach digit-duel", pairs=3)
    other = make_tournament("greedy Last", "firewall-breach digit-duel", pairs=3)
    for one, two in zip(
        played(tmp_path / "1", tournament), played(tmp_path / "2", other), strict=True
    ):
        assert {game.by for game in one.results} == {game.by for game in two.results} == {"rules"}


@pytest.mark.slow
def test_a_test_ends_where_it_is_decided_in_order(tmp_path: Path) -> None:
    tournament = make_tournament("greedy random", "firewall-breach", pairs=100, sprt=(0.0, 200.0))
    (found,) = played(tmp_path / "test", tournament)
    (whole,) = played(tmp_path / "whole", tournament._replace(sprt=None))
    last = decide(whole.pair_scores(), 0.0, 200.0)
    assert last is not None
    assert last < 50
    assert found.results == whole.results[: 2 * last]
    assert len(contents(tmp_path / "test")) < len(contents(tmp_path / "whole")) / 2


@JOBLIB
@pytest.mark.slow
def test_a_test_is_decided_the_same_at_any_number_of_jobs(tmp_path: Path) -> None:
    tournament = make_tournament("greedy random easy", "firewall-breach", 30, sprt=(0.0, 200.0))
    assert played(tmp_path / "1", tournament) == played(tmp_path / "2", tournament, jobs=2)


def test_a_decided_test_plays_no_more(tmp_path: Path) -> None:
    tournament = make_tournament("greedy random", "firewall-breach", pairs=400, sprt=(0.0, 200.0))
    played(tmp_path, tournament)
    before = contents(tmp_path)
    played(tmp_path, tournament)
    assert contents(tmp_path) == before


def test_columns_and_records_say_the_same(tmp_path: Path) -> None:
    tournament = make_tournament("random Crashes", "firewall-breach", pairs=7, turn_limit=6)
    played(tmp_path, tournament)
    ends = set()
    with Archive.open(str(tmp_path)) as archive:
        for done in archive.everything():
            kept = json.loads(zlib.decompress(done.records))
            for game, data in zip(unpacked_results(done.chunk, done.results), kept, strict=True):
                match = record(archive, tournament.number(game))
                assert match.id == data["id"]
                assert match.result is not None
                assert match.result.by == game.by
                assert game.score == (
                    0.5 if match.result.winner is None else 1.0 - match.result.winner
                )
                ends.add(game.by)
    assert ends == {"forfeit"}


def test_the_turn_limit_is_the_tournaments(tmp_path: Path) -> None:
    tournament = make_tournament("random greedy", "firewall-breach", turn_limit=4)
    (found,) = played(tmp_path, tournament)
    assert "limit" in {game.by for game in found.results}
    assert max(game.choices for game in found.results) == 4


def test_records_that_are_not_there_are_refused(tmp_path: Path) -> None:
    tournament = make_tournament("greedy random", "digit-duel", pairs=6)
    with Archive.begin(str(tmp_path), tournament) as archive:
        with pytest.raises(RecordError, match="was not played"):
            record(archive, 12)
        for number in (0, 13):
            with pytest.raises(RecordError, match="numbered 1 to 12"):
                record(archive, number)
    with pytest.raises(RecordError, match="there is no tournament"):
        Archive.open(str(tmp_path / "nowhere"))


@pytest.mark.slow
def test_players_are_made_anew_for_every_game(tmp_path: Path) -> None:
    """Otherwise results would depend on the assignment of chunks to workers."""
    tournament = make_tournament("Counts Last", "number-wars", pairs=6)
    (found,) = played(tmp_path, tournament)
    assert len({(game.seat, game.score, game.choices) for game in found.results}) == 2


def test_names_in_records_are_the_players(tmp_path: Path) -> None:
    tournament = make_tournament("Last random", "digit-duel", pairs=1)
    played(tmp_path, tournament)
    with Archive.open(str(tmp_path)) as archive:
        assert record(archive, 2).players == ("random", HERE + "Last")
        assert record(archive, 2).about == {"arena": {"number": 2, "pair": 1}}
