"""Draws the charts of perfect play for the docs: one SVG for each chart, from the solutions.

python3 tools/draw_charts.py        # writes docs/pictures/*.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from duels.games import BUILT_IN, load  # noqa: E402
from duels.plotting import charts  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"


def drawn() -> dict[Path, str]:
    """All charts as SVG, by file name."""
    return {
        FOLDER / f"{slug}-{number}.svg": chart.svg()
        for slug in BUILT_IN
        for number, chart in enumerate(charts(load(slug)), 1)
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, content in drawn().items():
        path.write_text(content, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
