"""Cipher Siege: the shipped strategy, read on a bare Python."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest

from duels.algorithms import tables
from duels.algorithms.solution import Unsolved
from duels.core.errors import program
from duels.core.game import Outcome, Pick
from duels.core.match import Match
from duels.games import load
from duels.games.cipher_siege.solver import CipherSiegeSolution
from duels.games.cipher_siege.strategy import (
    BEST,
    CERTIFIED,
    EXPLOITABLE,
    KIND,
    SEPARATE,
    payload_of,
)


@cache
def solution() -> CipherSiegeSolution:
    return CipherSiegeSolution(load("cipher-siege"))


def test_the_shipped_strategy_opens() -> None:
    assert float(solution().start_value()) == pytest.approx(0.718, abs=0.002)
    assert solution().own_bound == 0.0033, "what a learned responder gained in both seats together"
    assert solution().bound == 0.0051, "what a separately written one gained"
    assert solution().caveat == (
        "Approximate: the strategy is exploitable by at least 0.0051 (measured by a separate "
        "implementation; this package's responder gains 0.0033) and at most 0.0197 (certified)."
    )
    assert solution().facts["states"] > 200_000
    second = CipherSiegeSolution(load("cipher-siege", first=1))
    assert float(second.start_value()) == pytest.approx(1 - float(solution().start_value()))


@pytest.mark.slow
def test_every_choice_of_random_games_is_assessed() -> None:
    """Random play leaves what is stored at times; then a value is measured on the spot."""
    chooser = random.Random(4)
    choices = stored = 0
    for seed in range(8):
        match = Match(load("cipher-siege", first=seed % 2), seed)
        known = CipherSiegeSolution(match.game)
        while match.result is None:
            (player,) = match.deciders
            view = match.view(player)
            found = known.assess(view)
            assert found.player == player
            assert set(found.options) == set(view.options)
            known_values = [v for v in (found.value, *found.options.values()) if v is not None]
            assert all(0 <= value <= 1 for value in known_values)
            assert set(found.mixed_strategy) <= set(view.options)
            assert sum(found.mixed_strategy.values()) == pytest.approx(1)
            assert all(part > 0 for part in found.mixed_strategy.values())
            measured = known.measured(view, view.options[0])
            assert measured.mixed_strategy == found.mixed_strategy
            assert known.value_at(match) == measured.value
            assert all(value is not None for value in measured.options.values())
            choices += 1
            stored += found.value is not None
            # Half of the moves are the strategy's, so that both sides of it are met.
            moves = list(found.mixed_strategy) if chooser.random() < 0.5 else list(view.options)
            match.submit(player, chooser.choice(moves))
    assert choices > 20
    assert stored > choices * 0.8


def test_a_win_at_once_is_seen() -> None:
    match = dealt("5 1 5 1 4 1", "1")
    found = solution().assess(match.view(0))
    assert found.value == 1
    assert found.mixed_strategy == {"attack 1 4 5 5": 1.0}
    assert found.regret("attack 1 4 5 5") == 0


def dealt(deal: str, draw: str) -> Match:
    """A match after a deal, Player 1's card first, and the first draw."""
    match = Match(load("cipher-siege"))
    for card in [*deal.split(), *draw.split()]:
        match.enact(Outcome(card))
    return match


# Player 2's cards and draws differ within each pair; what Player 1 sees does not.
PAIRS = [
    ([("1 2 3 2 4 2", "5")], [("1 5 3 4 4 3", "5")]),
    (
        [("1 1 2 2 4 3", "1"), ("attack 1 1", "4"), ("defend 1", "2")],
        [("1 1 2 5 4 4", "1"), ("attack 1 1", "5"), ("defend 1", "2")],
    ),
    (
        [("1 1 2 2 4 3", "1"), ("swap 1", "3", "4"), ("attack 1", "2")],
        [("1 1 2 5 4 3", "1"), ("swap 1", "3", "4"), ("attack 1", "2")],
    ),
]


