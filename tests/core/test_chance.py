"""Chance is fair, exact and the same everywhere."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from hashlib import sha256
from math import lcm

from hypothesis import given
from hypothesis import strategies as st

from duels.core import chance

DIE = {str(face): Fraction(1, 6) for face in range(1, 7)}


def test_the_documented_recipe_by_hand() -> None:
    for n in range(1, 50):
        number = int.from_bytes(sha256(f"duels 42 {n} 0".encode()).digest(), "big")
        assert chance.draw(42, n, DIE) == str(number % 6 + 1)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_every_outcome_gets_exactly_its_share_of_tickets(weights: list[int]) -> None:
    odds = {str(i): Fraction(weight, sum(weights)) for i, weight in enumerate(weights)}
    whole = lcm(*(odd.denominator for odd in odds.values()))
    drawn = Counter(chance.holder(ticket, whole, odds) for ticket in range(whole))
    assert {outcome: Fraction(count, whole) for outcome, count in drawn.items()} == odds


def test_dice_are_fair_over_many_rolls() -> None:
    rolls = Counter(chance.draw(7, n, DIE) for n in range(60_000))
    chi = sum((count - 10_000) ** 2 / 10_000 for count in rolls.values())
    assert chi < 25.7  # one in ten thousand for five degrees of freedom


def test_starting_player_and_streams_say_nothing_about_the_dice() -> None:
    starts = Counter(chance.first_player(seed) for seed in range(4000))
    assert abs(starts[0] - 2000) < 200
    assert chance.stream(1, 0) != chance.stream(1, 1)
    assert chance.new_seed() != chance.new_seed()
