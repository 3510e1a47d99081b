"""Bots that do wrong, one way each, for the code that must survive them.

`command(name)` is a command line; `MISBEHAVING` says for each what its forfeit is told to be (a
regular expression). `left(token)` finds processes that were started with a token among their words
and that are still there: none should be.
"""

from __future__ import annotations

import shlex
import sys
from contextlib import suppress
from pathlib import Path

BOTS = Path(__file__).parent / "bots.py"

LATE = r"it did not answer within \S+ s"
CLOSED = "it closed its output"
NO_JSON = "which is not JSON"
NO_NEWLINE = r"it wrote '\{\"type\": \"move\".*' and no newline"
# A line too many is seen with the first, before the next question, or as the answer to that.
UNASKED = (
    r"more than one line; the second is '\{\"type\"|"
    r"it wrote '\{\"type\".* before it was asked|'1' is not an option"
)
MISBEHAVING = {
    # Silence
    "hangs": LATE,
    "hangs_at_hello": LATE,
    "late": LATE,
    "ignores_sigterm": LATE,
    "stops_itself": LATE,
    "never_reads": LATE,
    # Ends
    "kills_its_keeper": "its program was killed",
    "exits": "its program ended with exit status 0",
    "crashes": r"its program ended with exit status 1 \(ZeroDivisionError: .*\)",
    "crashes_at_once": r"its program ended with exit status 3",
    "segfaults": "its program was killed by SIGSEGV",
    "closes_output": CLOSED,
    "closes_everything": CLOSED,
    # Too much
    "floods": "it answered with more than 65536 bytes",
    "floods_lines": UNASKED,
    "long_line": "it answered with more than 65536 bytes",
    "errors_without_end": "it wrote more than 16 MB to standard error",
    "allocates": "more than 256 MB of memory|MemoryError",
    "allocates_in_children": "more than 256 MB of memory",
    "allocates_shared": "more than 256 MB of memory",
    "forks": LATE,
    "forks_and_leaves": "its program ended with exit status 0",
    "escapes": "its program ended with exit status 0",
    "forks_without_end": "more than 64 processes|more than 256 MB of memory",
    # Nonsense
    "early": UNASKED,
    "two_answers": UNASKED,
    "no_newline": NO_NEWLINE + r" within 0\.5 s",
    "no_newline_at_the_end": NO_NEWLINE + "; then its program ended with exit status 0",
    "byte_order_mark": r"begins with a byte order mark \(BOM\)",
    "utf16": r"its answer is not UTF-8 \(byte 0xff at position 0\)",
    "not_utf8": r"its answer is not UTF-8 \(byte 0xff at position 26\)",
    "not_json": "it answered 'I attack!', which is not JSON; write other output to",
    "deep": NO_JSON,
    "huge_number": NO_JSON,
    "empty_line": "it answered with an empty line",
    "a_list": "expected an answer of type 'move'",
    "other_type": "expected an answer of type 'move'",
    "not_ready": "expected an answer of type 'ready'",
    "no_move": "expected an answer with a move or a mix",
    "move_and_mix": "expected an answer with a move or a mix",
    "unlisted": "'surrender' is not an option",
    "null_move": "None is not an option",
    "number_move": "7 is not an option",
    "escape_codes": r"'\\x1b\[2J' is not an option",
    "surrogate": r"'\\ud800' is not an option",
    "nan_mix": "expected a probability from 0 to 1; got nan",
    "infinite_mix": "expected a probability from 0 to 1; got inf",
    "negative_mix": "expected a probability from 0 to 1; got -1",
    "text_mix": "expected a probability from 0 to 1; got 'half'",
    "true_mix": "expected a probability from 0 to 1; got True",
    "half_mix": "expected probabilities that add up to 1; got 0.5",
    "empty_mix": "expected a probability for each move",
    "list_mix": "expected a probability for each move",
    "unlisted_mix": "'surrender' is not an option",
}
FINE = ("plays", "mixes", "chatty", "slow_to_start", "windows_lines")  # beside them, as they should


def command(name: str, *words: str) -> str:
    """The command line of a bot, with words that it does not look at."""
    return shlex.join([sys.executable, str(BOTS), name, *words])


def left(token: str) -> list[str]:
    """The command lines of processes that have a token in theirs; on Linux."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = place.read_bytes()
            if token.encode() in words:
                found.append(words.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found
