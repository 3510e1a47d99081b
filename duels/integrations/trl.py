"""`DuelEnvironment` for TRL's `GRPOTrainer(environment_factory=DuelEnvironment)`.

A plain class: TRL is not imported. Each row of the data set is one position or one match, which all
rollouts of its group get. The model answers by calling the tool `move`.

>>> from duels.integrations.trl import DuelEnvironment, rows
>>> (row,) = rows("firewall-breach", 1, seed=3)
>>> environment = DuelEnvironment()
>>> environment.reset(**row).startswith("You play Firewall Breach against an opponent.")
True
>>> environment.move("attack")
'Your choice is made.'
>>> environment.get_reward() <= 0
True
"""

from __future__ import annotations

from typing import Any

from duels.core.game import AnyGame
from duels.integrations.rollout import (
    MATCHES,
    POSITIONS,
    REGRET,
    Rollout,
    Task,
    check_reward,
    tasks,
)
from duels.llm.dialogue import Question, Reply
from duels.players import PERFECT

SYSTEM = "Call the tool `move` with your move. Do so again each time that you are asked to choose."


def rows(
    game: str | AnyGame, n: int, *, mode: str = POSITIONS, seed: int = 1, split: str | None = None,
    opponent: str = PERFECT,
) -> list[dict[str, Any]]:  # fmt: skip
    """Rows for a data set: `datasets.Dataset.from_list(rows(...))`."""
    return [
        {"prompt": [{"role": "system", "content": SYSTEM}], "task": task.dumps()}
        for task in tasks(game, n, mode=mode, seed=seed, split=split, opponent=opponent)
    ]


class DuelEnvironment:
    """One rollout at a time. With arguments: `environment_factory=lambda: DuelEnvironment(…)`."""

    def __init__(self, reward: str = REGRET, legal_moves: bool = True) -> None:
        self._reward, self._question = reward, Question(legal_moves=legal_moves)
        self._rollout: Rollout | None = None

    def reset(self, *, task: str, **row: Any) -> str:
        """Begin the rollout of a row; returns what the model is asked."""
        found = Task.loads(task)
        check_reward(self._reward, found.rules, POSITIONS if found.state else MATCHES)
        self._rollout = Rollout(found, self._question)
        return self._rollout.message or ""

    def move(self, move: str) -> str:
        """Make your move.

        Args:
            move: One of the legal moves, such as the prompt names them.

        Returns:
            What you are asked next, or that your choice is made.
        """
        rollout = self._rollout
        assert rollout is not None, "call reset first"
        if rollout.over:
            return "The game is over; no further move is needed."
        rollout.hear(Reply(f"MOVE: {move}"))
        if rollout.message is not None:
            return rollout.message
        return "Your choice is made." if rollout.match is None else "The game is over."

    def get_reward(self) -> float:
        """The reward of the rollout; what was not answered counts as no usable answer."""
        assert self._rollout is not None, "call reset first"
        self._rollout.give_up()
        return self._rollout.reward(self._reward)

    @property
    def turn_rewards(self) -> list[float]:
        """Minus the regret of each turn, for trainers that use rewards of turns."""
        return [] if self._rollout is None else list(self._rollout.turn_rewards)
