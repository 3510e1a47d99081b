"""Compiled functions kept on disk: found again, and never stale."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="needs the extra: pip install 'duels[solve]'")

import duels
from duels.algorithms.compiled import cache

pytestmark = pytest.mark.slow

DEF = ast.FunctionDef
PACKAGE = Path(duels.__file__).parent
INNER = """
from duels.algorithms.compiled import compiled

@compiled
def inner(number):
    return number + {}
"""
OUTER = """
from duels.algorithms.compiled import compiled
from duels.algorithms.compiled.one_file import inner

@compiled
def outer(number):
    return 10 * inner(number)
"""
ASK = """
from duels.algorithms.compiled.other_file import outer
print(outer(1), sum(outer.stats.cache_hits.values()))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package with two more kernels, one calling the other across files."""
    copied = tmp_path / "duels"
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__", "data", "server"))
    (copied / "algorithms/compiled/one_file.py").write_text(INNER.format(1))
    (copied / "algorithms/compiled/other_file.py").write_text(OUTER)
    return copied


def asked(package: Path, kept: str, question: str = ASK) -> tuple[int, int]:
    """What a kernel says in a new process, and how often it was found on disk."""
    told = subprocess.run(
        [sys.executable, "-c", question],
        cwd=package.parent, check=True, capture_output=True, text=True,
        env=os.environ | {"XDG_CACHE_HOME": kept, "PYTHONPATH": str(package.parent)},
    ).stdout.split()  # fmt: skip
    return int(told[0]), int(told[1])


def test_a_kernel_is_found_again_until_one_it_calls_changes(package: Path, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept")
    assert asked(package, kept) == (20, 0)
    assert asked(package, kept) == (20, 1)
    (package / "algorithms/compiled/one_file.py").write_text(INNER.format(2))
    assert asked(package, kept) == (30, 0)
    (package / "algorithms/compiled/one_file.py").write_text(INNER.format(1))
    assert asked(package, kept) == (20, 1)
    for name, damage in (("*.nbc", b"damaged"), ("*.nb[ci]", b"\x80\x04")):
        for file in Path(kept).rglob(name):
            file.write_bytes(damage)
        assert asked(package, kept) == (20, 0)
        assert asked(package, kept) == (20, 1)


def test_without_a_directory_kernels_are_compiled(package: Path) -> None:
    assert asked(package, os.devnull) == (20, 0)
    assert asked(package, os.devnull) == (20, 0)


def test_the_digest_is_of_every_source_that_can_matter(package: Path) -> None:
    before = cache.digest(package)
    assert cache.digest(package) == before
    for place in (
        "games/number_wars/rules.py",
        "algorithms/levels.py",
        "kernels/random_streams.py",
    ):
        path = package / place
        text = path.read_text(encoding="utf-8")
        path.write_text(text + "\n# changed\n", encoding="utf-8")
        assert cache.digest(package) != before, place
        path.write_text(text, encoding="utf-8")
    assert cache.digest(package) == before


def test_what_other_versions_left_is_removed_after_a_month(tmp_path: Path) -> None:
    own, old, new = (tmp_path / f"kernels-{name}" for name in ("own", "old", "new"))
    for path in (own, old, new):
        path.mkdir()
    os.utime(old, (0, 0))
    cache.clear(own)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernels-new", "kernels-own"]


LOOP = """
import numpy as np
from duels.games.number_wars.kernel import COLUMNS, KERNEL
from duels.kernels.driver import drivers
loop, movers = drivers(KERNEL, False).movers, np.zeros(1, np.int8)
rules = KERNEL.rules(KERNEL.game())
loop(rules, np.zeros((1, COLUMNS), KERNEL.dtype), movers)
print(movers[0], sum(loop.stats.cache_hits.values()))
"""


def test_a_loop_over_a_kernel_is_found_again(tmp_path: Path) -> None:
    assert asked(PACKAGE, str(tmp_path), LOOP) == (0, 0)
    assert asked(PACKAGE, str(tmp_path), LOOP) == (0, 1)


def test_only_what_is_built_of_this_packages_functions_is_kept() -> None:
    from duels.algorithms.compiled import compiled
    from duels.games.number_wars.kernel import GREEDY, KERNEL
    from duels.kernels.opponent_loops import opponent_loops, uniform

    assert "duels.games.number_wars.kernel" in str(cache.identity(uniform(KERNEL).choose))
    ours: Any = opponent_loops(KERNEL, False, uniform(KERNEL).choose)
    about = cache.identity(ours.step)
    assert about is not None
    assert cache.identity(ours.begin) != about
    assert cache.identity(opponent_loops(KERNEL, False, GREEDY.choose).step) != about
    assert ours.step.stats.cache_path is not None

    @compiled
    def theirs(rules, tables, state, streams, i, player):  # type: ignore[no-untyped-def]
        return 0

    assert cache.identity(theirs) is None
    foreign: Any = opponent_loops(KERNEL, False, theirs)
    assert foreign.step.stats.cache_path is None


def test_functions_that_call_each_other_round_about_are_not_kept() -> None:
    """Numba cannot read them back: calling one that was kept crashes."""
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        made = [node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, DEF)]
        kept = {
            f.name: f
            for f in made
            if {*map(ast.unparse, f.decorator_list)} & {"compiled", "cached"}
        }
        called = {
            name: {found.id for found in ast.walk(f) if isinstance(found, ast.Name)} & kept.keys()
            for name, f in kept.items()
        }
        for name in kept:
            seen: set[str] = set()
            todo = set(called[name])
            while todo:
                seen.add(one := todo.pop())
                todo |= called[one] - seen
            if name in seen:
                wrong.append(f"{path.name}: {name}")
    assert wrong == []
