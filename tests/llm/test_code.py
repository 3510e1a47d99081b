"""Programs that a model writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import duels.players
from duels.cli.main import main
from duels.games import load
from duels.llm.answers import Answer
from duels.llm.bench import CODE, Run, Wanted, plans, run_plan
from duels.llm.dialogue import Question, Reply
from duels.measure import exploitability

TEMPLATE = (Path(duels.players.__file__).parent / "templates" / "bot.py").read_text()
MIXES = TEMPLATE.replace("    return luck.choice(options)\n    # return {", "    return {")
CRASHES = "import sys\nsys.exit(3)\n"


class Writes:
    """A model that writes one program after the other."""

    def __init__(self, *programs: str) -> None:
        self.name, self.programs = "writes", list(programs)
        self.parameters: dict[str, Any] = {}
        self.heard: list[str] = []

    async def ask(self, messages: Any, sample: int, view: Any) -> Answer:
        self.heard.append(messages[-1]["content"])
        return Answer(Reply(self.programs[len(messages) // 2]))

    async def close(self) -> None:
        pass


def block(program: str) -> str:
    return f"Here it is:\n```python\n{program}```\n"


@pytest.mark.slow
def test_a_program_is_corrected_checked_and_measured(tmp_path: Path) -> None:
    game = load("firewall-breach", strength=3)
    wanted = Wanted(CODE, Question(), n=2, options=("strength",))
    (plan,) = plans(game, wanted)
    model = Writes(block(CRASHES), block(MIXES))
    found = run_plan(plan, Run(model), tmp_path)  # type: ignore[arg-type]
    assert "exit status 3" in model.heard[1]
    assert found["accepted"]
    assert found["faults"]["illegal"] == 1
    known = exploitability(game, "random").total
    assert found["exploitability"]["total"] == pytest.approx(known)
    assert found["exploitability"]["kind"] == "exact"
    assert found["gauntlet"]["perfect"]["pairs"] == 2
    assert (tmp_path / "firewall-breach.py").read_text() == MIXES


def test_an_answer_without_a_program_is_a_forfeit(tmp_path: Path) -> None:
    (plan,) = plans(load("number-clash"), Wanted(CODE))
    found = run_plan(plan, Run(Writes("No.", "Never.")), tmp_path)  # type: ignore[arg-type]
    assert not found["accepted"]
    assert found["faults"] | {"unreadable": 2, "forfeits": 1} == found["faults"]


def test_programs_run_only_if_that_is_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", "--mode", "code", "--model", "x", "--out", str(tmp_path / "run")]
    assert main(words) == 2
    assert "--allow-code" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
