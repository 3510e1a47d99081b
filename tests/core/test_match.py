"""The referee: sealed picks, clocks, limits, undo, and refusals that change nothing."""

from __future__ import annotations

from typing import Any

import pytest

from duels.core.chance import draw
from duels.core.errors import IllegalMove
from duels.core.game import AnyGame, Chance, Outcome, Pick, Result
from duels.core.match import Forfeit, Limit, Match, Resign, Timeout, Undo
from duels.games import load


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def timed(slug: str, clock: Clock) -> Match:
    return Match(load(slug), seed=1, time_limit=30, now=clock)


def test_an_illegal_pick_is_refused_and_changes_nothing() -> None:
    match = Match(load("digit-duel"), seed=1)
    match.submit(0, "7")
    state, events = match.state, list(match.events)
    for player, move in [(1, "12"), (1, ""), (1, "07"), (0, "3")]:
        with pytest.raises(IllegalMove):
            match.submit(player, move)
    assert (match.state, match.events) == (state, events)


def test_a_sealed_pick_shows_nowhere_until_both_are_in() -> None:
    match = Match(load("number-clash"), seed=1)
    before = match.view(1)
    match.submit(0, "7")
    assert match.view(1) == before._replace(sealed=(0,))
    assert match.view(0).options == ()
    assert match.deciders == (1,)
    with pytest.raises(IllegalMove, match="not Player 1's choice"):
        match.submit(0, "6")
    match.submit(1, "8")
    assert match.events == [Pick(((0, "7"), (1, "8")))]


def test_a_resignation_ends_the_match_for_all_viewers() -> None:
    match = Match(load("firewall-breach"), seed=1)
    match.resign(0)
    assert match.result == Result(1, "resignation", "Player 1 resigned.")
    assert match.events == [Resign(0)]
    assert match.deciders == ()
    with pytest.raises(IllegalMove):
        match.submit(0, "bypass")
    with pytest.raises(IllegalMove):
        match.resign(1)


def test_a_forfeit_names_its_reason() -> None:
    match = Match(load("firewall-breach"), seed=1)
    match.forfeit(1, "three refused moves")
    assert match.events == [Forfeit((1,), "three refused moves")]
    assert match.result == Result(0, "forfeit", "Player 2 forfeits: three refused moves.")


def test_the_turn_limit_ends_a_match_without_a_winner() -> None:
    match = Match(load("number-wars"), seed=1)
    for decision in range(500):
        assert match.result is None, decision
        match.submit(decision % 2, "1")
    assert match.result == Result(None, "limit", "The turn limit of 500 is reached.")
    assert match.events[-1] == Limit(500)


def test_a_sealed_pair_counts_once_towards_the_turn_limit() -> None:
    match = Match(load("number-clash"), seed=1, turn_limit=2)
    for pick in ("1", "2"):
        assert match.result is None
        match.submit(0, pick)
        match.submit(1, pick)
    assert match.result is not None
    assert match.result.by == "limit"


def test_rules_that_end_the_game_come_before_the_limit() -> None:
    match = Match(load("number-clash", points=1), seed=1, turn_limit=1)
    match.submit(0, "9")
    match.submit(1, "1")
    assert match.result is not None
    assert match.result.by == "rules"


def test_running_out_of_time_loses_the_game() -> None:
    clock = Clock()
    match = timed("digit-duel", clock)
    clock.now = 29.0
    assert match.remaining(0) == 1.0
    assert match.remaining(1) is None
    clock.now = 30.0
    match.submit(0, "7")
    assert match.events == [Timeout((0,))]
    assert match.result == Result(1, "time", "Player 1 ran out of time.")


def test_the_clock_starts_anew_with_every_choice() -> None:
    clock = Clock()
    match = timed("digit-duel", clock)
    clock.now = 20.0
    match.submit(0, "7")
    assert match.remaining(1) == 30.0
    clock.now = 25.0
    match.start_clock(1)
    assert match.remaining(1) == 30.0


