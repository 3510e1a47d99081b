"""`duels serve` in a process of its own, with the time and the secret fixed.

With `--plant` there is a fault in it, to show that what measures it finds that.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import Any

from duels.core.match import Match
from duels.server import messages
from duels.server.rooms import Room
from duels.server.serve import address, listen, run
from tests.server.hidden import FIXED, LATER


def leak_a_length() -> None:
    """Messages are longer by what is hidden."""
    usual = messages.update

    def update(room: Room, viewer: int | None, since: int, *more: Any, **named: Any) -> bytes:
        return usual(room, viewer, since, *more, **named) + b" " * _hidden(room.playing())

    messages.update = update


def leak_a_header() -> None:
    """An answer has a tag that is made of what is hidden."""
    from duels.server import routes

    usual = routes.Api.record

    async def record(self: routes.Api, request: Any) -> Any:
        found = await usual(self, request)
        room = self.manager.rooms[request.path_params["id"]]
        found.headers["ETag"] = str(_hidden(room.playing()))
        return found

    routes.Api.record = record  # type: ignore[method-assign]


def _hidden(match: Match) -> int:
    picks = [int(made[0]) for made in match.pending()["picks"].values()]
    hands = getattr(match.state, "hands", ((), ()))
    return sum(picks) + sum(hands[0]) + 3 * sum(hands[1])


def leak_a_delay(move: str, seconds: float) -> None:
    """A certain move takes longer."""
    usual = Room.submit

    def submit(self: Room, seat: int, at: int, chosen: str | None, *more: Any) -> None:
        if chosen == move:
            until = time.perf_counter() + seconds
            while time.perf_counter() < until:
                pass
        usual(self, seat, at, chosen, *more)

    Room.submit = submit  # type: ignore[method-assign,assignment]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--database", required=True)
    parser.add_argument("--no-limits", action="store_true")
    parser.add_argument("--plant", choices=("length", "header", "delay"))
    parser.add_argument("--move", default="")
    parser.add_argument("--delay", type=float, default=0.0, help="microseconds")
    args = parser.parse_args()
    if args.plant == "length":
        leak_a_length()
    elif args.plant == "header":
        leak_a_header()
    elif args.plant == "delay":
        leak_a_delay(args.move, args.delay * 1e-6)
    settings = replace(FIXED, database=args.database, port=args.port, now=lambda: LATER)
    listening = listen(settings)
    print(f"Serving Duels on {address(settings, listening)}", flush=True)
    return run(settings, [listening])


if __name__ == "__main__":
    raise SystemExit(main())
