"""`duels positions`: a data set of positions with exact values and mixes."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from duels.cli.files import named, shown
from duels.cli.progress import ProgressBar
from duels.cli.terminal import Terminal
from duels.core.errors import DuelsError, OptionError
from duels.core.game import AnyGame, state_to_json
from duels.envs.extras import need
from duels.games import find
from duels.solve.positions import Position, positions

PATIENCE = 2.0  # seconds before a bar is shown


def positions_command(terminal: Terminal, given: Namespace) -> int:
    game = find(given.game)(**dict(given.set))
    path = given.out or f"{game.slug}-positions.{given.format}"
    if path == "-" and given.format != "jsonl":
        raise OptionError(f"only jsonl goes to the output; {given.format} needs --out FILE")
    write = WRITERS[given.format]()
    if path != "-":
        path = named(path)
        try:
            with open(path, "ab"):  # said before the work
                pass
        except OSError as error:
            raise DuelsError(f"cannot write {shown(path)}: {error.strerror}") from None
    bar = ProgressBar(f"Positions of {game.title}")
    began = time.monotonic()

    def progress(part: float, what: str) -> None:
        if time.monotonic() - began > PATIENCE:
            bar(min(part, 0.99), what)

    wanted = positions(game, given.n, seed=given.seed, split=given.split, progress=progress)
    found = list(wanted)
    if path == "-":
        bar.done()
        terminal.say([_line(position) for position in found])
    else:
        write(path, game, found)
        bar.done()
        tests = sum(position.split == "test" for position in found)
        told = f"{path}: {len(found):,} positions, {tests:,} of them to test with."
        fewer = f" {game.title} has no more." if len(found) < given.n and not given.split else ""
        terminal.say([told + fewer])
    return 0


def _line(position: Position) -> str:
    told = position._asdict() | {"state": state_to_json(position.state)}
    return json.dumps(told | {"player": position.player + 1})


def _jsonl() -> Callable[..., None]:
    def write(path: str, game: AnyGame, found: list[Position]) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(_line(position) + "\n" for position in found)

    return write


def _columns(np: Any, game: AnyGame, found: list[Position]) -> dict[str, Any]:
    def column(name: str, dtype: Any, width: int | None = None) -> Any:
        values = np.array([getattr(position, name) for position in found], dtype)
        return values if width is None else values.reshape(len(found), width)

    moves, features = len(game.moves()), len(game.features())
    return {
        "observation": column("observation", np.int16, features),
        "mask": column("mask", np.bool_, moves),
        "mix": column("mix", np.float64, moves),
        "worth": column("worth", np.float64, moves),
        "value": column("value", np.float64),
        "player": column("player", np.int8) + np.int8(1),
        "test": np.array([position.split == "test" for position in found], np.bool_),
    }


def _npz() -> Callable[..., None]:
    np = need("numpy", extra="solve")

    def write(path: str, game: AnyGame, found: list[Position]) -> None:
        names = {"moves": np.array(game.moves()), "features": np.array(game.features())}
        with open(path, "wb") as file:  # or numpy adds an ending of its own
            np.savez_compressed(file, **_columns(np, game, found), **names)

    return write


def _parquet() -> Callable[..., None]:
    arrow, parquet = need("pyarrow", extra="parquet"), need("pyarrow.parquet", extra="parquet")
    np = need("numpy", extra="parquet")

    def write(path: str, game: AnyGame, found: list[Position]) -> None:
        columns = _columns(np, game, found)
        about = {"moves": json.dumps(game.moves()), "features": json.dumps(game.features())}
        parts = {
            name: values if values.ndim == 1 else list(values) for name, values in columns.items()
        }
        table = arrow.table(parts)
        parquet.write_table(table.replace_schema_metadata(about), path)

    return write


WRITERS: dict[str, Callable[[], Callable[..., None]]] = {
    "jsonl": _jsonl, "npz": _npz, "parquet": _parquet,
}  # fmt: skip
