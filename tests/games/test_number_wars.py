"""Number Wars against its rulebook (number-wars.txt) and the rulings W1 to W5."""

from __future__ import annotations

import pytest

from duels.core import Decide, IllegalMove, Match, OptionError, Over, Pick
from duels.core.game import Result
from duels.core.presentation import Shared, Tokens
from duels.games.number_wars.rules import TIMEOUT, NumberWars, State

GAME = NumberWars()
TEN = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
BEST = ("10", "9", "8", "7", "6", "5", "4", "3", "2", "1")


def war(game: NumberWars, *numbers: str) -> State:
    """The state after the players' numbers, in turn."""
    state = game.start()
    for number in numbers:
        state = game.play(state, number)
    return state


def test_example_game() -> None:
    """number-wars.txt:97-167, turn by turn; a record is a set, so its order does not matter."""
    state = GAME.start()
    assert state == State((100, 100), ((), ()), mover=0)
    for mover, number, lp, used in (
        (0, "7", (100, 93), ((7,), ())),
        (1, "5", (95, 93), ((7,), (5,))),
        (0, "9", (95, 84), ((7, 9), (5,))),
        (1, "5", (95, 84), ((7, 9), (5,))),  # number-wars.txt:144-154: fails, nothing recorded
        (0, "4", (95, 80), ((4, 7, 9), (5,))),
    ):
        assert GAME.turn(state) == Decide({mover: TEN})
        state = GAME.play(state, number)
        assert state == State(lp, used, mover=1 - mover)


def test_w1_a_full_record_clears() -> None:
    """Ten different numbers deal 55 and leave an empty record; the other's is its own."""
    pairs = [word for number in BEST for word in (number, "1")]
    nearly = war(GAME, *pairs[:-2])
    assert nearly.used == ((2, 3, 4, 5, 6, 7, 8, 9, 10), (1,))
    full = GAME.play(nearly, "1")
    assert full == State((99, 45), ((), (1,)), mover=1)
    again = GAME.play(GAME.play(full, "1"), "10")
    assert again.lp == (99, 35)
    assert again.used == ((10,), (1,))


def test_w1_without_refresh_more_lp_win() -> None:
    game = NumberWars(refresh=False)
    both = [word for number in BEST for word in (number, number)]
    assert game.turn(war(game, *both[:-1])) == Decide({1: TEN})
    level = war(game, *both)
    assert level.lp == (45, 45)
    assert level.used == (tuple(range(1, 11)), tuple(range(1, 11)))
    assert game.turn(level) == Over(None, "All numbers are used.")
    handicap = NumberWars(refresh=False, lp="100/99")
    assert handicap.turn(war(handicap, *both)) == Over(0, "All numbers are used.")


def test_w1_without_refresh_one_full_record_is_not_the_end() -> None:
    """The player with nothing left can only fail until the other has used all ten too."""
    game = NumberWars(refresh=False)
    pairs = [word for number in BEST for word in (number, "1")]
    state = war(game, *pairs)
    assert len(state.used[0]) == 10
    assert game.turn(state) == Decide({0: TEN})
    assert game.play(state, "10") == state._replace(mover=1)


def test_w1_without_refresh_zero_still_wins() -> None:
    game = NumberWars(refresh=False, lp=55)
    both = [word for number in BEST for word in (number, number)]
    assert game.turn(war(game, *both[:-1])) == Over(0, "Player 2 has no LP left.")


def test_w2_a_repeat_is_an_option_that_fails() -> None:
    """number-wars.txt:65-69: all ten stay playable, and a repeat loses the turn."""
    match = Match(GAME, seed=1)
    for player, number in ((0, "7"), (1, "5"), (0, "7")):
        match.submit(player, number)
    assert match.state == State((95, 93), ((7,), (5,)), mover=1)
    before, pick = match.state_before(2), Pick(((0, "7"),))
    assert GAME.tell(before, pick, match.state, 0) == [
        "Invalid move! You have already used the number 7.",
        "You lose your turn.",
    ]
    assert GAME.tell(before, pick, match.state, 1) == [
        "Invalid move! Player 1 has already used the number 7.",
        "Player 1 loses the turn.",
    ]


@pytest.mark.parametrize("outside", ["0", "11", "-1", "007", "7.0", "seven", "", TIMEOUT, "٧"])
def test_w2_a_number_outside_is_refused(outside: str) -> None:
    match = Match(GAME, seed=1)
    with pytest.raises(IllegalMove, match="not an option"):
        match.submit(0, outside)
    assert match.state == GAME.start()
    assert match.events == []


