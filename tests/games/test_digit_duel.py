"""Digit Duel against its rulebook (digit-duel.txt) and the rulings D1 to D5."""

from __future__ import annotations

import pytest

from duels.core import Decide, IllegalMove, Match, OptionError, Over, Pick
from duels.core.game import Result
from duels.core.presentation import Shared
from duels.games.digit_duel.rules import DigitDuel, State

GAME = DigitDuel()
ALL = (1, 2, 3, 4, 5, 6, 7, 8, 9)

# digit-duel.txt:95-150: attacker, attack, defence, life after, unused digits after.
EXAMPLE = (
    (0, "7", "5", (10, 8), ((1, 2, 3, 4, 5, 6, 8, 9), (1, 2, 3, 4, 6, 7, 8, 9))),
    (1, "9", "8", (9, 8), ((1, 2, 3, 4, 5, 6, 9), (1, 2, 3, 4, 6, 7, 8))),
    (0, "6", "6", (9, 8), ((1, 2, 3, 4, 5, 9), (1, 2, 3, 4, 7, 8))),
    (1, "8", "5", (6, 8), ((1, 2, 3, 4, 9), (1, 2, 3, 4, 7))),
    # The turn of the command-line sample, digit-duel.txt:161-177.
    (0, "4", "3", (6, 7), ((1, 2, 3, 9), (1, 2, 4, 7))),
)


def digits(*numbers: int) -> tuple[str, ...]:
    return tuple(map(str, numbers))


def duel(game: DigitDuel, *turns: tuple[str, str]) -> State:
    """The state after whole turns of an attack and its defence."""
    state = game.start()
    for attack, defence in turns:
        state = game.play(game.play(state, attack), defence)
    return state


def test_example_game() -> None:
    """digit-duel.txt:84-150 and the sample's turn, phase by phase."""
    state = GAME.start()
    assert state == State((10, 10), (ALL, ALL), attacker=0)
    for attacker, attack, defence, life, unused in EXAMPLE:
        defender = 1 - attacker
        assert GAME.turn(state) == Decide({attacker: digits(*state.digits[attacker])})
        announced = GAME.play(state, attack)
        assert announced.attack == int(attack)
        assert announced.digits[attacker] == unused[attacker]
        assert announced.digits[defender] == state.digits[defender]
        assert announced.life == state.life
        assert GAME.turn(announced) == Decide({defender: digits(*state.digits[defender])})
        state = GAME.play(announced, defence)
        assert state == State(life, unused, attacker=defender)


def test_d5_the_sample_prompt_lists_the_four() -> None:
    """digit-duel.txt:167 leaves out a 4 which Player 2 has by line 142."""
    state = duel(GAME, ("7", "5"), ("9", "8"), ("6", "6"), ("8", "5"))
    assert GAME.status(state, Shared(0)) == [
        "",
        "--- Player 1's Turn ---",
        "Available Digits: 1,2,3,4,9",
        "Life Points: Player 1 - 6, Player 2 - 8",
    ]
    assert GAME.status(GAME.play(state, "4"), Shared(1))[-4:] == [
        "",
        "--- Player 2's Defense ---",
        "Available Digits: 1,2,3,4,7",
        "Life Points: Player 2 - 8",
    ]


@pytest.mark.parametrize("attack", ALL)
@pytest.mark.parametrize("defence", ALL)
def test_damage(attack: int, defence: int) -> None:
    """digit-duel.txt:56-62 and D4: the difference if greater, else nothing."""
    life = duel(GAME, (str(attack), str(defence))).life
    assert life == (10, 10 - attack + defence if attack > defence else 10)


def test_d1_the_defender_sees_the_attack() -> None:
    announced = GAME.play(GAME.start(), "7")
    for viewer in (Shared(0), Shared(1), None):
        assert GAME.observe(announced, viewer).attack == 7
        assert GAME.redact(GAME.start(), Pick(((0, "7"),)), viewer) == Pick(((0, "7"),))
        told = GAME.tell(GAME.start(), Pick(((0, "7"),)), announced, viewer)
        shown = [*told, *GAME.status(announced, viewer)]
        assert shown[:3] == ["Player 1 attacks with 7", "", "--- Player 2's Defense ---"]


def test_d1_hidden() -> None:
    """Both choose sealed; the result is the one the open game would give."""
    game = DigitDuel(hidden=True)
    state = game.start()
    assert game.turn(state) == Decide({0: digits(*ALL), 1: digits(*ALL)})
    # Picks come in player order, so the attacker's is the second one in turn 2.
    for attacker, attack, defence, life, unused in EXAMPLE:
        picks = (attack, defence) if attacker == 0 else (defence, attack)
        state = game.play(state, *picks)
        assert state == State(life, unused, attacker=1 - attacker)


def test_d1_hidden_attack_is_not_seen_before_the_defence() -> None:
    untouched, match = (Match(DigitDuel(hidden=True), seed=4) for _ in range(2))
    match.submit(0, "9")
    assert match.view(1) == untouched.view(1)._replace(sealed=(0,))
    assert match.events == []
    match.submit(1, "1")
    assert match.state.life == (10, 2)


