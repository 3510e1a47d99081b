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
    client = CommitmentClient.of(told_match())
    assert client is not None
    assert client.see(told_match()) == {"type": COMMIT, "hash": client.hash}
    match = told_match(hashes=[client.hash, hash_of(THEIRS)])
    assert client.see(match) == {"type": REVEAL, "nonce": client.nonce}
    client.granted |= {COMMIT, REVEAL}
    return client, match


def finished(client: CommitmentClient, theirs: str = THEIRS, **fair: Any) -> Match:
    """The record of a match with these shares."""
    nonces = client.nonce, theirs
    match = Match(load("firewall-breach"), shared_seed(SECRET, nonces), id="m")
    match.about[KEY] = seed_proof(SECRET, nonces, [client.hash, hash_of(theirs)]) | fair
    match.resign(1)
    return loads(dumps(match), load)


def test_no_nonce_is_told_before_the_hash_of_every_other_player_is_known() -> None:
    client = CommitmentClient.of(told_match(state="waiting", seats=[{"kind": "human"}, None]))
    assert client is not None
    for match in (
        told_match(state="waiting", seats=[{"kind": "human"}, None], hashes=[client.hash, None]),
        told_match(hashes=[client.hash, None]),
        told_match(hashes=[client.hash, None], revealed=[2]),
    ):
        assert client.see(match) is None
    assert client.nonce not in json.dumps(client.see(told_match(hashes=[client.hash, None])))
    revealed = client.see(told_match(hashes=[client.hash, hash_of(THEIRS)]))
    assert revealed == {"type": REVEAL, "nonce": client.nonce}


def test_a_computer_has_no_hash_to_wait_for() -> None:
    seats = [{"kind": "human"}, {"kind": "computer"}]
    client = CommitmentClient.of(told_match(seats=seats))
    assert client is not None
    found = client.see(told_match(seats=seats, hashes=[client.hash, None]))
    assert found == {"type": REVEAL, "nonce": client.nonce}
    with pytest.raises(Unfair, match="Player 2"):  # a person after all, who knows the nonce by now
        client.see(told_match(hashes=[client.hash, hash_of(THEIRS)]))


def test_a_witness_comes_back_from_json_and_goes_on() -> None:
    client, match = agreed()
    again = CommitmentClient(**json.loads(json.dumps(client.to_json())))
    assert again.see(match) == {"type": REVEAL, "nonce": client.nonce}
    assert again.see({**match, "revealed": [1]}) is None
    with pytest.raises(Unfair):
        again.see({**match, "hashes": [client.hash, hash_of(new_nonce())]})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"commitment": "c" * 64}, "changed its commitment"),
        ({"hashes": [None, None]}, "changed the hash of Player 1"),
        ({"hashes": ["a" * 64, None]}, "changed the hash of Player 1"),
        ({"state": "closed"}, "closed the match after"),
        ({"state": "playing", "nonces": [new_nonce(), THEIRS]}, "a different nonce for your seat"),
        ({"state": "over", "nonces": [None, THEIRS]}, "a different nonce for your seat"),
        ({"state": "playing", "nonces": [None, THEIRS]}, "without the nonces"),
        ({"state": "playing", "nonces": None}, "without the nonces"),
    ],
)
def test_what_contradicts_the_past_is_refused(change: dict[str, Any], why: str) -> None:
    client, match = agreed()
    with pytest.raises(Unfair, match=why):
        client.see({**match, **change})


def test_a_match_that_begins_without_ones_share_is_refused() -> None:
    """As one of protocol 1 would be told, in which the hash that was given never appears."""
    client = CommitmentClient.of(told_match())
    assert client is not None
    assert client.see(told_match()) is not None
    with pytest.raises(Unfair, match="without the nonces"):
        client.see(told_match(state="playing"))


def test_a_nonce_of_the_opponent_that_does_not_fit_is_refused() -> None:
    client, match = agreed()
    with pytest.raises(Unfair, match="does not match the hash"):
        client.see({**match, "state": "playing", "nonces": [client.nonce, new_nonce()]})
    client.see({**match, "state": "playing", "nonces": [client.nonce, THEIRS]})


def test_a_hash_for_ones_seat_that_one_did_not_give_is_refused() -> None:
    client = CommitmentClient.of(told_match())
    assert client is not None
    with pytest.raises(Unfair, match="did not give"):
        client.see(told_match(hashes=[hash_of(THEIRS, 0), None]))
    assert CommitmentClient.of(told_match(hashes=[hash_of(THEIRS, 0), None])) is None


def test_an_operator_who_plays_cannot_search_for_a_nonce_of_their_own() -> None:
    """With protocol 1 the operator waited for the opponent's nonce and tried 120 of their own: one
    of them rolled a six in the first roll, and the record verified."""
    client, match = agreed()  # the operator has the nonce now, and the secret
    die = load("firewall-breach").turn(
        load("firewall-breach").play(load("firewall-breach").start(), "attack")
    )
    sixes = (
        nonce
        for nonce in (f"{n:032x}" for n in range(10_000))
        if draw(shared_seed(SECRET, (client.nonce, nonce)), 1, die.odds) == "6"  # type: ignore[union-attr]
    )
    better = next(sixes)
    # Told as it is, it does not match the hash: neither at the start nor in the record.
    with pytest.raises(Unfair, match="does not match"):
        client.see({**match, "state": "playing", "nonces": [client.nonce, better]})
    with pytest.raises(Exception, match="Player 2 does not match its hash"):
        verify(finished(client, better, hashes=[client.hash, hash_of(THEIRS)]))
    # With a hash to fit it, the record alone is consistent, and contradicts what the client saw.
    forged = finished(client, better)
    assert verify(forged)
    with pytest.raises(Unfair, match="hashes differ"):
        client.check(forged)
    with pytest.raises(Unfair, match="changed the hash of Player 2"):
        client.see({**match, "hashes": [client.hash, hash_of(better)]})
    assert "2 nonces" in client.check(finished(client))


def test_a_record_with_other_shares_than_were_told_is_refused() -> None:
    client, _ = agreed()
    other = new_secret()
    match = Match(load("firewall-breach"), shared_seed(other, (client.nonce, THEIRS)), id="m")
    published = commitment(other) or ""
    hashes = [nonce_hash("m", n, published, x) for n, x in enumerate((client.nonce, THEIRS))]
    match.about[KEY] = seed_proof(other, (client.nonce, THEIRS), hashes)
    with pytest.raises(Unfair, match="commitment differs"):
        client.check(match)
    stripped = finished(client)
    del stripped.about[KEY]["hashes"]
    with pytest.raises(Unfair, match="hashes differ"):
        client.check(stripped)


def test_a_record_that_calls_a_revealed_nonce_withheld_is_refused() -> None:
    client, _ = agreed()
    match = Match(load("firewall-breach"), None, id="m")
    match.about[KEY] = seed_proof(SECRET, (None, THEIRS), [client.hash, hash_of(THEIRS)])
    match.forfeit(0, WITHHELD)
    assert "Player 1 forfeits" in verify(match)
    with pytest.raises(Unfair, match="a different nonce for your seat"):
        client.check(match)


def test_a_start_that_was_left_to_chance_cannot_be_settled_by_the_server() -> None:
    client = CommitmentClient.of(told_match(game={"options": {"first": "random"}}))
    assert client is not None
    client.see(told_match(hashes=[client.hash, hash_of(THEIRS)]))
    with pytest.raises(Unfair, match="who starts"):
        client.check(finished(client))