@pytest.mark.parametrize(("one", "two"), PAIRS, ids=["first", "defence", "swap"])
def test_the_true_hand_never_matters(
    one: list[tuple[str, ...]], two: list[tuple[str, ...]]
) -> None:
    matches = []
    for script in (one, two):
        match = dealt(*script[0])
        for number, (move, *outcomes) in enumerate(script[1:]):
            match.enact(Pick(((number % 2, move),)))
            for outcome in outcomes:
                match.enact(Outcome(outcome))
        matches.append(match)
    assert matches[0].state != matches[1].state
    views = [match.view(0) for match in matches]
    assert views[0] == views[1]
    assert solution().assess(views[0]) == solution().assess(views[1])
    # Nor does it before the last draw, where the deck differs.
    drawing = [solution().value_at(match, len(match.events) - 1) for match in matches]
    assert drawing[0] == drawing[1]


@pytest.mark.parametrize("first", [0, 1])
def test_the_value_of_the_start_is_the_average_over_the_hands(first: int) -> None:
    """Two figures found apart: games of the strategy against itself, and values of first turns."""
    game = load("cipher-siege", first=first)
    known = []
    for card in "12345":
        match = Match(game)
        match.enact(Outcome(card))
        value = CipherSiegeSolution(game).value_at(match)
        assert value is not None
        known.append(float(value))
    start = CipherSiegeSolution(game).start_value()
    assert sum(known) / 5 == pytest.approx(float(start), abs=0.002)
    assert known == sorted(known, reverse=first == 1), "a higher card is worth more to its holder"


def test_an_exchange_is_an_average_over_what_may_be_taken() -> None:
    match = dealt("1 1 2 2 4 3", "1")
    match.enact(Pick(((0, "swap 1"),)))
    after = []
    for taken in "123":
        other = dealt("1 1 2 2 4 3", "1")
        other.enact(Pick(((0, "swap 1"),)))
        other.enact(Outcome(taken))
        after.append(solution().value_at(other))
    known = [float(value) for value in after if value is not None]
    assert solution().value_at(match) == pytest.approx(sum(known) / 3, abs=0.02)
    assert max(known) - min(known) > 0.1


def test_what_is_not_solved_is_said() -> None:
    with pytest.raises(Unsolved, match="swap=chosen"):
        CipherSiegeSolution(load("cipher-siege", swap="chosen"))
    command = f"'{program()} solve cipher-siege --set integrity=16/15 --set limit=4' trains one"
    with pytest.raises(Unsolved, match=command):
        CipherSiegeSolution(load("cipher-siege", integrity="16/15", limit=4))


def test_a_table_that_was_not_measured_claims_no_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    game = load("cipher-siege", integrity=16)
    facts = {"states": 0, "fine_plies": 6, "first player": 0.7, "bound": 0.003}
    tables.store(game, payload_of([]), KIND, facts=facts)
    trained = CipherSiegeSolution(game)
    assert trained.approximate
    assert trained.bound is None
    assert trained.caveat is not None
    assert "it was not measured how far" in trained.caveat


@pytest.mark.parametrize(
    ("own", "separate", "bound", "source"),
    [
        (0.0012, None, 0.0012, ""),
        (0.0012, [0.7, 0.3009], 0.0012, ""),
        (0.0012, [0.7, 0.3021], 0.0021, "; this package's responder gains 0.0012"),
        (None, [0.7, 0.3021], 0.0021, "(measured by a separate implementation)"),
    ],
)
def test_the_larger_lower_bound_is_stated_with_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    own: float | None, separate: list[float] | None, bound: float, source: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    game = load("cipher-siege", integrity=16)
    facts: dict[str, object] = {"states": 0, "fine_plies": 6, "first player": 0.7}
    facts[EXPLOITABLE] = own
    if separate is not None:
        facts[SEPARATE] = separate
    tables.store(game, payload_of([]), KIND, facts=facts)
    found = CipherSiegeSolution(game)
    assert (found.bound, found.own_bound) == (bound, own)
    assert found.caveat is not None
    assert f"at least {bound:.4f}" in found.caveat
    assert source in found.caveat
    assert bool(source) == ("separate" in found.caveat)


def test_the_bounds_of_each_seat_are_no_tighter_than_those_of_both() -> None:
    """Sums of rounded bounds must hold too, so each is rounded outward."""
    facts = solution().facts
    (low_one, high_one), (low_two, high_two) = facts[BEST]
    assert low_one + low_two - 1 <= facts[EXPLOITABLE] + 1e-9
    assert high_one + high_two - 1 >= facts[CERTIFIED] - 1e-9
