"""Runs of `duels bench`: positions at stake with their regrets, and whole policies.

`positions` asks about positions in which moves differ in value, the same ones for every model.
Skill is 1 - regret / regret of random play: 0 for random and 1 for perfect play. `policy` asks
about every position of a game and computes the exact exploitability of the answers.

A dialogue that ends without a usable answer is a forfeit. A forfeit loses the game, so it costs
all that the position was worth; in a policy it counts as the worst move.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from duels.algorithms.solution import Assessment, Progress
from duels.algorithms.solutions import solve, solver_of
from duels.analysis.datasets import LabelledPosition
from duels.analysis.datasets import positions as generated
from duels.arena.scores import Sample, Score, grouped
from duels.core.errors import DuelsError, OptionError
from duels.core.game import AnyGame, Chance, Move, Over
from duels.core.payoffs import unit_of
from duels.core.player import MixedStrategy, Player, View
from duels.envs.policy import view_of
from duels.llm.answers import Answer, Answers, key_of
from duels.llm.dialogue import FAULTS, Dialogue, Question
from duels.llm.endpoint import Endpoint

POSITIONS, POLICY = "positions", "policy"
MODES = (POSITIONS, POLICY)
POOL = 5  # positions that are generated for each one that is asked about
LEAST, MOST = 500, 20_000  # positions that are generated
STRATA = 4  # quarters of the positions by what is at stake
NOTHING = 1e-9  # smaller regrets are rounding errors
LARGEST_POLICY = 1_000  # positions
TOKEN = 4  # characters, on average, to estimate costs
WRITTEN = 400  # tokens of an answer, to estimate costs
POWER = 2.8  # standard errors of a difference that is found with a probability of 80 %


class Price(NamedTuple):
    """US dollars for a million tokens."""

    read: float
    written: float

    def of(self, read: int, written: int) -> float:
        return (read * self.read + written * self.written) / 1e6


class Item(NamedTuple):
    """A position with its exact values."""

    view: View
    choice: Assessment

    @property
    def at_stake(self) -> float:
        """The expected regret of a random move."""
        return float(self.choice.random_regret or 0)

    def regret(self, strategy: MixedStrategy | None) -> float:
        """The expected regret of a mixed strategy; of a forfeit, all that the position is worth."""
        if strategy is None:
            return self.forfeit
        found = sum(p * float(self.choice.regret(move) or 0) for move, p in strategy.items())
        return found if found > NOTHING else 0.0

    @property
    def forfeit(self) -> float:
        unit, best = unit_of(self.view.game), self.choice.best
        assert best is not None
        return float(best) - (float(unit.lowest) if unit.pays else 0.0)


def items_at_stake(
    game: AnyGame, n: int, seed: int = 1, progress: Progress | None = None
) -> list[Item]:
    """Up to `n` positions at stake, equally many of each quarter by what is at stake."""
    _require_exact(game)
    found = []
    for position in generated(game, min(MOST, max(LEAST, POOL * n)), seed=seed, progress=progress):
        if (stake := _stake(position)) > NOTHING:
            found.append((stake, position))
    found.sort(key=lambda each: each[0])
    randomness = Random(f"bench {seed}")
    chosen: list[Item] = []
    for part in range(STRATA):
        stratum = found[len(found) * part // STRATA : len(found) * (part + 1) // STRATA]
        share = n * (part + 1) // STRATA - n * part // STRATA
        some = randomness.sample(stratum, min(share, len(stratum)))
        chosen += [_item(game, position.state, position.player) for _, position in some]
    return chosen


def _stake(position: LabelledPosition) -> float:
    """The expected regret of a random move, as `Item.at_stake`."""
    columns = zip(position.mask, position.mixed_strategy, position.player_worth, strict=True)
    moves = [(chance, worth) for legal, chance, worth in columns if legal]
    best = max(worth for _, worth in moves)
    return sum(0.0 if chance else best - worth for chance, worth in moves) / len(moves)


def items_of_policy(game: AnyGame, largest: int = LARGEST_POLICY) -> list[Item]:
    """Every position of a game in which a player chooses."""
    _require_exact(game)
    known, queue, found = {game.start()}, [game.start()], list[Item]()
    while queue:
        state = queue.pop()
        turn = game.turn(state)
        if isinstance(turn, Over):
            continue
        if isinstance(turn, Chance):
            after = [game.play(state, outcome) for outcome in turn.odds]
        else:
            if len(found) >= largest:
                raise OptionError(
                    f"{game.slug} has more than {largest:,} positions with these options; choose a "
                    "smaller variant with --set"
                )
            found += [_item(game, state, player) for player in sorted(turn.options)]
            picks = [turn.options[player] for player in sorted(turn.options)]
            pairs = [(one,) for one in picks[0]]
            joint: Iterable[tuple[Move, ...]] = (
                pairs if len(picks) == 1 else [(*one, two) for one in pairs for two in picks[1]]
            )
            after = [game.play(state, *moves) for moves in joint]
        fresh = set(after) - known
        known |= fresh
        queue += sorted(fresh, key=repr)
    return found


def _require_exact(game: AnyGame) -> None:
    if game.private or solver_of(game).approximate:
        raise OptionError(f"the values of {game.slug} are not known exactly; leave it out")


def _item(game: AnyGame, state: Any, player: int) -> Item:
    return Item(view_of(game, state, player), solve(game).assess_state(state, player))


# Asking


class Stopped(DuelsError):
    """A run that was ended by its budget; what it asked is stored."""


class Run:
    """Asks about items, with a bounded number of calls at a time, and stores every answer."""

    def __init__(
        self, endpoint: Endpoint, question: Question, *, samples: int = 1,
        folder: Path | None = None, concurrency: int = 8, price: Price | None = None,
        budget: float | None = None, progress: Progress | None = None,
    ) -> None:  # fmt: skip
        self.endpoint, self.question, self.samples = endpoint, question, samples
        self.price, self.budget, self.progress = price, budget, progress
        self.answers = Answers(folder)
        self.used: dict[str, Answer] = {}  # by key: what this run's dialogues were answered
        self.asked = 0  # calls of this process, without those that were stored
        self.spent = 0.0  # dollars of these calls
        self._pending: dict[str, asyncio.Task[Answer]] = {}
        self._concurrency, self._finished = concurrency, 0

    def dialogues(self, items: Sequence[Item]) -> list[list[Dialogue]]:
        """The finished dialogues about each item, one for each sample."""
        return asyncio.run(self._all(items))

    async def _all(self, items: Sequence[Item]) -> list[list[Dialogue]]:
        gate = asyncio.Semaphore(self._concurrency)
        made = [[Dialogue(item.view, self.question) for _ in range(self.samples)] for item in items]
        total = len(items) * self.samples
        try:
            async with asyncio.TaskGroup() as group:
                for row in made:
                    for sample, dialogue in enumerate(row):
                        group.create_task(self._finish(dialogue, sample, gate, total))
        except* DuelsError as errors:
            raise errors.exceptions[0] from None
        finally:
            await self.endpoint.close()
        return made

    async def _finish(
        self, dialogue: Dialogue, sample: int, gate: asyncio.Semaphore, total: int
    ) -> None:
        while not dialogue.done:
            endpoint, messages = self.endpoint, list(dialogue.messages)
            key = key_of(endpoint.name, endpoint.parameters, messages, sample)
            answer = self.answers.get(key)
            if answer is None:
                if key not in self._pending:  # equal questions are asked once
                    asking = self._ask(key, messages, sample, dialogue.view, gate)
                    self._pending[key] = asyncio.create_task(asking)
                    self._pending[key].add_done_callback(_noted)
                answer = await self._pending[key]
            self.used[key] = answer
            dialogue.hear(answer.reply)
        self._finished += 1
        if self.progress is not None:
            money = "" if self.price is None else f", {self.spent:.2f} USD"
            self.progress(self._finished / total, f"{self._finished:,} of {total:,} answers{money}")

    async def _ask(
        self, key: str, messages: list[dict[str, str]], sample: int, view: View,
        gate: asyncio.Semaphore,
    ) -> Answer:  # fmt: skip
        async with gate:
            if self.budget is not None and self.spent >= self.budget:
                raise Stopped(
                    f"the budget of {self.budget:g} USD is spent; the answers are stored, and the "
                    "same command with a larger budget continues"
                )
            answer = await self.endpoint.ask(messages, sample, view)
            self.answers.put(key, answer)
            self.asked += 1
            if self.price is not None:
                self.spent += self.price.of(answer.read, answer.written)
            return answer


def _noted(task: asyncio.Task[Answer]) -> None:
    """Take note of an exception, so that asyncio prints none if all that awaited it have ended."""
    if not task.cancelled():
        task.exception()


# Results


def stated(dialogues: Sequence[Dialogue]) -> list[MixedStrategy | None]:
    return [dialogue.strategy for dialogue in dialogues]


def ratio(pairs: Sequence[tuple[float, float]], worst: float) -> Score:
    """Skill with its 95 % interval: 1 - regret / random regret, from both for each position.

    A position is the unit: the deviations are those of a ratio, linearised. `worst` is the mean
    regret of the worst moves, the lower end of the scale.

    >>> [round(number, 3) for number in ratio([(0, 0.2), (0.1, 0.2), (0, 0.1)] * 20, 0.5)[:3]]
    [0.8, 0.657, 0.857]
    """
    n, base = len(pairs), sum(b for _, b in pairs)
    mean = base / n
    part = sum(r for r, _ in pairs) / base
    deviations = grouped((-(r - part * b) / mean, 1.0) for r, b in pairs)
    most = max(count for _, count in deviations)
    ends = (min(-worst / mean + part, deviations[0][0]), max(part, deviations[-1][0]))
    return Sample(n, 1 - part, deviations, n - most, ends, n if n > 1 else 0).score()


def faults_of(rows: Iterable[Sequence[Dialogue]]) -> dict[str, int]:
    """How many answers had each fault, and how many dialogues ended without a usable one."""
    every = [dialogue for row in rows for dialogue in row]
    faults = [fault for dialogue in every for fault in dialogue.faults]
    return {
        **{fault: faults.count(fault) for fault in FAULTS},
        "forfeits": sum(dialogue.forfeited for dialogue in every),
    }


def positions_result(
    items: Sequence[Item], strategies: Sequence[Sequence[MixedStrategy | None]]
) -> dict[str, Any]:
    """Skill, regret and share of optimal answers over positions at stake."""
    rows = [
        [item.regret(strategy) for strategy in row]
        for item, row in zip(items, strategies, strict=True)
    ]
    regrets = [sum(row) / len(row) for row in rows]
    worst = sum(item.regret({_worst(item): 1.0}) for item in items) / len(items)
    skill = ratio(
        [(r, item.at_stake) for r, item in zip(regrets, items, strict=True)], worst
    )  # fmt: skip
    optimal = [sum(r == 0 for r in row) / len(row) for row in rows]
    share = Sample.of(optimal).score()
    by_regret = sorted(range(len(items)), key=lambda k: -regrets[k])[:5]
    return {
        "positions": len(items),
        "skill": _interval(skill),
        "regret": sum(regrets) / len(items),
        "random_regret": sum(item.at_stake for item in items) / len(items),
        "optimal": _interval(share),
        "worst": [
            {
                "observation": repr(items[k].view.observation),
                "player": (items[k].view.player or 0) + 1,
                "answers": [None if s is None else dict(s) for s in strategies[k]],
                "perfect": dict(items[k].choice.mixed_strategy),
                "regret": regrets[k],
            }
            for k in by_regret
            if regrets[k] > 0
        ],
    }


def _interval(score: Score) -> dict[str, float]:
    return {"mean": score.mean, "low": score.low, "high": score.high}


class StatedPolicy(Player):
    """A player with a known mixed strategy for each position."""

    def __init__(self, strategies: Mapping[tuple[Any, int | None], MixedStrategy]) -> None:
        self.strategies = strategies

    def mixed_strategy(self, view: View) -> MixedStrategy:
        return self.strategies[view.observation, view.player]


def policy_of(
    items: Sequence[Item], strategies: Sequence[Sequence[MixedStrategy | None]]
) -> StatedPolicy:
    """The policy of the answers: the mean of the samples; a forfeit counts as the worst move."""
    found: dict[tuple[Any, int | None], MixedStrategy] = {}
    for item, row in zip(items, strategies, strict=True):
        mean: dict[Move, float] = {}
        for strategy in row:
            for move, p in (strategy or {_worst(item): 1.0}).items():
                mean[move] = mean.get(move, 0.0) + p / len(row)
        found[item.view.observation, item.view.player] = mean
    return StatedPolicy(found)


def _worst(item: Item) -> Move:
    return max(item.choice.options, key=lambda move: float(item.choice.regret(move) or 0))


def policy_result(
    game: AnyGame, items: Sequence[Item], strategies: Sequence[Sequence[MixedStrategy | None]]
) -> dict[str, Any]:
    """The exact exploitability of the answers as a policy, and its most costly positions."""
    from duels.measure import exploitability

    found = exploitability(game, policy_of(items, strategies))
    return {"positions": len(items), "exploitability": found.to_json()}


def run_game(game: AnyGame, mode: str, items: Sequence[Item], run: Run) -> dict[str, Any]:
    """Ask about the items of a game, and compute the figures of the mode."""
    before = set(run.used)
    rows = run.dialogues(items)
    strategies = [stated(row) for row in rows]
    answers = [answer for key, answer in run.used.items() if key not in before]
    read, written = (sum(getattr(a, name) for a in answers) for name in ("read", "written"))
    figures = (
        positions_result(items, strategies)
        if mode == POSITIONS
        else policy_result(game, items, strategies)
    )
    return {
        "game": game.slug,
        "options": game.settings(),
        **figures,
        "faults": faults_of(rows),
        "calls": len(answers),
        "tokens": {"read": read, "written": written},
        **({} if run.price is None else {"cost": run.price.of(read, written)}),
        "transcripts": [dialogue.transcript() for row in rows for dialogue in row],
    }


# Before money is spent


def planned(
    items: Sequence[Item], question: Question, samples: int, price: Price | None
) -> dict[str, Any]:
    """The calls, tokens and cost of a run, and the smallest difference of skill that it detects."""
    prompts = {Dialogue(item.view, question).messages[0]["content"] for item in items}
    read = samples * sum(map(len, prompts)) // TOKEN
    calls = samples * len(prompts)
    return {
        "calls": calls,
        "tokens": {"read": read, "written": calls * WRITTEN},
        **({} if price is None else {"cost": price.of(read, calls * WRITTEN)}),
    }


def detectable(items: Sequence[Item], samples: int) -> float:
    """The smallest difference of skill between two models that is found with 80 % probability.

    At a level of 5 %, for models that play half of their moves perfectly and half at random, whose
    skill is 1/2. The same positions are asked, but answers are taken to be independent.
    """
    mean = sum(item.at_stake for item in items) / len(items)
    variance = 0.0
    for item in items:
        regrets = [float(item.choice.regret(move) or 0) for move in item.choice.options]
        square = sum(r * r for r in regrets) / len(regrets) / 2
        variance += square - (item.at_stake / 2) ** 2
    return POWER * sqrt(2 * variance / samples) / mean / len(items)
