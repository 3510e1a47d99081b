"""The page on capacity has the table that its command prints."""

from __future__ import annotations

import subprocess
import sys

from tests.test_docs import ROOT


def test_the_page_has_the_table_of_the_recorded_costs() -> None:
    printed = subprocess.run(
        [sys.executable, "benchmarks/capacity.py"], cwd=ROOT, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    page = (ROOT / "docs" / "explanation" / "capacity.md").read_text("utf-8")
    assert printed.stdout.strip() in page
