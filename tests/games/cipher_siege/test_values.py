"""What Cipher Siege's options are worth: wins are seen, hidden cards never are."""

from __future__ import annotations

from random import Random

import pytest

from duels.algorithms import solve
from duels.algorithms.levels import level_strategy
from duels.core.chance import stream
from duels.core.conformance import play_randomly
from duels.core.game import Pick
from duels.core.match import Match
from duels.core.player import answer
from duels.games import load
from duels.games.cipher_siege.rules import attack_value, cards_of
from duels.players import make_opponent

GAME = load("cipher-siege")


def test_a_win_passed_by_is_a_blunder_and_levels_know_it() -> None:
    met = 0
    for seed in range(60):
        match = Match(GAME, seed)
        view = match.view(0)
        choice = solve(GAME).assess(view)
        wins = {
            move
            for move in view.options
            if move.startswith("attack") and sum(attack_value(cards_of(move))) >= 15
        }
        if wins:
            met += 1
            assert choice.value == 1
            assert all((choice.regret(move) == 0) == (move in wins) for move in view.options)
            hard = level_strategy(choice, "hard")
            assert sum(hard[move] for move in wins) > 0.9
    assert met > 5


def test_every_choice_of_random_games_can_be_assessed() -> None:
    for seed in range(40):
        match = play_randomly(GAME, seed, Random(seed))
        for number in match.line:
            entry = match.events[number]
            if isinstance(entry, Pick):
                ((player, move),) = entry.moves
                choice = solve(GAME).assess(match.view_before(number, player))
                assert sum(choice.mixed_strategy.values()) == pytest.approx(1)
                assert set(choice.mixed_strategy) <= set(choice.options)
                known = [value for value in choice.options.values() if value is not None]
                assert all(0 <= value <= 1 for value in known)
                regret = choice.regret(move)
                assert regret is None or regret >= 0


@pytest.mark.parametrize("opponent", ["random", "greedy"])
def test_the_strategy_beats_simple_opponents(opponent: str) -> None:
    """Over both seats; a hundred games are enough to tell."""
    score = 0
    for seed in range(100):
        seat = seed % 2
        names = ["perfect" if player == seat else opponent for player in (0, 1)]
        seats = [make_opponent(name, stream(seed, player)) for player, name in enumerate(names)]
        match = Match(GAME, seed)
        while match.result is None:
            for player in match.deciders:
                match.submit(player, answer(seats[player], match.view(player)))
        score += match.result.winner == seat
    assert score > 50
