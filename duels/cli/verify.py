"""`duels verify`: checks every roll, deal and draw of a record."""

from __future__ import annotations

import json
from argparse import Namespace

from duels.cli.files import read_from
from duels.cli.terminal import Terminal
from duels.core.commitment import KEY, UNHASHED, draws
from duels.core.commitment import verify as verify_shares
from duels.core.errors import RecordError
from duels.core.match import Match

LOCAL = (
    "the program that kept the record chose the seed: this shows that no outcome was"
    " changed, not that the seed was chosen fairly"
)


def verify(terminal: Terminal, given: Namespace) -> int:
    """Show what a record proves. Reading it checks everything except the origin of its seed."""
    match = read_from(given.file)
    shared = KEY in match.about
    if match.seed is None and not shared:
        raise RecordError(f"{given.file}: no seed, so the chance events cannot be checked")
    shares = verify_shares(match) if shared else ""
    _compare(match, given.saw)
    clients = _clients(match) if shared else 0
    made = len(draws(match))
    events = "1 chance event follows" if made == 1 else f"{made} chance events follow"
    events = "" if match.seed is None else f"{events} from the seed"
    said = [part for part in (shares, events, "" if shared else LOCAL) if part]
    if clients or given.saw:
        said.append("the shares are those published before the match")
    if given.json:
        kind = "shared" if shared else "local"
        kind = "shared without hashes" if UNHASHED in shares else kind
        answer = {"file": given.file, "seed": kind, "chance_events": made, "proved": said}
        terminal.say([json.dumps(answer)], whole=True)
    else:
        terminal.say([f"The record is valid: {'; '.join(said)}."])
    return 0


def _compare(match: Match, saw: list[str]) -> None:
    """Check that the record contains the commitments or hashes that the user saw before it."""
    fair = match.about.get(KEY, {})
    published = [fair.get("commitment"), *fair.get("hashes", [])]
    for one in saw:
        if one not in published:
            raise RecordError(
                f"the record has no commitment or hash {one!r}: it was changed after you saw it"
            )


def _clients(match: Match) -> int:
    """Compare with the shares stored by clients on this machine; returns their number."""
    from duels.client.nonces import load as load_client

    clients = [client for player in (0, 1) if (client := load_client(match.id, player))]
    for client in clients:
        client.check(match)
    return len(clients)
