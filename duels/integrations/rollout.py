"""A model's part in a position or a match, for tools that train or evaluate models.

A `Task` is plain data: the tools store it in their data sets and pass it back. A `Rollout` asks by
the dialogues of `duels bench`, so that the same answers give the same regret everywhere, and has an
exact reward for each turn. Rewards of a rollout:

    regret    minus the sum of the regrets of its answers: 0 is perfect play
    value     the expected score that its answers leave with perfect play by both players
    result    of a match: 1 for a win, 0.5 for a draw, 0 for a loss

A turn without a usable answer loses the game, so it costs all that the position was worth.

>>> (task,) = position_tasks("firewall-breach", 1, seed=3)
>>> rollout = Rollout(task)
>>> rollout.message.startswith("You play Firewall Breach against an opponent.")
True
>>> rollout.hear(Reply("MOVE: attack"))
>>> rollout.message is None, rollout.turn_rewards == [rollout.reward("regret")]
(True, True)
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import ceil
from random import Random
from typing import Any, NamedTuple

from duels.algorithms.solutions import solve, solver_of
from duels.analysis.datasets import SPLITS, TEST, split_of
from duels.core.chance import stream
from duels.core.errors import OptionError, quote
from duels.core.game import AnyGame
from duels.core.match import Match
from duels.core.presentation import listed
from duels.core.wire import dump_observation, load_observation
from duels.envs.policy import view_of
from duels.games import game_of, load
from duels.llm.bench import Item, items_at_stake
from duels.llm.dialogue import Dialogue, Question, Reply
from duels.players import PERFECT, full_name, make_opponent
from duels.players.runner import MatchRunner

REGRET, VALUE, RESULT = REWARDS = ("regret", "value", "result")
POSITIONS, MATCHES = MODES = ("positions", "matches")
OPENING = 6  # random choices before a match, at most
MODEL = "model"  # the name of the model's seat


class Task(NamedTuple):
    """A position to choose in, or a match to play to its end."""

    game: str
    options: dict[str, str]
    player: int  # 1 or 2
    state: dict[str, Any] | None = None  # of a position
    seed: int = 0  # of a match: its opening and chance
    opponent: str = PERFECT  # in a match
    pair: int = 0  # both matches of a pair have the same number; a position has its own

    def dumps(self) -> str:
        return json.dumps(self._asdict())

    @classmethod
    def loads(cls, text: str) -> Task:
        return cls(**json.loads(text))

    @property
    def rules(self) -> AnyGame:
        return load(self.game, **self.options)


def tasks(
    game: str | AnyGame, n: int, *, mode: str = POSITIONS, seed: int = 1, split: str | None = None,
    opponent: str = PERFECT,
) -> list[Task]:  # fmt: skip
    """Up to `n` positions at stake, or the matches of `n` pairs."""
    if mode not in MODES:
        raise OptionError(f"mode takes {listed(MODES, ' or ')}; got {quote(mode)}")
    if mode == POSITIONS:
        return position_tasks(game, n, seed=seed, split=split)
    if split is not None:
        raise OptionError("split is for positions; matches with different seeds are different")
    return match_tasks(game, n, seed=seed, opponent=opponent)


def position_tasks(
    game: str | AnyGame, n: int, *, seed: int = 1, split: str | None = None
) -> list[Task]:
    """Positions at stake; without `split`, those of `duels bench` with the same seed."""
    game = game_of(game)
    if split not in (None, *SPLITS):
        raise OptionError(f"split takes {listed(SPLITS, ' or ')}; got {quote(split)}")
    if split is None:
        items = items_at_stake(game, n, seed)
    else:
        share = TEST if split == SPLITS[1] else 1 - TEST
        items = [
            item
            for item in items_at_stake(game, ceil(1.5 * n / share), seed)
            if split_of(game, _numbers(item)) == split
        ]
        items = Random(f"split {seed}").sample(items, min(n, len(items)))
    return [_position(item, number) for number, item in enumerate(items)]


def _numbers(item: Item) -> tuple[int, ...]:
    view = item.view
    assert view.player is not None
    return tuple(view.game.encode(view.observation, view.player))


def _position(item: Item, number: int) -> Task:
    game, player = item.view.game, item.view.player
    assert player is not None
    state = dump_observation(game, item.view.observation)["fields"]
    return Task(game.slug, game.settings(), player + 1, state, pair=number)


def match_tasks(
    game: str | AnyGame, n: int, *, seed: int = 1, opponent: str = PERFECT
) -> list[Task]:
    """Pairs of matches: the same opening and chance, the seats swapped."""
    game, opponent = game_of(game), full_name(opponent)
    return [
        Task(game.slug, game.settings(), player, None, 10**6 * seed + pair, opponent, pair)
        for pair in range(n)
        for player in (1, 2)
    ]


def reply(match: Match, seat: int) -> None:
    """Let the built-in opponent choose until the seat has to, or the match is over."""
    other = 1 - seat
    assert match.seed is not None
    opponent = make_opponent(match.players[other], stream(match.seed, other))
    runner = MatchRunner(match, {other: opponent})
    while match.result is None and seat not in match.deciders:
        runner.choose()


def opened(task: Task) -> Match:
    """The match of a task after its opening, a few random choices that do not end it."""
    game = task.rules
    players = (MODEL, task.opponent) if task.player == 1 else (task.opponent, MODEL)
    for attempt in range(100):
        match = Match(game, task.seed, players=players, now=lambda: None)
        randomness = Random(f"opening {task.seed} {attempt}")
        for _ in range(randomness.randrange(OPENING + 1)):
            for player in match.deciders:
                match.submit(player, randomness.choice(match.view(player).options))
        if match.result is None:
            return match
    return Match(game, task.seed, players=players, now=lambda: None)


class Rollout:
    """The dialogues of a task. `message` is what to say to the model next; None at the end."""

    def __init__(self, task: Task, question: Question | None = None) -> None:
        self.task, self.question = task, question or Question()
        self.game, self.player = task.rules, task.player - 1
        self.exact = not (self.game.private or solver_of(self.game).approximate)
        self.turn_rewards: list[float] = []  # minus the regret of each turn, if it is known
        self.faults: list[str] = []
        self.match: Match | None = None
        self.item: Item | None = None  # of the current choice
        self.start: float | None = None  # what the first choice is worth with perfect play
        self.random_regret: float | None = None  # of the first choice
        self.dialogue: Dialogue | None = None
        self._randomness = Random(f"rollout {task.seed}")
        if task.state is None:
            self.match = opened(task)
            reply(self.match, self.player)
        self._ask()

    @property
    def message(self) -> str | None:
        return None if self.dialogue is None else self.dialogue.messages[-1]["content"]

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages of the current choice."""
        return [] if self.dialogue is None else list(self.dialogue.messages)

    def _ask(self) -> None:
        """Begin the dialogue about the next choice, if there is one."""
        match, game, player = self.match, self.game, self.player
        self.dialogue = None
        if match is None:
            assert self.task.state is not None
            state = load_observation(game, {"fields": self.task.state})
            self.item = Item(view_of(game, state, player), solve(game).assess_state(state, player))
            view = self.item.view
        elif match.result is None:
            view = match.view(player)
            self.item = Item(view, solve(game).assess(view)) if self.exact else None
        else:
            return
        if self.item is not None and self.start is None:
            best = self.item.choice.best
            assert best is not None
            self.start, self.random_regret = float(best), self.item.at_stake
        self.dialogue = Dialogue(view, self.question)

    def hear(self, answer: Reply) -> None:
        """Take an answer of the model."""
        assert self.dialogue is not None, "the rollout is over"
        self.dialogue.hear(answer)
        if self.dialogue.done:
            self._choose()

    def give_up(self) -> None:
        """End the rollout, if it is not over, as if the model's answer could not be used."""
        if self.dialogue is not None:
            self.dialogue.strategy = None
            self._choose()

    def _choose(self) -> None:
        """Grade the answer and, in a match, play it."""
        assert self.dialogue is not None
        strategy, match = self.dialogue.strategy, self.match
        self.faults += self.dialogue.faults
        if self.item is not None:
            self.turn_rewards.append(-self.item.regret(strategy))
        if match is None:
            self.dialogue = None
            return
        if strategy is None:
            match.forfeit(self.player, "no usable answer")
        else:
            (move,) = self._randomness.choices(list(strategy), list(strategy.values()))
            match.submit(self.player, move)
            reply(match, self.player)
        self._ask()

    @property
    def over(self) -> bool:
        return self.dialogue is None

    def reward(self, kind: str) -> float:
        """A reward of the rollout, which must be over."""
        check_reward(kind, self.game, MATCHES if self.match is not None else POSITIONS)
        assert self.over
        if kind == RESULT:
            assert self.match is not None
            assert self.match.result is not None
            winner = self.match.result.winner
            return 0.5 if winner is None else float(winner == self.player)
        regret = -sum(self.turn_rewards)
        if kind == REGRET or self.start is None:
            return -regret if regret else 0.0
        return self.start - regret


def check_reward(kind: str, game: AnyGame, mode: str) -> None:
    """Refuse a reward that does not exist for the tasks of a game."""
    if kind not in REWARDS:
        raise OptionError(f"reward takes {listed(REWARDS, ' or ')}; got {quote(kind)}")
    if kind == RESULT and mode == POSITIONS:
        raise OptionError("the reward result needs whole matches: mode matches")
    if kind != RESULT and (game.private or solver_of(game).approximate):
        raise OptionError(f"the values of {game.slug} are not known exactly; choose reward result")


def mean_random_regret(given: Sequence[Task]) -> float:
    """The mean regret of random moves in positions, by which skill is scaled."""
    regrets = [float(Rollout(task).random_regret or 0) for task in given]
    return sum(regrets) / len(regrets)
