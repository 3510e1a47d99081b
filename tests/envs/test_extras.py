"""Without its extra, an environment is one line that names it, and nothing else breaks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def without(library: str, statement: str) -> subprocess.CompletedProcess[str]:
    """Run a statement as if a library were not installed."""
    script = f"import sys\nsys.modules[{library!r}] = None\n{statement}\n"
    return subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("library", "module", "extra"),
    [
        ("numpy", "encoding", "rl"),
        ("pettingzoo", "pettingzoo", "rl"),
        ("gymnasium", "gymnasium", "rl"),
        ("pyspiel", "openspiel", "openspiel"),
    ],
)
def test_a_missing_extra_is_one_line(library: str, module: str, extra: str) -> None:
    if library != "numpy":
        pytest.importorskip("numpy", reason=f"needs the extra: pip install 'duels[{extra}]'")
    statement = (
        "from duels.core.errors import DuelsError\n"
        f"try:\n    import duels.envs.{module}\n"
        "except (DuelsError, ImportError) as error:\n"
        "    assert isinstance(error, DuelsError) and isinstance(error, ImportError)\n"
        "    print(error)"
    )
    done = without(library, statement)
    assert done.stderr == ""
    assert done.stdout.startswith(f"{library} is not installed: ")
    assert done.stdout.endswith(f" -m pip install -e '.[{extra}]'\n")
    assert done.stdout.count("\n") == 1


def test_importing_the_package_imports_no_library() -> None:
    statement = (
        "import duels, duels.envs\n"
        "print([n for n in ('numpy', 'gymnasium', 'pettingzoo', 'pyspiel') if n in sys.modules])"
    )
    assert without("nothing", statement).stdout == "[]\n"
