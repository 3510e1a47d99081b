"""Dice that come from a secret and two nonces, and can be checked."""

from __future__ import annotations

import pytest

from duels.core import Match
from duels.core.chance import commitment, draw
from duels.core.errors import RecordError
from duels.core.fair import KEY, draws, is_nonce, new_secret, shared_seed, told, verify
from duels.core.record import dumps, loads
from duels.games import BUILT_IN, load

NONCES = ("0123456789abcdef", "fedcba9876543210")


def fair_match(slug: str = "firewall-breach") -> Match:
    secret = new_secret()
    match = Match(load(slug), shared_seed(secret, NONCES))
    match.about[KEY] = told(secret, NONCES)
    return match


def test_each_of_the_three_shares_changes_the_seed() -> None:
    seed = shared_seed(7, NONCES)
    assert seed == shared_seed(7, NONCES)
    others = {shared_seed(8, NONCES), shared_seed(7, ("a" * 16, NONCES[1]))}
    others |= {shared_seed(7, (NONCES[0], "a" * 16)), shared_seed(7, (NONCES[1], NONCES[0]))}
    assert len(others) == 4
    assert seed not in others


def test_a_secret_can_be_committed_to() -> None:
    assert all(commitment(new_secret()) for _ in range(100))


@pytest.mark.parametrize("slug", BUILT_IN)
def test_a_record_that_tells_its_shares_verifies_after_reading_it_back(slug: str) -> None:
    match = fair_match(slug)
    assert "2 nonces" in verify(loads(dumps(match), load))


@pytest.mark.parametrize("key", ["commitment", "secret", "nonces"])
def test_a_share_that_was_changed_is_found(key: str) -> None:
    match = fair_match()
    other = told(new_secret(), NONCES)
    match.about[KEY][key] = ["f" * 16, NONCES[1]] if key == "nonces" else other[key]
    with pytest.raises(RecordError):
        verify(match)


def test_a_record_without_shares_does_not_verify() -> None:
    with pytest.raises(RecordError, match="does not tell"):
        verify(Match(load("firewall-breach"), 7))


def test_draws_after_an_undo_have_the_numbers_that_the_match_used() -> None:
    match = fair_match()
    match.submit(0, "attack")
    match.undo(0)
    match.submit(0, "attack")  # the same line, the same roll
    match.submit(1, "attack")
    match.undo(1)
    match.submit(1, "bypass")
    match.submit(0, "attack")  # another line, a new one
    found = draws(match)
    assert [one["n"] for one in found] == [1, 1, 2, 3]
    assert match.seed is not None
    for one in found:
        entry = match.events[one["number"]]
        turn = match.game.turn(match.state_before(one["number"]))
        assert entry.outcome == draw(match.seed, one["n"], turn.odds)  # type: ignore[union-attr]


def test_nonces_are_hexadecimal_of_a_sensible_length() -> None:
    assert is_nonce("0" * 16)
    assert is_nonce("f" * 64)
    for wrong in ("0" * 15, "0" * 65, "F" * 16, "g" * 16, "٠" * 16, None, 7):
        assert not is_nonce(wrong)