def test_d2_roles_switch_every_turn() -> None:
    """digit-duel.txt:35-37: defend, then attack, two decisions in a row."""
    for first in (0, 1):
        match = Match(DigitDuel(first=first), seed=1)
        asked = []
        for digit in ("1", "1", "2", "2", "3", "3"):
            (player,) = match.deciders
            asked.append(player)
            match.submit(player, digit)
        other = 1 - first
        assert asked == [first, other, other, first, first, other]


@pytest.mark.parametrize("first", [0, 1])
def test_d3_equal_life_the_last_attacker_wins(first: int) -> None:
    """digit-duel.txt:73-75: nine turns, so the player who started attacks last."""
    turns = [(str(digit), str(digit)) for digit in ALL]
    game = DigitDuel(first=first)
    assert isinstance(game.turn(duel(game, *turns[:8])), Decide)
    end = duel(game, *turns)
    assert end.life == (10, 10)
    last = f"Player {first + 1}"
    assert game.turn(end) == Over(first, f"All digits are used, and {last} attacked last.")


def test_d3_equal_life_with_an_even_number_of_turns() -> None:
    """With eight digits the other player attacks last; ruling D3 names the attacker, not a seat."""
    game = DigitDuel(digits=8)
    end = duel(game, *((str(digit), str(digit)) for digit in range(1, 9)))
    over = game.turn(end)
    assert isinstance(over, Over)
    assert over.winner == 1


def test_d3_higher_life_wins() -> None:
    """Though Player 1 attacked last."""
    rest = [(str(digit), str(digit)) for digit in range(5, 10)]
    end = duel(GAME, ("1", "1"), ("3", "2"), ("3", "4"), ("2", "4"), *rest)
    assert end.life == (9, 10)
    assert GAME.turn(end) == Over(1, "All digits are used.")


def test_d4_life_below_zero() -> None:
    game = DigitDuel(life=3)
    end = duel(game, ("9", "1"))
    assert end.life == (3, -5)
    assert game.turn(end) == Over(0, "Player 2 has no life points left.")
    told = game.tell(
        game.play(game.start(), "9"), Pick(((1, "1"),)), end, Shared(1)
    )  # digit-duel.txt:171-177
    assert told == [
        "",
        "--- Turn Resolution ---",
        "Player 1 attacked with 9",
        "Player 2 defended with 1",
        "Damage Dealt: 9 - 1 = 8",
        "Player 2 Life Points: 3 - 8 = -5",
        "",
        "--- End of Turn ---",
    ]


def test_exactly_zero_loses() -> None:
    """digit-duel.txt:68, 72, even with no digit left."""
    end = duel(DigitDuel(life=8, digits=9), ("9", "1"))
    assert GAME.turn(end) == Over(0, "Player 2 has no life points left.")
    assert GAME.turn(State((0, 9), ((), ()), attacker=0)) == Over(
        1, "Player 1 has no life points left."
    )


def test_d4_defence_is_compulsory() -> None:
    match = Match(GAME, seed=1)
    match.submit(0, "5")
    for refused in ("", "pass", "0", "10", "5 6"):
        with pytest.raises(IllegalMove, match="not an option"):
            match.submit(1, refused)
    assert match.state == GAME.play(GAME.start(), "5")


def test_used_digits_are_refused() -> None:
    """digit-duel.txt:43-44: own digits only; the other player's 5 is still free."""
    match = Match(GAME, seed=1)
    match.submit(0, "7")
    match.submit(1, "5")
    with pytest.raises(IllegalMove, match="'5' is not an option"):
        match.submit(1, "5")
    match.submit(1, "7")
    match.submit(0, "5")
    assert match.state.life == (8, 8)


def test_total_damage_at_the_end() -> None:
    """digit-duel.txt:80, by ruling A6: what each player dealt, also with a handicap."""
    game = DigitDuel(life="9/10")
    lines = game.ending(State((4, 0), ((), ()), 0), Result(0, "rules", "Why."))
    assert lines == [
        "",
        "Why.",
        "Player 1 wins the game!",
        "Total Damage: Player 1 - 10, Player 2 - 5",
    ]


def test_options() -> None:
    game = DigitDuel(life=(9, 10), digits="3", hidden="yes", first=1)
    assert game.start() == State((9, 10), ((1, 2, 3), (1, 2, 3)), attacker=1)
    assert game.settings() == {"life": "9/10", "digits": "3", "hidden": "yes", "first": "2"}
    assert DigitDuel(life="9/10") == DigitDuel(life=(9, 10)) != DigitDuel(life=(10, 9))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("life", 0),
        ("life", "9/"),
        ("life", "9/10/11"),
        ("life", "many"),
        ("life", (9, 10, 11)),
        ("digits", 0),
        ("digits", 21),
        ("hidden", "maybe"),
        ("hidden", 2),
    ],
)
def test_bad_options(option: str, value: object) -> None:
    with pytest.raises(OptionError, match=rf"^{option} takes .*; got "):
        DigitDuel(**{option: value})
