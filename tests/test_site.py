"""The documentation site: the page of commands, the fences of doctests, figures with a stamp."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="needs the extra: pip install 'duels[docs]'")

import griffe

from duels.cli.main import COMMANDS
from tools import docs_site, figures

PAGE = """\
# Speed

<!-- figures: python3 -c "print('time   3 ms   goal: 2 ms')" -->
old
<!-- figures: end -->

<!-- figures: python3 -c "print('| a |')" -->
kept
<!-- figures: end -->
"""


def test_the_page_of_commands_has_the_help_of_each() -> None:
    page = docs_site.page()
    for command in filter(None, COMMANDS):
        assert f"\n### {command}\n\n```text\nusage: duels {command} " in page
    assert page.count("```text") == page.count("\n### ")


def test_doctests_of_docstrings_are_fenced() -> None:
    text = "Adds.\n\n>>> 1 + 1\n2\n\nMore, and > quoted."
    item = griffe.Function("add")
    item.docstring = griffe.Docstring(text)
    docs_site.Doctests().on_object(obj=item)
    assert item.docstring.value.split("\n\n") == [
        "Adds.",
        "```pycon\n>>> 1 + 1\n2\n```",
        "More, and > quoted.",
    ]


def test_figures_replace_a_block_and_state_where_they_are_from(tmp_path: Path) -> None:
    page = tmp_path / "speed.md"
    page.write_text(PAGE)
    figures.main(page, "3 ms")
    text = page.read_text()
    assert "```text\ntime   3 ms\n```" in text
    assert figures.stamp().partition(", load")[0] in text
    assert "old" not in text
    assert "kept" in text
    figures.main(page, "| a |")
    assert "\n| a |\n\n*" in page.read_text()
    assert figures.BLOCK.sub(r"\1\3", page.read_text()) == figures.BLOCK.sub(r"\1\3", PAGE)


def test_the_table_of_settings_is_that_of_the_code() -> None:
    pytest.importorskip("starlette", reason="needs the extra: pip install 'duels[web]'")
    from tools import settings_table

    assert settings_table.page() == settings_table.place().read_text("utf-8"), (
        "run python3 tools/settings_table.py"
    )
    assert "| `claim_after` | 60 |" in settings_table.table()
