"""The layers of docs/explanation/architecture.md: each package imports only those above it."""

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
    "core", "algorithms", "kernels", "plotting", "games", "analysis", "players", "envs", "measure",
    "arena", "llm", "client", "integrations", "server", "cli",
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
def test_only_packages_behind_extras_need_anything_installed(path: Path) -> None:
    parts = path.relative_to(ROOT).parts
    if parts[0] in ("envs", "client", "integrations", "server") or path.name == "pgx.py":
        return
    for name in imports(path):
        top = name.split(".")[0]
        assert top == "duels" or top in sys.stdlib_module_names, f"{path} imports {name}"


def names_of_games() -> list[str]:
    names = list(BUILT_IN) + [slug.replace("-", "_") for slug in BUILT_IN]
    return names + [slug.title().replace("-", "") for slug in BUILT_IN]


def test_no_game_is_named_outside_its_package() -> None:
    """In code of any package, and in the browser's; docstrings may have examples."""
    names = names_of_games()
    for path in [*modules(), *(ROOT / "server" / "static").rglob("*.*s")]:
        if path.relative_to(ROOT).parts[0] == "games" and path.parent != ROOT / "games":
            own = path.relative_to(ROOT / "games").parts[0]
            others = [name for name in names if name.lower().replace("-", "_") != own]
            others = [name for name in others if name != own.title().replace("_", "")]
        elif path == ROOT / "games" / "__init__.py":
            continue  # the catalogue
        else:
            others = names
        code = re.sub(r'""".*?"""', "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not [name for name in others if name in code], path


@pytest.mark.parametrize("slug", BUILT_IN)
def test_a_game_builds_on_what_is_below_the_games(slug: str) -> None:
    own = f"duels.games.{slug.replace('-', '_')}"
    for path in (ROOT / "games" / slug.replace("-", "_")).rglob("*.py"):
        below = LAYERS[: 1 if path.name == "rules.py" else LAYERS.index("games")]
        allowed = (f"{own}.", *(f"duels.{layer}." for layer in below))
        ours = [name for name in imports(path) if name.startswith("duels.")]
        assert not [name for name in ours if not name.startswith(allowed)], path


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


def test_the_picture_of_the_layers_is_true() -> None:
    page = (ROOT.parent / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
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
    assert "duels.games.firewall_breach.rules" in loaded
    assert not loaded & HEAVY
    assert not [name for name in loaded if name.startswith("duels.games.number")]
    tops = {name.split(".")[0] for name in loaded} - {"__main__", "duels"}
    assert all(top in sys.stdlib_module_names or top.startswith("_") for top in tops)
