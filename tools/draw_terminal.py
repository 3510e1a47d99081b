"""Draws the README's picture: a session in a pseudo-terminal, rendered as SVG.

    python3 tools/draw_terminal.py      # writes docs/terminal.svg

Needs the `test` extra (pexpect).
"""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path

import pexpect

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "terminal.svg"
COMMAND = ["-m", "duels", "play", "cipher-siege", "--p2", "greedy", "--fast"]
SEED = "10"  # a short game with different events
MOVES = ["attack 3 4", "attack 4 5"]
COLOURS = {"31": "#ff6b6b", "32": "#69db7c", "33": "#ffd43b", "36": "#66d9e8"}
WIDTH, LINE, CHARACTER = 84, 19, 8.43


def session() -> str:
    """The output of the session, up to the offer of a rematch."""
    environment = {"TERM": "xterm-256color", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    child = pexpect.spawn(
        sys.executable, [*COMMAND, "--seed", SEED],
        cwd=str(ROOT), env=environment, encoding="utf-8", dimensions=(60, WIDTH),
    )  # fmt: skip
    shown = f"$ python3 {' '.join(COMMAND)}\r\n"
    for move in MOVES:
        child.expect(r"Choose action.*: ")
        shown += f"{child.before}{child.after}"
        child.sendline(move)
    child.expect("Rematch")
    shown += str(child.before).rstrip()
    child.close(force=True)
    return shown


def spans(line: str) -> str:
    """One line's ANSI colours as SVG text spans."""
    drawn, style = [], {"fill": "", "weight": "", "opacity": ""}
    for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", piece)
        if code is None:
            names = {"fill": "fill", "weight": "font-weight", "opacity": "opacity"}
            marks = "".join(f' {names[k]}="{v}"' for k, v in style.items() if v)
            drawn.append(f"<tspan{marks}>{escape(piece)}</tspan>" if piece else "")
        elif code[1] in COLOURS:
            style["fill"] = COLOURS[code[1]]
        elif code[1] == "1":
            style["weight"] = "bold"
        elif code[1] == "2":
            style["opacity"] = "0.55"
        else:
            style = dict.fromkeys(style, "")
    return "".join(drawn)


def picture(text: str) -> str:
    lines = text.replace("\r", "").split("\n")
    height, width = LINE * len(lines) + 44, round(WIDTH * CHARACTER) + 40
    rows = "\n".join(
        f'<text x="20" y="{46 + LINE * number}" xml:space="preserve">{spans(line)}</text>'
        for number, line in enumerate(lines)
    )
    dots = "".join(
        f'<circle cx="{20 + 18 * i}" cy="16" r="5.5" fill="{colour}"/>'
        for i, colour in enumerate(("#ff5f56", "#ffbd2e", "#27c93f"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="14">\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#1e1e2e"/>\n{dots}\n'
        f'<g fill="#e4e4ef">\n{rows}\n</g>\n</svg>\n'
    )


if __name__ == "__main__":
    TARGET.write_text(picture(session()), encoding="utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}")
