"""A taskset and an environment for verifiers, which loads them as `duels-verifiers`.

    vf-eval duels-verifiers -m MODEL -n 20 --no-push --env.taskset.game GAME

Rewards are `regret`, `value` or `result` of `duels.integrations.rollout`; the exact reward of each
turn is in `trace.info["turn_rewards"]`. The harness runs in a local subprocess, and nothing is
uploaded by this module: `vf-eval` uploads results unless it is told `--no-push`.
"""

from __future__ import annotations

from collections.abc import Iterable

import verifiers.v1 as vf

from duels.games import load
from duels.integrations.rollout import (
    POSITIONS,
    REGRET,
    RESULT,
    Rollout,
    Task,
    check_reward,
    tasks,
)
from duels.llm.dialogue import MOVE, Question, Reply
from duels.players import PERFECT


class DuelsData(vf.TaskData):
    """A position or a match as plain data."""

    task: str
    reward: str
    answer: str = MOVE
    legal_moves: bool = True


class DuelsTask(vf.Task[DuelsData]):
    """A position or a match; the environment records its rewards."""


class DuelsConfig(vf.TasksetConfig):
    """Which positions or matches."""

    game: str
    options: dict[str, str] = {}
    mode: str = POSITIONS
    """positions or matches"""
    count: int = 100
    """positions, or pairs of matches"""
    seed: int = 1
    split: str | None = None
    """train or test: positions that the other does not have"""
    opponent: str = PERFECT
    """the built-in player in matches"""
    reward: str = REGRET
    """regret, value or result"""
    answer: str = MOVE
    """move or mix"""
    legal_moves: bool = True


class DuelsTaskset(vf.Taskset[DuelsTask, DuelsConfig]):
    """Positions at stake or matches of a game; the same ones for the same seed."""

    def load(self) -> Iterable[DuelsTask]:
        config = self.config
        game = load(config.game, **config.options)
        check_reward(config.reward, game, config.mode)
        found = tasks(
            game, config.count, mode=config.mode, seed=config.seed, split=config.split,
            opponent=config.opponent,
        )  # fmt: skip
        for task in found:
            data = DuelsData(
                name=f"{task.game}-{task.pair}-{task.player}", task=task.dumps(),
                reward=config.reward, answer=config.answer, legal_moves=config.legal_moves,
            )  # fmt: skip
            yield DuelsTask(data, config.task)


class DuelsEnvConfig(vf.EnvConfig):
    """One seat for the model, which runs on this machine."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


class DuelsEnv(vf.Env[DuelsEnvConfig]):
    """Asks the model about each choice, and records exact rewards."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        data = task.data
        rollout = Rollout(Task.loads(data.task), Question(data.answer, data.legal_moves))
        async with agents.player.interaction(task) as interaction:
            while (message := rollout.message) is not None:
                segment = await interaction.turn(message)
                if interaction.trace.errors:
                    return  # a fault of the transport is no answer: the episode is repeated
                if segment.terminated:
                    rollout.give_up()  # a limit of the run
                    break
                rollout.hear(reply_of(interaction.trace, segment))
        record(interaction.trace, rollout, data.reward)


def reply_of(trace: vf.Trace, segment: vf.Segment) -> Reply:
    """The reply of a segment, with why it ended."""
    finish = next((call.finish_reason for call in reversed(trace.calls) if not call.error), None)
    return Reply(segment.last_reply, finish or "stop")


def record(trace: vf.Trace, rollout: Rollout, reward: str) -> None:
    """Record the rewards of a rollout that is over."""
    trace.record_reward(reward, rollout.reward(reward))
    trace.info["turn_rewards"] = list(rollout.turn_rewards)
    trace.record_metric("faults", float(len(rollout.faults)))
    if rollout.match is not None and reward != RESULT:
        trace.record_metric(RESULT, rollout.reward(RESULT))


__all__ = ["DuelsEnv", "DuelsTaskset"]