def test_w3_lp_below_zero() -> None:
    """number-wars.txt:64 and 209-211: shown as it is."""
    before = State((5, 60), ((), ()), mover=1)
    after = GAME.play(before, "10")
    assert after.lp == (-5, 60)
    assert GAME.turn(after) == Over(1, "Player 1 has no LP left.")
    assert GAME.tell(before, Pick(((1, "10"),)), after, Shared(1)) == [
        "Player 2 attacks with 10!",
        "Player 1 LP is now -5.",
    ]
    assert GAME.ending(after, Result(1, "rules", "Player 1 has no LP left.")) == [
        "",
        "Player 2 wins the game!",
        "",
        "--- Game Over ---",
    ]


def test_exactly_zero_ends_at_once() -> None:
    """number-wars.txt:70-72."""
    after = GAME.play(State((60, 7), ((), ()), mover=0), "7")
    assert GAME.turn(after) == Over(0, "Player 2 has no LP left.")


def test_w4_records_are_shown() -> None:
    state = State((95, 84), ((7, 9), ()), mover=1)
    assert GAME.status(state, Shared(1)) == [
        "",
        "Player 1 Used Numbers: 7, 9",
        "Player 2 Used Numbers: none",
    ]
    tokens = [part for part in GAME.table(state, 1) if isinstance(part, Tokens)]
    assert [[i.face for i in part.items if i.spent] for part in tokens] == [["7", "9"], []]
    assert [len(part.items) for part in tokens] == [10, 10]


def test_records_are_shown_in_the_order_of_use_and_say_when_they_clear() -> None:
    """Rulebook lines 140-160: 7, 9, 4."""
    match = Match(GAME, seed=1)
    for player, move in [(0, "7"), (1, "5"), (0, "9"), (1, "5"), (0, "4")]:
        match.submit(player, move)
    assert GAME.status(match.state, None, match.history(None))[1:] == [
        "Player 1 Used Numbers: 7, 9, 4",
        "Player 2 Used Numbers: 5",
    ]
    game = NumberWars(numbers=2, lp=20)
    match = Match(game, seed=1)
    for player, move in [(0, "2"), (1, "1"), (0, "1")]:
        match.submit(player, move)
    before, event, after = match.shown(2, None)
    cleared = "Player 1 has used all numbers: the record is clear again."
    assert event is not None
    assert game.tell(before, event, after, None)[-1] == cleared
    assert game.status(match.state, 1, match.history(1))[1] == "Player 1 Used Numbers: none"


def test_w4_memory_shows_no_record_anywhere() -> None:
    """Nothing on the screen before a choice may depend on what was used."""
    game = NumberWars(memory=True)
    used, unused = State((95, 84), ((7, 9), (5,)), 1), State((95, 84), ((), ()), 1)
    assert game.status(used, 1) == game.status(unused, 1) == [""]
    assert game.ask(used, 1, "") == game.ask(unused, 1, "")
    assert game.table(used, 1) == game.table(unused, 1)
    # The rules are the same: a number on the hidden record fails.
    assert game.play(used, "5").lp == (95, 84)


def test_w5_the_race() -> None:
    """With the largest free number always, the player who starts wins at turn 31; and after one
    lost turn the other does."""
    full = [word for number in BEST * 2 for word in (number, number)]
    state = war(GAME, *full[:30])
    assert isinstance(GAME.turn(state), Decide)
    assert GAME.turn(GAME.play(state, full[30])) == Over(0, "Player 2 has no LP left.")
    slipped = war(GAME, TIMEOUT, *full[:31])
    assert GAME.turn(slipped) == Over(1, "Player 1 has no LP left.")


def test_a4_out_of_time_is_a_failed_attack() -> None:
    """Possible on any turn, with nothing used yet too; listed nowhere."""
    assert GAME.timeout_move == TIMEOUT
    assert GAME.play(GAME.start(), TIMEOUT) == GAME.start()._replace(mover=1)
    match = Match(GAME, seed=1, time_limit=30)
    match.time_out(0)
    assert match.deciders == (1,)
    assert match.result is None


def test_options() -> None:
    game = NumberWars(lp="90/100", numbers=3, refresh="no", memory="on", first="2")
    assert game.start() == State((90, 100), ((), ()), mover=1)
    assert game.turn(game.start()) == Decide({1: ("1", "2", "3")})
    assert game.settings() == {
        "lp": "90/100",
        "numbers": "3",
        "refresh": "no",
        "memory": "yes",
        "first": "2",
    }


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("lp", 0),
        ("lp", "100/"),
        ("lp", 1000),
        ("numbers", 0),
        ("numbers", "1-10"),
        ("refresh", "sometimes"),
        ("memory", None),
    ],
)
def test_bad_options(option: str, value: object) -> None:
    with pytest.raises(OptionError, match=rf"^{option} takes .*; got "):
        NumberWars(**{option: value})
