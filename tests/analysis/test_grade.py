"""Grading: perfect play is never wrong, luck and skill add up, a verdict is one number's name."""

from __future__ import annotations

import pytest

from duels.analysis.grade import grade
from duels.core.match import Match
from duels.games import load
from duels.players import make

EXACT = ("firewall-breach", "number-clash", "digit-duel", "number-wars")


def play(slug: str, players: tuple[str, str], seed: int, **options: object) -> Match:
    match = Match(load(slug, **options), seed, players=players)
    seats = [make(name, seed, player) for player, name in enumerate(players)]
    while match.result is None:
        for player in match.deciders:
            match.submit(player, seats[player].choose(match.view(player)))
    return match


@pytest.mark.parametrize("slug", EXACT)
def test_a_perfect_players_record_shows_no_regret(slug: str) -> None:
    for seed in range(6):
        seat = seed % 2
        players = ("perfect", "random") if seat == 0 else ("random", "perfect")
        analysis = grade(play(slug, players, seed))
        assert analysis.of(seat)
        assert all(move.regret == 0 and move.verdict == "best" for move in analysis.of(seat))
        assert analysis.accuracy(seat) == 100


@pytest.mark.parametrize("slug", EXACT)
def test_luck_and_skill_add_up_to_the_result(slug: str) -> None:
    for seed in range(6):
        match = play(slug, ("greedy", "random"), seed)
        analysis = grade(match)
        assert match.result is not None
        won = 0.5 if match.result.winner is None else 1 - match.result.winner
        skill = analysis.regret(1) - analysis.regret(0)
        assert float(analysis.start + analysis.luck(0) + skill) == pytest.approx(won, abs=1e-9)
        assert analysis.luck(0) == -analysis.luck(1)
        if slug in ("digit-duel", "number-wars"):
            assert analysis.luck(0) == 0, "there is no luck in this game"
        assert len(analysis.curve) >= 2


def test_a_blunder_is_named_with_the_better_move() -> None:
    match = Match(load("number-wars", lp=19), seed=1)
    for player, move in [(0, "1"), (1, "10"), (0, "10"), (1, "9")]:
        match.submit(player, move)
    first = grade(match).moves[0]
    assert (first.move, first.verdict, first.regret) == ("1", "blunder", 1)
    assert first.best in ("9", "10")


def test_only_what_was_not_taken_back_is_graded() -> None:
    match = Match(load("number-wars", lp=20), seed=1)
    match.submit(0, "1")
    match.submit(1, "10")
    match.undo(0)
    match.submit(0, "10")
    assert [(move.entry, move.move) for move in grade(match).moves] == [(4, "10")]


def test_a_lost_turn_is_graded_and_a_resignation_is_not_luck() -> None:
    match = Match(load("number-wars", lp=20), seed=1, time_limit=30)
    match.time_out(0)
    match.resign(1)
    analysis = grade(match)
    assert [(move.move, move.regret) for move in analysis.moves] == [("timeout", 1)]
    assert analysis.luck(0) == 0
