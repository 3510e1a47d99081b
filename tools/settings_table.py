"""Write the table of settings of the server into the guide for operators, from the code.

python3 tools/settings_table.py
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from duels.cli.main import arguments_of_commands
from duels.server.settings import Settings

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"(<!-- settings -->\n).*?(<!-- settings: end -->)", re.DOTALL)
COMMENT = re.compile(r"^    (\w+): [^#\n]*#(.*)$", re.MULTILINE)
# Options whose name is not that of their setting.
OTHER_NAMES = {
    "connections_per_address": "--max-per-address", "origins": "--origin", "rooms": "--max-matches",
}  # fmt: skip
HEAD = "| setting | default | meaning | option |\n|---|---|---|---|\n"


def table() -> str:
    """The table in Markdown: a row for each setting."""
    return HEAD + "".join(_rows(Settings(), ""))


def _rows(settings: Any, prefix: str) -> Iterator[str]:
    meanings = dict(COMMENT.findall(inspect.getsource(type(settings))))
    options = {*arguments_of_commands()["serve"]}
    for field in fields(settings):
        value = getattr(settings, field.name)
        if is_dataclass(value):
            yield from _rows(value, f"{field.name}.")
        elif not callable(value):  # sources of time and randomness, for tests
            named = f"--{field.name.replace('_', '-')}"
            option = OTHER_NAMES.get(field.name, named if named in options else "")
            about = meanings.get(field.name, field.name.replace("_", " ")).strip()
            about = about.replace("|", "\\|")
            flag = f"`{option}`" if option else ""
            yield f"| `{prefix}{field.name}` | {_text(value)} | {about} | {flag} |\n"


def _text(value: Any) -> str:
    """A value for readers.

    >>> [_text(value) for value in (60.0, 4096, (0.5, 30), (), False, "", None, "x", 86400.0)]
    ['60', '4096', '0.5 (30)', 'none', 'no', 'none', 'none', 'x', '86400']
    """
    if value is None or value == () or value == "":
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple) and len(value) == 2:
        return f"{value[0]:g} ({value[1]})"  # a rate and its burst
    if isinstance(value, int | float):
        return f"{value:.10g}"
    return str(value)


def place() -> Path:
    """The file of the page."""
    return ROOT / "docs" / "guides" / "host-a-server.md"


def page() -> str:
    """The page with the table of this code."""
    return BLOCK.sub(rf"\g<1>{table()}\g<2>".replace("\\|", "\\\\|"), place().read_text("utf-8"))


if __name__ == "__main__":
    place().write_text(page(), encoding="utf-8")
