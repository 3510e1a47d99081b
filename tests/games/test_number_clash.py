"""Number Clash against its rulebook (number-clash.txt) and the rulings N1 to N5."""

from __future__ import annotations

import pytest

from duels.core import Decide, IllegalMove, Match, OptionError, Over, Pick
from duels.core.game import Result
from duels.core.parsing import read_move
from duels.games.number_clash.rules import NumberClash, State, round_winner

GAME = NumberClash()
ALL = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)


def missing(*used: int) -> tuple[int, ...]:
    return tuple(number for number in ALL if number not in used)


def options(*numbers: int) -> tuple[str, ...]:
    return tuple(map(str, numbers))


def test_example_game() -> None:
    """number-clash.txt:115-215, with 9 against 10 in round 3 as ruling N5 has it."""
    state = GAME.start()
    assert state == State((ALL, ALL), (0, 0))
    state = GAME.play(state, "7", "8")
    assert state == State((missing(7), missing(8)), (1, 0))
    state = GAME.play(state, "10", "6")
    assert state == State((missing(7, 10), missing(8, 6)), (2, 0))
    state = GAME.play(state, "9", "10")
    assert state == State((missing(7, 10, 9), missing(8, 6, 10)), (3, 0))
    assert GAME.turn(state) == Over(0, "Player 1 has reached 3 points")


def test_score_display() -> None:
    """number-clash.txt:99-105: the lines after a round won by the higher number."""
    before = State((missing(7), missing(8)), (1, 1))
    after = GAME.play(before, "10", "6")
    assert GAME.tell(before, Pick(((0, "10"), (1, "6"))), after, None) == [
        "Player 1 chose: 10",
        "Player 2 chose: 6",
        "Round Result: Player 1 wins the round!",
        "Current Scores:",
        "Player 1: 2",
        "Player 2: 1",
    ]


@pytest.mark.parametrize("mine", ALL)
@pytest.mark.parametrize("theirs", ALL)
def test_n2_who_wins_a_round(mine: int, theirs: int) -> None:
    """number-clash.txt:66-74, as a table: one less wins at both ends, and nothing wraps."""
    beats = {
        1: {2},
        2: {3},
        3: {4, 1},
        4: {5, 2, 1},
        5: {6, 3, 2, 1},
        6: {7, 4, 3, 2, 1},
        7: {8, 5, 4, 3, 2, 1},
        8: {9, 6, 5, 4, 3, 2, 1},
        9: {10, 7, 6, 5, 4, 3, 2, 1},
        10: {8, 7, 6, 5, 4, 3, 2, 1},
    }
    winner = 0 if theirs in beats[mine] else 1 if mine in beats[theirs] else None
    assert round_winner(mine, theirs) == winner
    after = GAME.play(GAME.start(), str(mine), str(theirs))
    assert after.scores == (int(winner == 0), int(winner == 1))
    assert after.numbers == (missing(mine), missing(theirs))


def test_tie_spends_both_numbers() -> None:
    """number-clash.txt:72-74."""
    after = GAME.play(GAME.start(), "4", "4")
    assert after == State((missing(4), missing(4)), (0, 0))
    told = GAME.tell(GAME.start(), Pick(((0, "4"), (1, "4"))), after, None)
    assert told[2] == "Round Result: Neither player wins the round!"


def test_n1_a_lone_pick_is_nowhere_to_be_seen() -> None:
    """number-clash.txt:44-49, 81-82: nothing a viewer gets depends on the pick before both are
    in, whichever player comes first."""
    for first, other in ((0, 1), (1, 0)):
        untouched, match = Match(GAME, seed=5), Match(GAME, seed=5)
        match.submit(first, "7")
        assert match.deciders == (other,)
        assert match.events == []
        assert match.state == untouched.state
        assert match.view(other) == untouched.view(other)._replace(sealed=(1 - other,))
        assert match.history(None) == ()
        match.submit(other, "8")
        winner = (1, 0) if first == 0 else (0, 1)
        assert match.state.scores == winner


def test_n1_a_pick_once_made_stands() -> None:
    match = Match(GAME, seed=5)
    match.submit(0, "7")
    with pytest.raises(IllegalMove, match="not Player 1's choice"):
        match.submit(0, "9")
    match.submit(1, "8")
    assert match.events == [Pick(((0, "7"), (1, "8")))]


