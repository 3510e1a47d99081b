"""Cipher Siege against its rulebook (cipher-siege.txt) and the rulings C1 to C6.

The rulings C7 to C9, the options and the text are in test_cipher_siege_cards.py.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from duels.core import Chance, Decide, IllegalMove, Match, Outcome, Over, Pick
from duels.core.game import HIDDEN
from duels.games.cipher_siege.rules import CipherSiege, State, attack_value

GAME = CipherSiege()
CHOSEN = CipherSiege(swap="chosen")

DECK = (1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5)


def dealt(game: CipherSiege, one: str, two: str) -> State:
    """The state once each player has the hand, from cards dealt in turn."""
    state = game.start()
    for pair in zip(one, two, strict=True):
        for card in pair if state.mover == 0 else reversed(pair):
            state = game.play(state, card)
    return state


def acting(
    hand: tuple[int, ...], other: tuple[int, ...] = (1, 4, 4), ci: tuple[int, int] = (15, 15)
) -> State:
    """Player 1 to act with this hand."""
    return State(ci, (hand, other), (1, 2, 3), (), 0, "act")


def actions(game: CipherSiege, state: State) -> tuple[str, ...]:
    turn = game.turn(state)
    assert isinstance(turn, Decide)
    return turn.options[state.mover]


def test_example_turns() -> None:
    """cipher-siege.txt:143-175, phase by phase."""
    state = dealt(GAME, "235", "144")
    assert state.ci == (15, 15)
    assert state.hands == ((2, 3, 5), (1, 4, 4))
    assert len(state.deck) == 14

    assert isinstance(GAME.turn(state), Chance)
    state = GAME.play(state, "3")
    assert state.hands[0] == (2, 3, 3, 5)
    assert "attack 2 3 5" in actions(GAME, state)
    state = GAME.play(state, "attack 2 3 5")
    assert state.ci == (15, 5)
    assert state.hands == ((3,), (1, 4, 4))
    assert state.discard == (2, 3, 5)
    assert (state.mover, state.phase) == (1, "draw")

    state = GAME.play(state, "4")
    assert state.hands[1] == (1, 4, 4, 4)
    state = GAME.play(state, "attack 4 4 4")
    assert state.ci == (3, 5)
    assert state.hands == ((3,), (1,))
    assert state.discard == (2, 3, 4, 4, 4, 5)
    assert state.mover == 0


def test_attack_calculation() -> None:
    """cipher-siege.txt:100-104: 9, and 3 for the sequence, make 12."""
    assert attack_value((2, 3, 4)) == (9, 3)
    after = GAME.play(acting((2, 3, 4, 5)), "attack 2 3 4")
    assert after.ci == (15, 3)
    assert after.hands[0] == (5,)


def test_c1_deck() -> None:
    """cipher-siege.txt:14-16: four of each value unless told otherwise, dealt by exact odds."""
    assert GAME.start().deck == DECK
    assert GAME.turn(GAME.start()) == Chance({str(v): Fraction(1, 5) for v in range(1, 6)}, by=0)
    after = GAME.play(GAME.start(), "5")
    assert GAME.turn(after) == Chance(
        {**{str(v): Fraction(4, 19) for v in range(1, 5)}, "5": Fraction(3, 19)}, by=1
    )
    assert CipherSiege(copies=2, values=4).start().deck == (1, 1, 2, 2, 3, 3, 4, 4)


def test_c2_six_cards_must_attack_or_defend() -> None:
    """cipher-siege.txt:86 and 122-124: no swap with six, so no turn ends with more than five."""
    five = State((15, 15), ((1, 2, 3, 4, 5), (1, 2)), (1, 5), (), 0, "draw")
    assert isinstance(GAME.turn(five), Chance)  # drawn at the maximum, too
    six = GAME.play(five, "5")
    assert six.hands[0] == (1, 2, 3, 4, 5, 5)
    moves = actions(GAME, six)
    assert {move.split()[0] for move in moves} == {"attack", "defend"}
    for move in moves:
        assert len(GAME.play(six, move).hands[0]) <= 5
    step = GAME.ask(GAME.observe(six, 0), 0, "")
    assert step is not None
    assert step.choices == ("attack", "defend")
    assert step.refused == {"swap": "With 6 cards you must attack or defend."}


def test_c2_five_cards_may_swap() -> None:
    assert "swap 3" in actions(GAME, acting((1, 2, 3, 4, 5)))


def test_actions_of_a_hand() -> None:
    """cipher-siege.txt:58-87: every set of cards attacks, every card defends or is swapped."""
    assert actions(GAME, acting((2, 3, 3))) == (
        "attack 2",
        "attack 3",
        "attack 2 3",
        "attack 3 3",
        "attack 2 3 3",
        "defend 2",
        "defend 3",
        "swap 2",
        "swap 3",
    )


def test_c3_swap_takes_a_random_card() -> None:
    """cipher-siege.txt:78-81: any card of the other hand, equally likely; the turn passes."""
    offered = GAME.play(acting((2, 3), other=(1, 4, 4)), "swap 3")
    assert GAME.turn(offered) == Chance({"1": Fraction(1, 3), "4": Fraction(2, 3)}, by=0)
    after = GAME.play(offered, "4")
    assert after.hands == ((2, 4), (1, 3, 4))
    assert (after.mover, after.phase, after.offered) == (1, "draw", 0)
    assert (after.deck, after.discard) == (offered.deck, offered.discard)


def test_c3_no_swap_with_an_empty_hand() -> None:
    state = acting((2, 3), other=())
    assert not any(move.startswith("swap") for move in actions(GAME, state))
    step = GAME.ask(GAME.observe(state, 0), 0, "")
    assert step is not None
    assert step.refused == {"swap": "The opponent has no card to swap."}


def test_c3_the_last_card_can_be_swapped() -> None:
    after = GAME.play(GAME.play(acting((2,), other=(5,)), "swap 2"), "5")
    assert after.hands == ((5,), (2,))


def test_c3_who_learns_what_of_a_random_swap() -> None:
    state = acting((2, 3))
    offer, offered = Pick(((0, "swap 3"),)), GAME.play(state, "swap 3")
    taken = Outcome("4", by=0)
    for viewer in (0, 1):
        assert GAME.redact(state, offer, viewer) == offer
        assert GAME.redact(offered, taken, viewer) == taken
    assert GAME.redact(state, offer, None) == Pick(((0, f"swap {HIDDEN}"),))
    assert GAME.redact(offered, taken, None) == Outcome(HIDDEN, by=0)


def test_c3_chosen_the_opponent_picks_blind() -> None:
    """Player 2 chooses what to give, and what it sees does not depend on the card offered."""
    state = acting((2, 3))
    two, three = CHOSEN.play(state, "swap 2"), CHOSEN.play(state, "swap 3")
    assert CHOSEN.turn(three) == Decide({1: ("1", "4")})
    assert CHOSEN.observe(two, 1) == CHOSEN.observe(three, 1)
    assert CHOSEN.ask(CHOSEN.observe(two, 1), 1, "") == CHOSEN.ask(CHOSEN.observe(three, 1), 1, "")
    offers = [CHOSEN.redact(state, Pick(((0, f"swap {card}"),)), 1) for card in (2, 3)]
    assert offers[0] == offers[1] == Pick(((0, f"swap {HIDDEN}"),))
    after = CHOSEN.play(three, "4")
    assert after.hands == ((2, 4), (1, 3, 4))
    assert (after.mover, after.phase) == (1, "draw")


def test_c3_chosen_both_know_the_cards_afterwards() -> None:
    offered = CHOSEN.play(acting((2, 3)), "swap 3")
    given = Pick(((1, "4"),))
    assert CHOSEN.redact(offered, given, 0) == given
    assert CHOSEN.redact(offered, given, 1) == Pick(((1, "4 for 3"),))
    assert CHOSEN.redact(offered, given, None) == Pick(((1, HIDDEN),))


@pytest.mark.parametrize(
    ("cards", "bonus"),
    [
        ((2, 3, 4), 3),
        ((4, 2, 3), 3),
        ((1, 2), 2),
        ((1, 2, 3, 4, 5), 5),
        ((4, 5), 2),
        ((2, 3, 5), 0),  # cipher-siege.txt:152-154
        ((4, 4, 4), 0),  # cipher-siege.txt:169-171
        ((2, 3, 3), 0),
        ((1, 2, 2, 3), 0),
        ((1, 5), 0),
        ((4, 5, 1), 0),
        ((3,), 0),
    ],
)
def test_c4_sequence_bonus(cards: tuple[int, ...], bonus: int) -> None:
    assert attack_value(cards) == (sum(cards), bonus)
    hand = tuple(sorted(cards))
    move = "attack " + " ".join(map(str, hand))
    after = GAME.play(acting(hand, ci=(15, 40)), move)
    assert after.ci == (15, 40 - sum(cards) - bonus)


@pytest.mark.parametrize(("ci", "after"), [(15, 15), (14, 15), (10, 15), (9, 14), (1, 6)])
def test_c5_defend_restores_up_to_the_cap(ci: int, after: int) -> None:
    """cipher-siege.txt:71-76."""
    state = acting((2, 5), ci=(ci, 7))
    assert "defend 5" in actions(GAME, state)
    defended = GAME.play(state, "defend 5")
    assert defended.ci == (after, 7)
    assert (defended.hands[0], defended.discard) == ((2,), (5,))


def test_c5_ci_below_zero_is_shown() -> None:
    """cipher-siege.txt:39."""
    before = acting((1, 2, 3, 4, 5), ci=(4, 3))
    after = GAME.play(before, "attack 4 5")
    assert after.ci == (4, -8)
    assert GAME.turn(after) == Over(0, "Player 2's code has been cracked.")
    told = GAME.tell(GAME.observe(before, 0), Pick(((0, "attack 4 5"),)), GAME.observe(after, 0), 0)
    assert told == [
        "Attack Value: 9",
        "Sequence Bonus: +2",
        "Total Attack: 11",
        "Opponent's CI reduced to -8",
        "You discard used cards: 4, 5",
        "End of turn.",
    ]


def test_exactly_zero_loses() -> None:
    """cipher-siege.txt:133."""
    after = GAME.play(acting((3,), ci=(4, 3)), "attack 3")
    assert GAME.turn(after) == Over(0, "Player 2's code has been cracked.")


def test_c6_what_is_public() -> None:
    state = State((9, 4), ((2, 3), (1, 4, 4)), (5, 5, 5), (1, 2), 1, "act")
    for viewer, hand in ((0, (2, 3)), (1, (1, 4, 4)), (None, ())):
        seen = GAME.observe(state, viewer)
        assert seen.hand == hand
        assert (seen.ci, seen.sizes, seen.deck_size, seen.discard) == ((9, 4), (2, 3), 3, (1, 2))


def test_c6_what_is_private() -> None:
    """States that differ in the other hand and the deck look the same; so do draws."""
    one = State((9, 4), ((2, 3), (1, 4, 4)), (5, 5, 5), (1, 2), 1, "draw")
    other = State((9, 4), ((2, 3), (5, 5, 5)), (1, 4, 4), (1, 2), 1, "draw")
    assert GAME.observe(one, 0) == GAME.observe(other, 0)
    assert GAME.observe(one, None) == GAME.observe(other, None)
    assert GAME.observe(one, 1) != GAME.observe(other, 1)
    draw = Outcome("5", by=1)
    assert GAME.redact(one, draw, 1) == draw
    for viewer in (0, None):
        assert GAME.redact(one, draw, viewer) == Outcome(HIDDEN, by=1)


def test_cards_not_held_are_refused() -> None:
    """cipher-siege.txt:96, after the draw: the card just drawn can be played, others not."""
    match = Match(GAME)
    for card in ("2", "1", "3", "4", "5", "4", "3"):
        match.enact(Outcome(card))
    before = match.state
    for refused in ("attack 1", "attack 2 2", "attack 5 3 2", "attack", "defend 4", "swap 1"):
        with pytest.raises(IllegalMove, match="not an option"):
            match.submit(0, refused)
    assert match.state == before
    match.submit(0, "attack 3 3")
    assert match.state.ci == (15, 9)
