"""`duels bench`: a language model measured by exact regret or exact exploitability."""

from __future__ import annotations

import json
import os
import re
from argparse import Namespace
from pathlib import Path
from typing import Any

from duels.algorithms.solution import Progress
from duels.cli.arena import games
from duels.cli.files import checked_path, shown
from duels.cli.progress import PATIENCE, ProgressBar
from duels.cli.terminal import Terminal
from duels.core.errors import DuelsError, OptionError, file_error, quote
from duels.core.game import AnyGame
from duels.games import load
from duels.llm.bench import (
    POLICY,
    Item,
    Price,
    Run,
    detectable,
    items_at_stake,
    items_of_policy,
    planned,
    run_game,
)
from duels.llm.dialogue import MIX, MOVE, Question
from duels.llm.endpoint import BuiltInPlayer, Endpoint, Server
from duels.llm.report import text

FORMAT, VERSION = "duels bench", 1
RESULT, TRANSCRIPTS = "result.json", "transcripts.jsonl"


def bench(terminal: Terminal, given: Namespace) -> int:
    if bool(given.model) == bool(given.player):
        raise OptionError("give --model NAME, or --player NAME for a built-in player")
    name = given.model or given.player
    price = None if given.price is None else read_price(given.price, name)
    if given.budget is not None and price is None:
        raise OptionError("--budget needs --price FILE to compute the cost")
    answer = given.answer or (MIX if given.mode == POLICY and given.samples == 1 else MOVE)
    question = Question(answer, given.legal_moves == "yes")
    chosen = wanted(terminal, given)
    if given.dry_run:
        return dry_run(terminal, given, chosen, question, price)
    endpoint: Endpoint
    if given.player:
        endpoint = BuiltInPlayer(given.player, question)
    else:
        parameters = {key: parameter(value) for key, value in given.param}
        endpoint = Server(given.model, given.base_url, parameters, given.timeout)
    usual = "bench-" + re.sub(r"[^\w.-]+", "-", endpoint.name)
    folder = Path(checked_path(given.out or usual))
    found, transcripts = [], []
    for game, items in chosen:
        bar = ProgressBar(f"{endpoint.name} at {game.title}", PATIENCE)
        run = Run(
            endpoint, question, samples=given.samples, folder=folder, price=price,
            concurrency=given.concurrency, budget=given.budget,
            progress=below_whole(bar),
        )  # fmt: skip
        try:
            result = run_game(game, given.mode, items, run)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"all answers so far are stored in {shown(str(folder))}; the same command continues"
            ) from None
        finally:
            bar.done()
            run.answers.close()
        if given.budget is not None:
            given.budget -= run.spent
        transcripts += [{"game": game.slug, **said} for said in result.pop("transcripts")]
        found.append(result)
    whole = {
        "format": FORMAT, "version": VERSION, "model": endpoint.name,
        "parameters": dict(endpoint.parameters), "mode": given.mode, "answer": answer,
        "samples": given.samples, "legal_moves": question.legal_moves,
        "chances": question.chances, "seed": given.seed, "games": found,
    }  # fmt: skip
    write(folder / RESULT, json.dumps(whole, indent=1) + "\n")
    write(folder / TRANSCRIPTS, "".join(json.dumps(said) + "\n" for said in transcripts))
    if given.json:
        terminal.say([json.dumps(whole, indent=1)], whole=True)
    else:
        where = f"Results and transcripts: {shown(str(folder))}"
        terminal.say([*text(whole, ascii_only=terminal.ascii), where], whole=True)
    return 0


def below_whole(bar: ProgressBar) -> Progress:
    """Progress of which the last part does not end the bar's line."""
    return lambda part, what: bar(min(part, 0.99), what)


def wanted(terminal: Terminal, given: Namespace) -> list[tuple[AnyGame, list[Item]]]:
    """The games with the positions to ask about; those that cannot be measured only if named."""
    found = []
    for setting in games(given.games, given.set):
        game = load(setting.slug, **dict(setting.options))
        bar = ProgressBar(f"Positions of {game.title}", PATIENCE)
        try:
            if given.mode == POLICY:
                items = items_of_policy(game)
            else:
                items = items_at_stake(game, given.count, given.seed, bar)
            if not items:
                raise OptionError(f"no position of {game.slug} has moves that differ in value")
        except OptionError as error:
            if given.games is not None:
                raise
            terminal.note(f"Left out: {error}.")
            continue
        finally:
            bar.done()
        found.append((game, items))
    if not found:
        raise OptionError("no game can be measured with these options")
    return found


def dry_run(
    terminal: Terminal, given: Namespace, chosen: list[tuple[AnyGame, list[Item]]],
    question: Question, price: Price | None,
) -> int:  # fmt: skip
    """What a run would cost and what it could show, without a call."""
    found: list[dict[str, Any]] = []
    for game, items in chosen:
        plan = {"game": game.slug, **planned(items, question, given.samples, price)}
        if given.mode != POLICY:
            plan["detectable"] = detectable(items, given.samples)
        found.append(plan)
    if given.json:
        terminal.say([json.dumps(found, indent=1)], whole=True)
        return 0
    for plan in found:
        cost = f", about {plan['cost']:.2f} USD" if "cost" in plan else ""
        least = plan.get("detectable")
        finds = "" if least is None else f"; can detect a difference in skill of {least:.2f}"
        read, written = plan["tokens"]["read"], plan["tokens"]["written"]
        terminal.say([
            f"{plan['game']}: {plan['calls']:,} calls, "
            f"about {read:,} input tokens and {written:,} output tokens{cost}{finds}",
        ])  # fmt: skip
    return 0


def read_price(path: str, model: str) -> Price:
    """The prices of a model in a file."""
    try:
        listed = json.loads(Path(checked_path(path)).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DuelsError(f"cannot read {shown(path)}: {file_error(error)}") from None
    try:
        price = listed[model]
        found = Price(float(price["input"]), float(price["output"]))
    except (KeyError, TypeError, ValueError):
        found = Price(-1, -1)
    if not (0 <= found.read < 1e6 and 0 <= found.written < 1e6):
        raise OptionError(
            f"{shown(path)} has no prices of {quote(model)}; expected "
            f'{{{json.dumps(model)}: {{"input": USD, "output": USD}}}}, for a million tokens'
        )
    return found


def parameter(value: str) -> Any:
    """A parameter of a request: JSON if it is, else text."""
    try:
        return json.loads(value)
    except ValueError:
        return value


def write(path: Path, content: str) -> None:
    """Write a file whole or not at all."""
    part = path.with_suffix(".part")
    try:
        part.write_text(content, encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        raise DuelsError(f"cannot write {shown(str(path))}: {file_error(error)}") from None
