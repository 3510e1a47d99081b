"""`duels bench`: a language model measured by exact regret or exact exploitability."""

from __future__ import annotations

import json
import os
import re
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from duels.algorithms.solution import Progress, Unsolved
from duels.algorithms.solutions import solve
from duels.cli.arena import games
from duels.cli.files import checked_path, shown
from duels.cli.files import write as write_file
from duels.cli.progress import PATIENCE, ProgressBar
from duels.cli.terminal import Terminal
from duels.core.errors import DuelsError, OptionError, file_error, quote
from duels.games import load
from duels.llm import results
from duels.llm.bench import (
    CODE,
    MATCHES,
    POLICY,
    POSITIONS,
    QUIZ,
    USUAL,
    Plan,
    Price,
    Run,
    Wanted,
    planned,
    plans,
    run_plan,
)
from duels.llm.dialogue import MIX, MOVE, Question
from duels.llm.endpoint import BuiltInPlayer, Endpoint, Server
from duels.llm.page import leaderboard, page
from duels.llm.report import compared, text
from duels.players import full_name, needs_solution

BASELINES = ("random", "greedy", "easy", "medium", "hard", "perfect")
LEADERBOARD = "leaderboard.html"


def bench(terminal: Terminal, given: Namespace) -> int:
    if given.action == "compare":
        return compare(terminal, given)
    if given.action == "leaderboard":
        return write_leaderboard(terminal, given)
    check(given)
    name = given.model or given.player or ""
    price = None if given.price is None else read_price(given.price, name)
    wanted = wanted_of(given)
    chosen = planned_games(terminal, given, wanted)
    if given.dry_run:
        return dry_run(terminal, given, chosen, price)
    usual = "bench-" + (re.sub(r"[^\w.-]+", "-", name) or "baselines")
    folder = Path(checked_path(given.out or usual))
    runs: list[tuple[Endpoint, Path]] = []
    if given.model:
        parameters = {key: parameter(value) for key, value in given.param}
        server = Server(given.model, given.base_url, parameters, given.timeout)
        runs.append((server, folder))
    elif given.player:
        runs.append((BuiltInPlayer(given.player, wanted.question), folder))
    for baseline in BASELINES if given.baselines else ():
        if full_name(given.player or baseline) != baseline or not given.player:
            place = folder / "baselines" / baseline
            runs.append((BuiltInPlayer(baseline, wanted.question), place))
    found = []
    for endpoint, place in runs:
        paid = price if isinstance(endpoint, Server) else None
        found.append(measured(terminal, given, endpoint, place, wanted, chosen, paid))
    if given.json:
        terminal.say([json.dumps(found[0] if len(found) == 1 else found, indent=1)], whole=True)
    else:
        for result, (_, place) in zip(found, runs, strict=True):
            where = f"Results, page and transcripts: {shown(str(place))}"
            terminal.say([*text(result, ascii_only=terminal.ascii), where, ""], whole=True)
    if given.baselines:
        loaded = [results.load(str(place)) for _, place in runs]
        write(folder / LEADERBOARD, leaderboard(loaded))
        terminal.note(f"Leaderboard: {shown(str(folder / LEADERBOARD))}")
    return 0


def check(given: Namespace) -> None:
    """Raise `OptionError` for arguments that contradict each other."""
    if given.folders:
        raise OptionError(f"expected compare or leaderboard before {shown(given.folders[0])}")
    if given.model and given.player:
        raise OptionError("give --model NAME or --player NAME, not both")
    if not (given.model or given.player or given.baselines):
        raise OptionError(
            "give --model NAME, --player NAME for a built-in player, or --baselines for all"
        )
    if given.mode in (QUIZ, CODE) and (given.player or given.baselines):
        raise OptionError(f"built-in players take no part in --mode {given.mode}; give --model")
    if given.mode == CODE and not given.allow_code:
        raise OptionError(
            "--mode code runs programs that the model writes, with your rights: read 'What is not "
            "contained' in docs/reference/bots.md, then add --allow-code"
        )
    if given.mode == CODE and given.variants:
        raise OptionError("--mode code takes no --variants: programs get all options")
    if given.mode == MATCHES and given.samples > 1:
        raise OptionError("--mode matches takes no --samples; play more pairs with -n")
    if given.variants and given.set:
        raise OptionError("give --variants or --set, not both")
    if given.budget is not None and given.price is None:
        raise OptionError("--budget needs --price FILE, to know what is spent")
    if given.mode == MATCHES:
        from duels.players import BUILT_IN

        if full_name(given.opponent) not in BUILT_IN:
            raise OptionError("--opponent takes a built-in player")


def wanted_of(given: Namespace) -> Wanted:
    answer = given.answer or (MIX if given.mode == POLICY and given.samples == 1 else MOVE)
    return Wanted(
        given.mode, Question(answer, given.legal_moves == "yes"),
        USUAL[given.mode] if given.count is None else given.count, given.samples, given.seed,
        full_name(given.opponent), given.variants, tuple(name for name, _ in given.set),
    )  # fmt: skip


