"""The examples in modules that need an extra are skipped where it is missing, and say which."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent
# The library that a module cannot be imported without, and the extra that brings it.
NEEDS = {
    "coding.py": ("numpy", "rl"),
    "episode.py": ("numpy", "rl"),
    "render.py": ("numpy", "rl"),
    "position.py": ("numpy", "rl"),
    "settings.py": ("numpy", "rl"),
    "image.py": ("numpy", "rl"),
    "policy.py": ("gymnasium", "rl"),
    "statistics.py": ("gymnasium", "rl"),
    "vector_env.py": ("numpy", "rl"),
    "observer.py": ("pyspiel", "openspiel"),
    "pettingzoo.py": ("pettingzoo", "rl"),
    "gymnasium.py": ("gymnasium", "rl"),
    "openspiel.py": ("pyspiel", "openspiel"),
    "jax.py": ("pgx", "jax"),
}


def _needs(path: Path) -> tuple[str, str]:
    if path.parent.name == "web":
        postgres = path.name in ("postgres.py", "owners.py")
        return ("asyncpg", "postgres") if postgres else ("starlette", "web")
    return NEEDS.get(path.name, ("", ""))


class Skipped(pytest.File):
    """A module whose examples cannot be looked for."""

    def collect(self) -> Iterable[pytest.Item]:
        _, extra = _needs(self.path)
        examples = f"the examples of {self.path.relative_to(ROOT)}"
        reason = f"{examples} need the extra: pip install 'duels[{extra}]'"
        pytest.skip(reason, allow_module_level=True)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[Any], list[Any]]:
    found = yield
    library, _ = _needs(file_path)
    here = file_path.parent in (ROOT / "duels" / "envs", ROOT / "duels" / "web")
    if not (found and here and library and find_spec(library) is None):
        return found
    return [Skipped.from_parent(parent, path=file_path)]
