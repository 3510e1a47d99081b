"""Dice that come from a secret and two nonces, and can be checked."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from duels.core import Match
from duels.core.chance import commitment, draw, first_player
from duels.core.commitment import (
    KEY,
    WITHHELD,
    draws,
    is_hash,
    is_nonce,
    new_secret,
    nonce_hash,
    seed_proof,
    shared_seed,
    verify,
)
from duels.core.errors import RecordError
from duels.core.record import _checksum, dumps, loads
from duels.games import BUILT_IN, load

NONCES = ("0123456789abcdef" * 2, "fedcba9876543210" * 2)


def hashes_of(id: str, secret: int, nonces: tuple[str, str] = NONCES) -> list[str]:
    published = commitment(secret) or ""
    return [nonce_hash(id, n, published, nonce) if nonce else "" for n, nonce in enumerate(nonces)]


def fair_match(slug: str = "firewall-breach", nonces: tuple[str, str] = NONCES) -> Match:
    secret = new_secret()
    match = Match(load(slug), shared_seed(secret, nonces), id="example")
    match.about[KEY] = seed_proof(secret, nonces, hashes_of("example", secret, nonces))
    return match


def older_match(slug: str = "firewall-breach") -> Match:
    """As it was made before nonces had hashes."""
    secret = new_secret()
    match = Match(load(slug), shared_seed(secret, NONCES))
    match.about[KEY] = seed_proof(secret, NONCES)
    return match


def test_each_of_the_three_shares_changes_the_seed() -> None:
    seed = shared_seed(7, NONCES)
    assert seed == shared_seed(7, NONCES)
    others = {shared_seed(8, NONCES), shared_seed(7, ("a" * 32, NONCES[1]))}
    others |= {shared_seed(7, (NONCES[0], "a" * 32)), shared_seed(7, (NONCES[1], NONCES[0]))}
    assert len(others) == 4
    assert seed not in others


def test_a_secret_can_be_committed_to() -> None:
    assert all(commitment(new_secret()) for _ in range(100))


@pytest.mark.parametrize("slug", BUILT_IN)
def test_a_record_that_tells_its_shares_verifies_after_reading_it_back(slug: str) -> None:
    match = fair_match(slug)
    assert "2 nonces match their hashes" in verify(loads(dumps(match), load))


@pytest.mark.parametrize("made", [fair_match, older_match])
@pytest.mark.parametrize("key", ["commitment", "secret", "nonces"])
def test_a_share_that_was_changed_is_found(key: str, made: Callable[[], Match]) -> None:
    match = made()
    other = seed_proof(new_secret(), NONCES)
    match.about[KEY][key] = ["f" * 32, NONCES[1]] if key == "nonces" else other[key]
    with pytest.raises(RecordError):
        verify(match)


@pytest.mark.parametrize(
    "hashes",
    [
        None, [], ["", ""], ["a" * 64], ["a" * 64, None], {"1": "a" * 64}, [1, 2], "aa",
        ["A" * 64, ""], hashes_of("other", new_secret()),
    ],
)  # fmt: skip
def test_hashes_that_do_not_fit_are_refused_and_not_passed_over(hashes: object) -> None:
    match = fair_match()
    match.about[KEY]["hashes"] = hashes
    with pytest.raises(RecordError):
        verify(match)


def test_a_computer_has_neither_nonce_nor_hash() -> None:
    match = fair_match(nonces=(NONCES[0], ""))
    assert "1 nonce matches its hash" in verify(match)
    match.about[KEY]["hashes"][1] = "a" * 64
    with pytest.raises(RecordError, match="Player 2"):
        verify(match)


def test_a_hash_fits_one_seat_of_one_match_under_one_commitment() -> None:
    made = {
        nonce_hash(id, player, published, nonce)
        for id in ("a", "b")
        for player in (0, 1)
        for published in ("c" * 64, "d" * 64)
        for nonce in NONCES
    }
    assert len(made) == 16
    assert all(map(is_hash, made))


def test_an_older_record_verifies_with_a_weaker_statement() -> None:
    said = verify(loads(dumps(older_match()), load))
    assert "2 nonces" in said
    assert "match their hashes" not in said
    assert "does not show that each nonce was chosen before the other was known" in said


def test_a_record_of_version_2_is_still_read() -> None:
    data = json.loads(dumps(older_match()))
    data["version"] = 2
    data["checksum"] = _checksum(data)
    assert "no hashes" in verify(loads(json.dumps(data), load))


@pytest.mark.parametrize("wrong", [None, "seat", "why", "nonces", "seed"])
def test_a_match_without_a_seed_verifies_only_as_forfeited_for_a_withheld_nonce(
    wrong: str | None,
) -> None:
    secret = new_secret()
    match = Match(load("cipher-siege"), 7 if wrong == "seed" else None, id="example")
    match.about[KEY] = seed_proof(secret, (NONCES[0], None), hashes_of("example", secret))
    if wrong == "nonces":
        match.about[KEY]["nonces"] = [None, None]
    match.forfeit(0 if wrong == "seat" else 1, "left the match" if wrong == "why" else WITHHELD)
    match = loads(dumps(match), load)
    if wrong is None:
        assert "Player 2 forfeits" in verify(match)
    else:
        with pytest.raises(RecordError):
            verify(match)


def test_a_random_starting_player_follows_from_the_seed() -> None:
    secret = new_secret()
    seed = shared_seed(secret, NONCES)
    for first in (first_player(seed), 1 - first_player(seed)):
        match = Match(load("digit-duel", first=str(first + 1)), seed, id="example")
        match.about[KEY] = seed_proof(secret, NONCES, hashes_of("example", secret), "random")
        if first == first_player(seed):
            assert verify(match)
        else:
            with pytest.raises(RecordError, match="starting player"):
                verify(match)


def test_a_record_without_shares_does_not_verify() -> None:
    with pytest.raises(RecordError, match="lacks the secret"):
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


def test_nonces_are_hexadecimal_and_too_long_to_be_found_from_their_hash() -> None:
    assert is_nonce("0" * 32)
    assert is_nonce("f" * 64)
    for wrong in ("0" * 31, "0" * 65, "F" * 32, "g" * 32, "٠" * 32, None, 7):
        assert not is_nonce(wrong)
