"""Makes the shipped table of Cipher Siege. Needs the extra duels[solve].

python3 tools/siege_table.py train --iterations 20000000 --jobs 2 --out FILE   # an hour
python3 tools/siege.py bounds --table FILE --json > BOUNDS                     # as long as wanted
python3 tools/siege_table.py certify FILE BOUNDS                               # writes them there
python3 tools/siege_table.py separate FILE 0.7204 0.2847   # what a separate responder scored

The same command continues an interrupted run; the same arguments give the same table.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from duels.algorithms import tables
from duels.algorithms.compiled import need_numba
from duels.cli.progress import ProgressBar
from duels.games.cipher_siege.bounds.certify import Certificate
from duels.games.cipher_siege.rules import CipherSiege
from duels.games.cipher_siege.strategy import KIND, SEPARATE, outward
from duels.games.cipher_siege.training.rebuild import rebuild


def train(given: argparse.Namespace) -> None:
    """Train, and value the moves; the bounds take longer and are computed by `siege.py bounds`."""
    facts = rebuild(
        CipherSiege(), ProgressBar("Training"), given.out, iterations=given.iterations,
        measure=0, jobs=given.jobs,
    )  # fmt: skip
    print(json.dumps(facts, indent=2))


def amend(path: str, facts: dict[str, Any]) -> None:
    """Add or replace facts of a table; its values stay."""
    table = tables.open_table(path)
    assert table is not None, f"{path} has another format"
    assert table.kind == KIND, f"{path} is no strategy of Cipher Siege"
    game = CipherSiege(**table.settings)
    tables.store(game, bytes(table.payload), KIND, path, {**table.facts, **facts})
    print(json.dumps(facts, indent=2))


def certify(given: argparse.Namespace) -> None:
    """Write the bounds in the last line of each seat into the table."""
    lower, upper = {1: 0.0, 2: 0.0}, {1: 1.0, 2: 1.0}
    for path in given.bounds:
        for line in Path(path).read_text().splitlines():
            found = json.loads(line)
            seat = found["seat"]
            lower[seat], upper[seat] = found["lower"], found["upper"]
    amend(given.table, Certificate((lower[1], lower[2]), (upper[1], upper[2])).facts())


def separate(given: argparse.Namespace) -> None:
    """Write the lower bounds of a separately implemented responder into the table."""
    amend(given.table, {SEPARATE: [outward(score, 1.0)[0] for score in given.scores]})


def main() -> None:
    need_numba()
    parser = argparse.ArgumentParser(description="how the table that ships is made")
    commands = parser.add_subparsers(dest="command", required=True)
    made = commands.add_parser("train")
    made.set_defaults(run=train)
    made.add_argument("--iterations", type=int, required=True, metavar="N", help="of each run")
    made.add_argument("--jobs", type=int, default=1, metavar="N", help="runs at the same time")
    made.add_argument("--out", required=True, metavar="FILE")
    made = commands.add_parser("certify")
    made.set_defaults(run=certify)
    made.add_argument("table", metavar="FILE")
    made.add_argument("bounds", nargs="+", metavar="BOUNDS", help="what tools/siege.py bounds said")
    made = commands.add_parser("separate")
    made.set_defaults(run=separate)
    made.add_argument("table", metavar="FILE")
    made.add_argument(
        "scores", type=float, nargs=2, metavar="SCORE", help="at least, in seat 1 and in seat 2"
    )
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