def measured(
    terminal: Terminal, given: Namespace, endpoint: Endpoint, folder: Path, wanted: Wanted,
    chosen: Sequence[Plan], price: Price | None,
) -> dict[str, Any]:  # fmt: skip
    """Ask a model or a player, and write its files."""
    run = Run(
        endpoint, folder=folder, price=price, concurrency=given.concurrency, budget=given.budget,
    )  # fmt: skip
    found, transcripts, records = [], list[dict[str, Any]](), list[dict[str, Any]]()
    try:
        for plan in chosen:
            if isinstance(endpoint, BuiltInPlayer) and not plays(endpoint.name, plan):
                terminal.note(f"Left out: {endpoint.name} does not play {plan.game.slug}.")
                continue
            bar = ProgressBar(f"{endpoint.name} at {plan.game.title}", PATIENCE)
            run.progress = below_whole(bar)
            try:
                result = run_plan(plan, run, folder)
            finally:
                bar.done()
            said = result.pop("transcripts")
            transcripts += [{"game": plan.game.slug, **each} for each in said]
            records += result.pop("records", [])
            found.append(result)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"all answers so far are stored in {shown(str(folder))}; the same command continues"
        ) from None
    finally:
        run.answers.close()
    whole = {
        "format": results.FORMAT, "version": results.VERSION, "model": endpoint.name,
        "parameters": dict(endpoint.parameters), "mode": wanted.mode,
        "answer": wanted.question.answer, "samples": wanted.samples,
        "legal_moves": wanted.question.legal_moves, "chances": wanted.question.chances,
        "seed": wanted.seed, **({"opponent": wanted.opponent} if wanted.mode == MATCHES else {}),
        "games": found,
    }  # fmt: skip
    lines = {"transcripts": transcripts, **({"records": records} if records else {})}
    for kind, each in lines.items():
        written = "".join(json.dumps(line) + "\n" for line in each)
        write(folder / f"{wanted.mode}-{kind}.jsonl", written)
    write(folder / f"{wanted.mode}.html", page(whole))
    write(folder / f"{wanted.mode}.json", json.dumps(whole, indent=1) + "\n")
    return whole


def plays(player: str, plan: Plan) -> bool:
    """Whether a built-in player plays the games of a plan; some need a solution."""
    if needs_solution(player):
        try:
            for game in plan.games:
                solve(game)
        except Unsolved:
            return False
    return True


def below_whole(bar: ProgressBar) -> Progress:
    """Progress of which the last part does not end the bar's line."""
    return lambda part, what: bar(min(part, 0.99), what)


def planned_games(terminal: Terminal, given: Namespace, wanted: Wanted) -> list[Plan]:
    """What is asked about each game; games that cannot be measured are refused only if named."""
    found: list[Plan] = []
    for setting in games(given.games, given.set):
        game = load(setting.slug, **dict(setting.options))
        bar = ProgressBar(f"Positions of {game.title}", PATIENCE)
        try:
            found += plans(game, wanted, below_whole(bar))
        except (OptionError, Unsolved) as error:
            if given.games is not None:
                raise
            terminal.note(f"Left out: {error}.")
        finally:
            bar.done()
    if not found:
        raise OptionError("no game can be measured with these options")
    return found


def dry_run(
    terminal: Terminal, given: Namespace, chosen: Sequence[Plan], price: Price | None
) -> int:
    """What a run would cost and what it could show, without a call."""
    found = [planned(plan, price) for plan in chosen]
    if given.json:
        terminal.say([json.dumps(found, indent=1)], whole=True)
        return 0
    about = "skill" if given.mode == POSITIONS else "the score"
    for plan in found:
        cost = f", about {plan['cost']:.2f} USD" if "cost" in plan else ""
        least = plan.get("detectable")
        finds = "" if least is None else f"; can detect a difference of {about} of {least:.2f}"
        read, written = plan["tokens"]["read"], plan["tokens"]["written"]
        terminal.say([
            f"{plan['game']}: {plan['calls']:,} calls, "
            f"about {read:,} input tokens and {written:,} output tokens{cost}{finds}",
        ])  # fmt: skip
    return 0


def compare(terminal: Terminal, given: Namespace) -> int:
    """Paired differences of two runs."""
    if len(given.folders) != 2:
        raise OptionError("compare takes the folders of two runs")
    one, two = (results.load(folder) for folder in given.folders)
    rows = results.compare(one, two)
    if given.json:
        terminal.say([json.dumps(rows, indent=1)], whole=True)
        return 0
    names = [str(found[0]["model"]) for found in (one, two)]
    if names[0] == names[1]:
        names = ["first", "second"]
    lines = compared(rows, (names[0], names[1]))
    terminal.say([*lines, "", "p-values by random signs of paired differences; significance at "
                  "5 % for all rows together."], whole=True)  # fmt: skip
    return 0


def write_leaderboard(terminal: Terminal, given: Namespace) -> int:
    """One page out of many runs."""
    if not given.folders:
        raise OptionError("leaderboard takes the folders of runs")
    path = checked_path(given.out or LEADERBOARD)
    write_file(path, leaderboard([results.load(folder) for folder in given.folders]))
    terminal.say([f"Leaderboard: {shown(path)}"])
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
