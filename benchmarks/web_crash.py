"""Faults of the server and its database while players play: was anything lost, or played twice?

`python benchmarks/web_crash.py --times 100` repeats every fault a hundred times on every store that
has it (tests/server/faults.py). `--fault NAME` and `--store sqlite|postgres` choose some of them.
The exit status is 1 if anything was lost or repeated, or if play did not go on.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.server.faults import FAULTS, PAIRS, POSTGRES, SQLITE, Unusable, run_fault

COLUMNS = (
    "fault", "store", "times", "matches", "moves", "damaged matches", "reconnections",
    "repeated commands", "refusals", "seconds",
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--fault", action="append", choices=FAULTS, metavar="NAME")
    parser.add_argument("--store", choices=(SQLITE, POSTGRES))
    args = parser.parse_args()
    print("|".join(["", *COLUMNS, ""]))
    print("|" + "---|" * len(COLUMNS))
    failed = False
    for name, store in PAIRS:
        if (args.fault and name not in args.fault) or args.store not in (None, store):
            continue
        began = time.monotonic()
        try:
            crowd = asyncio.run(run_fault(name, store, args.times, args.pairs))
        except Unusable as error:
            print(f"|{name}|{store}|not run: {error}|" + "|" * (len(COLUMNS) - 3))
            continue
        except Exception:
            failed = True
            print(f"|{name}|{store}|failed|" + "|" * (len(COLUMNS) - 3), flush=True)
            traceback.print_exc()
            continue
        found = (
            name, store, args.times, len(crowd.played), crowd.moves, crowd.lost_to_damage,
            crowd.reconnected, crowd.resent, crowd.refused, round(time.monotonic() - began),
        )  # fmt: skip
        print("|".join(["", *map(str, found), ""]), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
