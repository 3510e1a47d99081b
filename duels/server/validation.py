"""Refuses control characters in texts of clients, as some databases cannot store them.

>>> check({"id": "1", "so_far": ["attack", "7"]})
>>> check({"options": {"first\\n": "1"}})
Traceback (most recent call last):
duels.core.errors.MalformedMove: control characters are not allowed - at `$.options`
"""

from __future__ import annotations

import re
from typing import Any

from duels.core.errors import MalformedMove

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def check(value: Any, where: str = "$") -> None:
    """Refuse a decoded request in which any text has a control character."""
    if isinstance(value, str):
        if CONTROL.search(value):
            raise MalformedMove(f"control characters are not allowed - at `{where}`")
    elif isinstance(value, dict):
        for name, inner in value.items():
            check(name, where)
            check(inner, f"{where}.{name}")
    elif isinstance(value, list):
        for inner in value:
            check(inner, where)
