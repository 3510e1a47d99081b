"""Runs the commands behind measured figures of the documentation and writes their output there.

    python3 tools/figures.py PAGE [COMMAND]      # only commands that contain this text

A page has `<!-- figures: COMMAND -->` before and `<!-- figures: end -->` after each output. The
output is stamped with the machine, the versions and the commit; a Markdown table stays one, other
text becomes a block of code. Goals that a benchmark prints are left out: pages state figures.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"(<!-- figures: (?!end)(.+?) -->\n).*?(<!-- figures: end -->)", re.DOTALL)
GOAL = re.compile(r" +\(?goal:? .*$", re.MULTILINE)


def processor() -> str:
    """The model of the processor, where the system tells it."""
    info = Path("/proc/cpuinfo")
    text = info.read_text() if info.exists() else ""
    models = re.findall(r"^model name\s*: (.+)$", text, re.MULTILINE)
    return models[0] if models else platform.machine()


def stamp() -> str:
    """The machine, the versions and the commit of a measurement."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    load = os.getloadavg()[0]
    return (
        f"*{processor()}, {os.cpu_count()} cores, load average {load:.1f}, Python "
        f"{platform.python_version()}, commit `{commit}`, {datetime.now(UTC):%Y-%m-%d}.*"
    )


def measured(command: str) -> str:
    """The output of a command in Markdown, with its stamp."""
    words = shlex.split(command)
    if words[0] == "python3":
        words[0] = sys.executable
    began = stamp()
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    output = GOAL.sub("", done.stdout).strip()
    if not re.search(r"^\|", output, re.MULTILINE):
        output = f"```text\n{output}\n```"
    return f"\n```sh\n{command}\n```\n\n{output}\n\n{began}\n\n"


def main(page: Path, wanted: str) -> None:
    """Measure the figures of a page, and write each as soon as it is known."""
    for command in [command for _, command, _ in BLOCK.findall(page.read_text(encoding="utf-8"))]:
        if wanted not in command:
            continue
        print(command, file=sys.stderr, flush=True)
        figures = measured(command)
        text = BLOCK.sub(
            lambda m: m[1] + figures + m[3] if m[2] == command else m[0],  # noqa: B023
            page.read_text(encoding="utf-8"),
        )
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), "".join(sys.argv[2:]))
