"""`duels positions`: a data set of positions with values and mixed strategies of perfect play."""

from __future__ import annotations

import json
import os
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import Any

from duels import __version__
from duels.algorithms.solutions import solve
from duels.analysis.datasets import NOTHING, LabelledPosition, difficulties, features_of, positions
from duels.cli.files import checked_path, shown
from duels.cli.progress import ProgressBar
from duels.cli.terminal import Terminal
from duels.core.errors import DuelsError, OptionError
from duels.core.extras import need
from duels.core.game import AnyGame
from duels.core.wire import dump_observation
from duels.envs.policy import view_of
from duels.games import find
from duels.llm.dialogue import Dialogue

PATIENCE = 2.0  # seconds before a bar is shown
FORMAT, VERSION = "duels positions", 1  # of a data set
KEYS = {"mixed_strategy": "mix"}  # fields with another name in the file


CARD = """\
---
task_categories: [text-generation]
tags: [games, game-theory]
---
# Positions of {title}

{summary}

{count} positions, each once; {tests} of them are for testing, the others for training. In {stakes}
of them moves differ in value. Values and mixed strategies are {values}.

## How it was made

Duels {version} wrote it:

    {command}

Positions come from games in which each choice is random or perfect. The split of a position is a
hash of the position and the rules, so no test position is in the training split of any data set of
this game, for any size and seed.

## Fields

- `prompt`, `answer`: what `duels bench` asks, and the most likely move of perfect play
- `split`, `player`, `state`, `observation`, `mask`: the position
- `mix`: the optimal mixed strategy
- `player_value`, `player_worth`: the player's expected score with perfect play, and with each move
- `stake`: the expected regret of a random move; `difficulty`: its quarter, 0 if nothing is at stake
- `depth`: the number of choices before the position, in the game in which it was found
"""


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
    if given.card:
        write_card(given.card, game, found, given)
    tests = sum(position.split == "test" for position in found)
    summary = f"{path}: {len(found):,} positions, {tests:,} of them for testing."
    fewer = f" {game.title} has no more." if len(found) < given.count and not given.split else ""
    terminal.say([summary + fewer])
    return 0


def write_card(path: str, game: AnyGame, found: list[LabelledPosition], given: Namespace) -> None:
    """Write the card of a data set: what it contains and how it was made."""
    rules = " ".join(f"--set {name}={value}" for name, value in game.differing().items())
    split = f" --split {given.split}" if given.split else ""
    command = f"duels positions {game.slug} {rules} -n {given.count} --seed {given.seed}{split}"
    tests = sum(position.split == "test" for position in found)
    stakes = sum(position.stake > NOTHING for position in found)
    values = "approximate" if solve(game).approximate else "exact"
    text = CARD.format(
        title=game.title, summary=game.summary, count=f"{len(found):,}", tests=f"{tests:,}",
        stakes=f"{stakes:,}", values=values, version=__version__,
        command=" ".join(command.split()),
    )  # fmt: skip
    try:
        with open(checked_path(path), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise DuelsError(f"cannot write {shown(path)}: {error.strerror}") from None


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


def texts(game: AnyGame, position: LabelledPosition) -> dict[str, str | None]:
    """What `duels bench` asks about a position, and the answer of perfect play.

    With hidden information there is no prompt, since a position has no history here.
    """
    moves = game.moves()
    best = max(range(len(moves)), key=lambda k: position.mixed_strategy[k])
    prompt = None
    if not game.private:
        prompt = Dialogue(view_of(game, position.state, position.player)).messages[0]["content"]
    return {"prompt": prompt, "answer": f"MOVE: {moves[best]}"}


def _lines(game: AnyGame, found: list[LabelledPosition]) -> Iterator[str]:
    about = _about(game)
    for position, difficulty in zip(found, difficulties(found), strict=True):
        fields = {KEYS.get(name, name): value for name, value in position._asdict().items()} | {
            "player": position.player + 1,
            "state": dump_observation(game, position.state)["fields"],
            "value": position.value,
            **texts(game, position),
            "stake": position.stake,
            "difficulty": difficulty,
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
        "stake": column("stake", np.float64),
        "depth": column("depth", np.int32),
        "difficulty": np.array(difficulties(found), np.int8),
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
        written = [texts(game, position) for position in found]
        for name in ("prompt", "answer"):
            parts[name] = arrow.array([text[name] for text in written], arrow.string())
        table = arrow.table(parts)
        parquet.write_table(table.replace_schema_metadata(about), path)

    return write


WRITERS: dict[str, Callable[[], Callable[..., None]]] = {
    "jsonl": _jsonl, "npz": _npz, "parquet": _parquet,
}  # fmt: skip
