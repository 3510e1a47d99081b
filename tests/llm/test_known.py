"""Models on a server whose skill and exploitability are known."""

from __future__ import annotations

from functools import cache

import pytest

pytest.importorskip("openai", reason="needs the extra: pip install 'duels[llm]'")

from duels.games import load
from duels.llm.bench import POLICY, POSITIONS, Plan, Run, Wanted, run_plan
from duels.llm.endpoint import Server
from duels.llm.items import Item, items_at_stake
from duels.llm.policy import Task
from duels.measure import exploitability
from tests.llm.models import Erring, playing, views_of
from tests.llm.server import serving

BREACH = load("firewall-breach", strength=4)
DUEL = load("digit-duel", digits=4, life=4)
PART, SAMPLES = 0.4, 6
FAULTS = {3: "429", 7: "cut", 11: "500", 13: "slow"}


@cache
def pool() -> list[Item]:
    return items_at_stake(DUEL, 400)


def skill(seed: int, faults: dict[int, str]) -> tuple[float, float]:
    from random import Random

    plan = Plan(Wanted(POSITIONS), [DUEL])
    plan.items = Random(seed).sample(pool(), 40)
    model = playing((item.view for item in plan.items), Erring(PART), seed)
    with serving(model, lambda call: faults.get(call, "")) as fake:
        found = run_plan(plan, Run(Server("fake", fake.url, {}, 30.0)))["skill"]
    return found["low"], found["high"]


def exploited(seed: int, faults: dict[int, str]) -> tuple[float, float]:
    plan = Plan(Wanted(POLICY, samples=SAMPLES), [BREACH])
    plan.tasks = [Task(BREACH)]
    with serving(playing(views_of(BREACH), Erring(PART), seed), lambda n: faults.get(n, "")) as f:
        found = run_plan(plan, Run(Server("fake", f.url, {}, 30.0)))["interval"]
    assert found["low"] <= found["mean"] <= found["high"]
    return found["low"], found["high"]


@pytest.mark.parametrize(
    "runs", [pytest.param(4, marks=pytest.mark.slow), pytest.param(100, marks=pytest.mark.long)]
)
def test_intervals_contain_the_known_skill_and_exploitability(
    runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    known = exploitability(BREACH, Erring(PART)).total / 2
    hits = [0, 0]
    for seed in range(runs):
        low, high = skill(seed, FAULTS if seed == 0 else {})
        hits[0] += low <= 1 - PART <= high
        low, high = exploited(seed, FAULTS if seed == 0 else {})
        hits[1] += low <= known <= high
    assert min(hits) >= 0.9 * runs - (runs < 100)
