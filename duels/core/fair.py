"""Dice that neither side alone can choose or foresee, and that anyone can check afterwards.

Whoever runs a match draws a secret and publishes the commitment to it. Each player then adds a
nonce. The seed follows from all three, so nobody who knows less can compute it; once the match is
over the secret is told, and all of it can be computed again. A record has it under `about`:

>>> from duels.core import Match
>>> from duels.games import load
>>> secret, nonces = 2**255, ("00ff", "")
>>> match = Match(load("firewall-breach"), shared_seed(secret, nonces))
>>> match.about |= {"fair": told(secret, nonces)}
>>> verify(match)
'the secret fits its commitment, the seed follows from it and 1 nonce'
>>> match.about["fair"]["nonces"] = ["00fe", ""]
>>> verify(match)
Traceback (most recent call last):
duels.core.errors.RecordError: the seed does not follow from the secret and the nonces
"""

from __future__ import annotations

import os
from typing import Any

from duels.core.chance import commitment, draw
from duels.core.errors import RecordError
from duels.core.game import Chance, Outcome
from duels.core.match import Match

KEY = "fair"  # of `about` in a record
HEX = frozenset("0123456789abcdef")


def new_secret() -> int:
    """A secret of 256 bits that nobody can guess."""
    return int.from_bytes(os.urandom(32), "big") | 1 << 255


def is_nonce(text: object) -> bool:
    """Whether a text can be a player's share: 16 to 64 hexadecimal digits in lower case."""
    return isinstance(text, str) and 16 <= len(text) <= 64 and set(text) <= HEX


def shared_seed(secret: int, nonces: tuple[str, str]) -> int:
    """The seed of a match: the SHA-256 of the secret and both nonces, empty for a computer."""
    from hashlib import sha256

    text = f"duels seed {secret} {nonces[0]} {nonces[1]}"
    return int.from_bytes(sha256(text.encode()).digest(), "big")


def told(secret: int, nonces: tuple[str, str]) -> dict[str, Any]:
    """What a finished record says of its seed."""
    return {"commitment": commitment(secret), "secret": str(secret), "nonces": list(nonces)}


def verify(match: Match) -> str:
    """Check where the seed of a match comes from, and say so; a RecordError if it is wrong.

    That the outcomes follow from the seed was checked when the record was loaded.
    """
    match match.about.get(KEY):
        case {"commitment": str(published), "secret": str(secret), "nonces": [str(one), str(two)]}:
            pass
        case _:
            raise RecordError("the record does not tell a secret and nonces to check its seed by")
    if not (secret.isascii() and secret.isdigit() and len(secret) < 100):
        raise RecordError("the secret is not a number")
    if commitment(int(secret)) != published:
        raise RecordError("the secret does not fit the commitment that was published")
    if shared_seed(int(secret), (one, two)) != match.seed:
        raise RecordError("the seed does not follow from the secret and the nonces")
    given = sum(map(bool, (one, two)))
    nonces = f"{given} nonce{'' if given == 1 else 's'}"
    return f"the secret fits its commitment, the seed follows from it and {nonces}"


def draws(match: Match) -> list[dict[str, Any]]:
    """Every chance event with its number n and its odds, to compute it again elsewhere.

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
