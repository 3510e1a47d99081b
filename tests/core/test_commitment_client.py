"""A client that agrees on dice with a server it need not trust."""

from __future__ import annotations

import json
from typing import Any

import pytest

from duels.core import Match
from duels.core.chance import commitment, draw
from duels.core.commitment import (
    KEY,
    WITHHELD,
    new_nonce,
    new_secret,
    nonce_hash,
    seed_proof,
    shared_seed,
    verify,
)
from duels.core.commitment_client import COMMIT, REVEAL, CommitmentClient, Unfair
from duels.core.record import dumps, loads
from duels.games import load

SECRET = new_secret()
PUBLISHED = commitment(SECRET) or ""
THEIRS = new_nonce()


def hash_of(nonce: str, player: int = 1) -> str:
    return nonce_hash("m", player, PUBLISHED, nonce)


def told_match(**more: Any) -> dict[str, Any]:
    human = {"kind": "human"}
    return {
        "id": "m", "you": 1, "state": "starting", "commitment": PUBLISHED, "seats": [human, human],
        "hashes": [None, None], "revealed": [], "nonces": None, "game": {"options": {}},
    } | more  # fmt: skip


def agreed() -> tuple[CommitmentClient, dict[str, Any]]:
    """A client that has revealed its nonce, and the match as it was told then."""
    witness = CommitmentClient.of(told_match())
    assert witness is not None
    assert witness.see(told_match()) == {"type": COMMIT, "hash": witness.hash}
    match = told_match(hashes=[witness.hash, hash_of(THEIRS)])
    assert witness.see(match) == {"type": REVEAL, "nonce": witness.nonce}
    witness.granted |= {COMMIT, REVEAL}
    return witness, match


def finished(witness: CommitmentClient, theirs: str = THEIRS, **fair: Any) -> Match:
    """The record of a match with these shares."""
    nonces = witness.nonce, theirs
    match = Match(load("firewall-breach"), shared_seed(SECRET, nonces), id="m")
    match.about[KEY] = seed_proof(SECRET, nonces, [witness.hash, hash_of(theirs)]) | fair
    match.resign(1)
    return loads(dumps(match), load)


def test_no_nonce_is_told_before_the_hash_of_every_other_player_is_known() -> None:
    witness = CommitmentClient.of(told_match(state="waiting", seats=[{"kind": "human"}, None]))
    assert witness is not None
    for match in (
        told_match(state="waiting", seats=[{"kind": "human"}, None], hashes=[witness.hash, None]),
        told_match(hashes=[witness.hash, None]),
        told_match(hashes=[witness.hash, None], revealed=[2]),
    ):
        assert witness.see(match) is None
    assert witness.nonce not in json.dumps(witness.see(told_match(hashes=[witness.hash, None])))
    revealed = witness.see(told_match(hashes=[witness.hash, hash_of(THEIRS)]))
    assert revealed == {"type": REVEAL, "nonce": witness.nonce}


def test_a_computer_has_no_hash_to_wait_for() -> None:
    seats = [{"kind": "human"}, {"kind": "computer"}]
    witness = CommitmentClient.of(told_match(seats=seats))
    assert witness is not None
    found = witness.see(told_match(seats=seats, hashes=[witness.hash, None]))
    assert found == {"type": REVEAL, "nonce": witness.nonce}
    with pytest.raises(Unfair, match="Player 2"):  # a person after all, who knows the nonce by now
        witness.see(told_match(hashes=[witness.hash, hash_of(THEIRS)]))


def test_a_witness_comes_back_from_json_and_goes_on() -> None:
    witness, match = agreed()
    again = CommitmentClient(**json.loads(json.dumps(witness.to_json())))
    assert again.see(match) == {"type": REVEAL, "nonce": witness.nonce}
    assert again.see({**match, "revealed": [1]}) is None
    with pytest.raises(Unfair):
        again.see({**match, "hashes": [witness.hash, hash_of(new_nonce())]})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"commitment": "c" * 64}, "another commitment"),
        ({"hashes": [None, None]}, "another hash of Player 1"),
        ({"hashes": ["a" * 64, None]}, "another hash of Player 1"),
        ({"state": "closed"}, "closed the match after"),
        ({"state": "playing", "nonces": [new_nonce(), THEIRS]}, "another nonce for your seat"),
        ({"state": "over", "nonces": [None, THEIRS]}, "another nonce for your seat"),
        ({"state": "playing", "nonces": [None, THEIRS]}, "without the nonces"),
        ({"state": "playing", "nonces": None}, "without the nonces"),
    ],
)
def test_what_contradicts_the_past_is_refused(change: dict[str, Any], why: str) -> None:
    witness, match = agreed()
    with pytest.raises(Unfair, match=why):
        witness.see({**match, **change})


