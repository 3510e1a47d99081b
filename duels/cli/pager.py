"""Long texts on a screen: wrapped to its width, and shown in a pager."""

from __future__ import annotations

import os
from collections.abc import Iterable

from duels.cli.terminal import Terminal
from duels.core.presentation import Line, Lines, tone

WIDEST = 100  # columns: longer lines are hard to read
NARROWEST = 20
OWN = r"less -R -F -X '-Pspace\: more, q\: back'"


def columns(terminal: Terminal) -> int:
    """How many columns a text may use: those of the screen, at most `WIDEST`."""
    return max(NARROWEST, min(WIDEST, terminal.width))


def fit(lines: Iterable[str], width: int) -> Lines:
    """Rewrap lines to a width, keeping paragraphs, indentation and tones.

    A line that begins a ruling, a step or a list item gets a hanging indent; a line indented like
    the text above it continues that paragraph.

    >>> fit(["  A1. Two players,", "      one game.", "On", "and on."], 20)
    ['  A1. Two players,', '      one game.', 'On and on.']
    """
    paragraphs: list[tuple[str, str, str]] = []  # head, text and tone
    for line in lines:
        head = _head(line)
        text, before = line[len(head) :].strip(), paragraphs[-1] if paragraphs else ("", "", "")
        goes_on = not head.strip() and len(head) == len(before[0]) and text and before[1]
        if goes_on and not tone(line) and not before[2]:
            paragraphs[-1] = (before[0], f"{before[1]} {text}", "")
        else:
            paragraphs.append((head, text, tone(line)))
    return [
        Line(line, kind) if kind else line
        for head, text, kind in paragraphs
        for line in row(head, text, width)
    ]


def row(head: str, text: str, width: int) -> Lines:
    """A text with a hanging indent after its head; below the head on a narrow screen.

    >>> row("  1. Duel   ", "Two players.", 24), row("  1. Duel   ", "Two players.", 20)
    (['  1. Duel   Two players.'], ['  1. Duel', '    Two players.'])
    """
    from textwrap import wrap

    if 2 * len(head) > width and head.strip():
        indent = " " * (len(head) - len(head.lstrip()))
        return wrap(head.strip(), width, initial_indent=indent, subsequent_indent=indent) + wrap(
            text, width, initial_indent=indent + "  ", subsequent_indent=indent + "  "
        )
    return wrap(
        text, width, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False
    ) or [head.rstrip()]


def page(lines: Iterable[str], terminal: Terminal) -> None:
    """Show a text wrapped to the screen; in a pager if it is longer than an interactive screen."""
    text = fit(lines, columns(terminal))
    if not (_wanted(terminal, len(text)) and _paged(text, terminal.colour)):
        terminal.say(text)


def _head(line: str) -> str:
    """The indentation and the label of a line: "  C1. ", "  - ", "  attack   "."""
    import re

    found = re.match(r" *(?:(?:[A-Z]?\d+\.|-) +|[\w-]+ {2,})?", line)
    return "" if found is None else found[0]


def _wanted(terminal: Terminal, lines: int) -> bool:
    """Whether output goes to a screen that cannot show all lines at once."""
    try:
        height = os.get_terminal_size(1).lines
    except OSError:
        return False
    return terminal.interactive and terminal.clearable and lines >= (height or 24)


def _paged(lines: Lines, colour: bool) -> bool:
    """Show lines in a pager; returns whether that worked. The reader may quit it early."""
    import shlex
    import signal
    import subprocess

    chosen = os.environ.get("PAGER", OWN)
    if colour and chosen == OWN:  # other pagers may not support colours
        from duels.cli.style import paint

        lines = [paint(line) for line in lines]
    # Only the pager handles Ctrl-C while it runs. The handler is set before it starts, so that no
    # interrupt is lost; it is not SIG_IGN, which the pager would inherit.
    usual = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        command = shlex.split(chosen)
        if not command:
            return False
        # LESSSECURE: a reader must not run commands or write files from the prompt of `less`.
        pager = subprocess.Popen(
            command, stdin=subprocess.PIPE, env={**os.environ, "LESSSECURE": "1"}
        )
        pager.communicate("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
    except (OSError, ValueError):
        return False
    finally:
        signal.signal(signal.SIGINT, usual)
    return pager.returncode == 0  # else nothing may have been shown
