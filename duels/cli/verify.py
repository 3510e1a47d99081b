"""`duels verify`: every roll, deal and draw of a record computed again."""

from __future__ import annotations

from argparse import Namespace

from duels.cli.files import read_from
from duels.cli.terminal import Terminal
from duels.core.errors import RecordError
from duels.core.fair import draws
from duels.core.fair import verify as verify_shares


def verify(terminal: Terminal, given: Namespace) -> int:
    """Say that a record is right; reading it checks all but where its seed comes from."""
    match = read_from(given.file)
    if match.seed is None:
        raise RecordError(f"{given.file}: the match has no seed, so its chance cannot be checked")
    made = len(draws(match))
    shares = verify_shares(match)
    events = "1 chance event follows" if made == 1 else f"{made} chance events follow"
    terminal.say([f"The record is right: {shares}; {events} from the seed."])
    return 0