def test_a_match_that_begins_without_ones_share_is_refused() -> None:
    """As one of protocol 1 would be told, in which the hash that was given never appears."""
    witness = CommitmentClient.of(told_match())
    assert witness is not None
    assert witness.see(told_match()) is not None
    with pytest.raises(Unfair, match="without the nonces"):
        witness.see(told_match(state="playing"))


def test_a_nonce_of_the_opponent_that_does_not_fit_is_refused() -> None:
    witness, match = agreed()
    with pytest.raises(Unfair, match="does not fit the hash"):
        witness.see({**match, "state": "playing", "nonces": [witness.nonce, new_nonce()]})
    witness.see({**match, "state": "playing", "nonces": [witness.nonce, THEIRS]})


def test_a_hash_for_ones_seat_that_one_did_not_give_is_refused() -> None:
    witness = CommitmentClient.of(told_match())
    assert witness is not None
    with pytest.raises(Unfair, match="did not give"):
        witness.see(told_match(hashes=[hash_of(THEIRS, 0), None]))
    assert CommitmentClient.of(told_match(hashes=[hash_of(THEIRS, 0), None])) is None


def test_an_operator_who_plays_cannot_search_for_a_nonce_of_their_own() -> None:
    """With protocol 1 the operator waited for the opponent's nonce and tried 120 of their own: one
    of them rolled a six in the first roll, and the record verified."""
    witness, match = agreed()  # the operator has the nonce now, and the secret
    die = load("firewall-breach").turn(
        load("firewall-breach").play(load("firewall-breach").start(), "attack")
    )
    sixes = (
        nonce
        for nonce in (f"{n:032x}" for n in range(10_000))
        if draw(shared_seed(SECRET, (witness.nonce, nonce)), 1, die.odds) == "6"  # type: ignore[union-attr]
    )
    better = next(sixes)
    # Told as it is, it does not fit the hash: neither at the start nor in the record.
    with pytest.raises(Unfair, match="does not fit"):
        witness.see({**match, "state": "playing", "nonces": [witness.nonce, better]})
    with pytest.raises(Exception, match="Player 2 does not fit its hash"):
        verify(finished(witness, better, hashes=[witness.hash, hash_of(THEIRS)]))
    # With a hash to fit it, the record alone is consistent, and contradicts what the client saw.
    forged = finished(witness, better)
    assert verify(forged)
    with pytest.raises(Unfair, match="other hashes"):
        witness.check(forged)
    with pytest.raises(Unfair, match="another hash of Player 2"):
        witness.see({**match, "hashes": [witness.hash, hash_of(better)]})
    assert "2 nonces" in witness.check(finished(witness))


def test_a_record_with_other_shares_than_were_told_is_refused() -> None:
    witness, _ = agreed()
    other = new_secret()
    match = Match(load("firewall-breach"), shared_seed(other, (witness.nonce, THEIRS)), id="m")
    published = commitment(other) or ""
    hashes = [nonce_hash("m", n, published, x) for n, x in enumerate((witness.nonce, THEIRS))]
    match.about[KEY] = seed_proof(other, (witness.nonce, THEIRS), hashes)
    with pytest.raises(Unfair, match="another commitment"):
        witness.check(match)
    stripped = finished(witness)
    del stripped.about[KEY]["hashes"]
    with pytest.raises(Unfair, match="other hashes"):
        witness.check(stripped)


def test_a_record_that_calls_a_revealed_nonce_withheld_is_refused() -> None:
    witness, _ = agreed()
    match = Match(load("firewall-breach"), None, id="m")
    match.about[KEY] = seed_proof(SECRET, (None, THEIRS), [witness.hash, hash_of(THEIRS)])
    match.forfeit(0, WITHHELD)
    assert "Player 1 forfeits" in verify(match)
    with pytest.raises(Unfair, match="another nonce for your seat"):
        witness.check(match)


def test_a_start_that_was_left_to_chance_cannot_be_settled_by_the_server() -> None:
    witness = CommitmentClient.of(told_match(game={"options": {"first": "random"}}))
    assert witness is not None
    witness.see(told_match(hashes=[witness.hash, hash_of(THEIRS)]))
    with pytest.raises(Unfair, match="who starts"):
        witness.check(finished(witness))
