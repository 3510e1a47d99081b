"""The store of answers. Each is written before it is used: an interrupted run loses none."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from duels.core.errors import DuelsError, file_error
from duels.llm.dialogue import Message, Reply

FILE = "answers.sqlite"


class Answer(NamedTuple):
    """A reply with the number of tokens that it cost."""

    reply: Reply
    read: int = 0  # tokens of the messages
    written: int = 0  # tokens of the reply, reasoning included


def key_of(
    model: str, parameters: Mapping[str, Any], messages: Sequence[Message], sample: int
) -> str:
    """The key of an answer: a hash of all that it depends on."""
    text = json.dumps([model, parameters, messages, sample], sort_keys=True)
    return sha256(text.encode()).hexdigest()


class Answers:
    """Answers by key, in a file; in memory without one."""

    def __init__(self, folder: Path | None = None) -> None:
        try:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(":memory:" if folder is None else folder / FILE)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT)"
            )
        except OSError as error:
            raise DuelsError(f"cannot write to {folder}: {file_error(error)}") from None
        except sqlite3.Error as error:
            raise DuelsError(f"cannot use {FILE} in {folder}: {error}") from None

    def get(self, key: str) -> Answer | None:
        row = self._file.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        reply, read, written = json.loads(row[0])
        return Answer(Reply(*reply), read, written)

    def put(self, key: str, answer: Answer) -> None:
        with self._file:
            self._file.execute(
                "INSERT OR IGNORE INTO answers VALUES (?, ?)", (key, json.dumps(answer))
            )

    def close(self) -> None:
        self._file.close()
