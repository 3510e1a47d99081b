"""The client's side of the commitment scheme: commits, reveals, and checks the server.

A client makes a `CommitmentClient` when it takes a seat and passes every `match` that the server
sends to `see`. It stores `to_json`, then sends the command that `see` returned. The scheme is
described in docs/reference/dice.md. `duels/server/static/js/dice.js` is the browser's client.

>>> match = {"id": "example", "commitment": "c" * 64, "state": "starting", "hashes": [None, None],
...          "revealed": [], "nonces": None, "seats": [{"kind": "human"}, {"kind": "human"}]}
>>> client = CommitmentClient("example", 0, "c" * 64, nonce="a" * 32)
>>> client.see(match)["type"]
'commit'
>>> match["hashes"] = [client.hash, None]
>>> client.see(match)  # the opponent's hash is not known yet, so the nonce is not revealed
>>> match["hashes"] = [client.hash, "d" * 64]
>>> client.see(match)["nonce"] == client.nonce
True
>>> match["hashes"] = [client.hash, "e" * 64]
>>> client.see(match)
Traceback (most recent call last):
duels.core.commitment_client.Unfair: the server has changed the hash of Player 2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duels.core.commitment import KEY, is_hash, is_nonce, new_nonce, nonce_hash, verify
from duels.core.errors import DuelsError
from duels.core.match import Match
from duels.core.presentation import player_name

Json = dict[str, Any]
NOT_BEGUN, BEGUN = ("waiting", "starting"), ("playing", "over")
COMMIT, REVEAL = "commit", "reveal"


class Unfair(DuelsError):
    """The server contradicts an earlier message or violates the procedure."""


class CommitmentClient:
    """The share of one seat in the dice of a match, and what the server sent about the others."""

    def __init__(
        self,
        match: str,
        player: int,
        commitment: str,
        nonce: str | None = None,
        hashes: Sequence[str | None] = (None, None),
        sent: Sequence[str] = (),
        granted: Sequence[str] = (),
        first: str | None = None,
    ) -> None:
        self.match, self.player, self.commitment = match, player, commitment
        self.nonce = nonce or new_nonce()
        self.hashes = list(hashes)  # as received so far
        self.sent, self.granted = set(sent), set(granted)  # subsets of COMMIT and REVEAL
        self.first = first  # "random" if the seed decides which player starts

    @classmethod
    def of(cls, match: Json) -> CommitmentClient | None:
        """A client for the seat of a match without a share yet; None if there is no such seat."""
        you = match.get("you")
        if you is None or match["state"] not in NOT_BEGUN or match["hashes"][you - 1] is not None:
            return None
        if not is_hash(match["commitment"]):
            raise Unfair("the server has not committed to a secret")
        random = match["game"]["options"].get("first") == "random"
        first = "random" if random else None
        return cls(match["id"], you - 1, match["commitment"], first=first)

    @property
    def hash(self) -> str:
        return nonce_hash(self.match, self.player, self.commitment, self.nonce)

    def to_json(self) -> Json:
        return {
            "match": self.match, "player": self.player, "commitment": self.commitment,
            "nonce": self.nonce, "hashes": self.hashes, "sent": sorted(self.sent),
            "granted": sorted(self.granted), "first": self.first,
        }  # fmt: skip

    def see(self, match: Json) -> Json | None:
        """Process a match as sent by the server; returns the command to send now, if any.

        Raises `Unfair` if it contradicts earlier messages.
        """
        if match["id"] != self.match or match["commitment"] != self.commitment:
            raise Unfair("the server has changed its commitment")
        self._see_hashes(match["hashes"])
        if match["state"] in BEGUN:
            if match["nonces"] is None or (None in match["nonces"] and match["state"] != "over"):
                raise Unfair("the server has begun the match without the nonces of both players")
            self._check_nonces(match["nonces"])
        if match["state"] == "closed" and REVEAL in self.granted:
            raise Unfair(
                "the server has closed the match after it received your nonce; it should have been"
                " played, or forfeited by the player who withheld a nonce"
            )
        return self._next(match) if match["state"] in NOT_BEGUN else None

    def _next(self, match: Json) -> Json | None:
        if self.hashes[self.player] is None:
            self.sent.add(COMMIT)
            return {"type": COMMIT, "hash": self.hash}
        humans = [n for n, seat in enumerate(match["seats"]) if seat and seat["kind"] == "human"]
        complete = None not in match["seats"] and all(self.hashes[n] for n in humans)
        if not complete or self.player + 1 in match["revealed"]:
            return None
        self.sent.add(REVEAL)
        return {"type": REVEAL, "nonce": self.nonce}

    def _see_hashes(self, published: Sequence[str | None]) -> None:
        for player, known in enumerate(self.hashes):
            # A missing hash may be added until the nonce is revealed, and not afterwards.
            if published[player] != known and (known is not None or REVEAL in self.sent):
                raise Unfair(f"the server has changed the hash of {player_name(player)}")
        if published[self.player] not in (None, self.hash):
            raise Unfair(
                "the server has a hash for your seat that this client did not give; if you have not"
                " opened the match elsewhere, its dice cannot be trusted"
            )
        self.hashes = list(published)

    def _check_nonces(self, published: Sequence[str | None]) -> None:
        """Compare the nonces of a match that has begun with the known nonce and hashes."""
        mine = published[self.player]
        if mine != self.nonce and (mine is not None or REVEAL in self.granted):
            raise Unfair("the server has a different nonce for your seat from the one you revealed")
        other = 1 - self.player
        nonce, known = published[other], self.hashes[other]
        if known is None and nonce != "":
            raise Unfair(f"the server has a nonce of {player_name(other)} without a hash")
        if known is not None and nonce is not None:
            fits = is_nonce(nonce) and self._fits(other, nonce, known)
            if not fits:
                raise Unfair(
                    f"the nonce of {player_name(other)} does not match the hash sent before"
                )

    def _fits(self, player: int, nonce: str, known: str) -> bool:
        return nonce_hash(self.match, player, self.commitment, nonce) == known

    def check(self, match: Match) -> str:
        """Check the shares of a finished match, and that they are those received before."""
        fair = match.about.get(KEY)
        said = verify(match)
        if match.id != self.match or not isinstance(fair, dict):
            raise Unfair("the record is of another match")
        if fair["commitment"] != self.commitment:
            raise Unfair("the record's commitment differs from the one sent before the match")
        if fair.get("hashes") != [known or "" for known in self.hashes]:
            raise Unfair("the record's hashes differ from those sent before the match")
        if fair.get("first") != self.first:
            raise Unfair("the record and the match you joined decide differently who starts")
        self._check_nonces(fair["nonces"])
        return said
