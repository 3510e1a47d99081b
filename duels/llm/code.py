"""Mode `code`: the model writes a bot, which is checked, measured and plays a gauntlet.

The bot is a Python program that implements the protocol of docs/reference/bots.md. It runs as a
process under the limits of any bot (`duels.players.supervisor`), with the rights of the user.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from duels.core.errors import DuelsError, Misbehaved, file_error
from duels.core.game import AnyGame
from duels.core.match import Match
from duels.core.player import View
from duels.llm.dialogue import (
    CHANCES,
    ILLEGAL,
    UNREADABLE,
    Message,
    Reply,
    Unusable,
    check_whole,
    situation,
)
from duels.llm.matches import Chosen, matches_result, play_pairs
from duels.llm.policy import task_of
from duels.measure import exploitability
from duels.measure.policies import NoMixedStrategy
from duels.measure.sampled import sampled_exploitability
from duels.players import make_player, parse_spec
from duels.players.check import CheckReport, check
from duels.players.describe import describe
from duels.players.external import External
from duels.players.runner import choice

GAUNTLET = ("random", "greedy", "easy", "medium", "hard", "perfect")
SAMPLED_GAMES = 200  # for each figure of a bot that does not state its mixed strategy
BLOCK = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)

TASK = """
Write a bot that plays this game: one Python 3 program without third-party libraries. It may be
given any values of the rule options, which are in view["game"]["options"] as text; above are the
rules with the usual values. It reads lines of JSON from standard input and answers each with one
line of JSON on standard output, which it flushes:

- {"type": "hello", ...} is the first line. Answer {"type": "ready"}.
- {"type": "choose", "seed": TEXT, "view": VIEW, ...} asks for a choice among VIEW["options"].
  Answer {"type": "move", "move": MOVE}, or a mixed strategy, from which the host draws:
  {"type": "move", "mix": {MOVE: PROBABILITY, ...}}, probabilities that add up to 1.
- {"type": "over", ...} ends a match. Do not answer.

Each request has all that is needed to answer it. The bot has 10 seconds and 1 GB of memory. An
answer that is not an option, a crash or other output loses the match. Opponents may know the bot:
a mixed strategy that no opponent can exploit is better than a predictable one.
"""
FORM = "Answer with the whole program in one block of code, between lines of ```."


class CodeDialogue:
    """The messages about a program; it is checked as soon as it is received."""

    def __init__(self, game: AnyGame, path: Path, chances: int = CHANCES) -> None:
        match = Match(game, 1)
        self.game, self.path, self.chances = game, path, chances
        self.view: View = match.view(match.deciders[0])
        self.messages: list[Message] = [{"role": "user", "content": prompt(self.view)}]
        self.report: CheckReport | None = None  # of the last program
        self.accepted = False
        self.faults: list[str] = []
        self.replies: list[Reply] = []

    @property
    def forfeited(self) -> bool:
        return not self.accepted and len(self.faults) > self.chances

    @property
    def done(self) -> bool:
        return self.accepted or self.forfeited

    def hear(self, reply: Reply) -> None:
        """Take a reply: a program without errors, or a fault that costs a chance."""
        self.replies.append(reply)
        try:
            write(self.path, source(reply))
            self.report = checked(self.path, self.game)
            self.accepted = self.report.fine
            if not self.accepted:
                raise Unusable(ILLEGAL, failure(self.report))
        except Unusable as error:
            self.faults.append(error.fault)
            if not self.done:
                self.messages += [
                    {"role": "assistant", "content": reply.text or reply.refusal},
                    {"role": "user", "content": f"Your program cannot be used: {error}\n{FORM}"},
                ]

    def transcript(self) -> dict[str, Any]:
        """All that was said, as JSON values."""
        return {
            "messages": self.messages,
            "replies": [reply._asdict() for reply in self.replies],
            "faults": self.faults,
            "check": None if self.report is None else _plain(self.report),
        }


def prompt(view: View) -> str:
    options = [f"  {name}: {option.about}" for name, option in view.game.options().items()]
    lines = [
        *situation(view), "", "Rule options:", *options, TASK, *describe(type(view.game)).text(),
        "", FORM,
    ]  # fmt: skip
    return "\n".join(line.rstrip() for line in lines)


def source(reply: Reply) -> str:
    """The program in a reply: its last block of code."""
    check_whole(reply)
    found = BLOCK.findall(reply.text)
    if not found:
        raise Unusable(UNREADABLE, "there is no block of code.")
    return str(found[-1])


def write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise DuelsError(f"cannot write {path}: {file_error(error)}") from None


def command(path: Path) -> str:
    """The text that names the program as a player."""
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path.resolve()))}"


def checked(path: Path, game: AnyGame) -> CheckReport:
    """The result of `duels bot check` in one game."""
    text = command(path)
    bot = make_player(text, "", own_process=True)
    try:
        return check(bot, [type(game)], parse_spec(text).limits())
    finally:
        bot.close()


def failure(report: CheckReport) -> str:
    """What a check found wrong, in a sentence."""
    if report.start is not None:
        return f"it does not start: {report.start}."
    if report.plays_none is not None:
        return f"{report.plays_none}."
    failed = next(game.failure for game in report.games if game.failure is not None)
    return f"{failed.why} ({failed.where()})."


def _plain(report: CheckReport) -> dict[str, Any]:
    """A report without times, which differ from run to run."""
    found = report.to_json()
    for game in found["games"]:
        del game["slowest"]
    return found


def code_result(
    dialogue: CodeDialogue, pairs: int, seed: int, options: Mapping[str, str]
) -> dict[str, Any]:
    """The exploitability of the program and its scores in the gauntlet; none without a program."""
    result: dict[str, Any] = {
        "accepted": dialogue.accepted,
        "check": None if dialogue.report is None else _plain(dialogue.report),
        "program": str(dialogue.path.name) if dialogue.path.exists() else None,
        "units": {},
    }
    if not dialogue.accepted:
        return result
    bot = make_player(command(dialogue.path), "", own_process=True)
    try:
        return result | measured(bot, dialogue.game, pairs, seed, options)
    finally:
        bot.close()


def measured(
    bot: Any, game: AnyGame, pairs: int, seed: int, options: Mapping[str, str]
) -> dict[str, Any]:
    task = task_of(game, options)
    result: dict[str, Any] = {"variant": task.game.differing(), "turn_limit": task.turn_limit}
    try:
        try:
            found = exploitability(task.game, bot, turn_limit=task.turn_limit)
        except NoMixedStrategy:
            found = sampled_exploitability(
                task.game, bot, games=SAMPLED_GAMES, turn_limit=task.turn_limit, seed=seed
            )
        result["exploitability"] = found.to_json()
    except DuelsError as error:
        result["exploitability_unknown"] = str(error)
    result["gauntlet"], result["units"] = {}, {}
    for opponent in GAUNTLET:
        played = matches_result(play_pairs(game, pairs, seed, opponent, choosing(bot)))
        units = played.pop("units")
        result["gauntlet"][opponent] = played
        result["units"] |= {f"{opponent} {pair}": unit for pair, unit in units.items()}
    return result


def choosing(bot: Any) -> Any:
    """Chooses by a program; its failure is a forfeit."""

    async def ask(view: View, sample: int, randomness: Random) -> Chosen:
        bot.stream = f"bench {sample}"
        try:
            bot.prepare()
            move = choice(bot, view)
        except Misbehaved as error:
            return Chosen(None, None, str(error))
        if move not in view.options:
            return Chosen(None, None, f"{move!r} is not an option")
        strategy = bot.last_strategy if isinstance(bot, External) else None
        return Chosen(move, strategy)

    return ask
