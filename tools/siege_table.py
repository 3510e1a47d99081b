"""The table of Cipher Siege that ships: how it is made. Needs the extra duels[solve].

python3 tools/siege_table.py train --iterations 20000000 --jobs 2 --out FILE   # an hour
python3 tools/siege.py bounds --table FILE --json > BOUNDS                     # as long as wanted
python3 tools/siege_table.py certify FILE BOUNDS                               # writes them there

A run that is stopped goes on with the same command; the same numbers give the same table.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from duels.cli.progress import ProgressBar
from duels.games.cipher_siege import CipherSiege
from duels.solve import tables
from duels.solve.compiled import need_numba
from duels.solve.siege.certify import Certificate
from duels.solve.siege.rebuild import rebuild
from duels.solve.siege.strategy import KIND


def train(given: argparse.Namespace) -> None:
    """Train and value the moves; the bounds, which take far longer here, are measured apart."""
    facts = rebuild(
        CipherSiege(), ProgressBar("Training"), given.out, iterations=given.iterations,
        measure=0, jobs=given.jobs,
    )  # fmt: skip
    print(json.dumps(facts, indent=2))


def certify(given: argparse.Namespace) -> None:
    """Write the bounds into the table, those of the last line of each seat."""
    table = tables.open_table(given.table)
    assert table is not None, f"{given.table} has another format"
    assert table.kind == KIND, f"{given.table} is no strategy of Cipher Siege"
    lower, upper = {1: 0.0, 2: 0.0}, {1: 1.0, 2: 1.0}
    for path in given.bounds:
        for line in Path(path).read_text().splitlines():
            found = json.loads(line)
            seat = found["seat"]
            lower[seat], upper[seat] = found["lower"], found["upper"]
    bounds = Certificate((lower[1], lower[2]), (upper[1], upper[2])).facts()
    game = CipherSiege(**table.settings)
    tables.store(game, bytes(table.payload), KIND, given.table, {**table.facts, **bounds})
    print(json.dumps(bounds, indent=2))


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
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
