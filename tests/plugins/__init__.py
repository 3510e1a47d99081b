"""Games as other packages bring them: installed beside this one, found by their entry points."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

GOOFSPIEL = {
    "goofspiel": "tests.plugins.goofspiel:Goofspiel",
    "bare-goofspiel": "tests.plugins.goofspiel:BareGoofspiel",
}


def install(place: Path, games: Mapping[str, str] = GOOFSPIEL, **groups: Mapping[str, str]) -> None:
    """Make a folder on the path of imports look like an installed package with these games.

    `groups` are more entry points, by the end of their group: kernels="..." is `duels.kernels`.
    """
    info = place / "goofspiel-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: goofspiel\nVersion: 1.0\n")
    lines = []
    for group, points in {"games": games, **groups}.items():
        lines += [f"[duels.{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
