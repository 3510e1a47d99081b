"""Evaluations for Inspect: one task for each game, by the entry point group `inspect_ai`.

    inspect eval duels/GAME -T n=20 --model openai/MODEL

Games are tasks under their names with underscores. Scores are regret, skill and value of positions
or matches, or results of matches, with standard errors clustered by pair. The mean of `skill` is
1 - regret / regret of random play, as in `duels bench`.
"""

from __future__ import annotations

from typing import Any

from inspect_ai import Task as InspectTask
from inspect_ai import task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from duels.games import catalogue, load
from duels.integrations.rollout import (
    MATCHES,
    POSITIONS,
    REGRET,
    RESULT,
    VALUE,
    Rollout,
    Task,
    mean_random_regret,
    tasks,
)
from duels.llm.dialogue import MOVE, Question, Reply
from duels.players import PERFECT

SKILL, FAULTS = "skill", "faults"
FIGURES = "duels"  # the key of a rollout's figures in the state's metadata
STOPPED = {"max_tokens": "length", "model_length": "length", "content_filter": "content_filter"}
CLUSTERED = [mean(), stderr(cluster="pair")]


def reply_of(output: ModelOutput) -> Reply:
    """The reply of a model to a dialogue."""
    return Reply(output.completion, STOPPED.get(output.stop_reason, "stop"))


@solver
def dialogues(answer: str = MOVE, legal_moves: bool = True) -> Solver:
    """Ask about each choice by its dialogue, until the position or the match is over."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        rollout = Rollout(Task.loads(state.metadata["task"]), Question(answer, legal_moves))
        state.messages = []
        while (message := rollout.message) is not None:
            sent: list[ChatMessage] = [
                ChatMessageUser(content=said["content"])
                if said["role"] == "user"
                else ChatMessageAssistant(content=said["content"])
                for said in rollout.messages
            ]
            state.output = await get_model().generate(sent)
            state.messages += [ChatMessageUser(content=message), state.output.message]
            rollout.hear(reply_of(state.output))
        state.metadata[FIGURES] = figures(rollout, state.metadata["random_regret"])
        return state

    return solve


def figures(rollout: Rollout, random_regret: float | None) -> dict[str, Any]:
    """The figures of a rollout that is over."""
    found: dict[str, Any] = {"faults": rollout.faults, "turn_rewards": rollout.turn_rewards}
    if rollout.exact:
        found |= {REGRET: -rollout.reward(REGRET), VALUE: rollout.reward(VALUE)}
    if rollout.match is not None:
        found[RESULT] = rollout.reward(RESULT)
    elif random_regret:
        found[SKILL] = 1 - found[REGRET] / random_regret
    return found


async def score_of(state: TaskState, target: Target) -> Score:
    found = state.metadata[FIGURES]
    value = {name: found[name] for name in (SKILL, REGRET, VALUE, RESULT) if name in found}
    return Score(
        value={**value, FAULTS: len(found["faults"])},
        answer=state.output.completion,
        metadata={"turn_rewards": found["turn_rewards"], "faults": found["faults"]},
    )


@scorer(metrics=dict.fromkeys((SKILL, REGRET, VALUE, FAULTS), CLUSTERED))
def exact_positions() -> Scorer:
    """Exact regret of answers in positions."""
    return score_of


@scorer(metrics=dict.fromkeys((RESULT, REGRET, VALUE, FAULTS), CLUSTERED))
def exact_matches() -> Scorer:
    """Results of matches, and exact regret."""
    return score_of


@scorer(metrics=dict.fromkeys((RESULT, FAULTS), CLUSTERED))
def results() -> Scorer:
    """Results of matches, in games whose values are not known exactly."""
    return score_of


def make_task(
    slug: str, n: int = 100, mode: str = "", seed: int = 1, opponent: str = PERFECT,
    answer: str = MOVE, legal_moves: bool = True, options: dict[str, Any] | None = None,
) -> InspectTask:  # fmt: skip
    """An evaluation of `n` positions at stake, or of `n` pairs of matches.

    Args:
        slug: Name of the game.
        n: Number of positions or pairs.
        mode: positions or matches; matches are the default where values are not known exactly.
        seed: Seed by which positions, openings and chance are chosen.
        opponent: Built-in player, in matches.
        answer: move or mix.
        legal_moves: Whether prompts list the legal moves.
        options: Rule options of the game.
    """
    game = load(slug, **(options or {}))
    mode = mode or (MATCHES if game.private else POSITIONS)
    found = tasks(game, n, mode=mode, seed=seed, opponent=opponent)
    scale = mean_random_regret(found) if mode == POSITIONS else None
    samples = [
        Sample(
            id=number,
            input=Rollout(each).message or "",
            metadata={"task": each.dumps(), "pair": each.pair, "random_regret": scale},
        )
        for number, each in enumerate(found)
    ]
    if mode == POSITIONS:
        scored = exact_positions()
    else:
        scored = results() if game.private else exact_matches()
    return InspectTask(
        dataset=MemoryDataset(samples, name=slug), solver=dialogues(answer, legal_moves),
        scorer=scored, name=slug.replace("-", "_"),
    )  # fmt: skip


def _define(slug: str) -> Any:
    @task(name=slug.replace("-", "_"))
    def game(
        n: int = 100, mode: str = "", seed: int = 1, opponent: str = PERFECT, answer: str = MOVE,
        legal_moves: bool = True, options: dict[str, Any] | None = None,
    ) -> InspectTask:  # fmt: skip
        return make_task(slug, n, mode, seed, opponent, answer, legal_moves, options)

    return game


TASKS = {slug: _define(slug) for slug in catalogue()}