def test_n3_each_number_once_per_player() -> None:
    """The other player's use of a number does not spend it; both sets are public."""
    state = GAME.play(GAME.start(), "7", "8")
    assert GAME.turn(state) == Decide({0: options(*missing(7)), 1: options(*missing(8))})
    for viewer in (0, 1, None):
        assert GAME.observe(state, viewer).numbers == (missing(7), missing(8))


def test_n4_all_used_more_points_win() -> None:
    for scores, winner in (((2, 1), 0), ((0, 1), 1), ((2, 2), None), ((0, 0), None)):
        assert GAME.turn(State(((), ()), scores)) == Over(winner, "All numbers are used.")


def test_n4_the_last_round_can_still_bring_three() -> None:
    after = GAME.play(State(((3,), (1,)), (2, 2)), "3", "1")
    assert GAME.turn(after) == Over(0, "Player 1 has reached 3 points")


def test_n4_a_whole_game_of_ties_is_a_draw() -> None:
    match = Match(GAME, seed=1)
    for number in ALL:
        for player in (0, 1):
            match.submit(player, str(number))
    assert match.result == Result(None, "rules", "All numbers are used.")


def test_n4_no_early_stop() -> None:
    """One number left and no points: neither player can reach three, and the round is played."""
    assert GAME.turn(State(((3,), (1,)), (0, 0))) == Decide({0: ("3",), 1: ("1",)})


def test_n5_a_spent_number_is_refused() -> None:
    """number-clash.txt:189-192 has Player 2 play 6 again: refused, and nothing changes."""
    match = Match(GAME, seed=1)
    for one, two in (("7", "8"), ("10", "6")):
        match.submit(0, one)
        match.submit(1, two)
    before, events = match.state, list(match.events)
    with pytest.raises(IllegalMove, match="'6' is not an option"):
        match.submit(1, "6")
    assert (match.state, match.events, match.deciders) == (before, events, (0, 1))
    with pytest.raises(IllegalMove, match="used that number already"):
        read_move(lambda so_far: GAME.ask(match.state, 1, so_far), "6")


def test_n5_the_prompt_lists_what_is_left() -> None:
    """number-clash.txt:230 and, without the 6 it should not list, 235."""
    state = State((missing(7, 10), missing(8, 6)), (2, 0))
    prompts = [GAME.ask(state, player, "") for player in (0, 1)]
    assert [step and step.prompt for step in prompts] == [
        "Player 1, enter your chosen number from your available numbers [1,2,3,4,5,6,8,9]:",
        "Player 2, enter your chosen number from your available numbers [1,2,3,4,5,7,9,10]:",
    ]


def test_ending_lines() -> None:
    thanks = "Thank you for playing Number Clash."
    won = Result(0, "rules", "Player 1 has reached 3 points")
    assert GAME.ending(State(((), ()), (3, 0)), won) == [
        "",
        "Player 1 has reached 3 points and wins the game!",
        thanks,
    ]
    ahead = GAME.ending(State(((), ()), (2, 1)), Result(0, "rules", "All numbers are used."))
    assert ahead == ["", "All numbers are used.", "Player 1 wins the game!", thanks]
    draw = GAME.ending(State(((), ()), (1, 1)), Result(None, "rules", "All numbers are used."))
    assert draw == ["", "All numbers are used.", "The game is a draw.", thanks]


def test_options() -> None:
    game = NumberClash(numbers=3, points="1")
    assert game.start().numbers == ((1, 2, 3), (1, 2, 3))
    assert game.turn(game.play(game.start(), "1", "2")) == Over(0, "Player 1 has reached 1 point")
    assert game.settings() == {"numbers": "3", "points": "1", "first": "1"}


@pytest.mark.parametrize(
    ("option", "value"),
    [("numbers", 0), ("numbers", 21), ("numbers", "all"), ("points", 0), ("points", "3/4")],
)
def test_bad_options(option: str, value: object) -> None:
    with pytest.raises(OptionError, match=rf"^{option} takes .*; got "):
        NumberClash(**{option: value})


def test_points_that_cannot_be_earned() -> None:
    with pytest.raises(OptionError, match="points=3 is more than 2 numbers can earn"):
        NumberClash(numbers=2)
    assert NumberClash(numbers=3, points=3).points == 3
