"""Matches and files for the tests of the autosave, with separate user folders for each test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from duels.cli.files import default_paths, read_from
from duels.core import Match
from duels.games import load


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """User folders for one test, and an empty working directory."""
    for name in ("home", "tmp", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def new_match(**settings: Any) -> Match:
    return Match(load("firewall-breach"), 1, **settings)


def bypass(match: Match, times: int = 1) -> None:
    for _ in range(times):
        match.submit(match.deciders[0], "bypass")


def in_file(path: str | Path) -> tuple[str, int]:
    """Which match a file holds, and how far it has come."""
    match = read_from(str(path))
    return match.id, len(match.events)


def state_file(match: Match) -> str:
    return next(default_paths(match))
