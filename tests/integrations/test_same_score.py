"""The same answers have the same regret in `duels bench`, TRL, Inspect and verifiers.

Inspect and verifiers exclude each other: each runs where it is installed (.ci/integrations).
"""

from __future__ import annotations

import asyncio
import json
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from duels.cli.main import main
from duels.integrations.rollout import Rollout, Task, match_tasks, position_tasks
from duels.integrations.trl import DuelEnvironment, rows
from duels.llm.dialogue import Reply
from tests.llm.server import serving

GAME, OPTIONS, N = "number-clash", {"numbers": "5", "points": "2"}, 8


@cache
def positions() -> list[Task]:
    from duels.games import load

    return position_tasks(load(GAME, **OPTIONS), N)


def answer(prompt: str, number: int = 0) -> str:
    """The scripted model: a good, a poor, an illegal or an unreadable answer, by the prompt."""
    kind = sha256(f"{prompt} {number}".encode()).digest()[0]
    if "Your answer cannot be used" in prompt and kind % 2:
        return "I cannot decide."
    return ["MOVE: 1", "MOVE: 5", "MOVE: 9", "Hm.", "**MOVE: 2**", "3"][kind % 6]


@cache
def expected() -> tuple[float, ...]:
    """The regrets by the dialogue itself."""
    found = []
    for task in positions():
        rollout = Rollout(task)
        while rollout.message is not None:
            rollout.hear(Reply(answer(rollout.message)))
        found.append(-rollout.reward("regret"))
    assert len({round(regret, 6) for regret in found}) > 2
    return tuple(found)


@pytest.mark.extra("llm")
def test_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def model(prompt: str, number: int) -> str:
        return answer(prompt)

    with serving(lambda prompt, number: "") as fake:
        fake.model = model
        fake.last = True
        words = ["bench", "--model", "scripted", "--base-url", fake.url, "--games", GAME]
        for name, value in OPTIONS.items():
            words += ["--set", f"{name}={value}"]
        monkeypatch.chdir(tmp_path)
        assert main([*words, "-n", str(N), "--out", "run"]) == 0
    (game,) = json.loads((tmp_path / "run" / "positions.json").read_text())["games"]
    assert game["positions"] == N
    assert game["regret"] == pytest.approx(sum(expected()) / N)


def test_trl() -> None:
    """The tool `move` takes the moves of the answers."""
    from duels.games import load

    data = rows(load(GAME, **OPTIONS), N)
    environment = DuelEnvironment()
    for row, regret in zip(data, expected(), strict=True):
        message = environment.reset(**row)
        while not message.startswith("Your choice is made"):
            # A move without a label is read as in a short answer.
            message = environment.move(answer(message).strip("*").removeprefix("MOVE: "))
        assert environment.get_reward() == pytest.approx(-regret)
        assert environment.turn_rewards == [pytest.approx(-regret)]


@pytest.mark.extra("inspect")
def test_inspect(tmp_path: Path) -> None:
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from duels.integrations.inspect import make_task

    def output(messages: Any, *rest: Any) -> ModelOutput:
        found = ModelOutput.from_content("scripted", answer(messages[-1].text))
        found.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return found

    model = get_model("mockllm/model", custom_outputs=output)
    (log,) = evaluate(
        make_task(GAME, N, options=OPTIONS), model=model, log_dir=str(tmp_path), display="none"
    )
    assert log.status == "success", log.error
    assert log.samples is not None
    found = {sample.id: sample.scores["exact_positions"] for sample in log.samples}
    assert [found[n].value["regret"] for n in range(N)] == pytest.approx(list(expected()))
    metrics = {s.name: s.metrics for s in log.results.scores}
    scale = sum(float(Rollout(task).random_regret or 0) for task in positions())
    assert metrics["skill"]["mean"].value == pytest.approx(1 - sum(expected()) / scale)
    assert metrics["regret"]["stderr"].value > 0


@pytest.mark.extra("inspect")
def test_tasks_of_inspect_are_found_by_their_entry_point(tmp_path: Path) -> None:
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def output(messages: Any, *rest: Any) -> ModelOutput:
        found = ModelOutput.from_content("scripted", "MOVE: attack")
        found.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return found

    (log,) = evaluate(
        "duels/firewall_breach", task_args={"n": 2, "mode": "matches"}, log_dir=str(tmp_path),
        model=get_model("mockllm/model", custom_outputs=output), display="none",
    )  # fmt: skip
    assert log.status == "success", log.error
    assert len(log.samples or []) == 4
    assert {score.name for score in log.results.scores} >= {"result", "regret"}


@pytest.mark.extra("verifiers")
def test_verifiers(monkeypatch: pytest.MonkeyPatch) -> None:
    import verifiers.v1 as vf
    from verifiers.v1.clients import EvalClientConfig, ModelContext
    from verifiers.v1.utils.loaders import environment_class, taskset_class

    taskset, environment = taskset_class("duels-verifiers"), environment_class("duels-verifiers")
    monkeypatch.setenv("SCRIPTED_KEY", "none")
    config_type = next(
        base.__args__[0] for base in environment.__orig_bases__ if hasattr(base, "__args__")
    )
    settings = {"id": "duels-verifiers", "game": GAME, "options": OPTIONS, "count": N}
    env = environment(config_type(taskset=settings))
    assert isinstance(env.taskset, taskset)

    async def run(url: str) -> list[vf.Trace]:
        client = EvalClientConfig(base_url=url, api_key_var="SCRIPTED_KEY")
        context = ModelContext(model="scripted", client=client)
        traces = []
        async with env.serving():
            for task in env.taskset:
                episode = await env.run_episode(task, context)
                assert episode.ok, episode.errors
                traces += episode.traces
        return traces

    with serving(lambda prompt, number: "") as fake:
        fake.model, fake.last = lambda prompt, number: answer(prompt), True
        traces = asyncio.run(run(fake.url))
    regrets = [-trace.info["turn_rewards"][0] for trace in traces]
    assert regrets == pytest.approx(list(expected()))
    assert [trace.reward for trace in traces] == pytest.approx([-r for r in expected()])


def test_the_score_of_a_match_without_luck_is_its_value() -> None:
    from duels.games import load

    game = load("digit-duel", digits=5, life=6)
    for task in match_tasks(game, 3):
        rollout = Rollout(task)
        while rollout.message is not None:
            rollout.hear(Reply(answer(rollout.message)))
        assert rollout.match is not None
        assert rollout.reward("regret") == pytest.approx(sum(rollout.turn_rewards))
        # This game has no chance, so against perfect play nothing but regret decides.
        assert rollout.reward("value") == pytest.approx(rollout.reward("result"))
    one, two = match_tasks(game, 1)
    assert (one.seed, one.pair, one.player, two.player) == (two.seed, two.pair, 1, 2)


def test_train_and_test_positions_are_disjoint() -> None:
    from duels.games import load

    game = load(GAME, **OPTIONS)
    parts = [
        {json.dumps(task.state) + str(task.player) for task in position_tasks(game, 15, split=s)}
        for s in ("train", "test")
    ]
    assert all(len(part) == 15 for part in parts)
    assert not parts[0] & parts[1]