def test_running_out_of_time_loses_only_the_turn_in_number_wars() -> None:
    clock = Clock()
    match = timed("number-wars", clock)
    clock.now = 31.0
    match.submit(0, "7")
    assert match.result is None
    assert match.state.lp == (100, 100)
    assert match.deciders == (1,)
    assert match.history(1) == (Pick(((0, "timeout"),)),)
    with pytest.raises(IllegalMove):
        match.submit(1, "timeout")


def test_both_late_in_a_sealed_choice_is_a_draw_and_one_late_loses() -> None:
    clock = Clock()
    both, one = timed("number-clash", clock), timed("number-clash", clock)
    one.submit(0, "5")
    clock.now = 31.0
    both.time_out(0)
    assert both.result is None
    both.time_out(1)
    assert both.result == Result(None, "time", "Both players ran out of time.")
    one.time_out(1)
    assert one.result == Result(0, "time", "Player 2 ran out of time.")


def test_undo_appends_and_the_same_line_meets_the_same_chance() -> None:
    match = Match(load("firewall-breach"), seed=1)
    match.submit(0, "attack")
    first = match.events[1]
    match.submit(1, "bypass")
    start = load("firewall-breach").start()
    match.undo(0)
    assert match.state == start
    assert match.events == [Pick(((0, "attack"),)), first, Pick(((1, "bypass"),)), Undo(0, 0)]
    assert match.history(0) == ()
    assert match.taken_back == 2
    for _ in range(12):
        match.submit(0, "attack")
        assert match.events[-1] == first, "undoing must not reroll"
        match.undo(0)
    with pytest.raises(IllegalMove, match="nothing to undo"):
        match.undo(0)


def test_another_line_meets_new_chance_and_coming_back_the_old() -> None:
    """Rolls by line: each first meeting takes the next number, each repetition the old one."""
    game: AnyGame = load("firewall-breach")
    rolls: dict[str, Any] = {}
    match = Match(game, seed=1)
    for line in ["a", "ba", "a", "bb a", "ba", "a", "aa", "bb a", "aa"]:
        for letter in line.replace(" ", ""):
            match.submit(match.deciders[0], "attack" if letter == "a" else "bypass")
        assert rolls.setdefault(line, match.events[-1]) == match.events[-1]
        while match.history(0):
            for player in (0, 1):
                if any(isinstance(e, Pick) and e.moves[0][0] == player for e in match.history(0)):
                    match.undo(player)
                    break
    die = game.turn(game.play(game.start(), "attack"))
    assert isinstance(die, Chance)
    drawn = [draw(1, n, die.odds) for n in range(1, 5)]
    assert [roll.outcome for roll in rolls.values()] == drawn


def test_undo_goes_back_to_the_players_own_pick() -> None:
    match = Match(load("number-wars"), seed=1)
    for player, move in [(0, "7"), (1, "5"), (0, "9"), (1, "6")]:
        match.submit(player, move)
    match.undo(0)
    assert match.deciders == (0,)
    assert match.state.used == ((7,), (5,))
    match.undo(0)
    assert match.state.used == ((), ())
    match.submit(0, "1")
    assert match.history(1) == (Pick(((0, "1"),)),)


def test_views_hold_only_what_the_player_may_know() -> None:
    match = Match(load("cipher-siege"), seed=4)
    one, two = match.view(0), match.view(1)
    assert one.options
    assert two.options == ()
    assert one.observation.hand == match.state.hands[0]
    assert two.observation.hand == match.state.hands[1]
    mine = [event for event in one.history if isinstance(event, Outcome) and event.outcome != "?"]
    assert len(mine) == 4
    assert all(event.by == 0 for event in mine)


def test_without_a_seed_outcomes_come_from_outside() -> None:
    match = Match(load("firewall-breach"))
    match.submit(0, "attack")
    with pytest.raises(IllegalMove):
        match.enact(Outcome("7"))
    match.enact(Outcome("5"))
    assert match.state.strength == (10, 7)
    with pytest.raises(IllegalMove):
        match.enact(Outcome("5"))
