"""`duels positions`: a data set of positions with values and mixed strategies of perfect play."""

from __future__ import annotations

import json
import os
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import Any

from duels.algorithms.solutions import solve
from duels.analysis.datasets import LabelledPosition, features_of, positions
from duels.cli.files import checked_path, shown
from duels.cli.progress import ProgressBar
from duels.cli.terminal import Terminal
from duels.core.errors import DuelsError, OptionError
from duels.core.extras import need
from duels.core.game import AnyGame
from duels.core.wire import dump_observation
from duels.games import find

PATIENCE = 2.0  # seconds before a bar is shown
FORMAT, VERSION = "duels positions", 1  # of a data set
KEYS = {"mixed_strategy": "mix"}  # fields with another name in the file


def positions_command(terminal: Terminal, given: Namespace) -> int:
    game = find(given.game)(**dict(given.set))
    path = given.out or f"{game.slug}-positions.{given.format}"
    if path == "-" and given.format != "jsonl":
        raise OptionError(
            f"only jsonl can be written to standard output; {given.format} needs --out FILE"
        )
    write = WRITERS[given.format]()
    if path == "-":
        terminal.say(_lines(game, _found(game, given)))
        return 0
    path = checked_path(path)
    new = not os.path.lexists(path)
    try:
        with open(path, "ab"):  # a file that cannot be written is reported before the work
            pass
    except OSError as error:
        raise DuelsError(f"cannot write {shown(path)}: {error.strerror}") from None
    try:
        found = _found(game, given)
        write(path, game, found)
    except BaseException:
        if new:
            os.unlink(path)
        raise
    tests = sum(position.split == "test" for position in found)
    summary = f"{path}: {len(found):,} positions, {tests:,} of them for testing."
    fewer = f" {game.title} has no more." if len(found) < given.count and not given.split else ""
    terminal.say([summary + fewer])
    return 0


def _found(game: AnyGame, given: Namespace) -> list[LabelledPosition]:
    bar = ProgressBar(f"Positions of {game.title}")
    began = time.monotonic()

    def progress(part: float, what: str) -> None:
        if time.monotonic() - began > PATIENCE:
            bar(min(part, 0.99), what)

    wanted = positions(game, given.count, seed=given.seed, split=given.split, progress=progress)
    try:
        return list(wanted)
    finally:
        bar.done()


def _about(game: AnyGame) -> dict[str, Any]:
    """Description of a data set: format, game and options."""
    solution = solve(game)
    return {
        "format": FORMAT, "version": VERSION, "game": game.slug, "options": game.settings(),
        **({"unit": solution.unit.name} if solution.unit.pays else {}),
        **({"exploitability": solution.at_most} if solution.approximate else {}),
    }  # fmt: skip


def _lines(game: AnyGame, found: list[LabelledPosition]) -> Iterator[str]:
    about = _about(game)
    for position in found:
        fields = {KEYS.get(name, name): value for name, value in position._asdict().items()} | {
            "player": position.player + 1,
            "state": dump_observation(game, position.state)["fields"],
            "value": position.value,
        }
        del fields["total"]
        yield json.dumps(about | fields)


def _jsonl() -> Callable[..., None]:
    def write(path: str, game: AnyGame, found: list[LabelledPosition]) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in _lines(game, found))

    return write


def _columns(np: Any, game: AnyGame, found: list[LabelledPosition]) -> dict[str, Any]:
    def column(name: str, dtype: Any, width: int | None = None) -> Any:
        values = np.array([getattr(position, name) for position in found], dtype)
        return values if width is None else values.reshape(len(found), width)

    moves, features = len(game.moves()), len(features_of(game))
    return {
        "observation": column("observation", np.int16, features),
        "mask": column("mask", np.bool_, moves),
        "mix": column("mixed_strategy", np.float64, moves),
        "value": column("value", np.float64),
        "player_value": column("player_value", np.float64),
        "player_worth": column("player_worth", np.float64, moves),
        "player": column("player", np.int8) + np.int8(1),
        "test": np.array([position.split == "test" for position in found], np.bool_),
    }


def _npz() -> Callable[..., None]:
    np = need("numpy", extra="solve")

    def write(path: str, game: AnyGame, found: list[LabelledPosition]) -> None:
        names = {"moves": np.array(game.moves()), "features": np.array(features_of(game))}
        about = {"about": np.array(json.dumps(_about(game)))}
        with open(path, "wb") as file:  # given a name, numpy would append an extension
            np.savez_compressed(file, **_columns(np, game, found), **names, **about)

    return write


def _parquet() -> Callable[..., None]:
    arrow, parquet = need("pyarrow", extra="parquet"), need("pyarrow.parquet", extra="parquet")
    np = need("numpy", extra="parquet")

    def write(path: str, game: AnyGame, found: list[LabelledPosition]) -> None:
        columns = _columns(np, game, found)
        described = {**_about(game), "moves": game.moves(), "features": features_of(game)}
        about = {name: json.dumps(value) for name, value in described.items()}
        parts = {
            name: values if values.ndim == 1 else list(values) for name, values in columns.items()
        }
        table = arrow.table(parts)
        parquet.write_table(table.replace_schema_metadata(about), path)

    return write


WRITERS: dict[str, Callable[[], Callable[..., None]]] = {
    "jsonl": _jsonl, "npz": _npz, "parquet": _parquet,
}  # fmt: skip
