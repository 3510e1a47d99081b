"""Generated parts of the documentation site (mkdocs.yml): the help of every command; docstrings.

A hook of MkDocs adds the page `reference/command-line.md`, which is what the parsers print. An
extension of Griffe marks the doctests in docstrings as code.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from duels.cli.help import GROUPS
from duels.cli.main import main

PAGE = "reference/command-line.md"
INTRODUCTION = """\
# Command line

`python3 -m duels` in a checkout and `duels` in an installation are the same program. Without a
command it shows a menu. `duels help COMMAND` prints the text of this page in the terminal.

The exit status is 0 for success, 1 for a failure, 2 for a wrong command line, and 128 + n after
signal n.
"""


def help_of(*words: str) -> str:
    """What the command line prints for `--help`."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main([*words, "--help"])
    return printed.getvalue().strip()


def page() -> str:
    """The page in Markdown."""
    sys.argv[0] = "duels"  # the name in usage lines
    parts = [INTRODUCTION]
    for group, names in GROUPS.items():
        parts.append(f"## {group}\n")
        parts += [f"### {name}\n\n```text\n{help_of(name)}\n```\n" for name in names]
    return "\n".join(parts)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page to the pages that are built."""
    files.append(File.generated(config, PAGE, content=page()))
    return files


class Doctests(griffe.Extension):
    """Fences the doctests of docstrings: in Markdown `>>>` would be a quotation."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring:
            fenced = r"```pycon\n\1\n```"
            obj.docstring.value = re.sub(r"(?m)^(>>> .+(?:\n.+)*)", fenced, obj.docstring.value)
