"""The pages about environments and the example are true: all their code runs."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NEEDS = {
    "pettingzoo.md": ("pettingzoo", "rl"),
    "gymnasium.md": ("gymnasium", "rl"),
    "openspiel.md": ("pyspiel", "openspiel"),
}
BLOCKS = [
    (page, number, block)
    for page in NEEDS
    for number, block in enumerate(
        re.findall(
            r"^```python\n(.*?)^```",
            (ROOT / "docs" / "reference" / "envs" / page).read_text(encoding="utf-8"),
            flags=re.MULTILINE | re.DOTALL,
        )
    )
]


def skip_without(library: str, extra: str) -> None:
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"needs the extra: pip install 'duels[{extra}]'")


@pytest.mark.parametrize(
    ("page", "block"), [(p, b) for p, _, b in BLOCKS], ids=[f"{p}-{n}" for p, n, _ in BLOCKS]
)
def test_the_code_of_a_page_runs(page: str, block: str) -> None:
    skip_without(*NEEDS[page])
    exec(compile(block, page, "exec"), {"__name__": "page"})


def test_every_page_has_a_training_example() -> None:
    for page in NEEDS:
        assert any("assert" in block for p, _, block in BLOCKS if p == page), page


def test_the_numbers_in_the_table_are_those_of_the_games() -> None:
    from duels.games import BUILT_IN, load

    text = (ROOT / "docs" / "reference" / "envs" / "pettingzoo.md").read_text(encoding="utf-8")
    for slug in BUILT_IN:
        game = load(slug)
        row = next(line for line in text.splitlines() if line.startswith(f"| {game.title} |"))
        said = [int(number) for number in re.findall(r"\| (\d+):", row)]
        assert said == [len(game.features()), len(game.moves())]


def script(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=True
    )


@pytest.mark.parametrize("agent", ["table", "ppo"])
def test_the_example_learns_and_draws(agent: str, tmp_path: Path) -> None:
    skip_without("gymnasium", "rl")
    if agent == "ppo":
        pytest.importorskip("sb3_contrib", reason="needs pip install sb3-contrib")
    steps = "12000" if agent == "table" else "512"
    picture = tmp_path / "regret.svg"
    done = script(
        str(ROOT / "examples" / "learn_and_plot.py"), "--agent", agent, "--steps", steps,
        "--points", "2", "--games", "60", "--out", str(picture),
    )  # fmt: skip
    first, last = map(float, re.findall(r"regret ([\d.]+) at first, ([\d.]+)", done.stdout)[0])
    assert agent == "ppo" or last < first / 2
    assert picture.read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.slow
def test_the_benchmark_runs() -> None:
    skip_without("pettingzoo", "rl")
    done = script(str(ROOT / "benchmarks" / "envs.py"), "--fast")
    assert "thousand steps a second" in done.stdout
