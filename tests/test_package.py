"""What is shipped, and what is not."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_the_wheel_holds_the_package_and_no_tests() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    plugin = "duels_verifiers.py"  # verifiers loads a plugin by the name of a top-level module
    assert wheel == {"packages": ["duels"], "force-include": {plugin: plugin}}
    files = [path for path in (ROOT / "duels").rglob("*") if "__pycache__" not in path.parts]
    assert len(files) > 50
    names = ("conftest.py", "test_*", "*_test.py", "tests")
    assert [path for path in files if any(path.match(name) for name in names)] == []


@pytest.mark.parametrize("package", ["algorithms", "analysis", "core", "kernels"])
def test_all_exported_names_exist(package: str) -> None:
    module = import_module(f"duels.{package}")
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


LESS = ["-p", "no:schemathesis"]  # a plugin that imports numpy by itself, where it is installed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "folder", "module", "extra"),
    [
        ("pyspiel", "duels/envs", "openspiel.py", "openspiel"),
        ("asyncpg", "duels/server", "leases.py", "postgres"),
    ],
)
def test_modules_that_need_an_extra_are_counted_with_its_name(
    library: str, folder: str, module: str, extra: str
) -> None:
    options = ["-q", "-p", "no:cacheprovider", *LESS, "--collect-only", folder]
    script = (
        f"import sys, pytest; sys.modules[{library!r}] = None\nsys.exit(pytest.main({options!r}))"
    )
    env = {name: value for name, value in os.environ.items() if name != "DUELS_CI"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, env=env
    )
    assert f"extra {extra} not installed: " in done.stdout
    assert f" not collected (pip install 'duels[{extra}]')" in done.stdout
    assert f"{folder}/{module}" not in done.stdout
    assert done.returncode in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
