"""The layers of docs/architecture.md: each package imports only those above it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import duels
from duels.games import BUILT_IN

ROOT = Path(duels.__file__).parent
LAYERS = (
    "core", "games", "solve", "analysis", "players", "envs", "measure", "llm", "arena", "web",
    "cli",
)  # fmt: skip
HEAVY = {
    "dataclasses", "inspect", "json", "hashlib", "random", "pathlib", "shutil", "asyncio",
    "fractions", "decimal",
}  # fmt: skip


def imports(path: Path) -> set[str]:
    """Every module a file imports, late imports included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def modules() -> list[Path]:
    return sorted(ROOT.glob("*/**/*.py"))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_each_layer_imports_only_those_above_it(path: Path) -> None:
    own = path.relative_to(ROOT).parts[0]
    allowed = LAYERS[: LAYERS.index(own) + 1]
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "duels" and len(parts) > 1 and parts[1] in LAYERS:
            assert parts[1] in allowed, f"{own} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_core_games_terminal_and_opponents_need_nothing_installed(path: Path) -> None:
    parts = path.relative_to(ROOT).parts
    if parts[:2] == ("solve", "compiled") or parts[0] in ("envs", "web"):
        return  # behind extras
    for name in imports(path):
        top = name.split(".")[0]
        assert top == "duels" or top in sys.stdlib_module_names, f"{path} imports {name}"


@pytest.mark.parametrize("package", ["analysis", "cli", "players", "web"])
def test_no_game_is_named_outside_the_games(package: str) -> None:
    names = list(BUILT_IN) + [slug.replace("-", "_") for slug in BUILT_IN]
    names += [slug.title().replace("-", "") for slug in BUILT_IN]
    for path in (ROOT / package).rglob("*.py"):
        code = re.sub(r'""".*?"""', "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not [name for name in names if name in code], path


def test_games_do_not_know_each_other() -> None:
    for path in (ROOT / "games").glob("[a-z]*.py"):
        assert not [name for name in imports(path) if name.startswith("duels.games")], path


def import_graph() -> dict[str, set[str]]:
    """Which modules of this package each one imports, late imports included."""
    names = {
        path: ".".join(path.relative_to(ROOT.parent).with_suffix("").parts) for path in modules()
    }
    names = {path: name.removesuffix(".__init__") for path, name in names.items()}
    known = set(names.values())
    return {
        own: {name if name in known else name.rpartition(".")[0] for name in imports(path)} & known
        for path, own in names.items()
    }


def test_no_module_imports_itself_by_way_of_others() -> None:
    tuple(TopologicalSorter(import_graph()).static_order())  # or graphlib.CycleError, with the way


def test_solvers_of_different_games_do_not_know_each_other() -> None:
    stems = {slug.replace("-", "_") for slug in BUILT_IN}
    for own, imported in import_graph().items():
        if own.startswith("duels.solve.") and own.rpartition(".")[2] in stems:
            others = stems - {own.rpartition(".")[2]}
            sideways = {name for name in imported if name.rpartition(".")[2] in others}
            assert not sideways, own


def test_the_picture_of_the_layers_is_true() -> None:
    page = (ROOT.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawn = re.findall(r"^ *│ +(\w+) +(to come: )?", page, flags=re.MULTILINE)
    assert [layer for layer, _ in drawn] == list(LAYERS)
    assert all(bool(later) != (ROOT / layer).is_dir() for layer, later in drawn)


def test_the_first_prompt_imports_nothing_heavy() -> None:
    """The modules loaded when the first prompt waits, seen from a real process."""
    script = (
        "import sys, os, duels.cli.terminal as t\n"
        "def ask(self, prompt, **rest):\n"
        "    print(*sorted(sys.modules)); sys.stdout.flush(); os._exit(0)\n"
        "t.Terminal.ask = ask\n"
        "from duels.cli.main import main\n"
        "main(['play', 'firewall-breach'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script],
        capture_output=True, text=True, cwd=ROOT.parent, check=True,
    )  # fmt: skip
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "duels.games.firewall_breach" in loaded
    assert not loaded & HEAVY
    assert not [name for name in loaded if name.startswith("duels.games.number")]
    tops = {name.split(".")[0] for name in loaded} - {"__main__", "duels"}
    assert all(top in sys.stdlib_module_names or top.startswith("_") for top in tops)
