"""The command that a message about a missing extra names, for each kind of installation."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest

from duels.core import extras
from duels.core.extras import install_command, requirements


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source checkout in a directory whose name has a space, and a virtual environment in it."""
    place = tmp_path / "my duels"
    (place / "docs").mkdir(parents=True)
    (place / "pyproject.toml").touch()
    (place / ".venv" / "bin").mkdir(parents=True)
    (place / ".venv" / "bin" / "python").touch(0o755)
    monkeypatch.setattr(extras, "CHECKOUT", str(place))
    monkeypatch.setattr(sys, "executable", str(place / ".venv" / "bin" / "python"))
    monkeypatch.setattr(sys, "prefix", str(place / ".venv"))
    monkeypatch.chdir(place)
    return place


@pytest.mark.parametrize(
    ("here", "python", "source"),
    [
        ("", ".venv/bin/python", "."),
        ("docs", "../.venv/bin/python", ".."),
        ("..", "'my duels/.venv/bin/python'", "./my duels"),
        ("../other", "'../my duels/.venv/bin/python'", "../my duels"),
    ],
)
def test_a_checkout_is_installed_from_its_directory(
    here: str, python: str, source: str, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout.parent / "other").mkdir()
    monkeypatch.chdir(checkout / here)
    assert install_command("web") == f"{python} -m pip install -e '{source}[web]'"


def test_an_installed_package_is_named(checkout: Path) -> None:
    (checkout / "pyproject.toml").unlink()
    assert install_command("web") == ".venv/bin/python -m pip install 'duels[web]'"


def test_an_interpreter_on_the_path_is_called_by_its_name(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{checkout}/.venv/bin")
    assert install_command("web") == "python -m pip install -e '.[web]'"


def test_a_reserved_interpreter_gets_a_virtual_environment(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(checkout))
    assert install_command("web") == ".venv/bin/python -m pip install -e '.[web]'"
    monkeypatch.setattr(sys, "base_prefix", sys.prefix)
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    monkeypatch.setenv("PATH", "")
    assert install_command("web") == (
        "/usr/bin/python3 -m venv .venv && .venv/bin/python -m pip install -e '.[web]', "
        "and run .venv/bin/python -m duels"
    )


def test_pipx_injects_the_requirements_of_an_extra(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those of extras that it includes, without markers; pipx does not inject an extra."""
    monkeypatch.setattr("importlib.metadata.requires", lambda name: [
        "duels[web]; extra == 'postgres'",
        'asyncpg>=0.29; extra == "postgres"',
        "starlette>=0.40; extra == 'web'",
        "uvloop>=0.19; sys_platform != 'win32' and extra == 'web'",
        "joblib>=1.4; extra == 'arena'",
    ])  # fmt: skip
    (checkout / ".venv" / "pipx_metadata.json").touch()
    assert install_command("postgres") == (
        "pipx inject duels 'starlette>=0.40' 'uvloop>=0.19' 'asyncpg>=0.29'"
    )
    monkeypatch.setattr(sys, "platform", "win32")
    assert requirements("web") == ["starlette>=0.40"]
