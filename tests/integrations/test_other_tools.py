"""Data sets and examples in other tools; those run where the libraries are installed."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from duels.algorithms.solutions import solve
from duels.analysis.datasets import difficulties, positions
from duels.cli.main import main
from duels.envs.policy import view_of
from duels.games import load
from duels.llm.bench import Item
from duels.llm.dialogue import Dialogue, Reply

ROOT = Path(__file__).parents[2]
GAME = load("number-clash", numbers=5, points=2)
SET = ["--set", "numbers=5", "--set", "points=2"]


def written(folder: Path, *words: str) -> tuple[Path, str]:
    """A data set with its card."""
    data, card = folder / "data.jsonl", folder / "README.md"
    more = [*SET, "-n", "60", "--out", str(data), "--card", str(card)]
    assert main(["positions", "number-clash", *more, *words]) == 0
    return data, card.read_text(encoding="utf-8")


def test_a_data_set_has_prompts_answers_and_difficulties(tmp_path: Path) -> None:
    data, card = written(tmp_path)
    lines = [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines()]
    found = list(positions(GAME, 60))
    assert len(lines) == len(found)
    for line, position in zip(lines, found, strict=True):
        view = view_of(GAME, position.state, position.player)
        dialogue = Dialogue(view)
        assert line["prompt"] == dialogue.messages[0]["content"]
        dialogue.hear(Reply(line["answer"]))
        item = Item(view, solve(GAME).assess_state(position.state, position.player))
        assert item.regret(dialogue.strategy) == 0
        assert line["stake"] == pytest.approx(item.at_stake)
        assert (line["difficulty"] == 0) == (item.at_stake < 1e-9)
        assert 0 <= line["depth"] <= 5
    at_stake = sorted((line["stake"], line["difficulty"]) for line in lines if line["difficulty"])
    assert [quarter for _, quarter in at_stake] == sorted(quarter for _, quarter in at_stake)
    assert {*difficulties(found)} >= {1, 2, 3, 4}
    assert f"{len(lines)} positions, each once" in card
    assert "--set numbers=5 --set points=2 -n 60 --seed 1" in card


@pytest.mark.parametrize("library", ["pandas", "datasets"])
def test_tools_load_a_data_set(library: str, tmp_path: Path) -> None:
    tool: Any = pytest.importorskip(library, reason="installed by .ci/integrations")
    train, _ = written(tmp_path, "--split", "train")
    rows: list[dict[str, Any]]
    if library == "pandas":
        rows = tool.read_json(train, lines=True).to_dict("records")
    else:
        rows = list(
            tool.load_dataset("json", data_files=str(train), cache_dir=str(tmp_path))["train"]
        )
    assert len(rows) == len(train.read_text(encoding="utf-8").splitlines()) > 20
    assert {row["split"] for row in rows} == {"train"}
    assert all(row["prompt"] and row["answer"].startswith("MOVE: ") for row in rows)


@pytest.mark.parametrize(
    ("library", "example"),
    [("textarena", "textarena_env.py"), ("reasoning_gym", "reasoning_gym_dataset.py")],
)
def test_tools_run_an_example(library: str, example: str) -> None:
    pytest.importorskip(library, reason="installed by .ci/integrations")
    done = subprocess.run(
        [sys.executable, f"examples/{example}"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    if library == "reasoning_gym":
        assert len(lines) == 4
        assert all(line.startswith("1.000 ") for line in lines)
    else:
        assert sorted(ast.literal_eval(lines[-1]).values()) == [-1, 1]
