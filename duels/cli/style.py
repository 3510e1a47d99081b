"""Colour, bars and cards, for terminals that show them."""

from __future__ import annotations

from duels.core.show import Die, Hand, Meter, Part, Pile, Score, Sealed, Tokens

RESET = "\x1b[0m"
BOLD, DIM = "\x1b[1m", "\x1b[2m"
RED, GREEN, YELLOW, CYAN = "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m"
BAR = 20  # characters of a full meter

STYLES = (  # the first whose mark is in a line gives its style
    ("successful!", GREEN),
    ("failed!", RED),
    ("Invalid move!", RED),
    ("Underdog", YELLOW + BOLD),
    ("wins", GREEN + BOLD),
    ("Wins!", GREEN + BOLD),
    ("---", BOLD + CYAN),
    ("===", BOLD + CYAN),
    ("'s Turn:", BOLD + CYAN),
    ("[Game Start]", BOLD),
)


def paint(line: str) -> str:
    for mark, style in STYLES:
        if mark in line:
            return f"{style}{line}{RESET}"
    return f"{BOLD}{CYAN}{line}{RESET}" if line.startswith("Round ") else line


def drawn(parts: list[Part]) -> list[str]:
    """The table, a line for each part; parts of one label share a line."""
    rows: dict[str, list[str]] = {}
    for part in parts:
        rows.setdefault(part.label, []).append(_shown(part))
    width = max(map(len, rows))
    return [
        f"  {DIM}{label:<{width}}{RESET}  {'   '.join(filter(None, shown))}"
        for label, shown in rows.items()
        if any(shown)
    ]


def _shown(part: Part) -> str:
    match part:
        case Meter(_, value, top):
            return _bar(value, top)
        case Tokens(_, free, spent):
            tokens = [(n, f"{BOLD}{n}{RESET}") for n in free]
            tokens += [(n, f"{DIM}{'·' * len(str(n))}{RESET}") for n in spent]
            return " ".join(text for _, text in sorted(tokens))
        case Hand(_, cards, hidden):
            return " ".join([f"{BOLD}[{card}]{RESET}" for card in cards] + ["[░]"] * hidden)
        case Pile(_, size, cards):
            shown = f"{DIM} {' '.join(map(str, cards))}{RESET}" if cards else ""
            return f"{size}{shown}"
        case Die(_, face):
            return f"[{face}]"
        case Score(_, points, goal):
            return f"{YELLOW}{'●' * points}{RESET}{DIM}{'○' * (goal - points)}{RESET}"
        case Sealed():
            return ""


def _bar(value: int, top: int) -> str:
    full = max(0, min(BAR, -(-value * BAR // top)))
    colour = GREEN if 2 * value > top else YELLOW if 4 * value > top else RED
    return f"{colour}{'█' * full}{RESET}{DIM}{'░' * (BAR - full)}{RESET} {value:>3}"
