"""What is shipped, and what is not."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_the_wheel_holds_the_package_and_no_tests() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel == {"packages": ["duels"]}  # nothing is added from elsewhere
    files = [path for path in (ROOT / "duels").rglob("*") if "__pycache__" not in path.parts]
    assert len(files) > 50
    names = ("conftest.py", "test_*", "*_test.py", "tests")
    assert [path for path in files if any(path.match(name) for name in names)] == []


LESS = ["-p", "no:schemathesis"]  # a plugin that imports numpy by itself, where it is installed


@pytest.mark.parametrize(
    ("library", "module", "extra"),
    [("numpy", "coding", "rl"), ("pyspiel", "openspiel", "openspiel")],
)
def test_examples_that_need_an_extra_are_skipped_with_its_name(
    library: str, module: str, extra: str
) -> None:
    path = f"duels/envs/{module}.py"
    script = (
        f"import sys, pytest; sys.modules[{library!r}] = None\n"
        f"sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', *{LESS!r}, '-rs', {path!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert f"{path} need the extra: pip install 'duels[{extra}]'" in done.stdout
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
