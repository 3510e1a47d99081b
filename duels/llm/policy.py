"""Mode `policy`: the exact exploitability of the answers in every position of a game.

Answers that are mixed strategies, or one sample of moves, are measured as they are. K samples of
moves estimate the mixed strategy behind them. A best response to the estimate also exploits its
errors, so its gain is too large on average. A best response to all samples but one that plays
against that one gains too little on average, since it is the best for other moves. The interval is
from the second minus its error to the first plus its error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import sqrt
from typing import Any

from duels.algorithms.solutions import solve
from duels.arena.scores import student
from duels.core.errors import OptionError
from duels.core.game import AnyGame, Chance, Event, History, Move, Outcome, Over, Pick
from duels.core.payoffs import unit_of
from duels.core.player import MixedStrategy, Player, View
from duels.core.spec import spec_of
from duels.core.wire import dump_view
from duels.envs.policy import view_of
from duels.llm.items import Item
from duels.measure import best_response, exploitability, head_to_head
from duels.measure.result import Exploitability

LARGEST = 1_000  # positions
MOST = 50_000  # states that are looked at
SHOWN = 6  # of the worst positions


class Task:
    """A game whose whole policy is asked for, with a turn limit or without."""

    def __init__(
        self, game: AnyGame, turn_limit: int | None = None, largest: int = LARGEST
    ) -> None:
        self.game, self.turn_limit = game, turn_limit
        self.views = views_of_policy(game, largest, turn_limit)

    @property
    def note(self) -> str:
        """What the prompt states besides the rules."""
        if self.turn_limit is None:
            return ""
        return f"A game that is not over after {self.turn_limit} choices is a draw."


def task_of(game: AnyGame, given: Iterable[str] = ()) -> Task:
    """The small variant of a game; the game itself if it has none or its options are given."""
    spec = spec_of(game)
    if not spec.small or any(name in game.options() for name in given):
        return Task(game)
    return Task(type(game)(**spec.small), spec.small_turns)


def views_of_policy(
    game: AnyGame, largest: int = LARGEST, turn_limit: int | None = None
) -> list[View]:
    """Every view in which a player chooses: a position or, with hidden information, a history."""
    start: tuple[Any, History, History, int] = (game.start(), (), (), 0)
    known, queue, found = {start}, [start], dict[Any, View]()
    too_large = OptionError(
        f"{game.slug} has more than {largest:,} positions with these options; choose a smaller "
        "variant with --set"
    )
    while queue:
        state, one, two, choices = queue.pop()
        turn = game.turn(state)
        if isinstance(turn, Over):
            continue
        picked: Iterable[tuple[Move, ...]]
        if isinstance(turn, Chance):
            picked, step = [(outcome,) for outcome in turn.odds], 0
        elif turn_limit is not None and choices >= turn_limit:
            continue
        else:
            players = sorted(turn.options)
            for player in players:
                seen = game.observe(state, player)
                past = (one, two)[player]
                view = View(game, player, seen, past, turn.options[player])
                found.setdefault((player, seen, past), view)
            picked, step = product(*(turn.options[player] for player in players)), 1
        for picks in picked:
            event: Event
            if isinstance(turn, Chance):
                event = Outcome(picks[0], turn.by)
            else:
                event = Pick(tuple(zip(sorted(turn.options), picks, strict=True)))
            pasts = [(*h, game.redact(state, event, p)) if game.private else ()
                     for p, h in enumerate((one, two))]  # fmt: skip
            count = choices + step if turn_limit is not None else 0
            after = (game.play(state, *picks), pasts[0], pasts[1], count)
            if after not in known:
                known.add(after)
                queue.append(after)
        if len(found) > largest or len(known) > MOST:
            raise too_large
    return list(found.values())


class StatedPolicy(Player):
    """A player with a known mixed strategy for each view."""

    def __init__(self, game: AnyGame, strategies: Mapping[Any, MixedStrategy]) -> None:
        self.strategies, self.needs_history = strategies, game.private  # type: ignore[misc]

    def mixed_strategy(self, view: View) -> MixedStrategy:
        return self.strategies[key_of_view(view)]


def key_of_view(view: View) -> tuple[int | None, Any, History]:
    return view.player, view.observation, view.history if view.game.private else ()


def policy_of(
    views: Sequence[View], strategies: Sequence[Sequence[MixedStrategy | None]]
) -> StatedPolicy:
    """The policy of the answers: the mean of the samples."""
    found: dict[Any, MixedStrategy] = {}
    for view, row in zip(views, strategies, strict=True):
        mean: dict[Move, float] = {}
        for strategy in row:
            for move, p in (forfeit(view) if strategy is None else strategy).items():
                mean[move] = mean.get(move, 0.0) + p / len(row)
        found[key_of_view(view)] = mean
    return StatedPolicy(views[0].game, found)


def forfeit(view: View) -> MixedStrategy:
    """What a forfeit counts as: the worst move; random play where moves have no exact values."""
    if view.game.private:
        return dict.fromkeys(view.options, 1 / len(view.options))
    return {Item(view, solve(view.game).assess(view)).worst: 1.0}


def policy_result(
    task: Task, strategies: Sequence[Sequence[MixedStrategy | None]]
) -> dict[str, Any]:
    """The exploitability of the answers, with an interval if there are several samples."""
    game, views = task.game, task.views
    policy = policy_of(views, strategies)
    found = exploitability(game, policy, turn_limit=task.turn_limit)
    samples = len(strategies[0])
    worst = [] if game.private else found.worst(SHOWN)
    result = {
        "positions": len(views),
        "turn_limit": task.turn_limit,
        "exploitability": found.to_json(),
        "worst": [
            {
                "view": dump_view(view_of(game, position.state, position.seat), display=False),
                "player": position.seat + 1,
                "answers": [dict(position.mixed_strategy)],
                "perfect": dict(position.perfect),
                "regret": position.regret,
                "cost": position.cost,
            }
            for position in worst
        ],
    }
    if samples > 1:
        result["interval"] = interval(task, strategies, found)
    return result


def interval(
    task: Task, strategies: Sequence[Sequence[MixedStrategy | None]], whole: Exploitability
) -> dict[str, float]:
    """The mean exploitability of both seats, with a 95 % interval, from samples."""
    samples, total = len(strategies[0]), unit_of(task.game).total
    gains, without = [], []
    for left in range(samples):
        rest = policy_of(
            task.views, [[s for k, s in enumerate(row) if k != left] for row in strategies]
        )
        one = policy_of(task.views, [[row[left]] for row in strategies])
        limit = task.turn_limit
        first, second = (best_response(task.game, rest, s, turn_limit=limit) for s in (0, 1))
        gained = head_to_head(task.game, first, one, turn_limit=limit)
        gains.append((gained - head_to_head(task.game, one, second, turn_limit=limit)) / 2)
        without.append((first.value + second.value - total) / 2)
    distance = student(samples - 1) / sqrt(samples)
    low = sum(gains) / samples - distance * _deviation(gains)
    high = whole.total / 2 + distance * (samples - 1) * _deviation(without)  # by the jackknife
    return {"mean": whole.total / 2, "low": max(0.0, low), "high": high}


def _deviation(numbers: Sequence[float]) -> float:
    mean = sum(numbers) / len(numbers)
    return sqrt(sum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1))
