"""Leaves out the tests of extras that are not installed, and counts them in one line per extra.

A test module declares what it needs with `pytest.importorskip("library")` at module level, a single
test with the mark `extra("rl")`, and the modules of the package, whose doctests are collected, are
listed in `MODULES`. With DUELS_CI set, an extra that is missing is an error.

A parametrised test with the mark `cases(n)` keeps n of its cases, spread evenly; the others are
long.
"""

from __future__ import annotations

import ast
import os
import signal
import tempfile
from collections import Counter
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent

EXTRAS = {
    "solve": ("numpy", "numba"),
    "rl": ("gymnasium", "pettingzoo"),
    "openspiel": ("pyspiel",),
    "arena": ("joblib",),
    "llm": ("openai",),
    "mcp": ("mcp",),
    "inspect": ("inspect_ai",),
    "verifiers": ("verifiers",),
    "parquet": ("pyarrow",),
    "web": ("starlette", "uvicorn", "msgspec", "websockets"),
    "postgres": ("asyncpg",),
    "docs": ("mkdocs", "mkdocstrings", "codespell_lib"),
    "dev": ("playwright", "axe_playwright_python", "httpx", "distributed", "schemathesis", "scipy"),
    "jax": ("jax", "pgx"),
    "torch": ("torch", "sb3_contrib"),
}
# Not part of the extra dev: their wheels are large, or they exclude others (.ci/integrations).
OPTIONAL = ("jax", "torch", "inspect", "verifiers")
EXTRA_OF = {library: extra for extra, libraries in EXTRAS.items() for library in libraries}

# Modules that cannot be imported without a library; the first pattern counts.
MODULES = {
    "duels/client/connection.py": "websockets",
    "duels/envs/gymnasium.py": "gymnasium",
    "duels/envs/statistics.py": "gymnasium",
    "duels/envs/vector_env.py": "gymnasium",
    "duels/envs/pettingzoo.py": "pettingzoo",
    "duels/envs/observer.py": "pyspiel",
    "duels/envs/openspiel.py": "pyspiel",
    "duels/envs/*.py": "numpy",
    "duels/games/*/pgx.py": "pgx",
    "duels/integrations/mcp/remote.py": "websockets",
    "duels/integrations/mcp/*.py": "mcp",
    "duels/integrations/inspect.py": "inspect_ai",
    "duels/integrations/verifiers.py": "verifiers",
    "duels/server/leases.py": "asyncpg",
    "duels/server/storage/postgres*.py": "asyncpg",
    "duels/server/*.py": "starlette",
    "duels/server/storage/*.py": "starlette",
}

modules_left_out = Counter[str]()
tests_left_out = Counter[str]()


@cache
def installed(library: str) -> bool:
    return find_spec(library) is not None


@cache
def required(path: Path) -> list[str]:
    """The libraries without which a module is not collected."""
    relative = path.relative_to(ROOT)
    if relative.parts[0] == "duels":
        patterns = (pattern for pattern in MODULES if relative.match(pattern))
        return [MODULES[pattern] for pattern in islice(patterns, 1)]
    calls = (
        getattr(statement, "value", None)
        for statement in ast.parse(path.read_text(encoding="utf-8")).body
    )
    return [
        ast.literal_eval(call.args[0])
        for call in calls
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.importorskip"
    ]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--ran-bare", action="append", default=[], metavar="DIR",
        help="leave out the tests of a directory that a bare Python has run: neither slow nor of an"
        " extra",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts background jobs with SIGINT and SIGQUIT ignored, nohup with SIGHUP ignored;
    # programs under test inherit that.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for ended in (signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(ended) == signal.SIG_IGN:
            signal.signal(ended, signal.SIG_DFL)
    # Tests that give a process a home of its own share the cache of compiled code.
    os.environ.setdefault("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    # Solutions, keys and matches of the user change no test, and those of tests are removed.
    if "PYTEST_XDIST_WORKER" not in os.environ:  # workers share the folder of the controller
        data = tempfile.TemporaryDirectory(prefix="duels-data-", ignore_cleanup_errors=True)
        config.add_cleanup(data.cleanup)
        os.environ["XDG_DATA_HOME"] = data.name
    if os.environ.get("DUELS_CI"):
        missing = {
            extra
            for library, extra in EXTRA_OF.items()
            if extra not in OPTIONAL and not installed(library)
        }
        if missing:
            raise pytest.UsageError(f"DUELS_CI is set: install duels[{','.join(sorted(missing))}]")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    if collection_path.suffix != ".py" or collection_path.name == "conftest.py":
        return None
    missing = [library for library in required(collection_path) if not installed(library)]
    if not missing:
        return None
    modules_left_out[EXTRA_OF[missing[-1]]] += 1
    return True


def mark_further_cases_long(items: list[pytest.Item]) -> None:
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("cases") and not item.get_closest_marker("long"):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in tests.values():
        mark = cases[0].get_closest_marker("cases")
        assert mark is not None
        count: int = mark.args[0]
        kept = {number * len(cases) // count for number in range(count)}
        for number, item in enumerate(cases):
            if number not in kept:
                item.add_marker(pytest.mark.long)


@pytest.hookimpl(tryfirst=True)  # before `-m` is applied
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mark_further_cases_long(items)
    kept, left_out = [], []
    ran_bare = [ROOT / folder for folder in config.getoption("--ran-bare")]
    for item in items:
        extras = [mark.args[0] for mark in item.iter_markers("extra")]
        if (
            any(item.path.is_relative_to(folder) for folder in ran_bare)
            and not (extras or item.get_closest_marker("slow"))
            and not required(item.path)
        ):
            left_out.append(item)
            continue
        missing = [name for name in extras if not all(map(installed, EXTRAS[name]))]
        tests_left_out.update(missing[:1])
        (left_out if missing else kept).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With pytest-xdist, the workers collect and the controller reports."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = (dict(modules_left_out), dict(tests_left_out))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    modules, tests = getattr(node, "workeroutput", {}).get("left_out", ({}, {}))
    modules_left_out.clear()  # every worker collects the same
    modules_left_out.update(modules)
    tests_left_out.clear()
    tests_left_out.update(tests)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for extra in EXTRAS:
        counts = [
            f"{count} {kind if count == 1 else kind + 's'}"
            for count, kind in (
                (modules_left_out[extra], "module"),
                (tests_left_out[extra], "single test"),
            )
            if count
        ]
        if counts:
            what = " and ".join(counts)
            terminalreporter.write_line(
                f"extra {extra} not installed: {what} not collected (pip install 'duels[{extra}]')"
            )
