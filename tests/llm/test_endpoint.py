"""Runs against a real server on the loopback interface: faults, retries, kills, keys, budgets."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra: pip install 'duels[llm]'")

from duels.core.errors import DuelsError
from duels.games import load
from duels.llm.bench import Plan, Price, Run, Stopped, Wanted, run_plan
from duels.llm.dialogue import Dialogue
from duels.llm.endpoint import KEY, Server, TransportFault
from duels.llm.items import Item, items_at_stake
from tests.llm.server import Fake, serving

DUEL = load("digit-duel", digits=4, life=4)
ITEMS = items_at_stake(DUEL, 24)
SECRET = "sk-a-secret-key"


def prompt_of(item: Item) -> str:
    return Dialogue(item.view).messages[0]["content"]


PERFECT = {prompt_of(item): next(iter(item.choice.mixed_strategy)) for item in ITEMS}
WORST = {
    prompt_of(item): max(item.choice.options, key=lambda m: float(item.choice.regret(m) or 0))
    for item in ITEMS
}
ERRS = {text: (WORST if number % 3 == 0 else PERFECT)[text] for number, text in enumerate(PERFECT)}


def model(prompt: str, time: int) -> str:
    """Errs in a third of the positions; its later answers to the same question differ."""
    return f"MOVE: {ERRS[prompt]}" if time == 0 else "I have changed my mind."


def run(fake: Fake, folder: Path | None = None, **settings: Any) -> tuple[dict[str, Any], Run]:
    made = Run(Server("fake", fake.url, {}, 30.0), folder=folder, **settings)
    plan = Plan(Wanted(), [DUEL])
    plan.items = ITEMS
    return run_plan(plan, made), made


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, SECRET)


def test_transport_faults_cost_retries_and_change_no_score() -> None:
    with serving(model) as fake:
        usual, _ = run(fake)
        assert fake.calls == len(ITEMS)
        assert fake.keys == {f"Bearer {SECRET}"}
    faults = {2: "429", 3: "500", 5: "cut", 8: "429", 9: "500"}
    with serving(model, lambda call: faults.get(call, "")) as fake:
        found, _ = run(fake)
        assert fake.calls == len(ITEMS) + len(faults)
    assert found == usual
    assert not any(found["faults"].values())


def test_a_server_that_never_answers_stops_the_run_without_a_score() -> None:
    with serving(model, lambda call: "500") as fake, pytest.raises(TransportFault, match="retries"):
        run(fake, concurrency=1)
    with serving(model, lambda call: "html") as fake, pytest.raises(TransportFault):
        run(fake, concurrency=1)


@pytest.mark.parametrize(
    ("kind", "fault"), [("length", "truncated"), ("refusal", "refused"), ("", "unreadable")]
)
def test_answers_that_cannot_be_used_are_counted_and_cost_the_position(
    kind: str, fault: str
) -> None:
    with serving(lambda prompt, time: "MOVE: I pass on this one", lambda call: kind) as fake:
        found, _ = run(fake)
    assert found["faults"][fault] == 2 * len(ITEMS)
    assert found["faults"]["forfeits"] == len(ITEMS)
    lost = sum(float(item.choice.best or 0) for item in ITEMS) / len(ITEMS)
    assert found["regret"] == pytest.approx(lost)


def test_a_second_chance_is_used() -> None:
    with serving(lambda prompt, time: f"MOVE: {ERRS[prompt]}", lambda n: "length" * (n == 1)) as f:
        found, _ = run(f, concurrency=1)
    assert found["faults"]["truncated"] == 1
    assert found["faults"]["forfeits"] == 0


def test_a_rerun_asks_nothing_and_a_budget_stops_and_continues(tmp_path: Path) -> None:
    price = Price(1e4, 0)  # a dollar for each answer
    with serving(model) as fake:
        with pytest.raises(Stopped, match="budget"):
            run(fake, tmp_path, price=price, budget=5, concurrency=1)
        assert fake.calls == 5
        found, made = run(fake, tmp_path, price=price, concurrency=1)
        assert (fake.calls, made.asked) == (len(ITEMS), len(ITEMS) - 5)
        again, made = run(fake, tmp_path, price=price)
        assert (made.asked, made.spent) == (0, 0)
        assert again == found
        assert found["cost"] == len(ITEMS)
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert SECRET.encode() not in stored


def test_a_refused_request_is_told_in_one_line_without_the_key() -> None:
    with serving(model) as fake:
        made = Server("fake", fake.url, {}, 30.0)
        assert SECRET not in made._told(ValueError(f"bad key {SECRET}"))
    with pytest.raises(DuelsError, match="cannot set model"):
        Server("fake", "http://127.0.0.1:1/v1", {"model": "other"}, 1.0)


def command(url: str, folder: Path) -> list[str]:
    return [
        sys.executable, "-m", "duels", "bench", "--model", "fake", "--base-url", url,
        "--games", "digit-duel", "--set", "digits=4", "--set", "life=4", "-n", "24",
        "--concurrency", "2", "--out", str(folder), "--param", "temperature=0",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_killed_run_continues_and_gives_the_same_files(tmp_path: Path) -> None:
    going: list[subprocess.Popen[bytes]] = []

    def killing(at: int, by: signal.Signals) -> Callable[[int], str]:
        def fault(call: int) -> str:
            if call == at and going:
                going[0].send_signal(by)
            return ""

        return fault

    files = ("positions.json", "positions-transcripts.jsonl", "positions.html")
    with serving(model) as fake:
        done = subprocess.run(command(fake.url, tmp_path / "whole"), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "Digit Duel (life=4, digits=4)" in done.stdout
        assert all(body["temperature"] == 0 for body in fake.bodies)
    with serving(model, killing(12, signal.SIGKILL)) as fake:
        with subprocess.Popen(command(fake.url, tmp_path / "killed")) as process:
            going.append(process)
        assert process.returncode == -signal.SIGKILL
        assert not (tmp_path / "killed" / files[0]).exists()
        going.clear()
        before = fake.calls
        fake.times.clear()  # answers that were lost on the way are given again
        subprocess.run(command(fake.url, tmp_path / "killed"), check=True, capture_output=True)
        assert 0 < fake.calls - before < len(ITEMS)
    one, two = ([(tmp_path / d / f).read_text() for f in files] for d in ("whole", "killed"))
    assert one == two
    assert json.loads(one[0])["games"][0]["positions"] == len(ITEMS)
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert os.environ[KEY].encode() not in stored
