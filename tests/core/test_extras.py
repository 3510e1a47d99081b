"""The command that a message about a missing extra names."""

from __future__ import annotations

from pathlib import Path

import pytest

from duels.core import extras
from duels.core.extras import install_command


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source checkout in a directory whose name has a space."""
    place = tmp_path / "my duels"
    (place / "docs").mkdir(parents=True)
    (place / "pyproject.toml").touch()
    monkeypatch.setattr(extras, "CHECKOUT", str(place))
    return place


@pytest.mark.parametrize(
    ("here", "source"),
    [("", "."), ("docs", ".."), ("..", "./my duels"), ("../other", "../my duels")],
)
def test_a_checkout_is_installed_from_its_directory(
    here: str, source: str, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout.parent / "other").mkdir()
    monkeypatch.chdir(checkout / here)
    assert install_command("web") == f"python3 -m pip install '{source}[web]'"


def test_an_installed_package_is_named(checkout: Path) -> None:
    (checkout / "pyproject.toml").unlink()
    assert install_command("web") == "python3 -m pip install 'duels[web]'"
