"""The commitment scheme for the seed of a server's match: no party can choose the dice.

The server draws a secret and publishes its commitment. Each player then commits to a nonce by a
hash, and reveals the nonce once both hashes are known. The seed is computed from the secret and the
nonces, so no party can compute it, or search for a better one, while it can still change its own
share (docs/reference/dice.md). A finished record contains all of it under `about`:

>>> from duels.core import Match
>>> from duels.games import load
>>> secret, nonces = 2**255, ("00ff" * 8, "")  # the second player is a computer
>>> match = Match(load("firewall-breach"), shared_seed(secret, nonces), id="example")
>>> hashes = (nonce_hash("example", 0, commitment(secret), nonces[0]), "")
>>> match.about |= {"fair": seed_proof(secret, nonces, hashes)}
>>> verify(match)
'the secret matches its commitment, 1 nonce matches its hash, and the seed follows from them'
>>> match.about["fair"]["nonces"] = ["00fe" * 8, ""]
>>> verify(match)
Traceback (most recent call last):
duels.core.errors.RecordError: the nonce of Player 1 does not match its hash
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from duels.core.chance import commitment, draw, first_player
from duels.core.entries import Forfeit
from duels.core.errors import RecordError
from duels.core.game import Chance, Outcome
from duels.core.match import Match
from duels.core.presentation import player_name

KEY = "fair"  # of `about` in a record
WITHHELD = "did not reveal the nonce in time"  # why a player forfeits before the first event
UNHASHED = (
    "the record has no hashes of the nonces, like all matches begun before protocol 2: it does not"
    " show that each nonce was chosen before the other was known"
)
HEX = frozenset("0123456789abcdef")


def new_secret() -> int:
    """A random secret of 256 bits from the operating system."""
    return int.from_bytes(os.urandom(32), "big") | 1 << 255


def new_nonce() -> str:
    """A nonce of 128 random bits."""
    return os.urandom(16).hex()


def is_nonce(text: object) -> bool:
    """Whether a text can be a nonce: 32 to 64 hexadecimal digits in lower case.

    Fewer digits could be found from the hash by trying.
    """
    return isinstance(text, str) and 32 <= len(text) <= 64 and set(text) <= HEX


def is_hash(text: object) -> bool:
    """Whether a text can be a SHA-256 digest: 64 hexadecimal digits in lower case."""
    return isinstance(text, str) and len(text) == 64 and set(text) <= HEX


def nonce_hash(match: str, player: int, commitment: str, nonce: str) -> str:
    """The hash by which a player, 0 or 1, commits to a nonce.

    It includes the match, the seat and the server's commitment, so that it cannot be copied by the
    opponent or used for another match.
    """
    from hashlib import sha256

    text = f"duels nonce {match} {player + 1} {commitment} {nonce}"
    return sha256(text.encode()).hexdigest()


def shared_seed(secret: int, nonces: tuple[str, str]) -> int:
    """The seed of a match: the SHA-256 of the secret and both nonces, empty for a computer."""
    from hashlib import sha256

    text = f"duels seed {secret} {nonces[0]} {nonces[1]}"
    return int.from_bytes(sha256(text.encode()).digest(), "big")


def seed_proof(
    secret: int,
    nonces: Sequence[str | None],
    hashes: Sequence[str] | None = None,
    first: str | None = None,
) -> dict[str, Any]:
    """The part of a finished record that proves its seed.

    A nonce is empty for a computer and None if the player did not reveal it. `hashes` is None for a
    match that began before there were hashes. `first` is "random" if the seed decides which player
    starts.
    """
    fair: dict[str, Any] = {"commitment": commitment(secret), "secret": str(secret)}
    if hashes is not None:
        fair["hashes"] = list(hashes)
    fair["nonces"] = list(nonces)
    if first is not None:
        fair["first"] = first
    return fair


def verify(match: Match) -> str:
    """Check how the seed of a match was made and describe it; `RecordError` if it is wrong.

    That the outcomes follow from the seed was checked when the record was loaded. The record cannot
    show that its hashes are those that were sent to the players: their clients compare them
    (`duels.core.commitment_client`).
    """
    fair: Any = match.about.get(KEY)
    match fair:
        case {"commitment": str(published), "secret": str(secret), "nonces": [one, two]}:
            nonces = one, two
        case _:
            raise RecordError(
                "the record lacks the secret or the nonces, so its seed cannot be checked"
            )
    if not (secret.isascii() and secret.isdigit() and len(secret) < 100):
        raise RecordError("secret: expected fewer than 100 decimal digits")
    if commitment(int(secret)) != published:
        raise RecordError("the secret does not match the published commitment")
    hashed = "hashes" in fair
    fitting = _fitting(match, published, nonces, fair["hashes"]) if hashed else ""
    missing = [player for player in (0, 1) if nonces[player] is None]
    if missing and fitting:
        return _forfeited(match, missing, fitting)
    if not all(isinstance(nonce, str) for nonce in nonces):
        raise RecordError("nonces: expected two texts")
    if shared_seed(int(secret), nonces) != match.seed:
        raise RecordError("the seed does not follow from the secret and the nonces")
    _check_first(match, fair.get("first"), match.seed)
    if fitting:
        return f"the secret matches its commitment, {fitting}, and the seed follows from them"
    given = sum(map(bool, nonces))
    shares = f"{given} nonce{'' if given == 1 else 's'}"
    return f"the secret matches its commitment, the seed follows from it and {shares}; {UNHASHED}"


def _fitting(match: Match, published: str, nonces: Sequence[Any], hashes: Any) -> str:
    """Check the revealed nonces against their hashes; returns in words how many match."""
    match hashes:
        case [str(), str()] if any(hashes):
            pass
        case _:
            raise RecordError("hashes: expected two texts, one of them empty for a computer")
    count = 0
    for player in (0, 1):
        nonce, expected = nonces[player], hashes[player]
        if nonce is None and expected:
            continue  # withheld
        if not expected and nonce == "":
            continue  # a computer
        if not is_nonce(nonce):
            raise RecordError(f"the nonce of {player_name(player)} is not 32 to 64 hex digits")
        if nonce_hash(match.id, player, published, nonce) != expected:
            raise RecordError(f"the nonce of {player_name(player)} does not match its hash")
        count += 1
    return "1 nonce matches its hash" if count == 1 else f"{count} nonces match their hashes"


def _forfeited(match: Match, missing: Sequence[int], fitting: str) -> str:
    """Check a match that was forfeited before it began, because a player withheld a nonce."""
    if len(missing) != 1 or match.seed is not None or "" in match.about[KEY]["nonces"]:
        raise RecordError("nonces: one is missing, so expected the other one and no seed")
    if match.events != [Forfeit((missing[0],), WITHHELD)]:
        raise RecordError("expected one entry: the player who withheld the nonce forfeits")
    loser = player_name(missing[0])
    return f"the secret matches its commitment, {fitting}, and {loser} forfeits: {WITHHELD}"


def _check_first(match: Match, first: object, seed: int | None) -> None:
    """Check which player starts, if the seed decides it."""
    if first not in (None, "random"):
        raise RecordError("first: expected 'random', or no such key")
    start = match.game.settings().get("first")
    if first == "random" and seed is not None and start != str(first_player(seed) + 1):
        raise RecordError("the record's starting player is not the one that the seed gives")


def draws(match: Match) -> list[dict[str, Any]]:
    """Every chance event with its number n and its odds, so that other programs can check it.

    >>> from duels.core import Match
    >>> from duels.games import load
    >>> match = Match(load("firewall-breach"), seed=2024)
    >>> match.submit(0, "attack")
    >>> [(d["number"], d["n"], d["odds"][0], d["outcome"]) for d in draws(match)]
    [(1, 1, ['1', 1, 6], '2')]
    """
    found: list[dict[str, Any]] = []
    numbers: dict[int, int] = {}  # of draws, by the place in the line of play
    for number, entry in enumerate(match.events):
        if not isinstance(entry, Outcome):
            continue
        turn = match.game.turn(match.state_before(number))
        assert isinstance(turn, Chance)
        n = numbers.setdefault(match.place_before(number), len(numbers) + 1)
        if match.seed is not None and draw(match.seed, n, turn.odds) != entry.outcome:
            raise RecordError(f"entry {number + 1} does not follow from the seed")
        odds = [[face, odd.numerator, odd.denominator] for face, odd in turn.odds.items()]
        found.append({"number": number, "n": n, "odds": odds, "outcome": entry.outcome})
    return found
