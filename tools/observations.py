"""Write the page on what bots see and answer in each game, from the code of the games.

python3 tools/observations.py
"""

from __future__ import annotations

from pathlib import Path

from duels.games import BUILT_IN, find
from duels.players.describe import Description, describe, message

ROOT = Path(__file__).parent.parent
HEAD = """\
# What a bot sees in each game

`python3 tools/observations.py` generates this page from the code of the games, and a test compares
it with the code. `duels bot describe GAME` prints the same text for one game, also for a game of
another package.

A request ([`choose`](bots.md#the-protocol)) contains an observation, the history and the options.
The first element of a pair belongs to Player 1, the second to Player 2. The bot answers with one of
the options, exactly as written. The seeds in the examples are shortened.
"""


def section(game: Description) -> list[str]:
    """The lines of one game."""
    lines = [
        f"## {game.title}",
        "",
        f"The slug is `{game.slug}`. An observation has these fields:",
        "",
    ]
    lines += ["| field | type | meaning |", "|---|---|---|"]
    lines += [f"| `{name}` | {kind} | {about} |" for name, kind, about in game.fields]
    lines += ["", "| move | effect |", "|---|---|"]
    lines += [f"| `{form}` | {about} |" for form, about in game.moves.items()]
    lines += ["", f"Chance events in the history: {game.chance}."] if game.chance else []
    for example in game.examples:
        lines += ["", f"### {game.title}: {example.title}", "", "```json"]
        lines += [*message(example.request), "```"]
    return lines


def page() -> str:
    """The page."""
    sections = (section(describe(find(slug))) for slug in BUILT_IN)
    return "\n".join([HEAD, *("\n".join([*lines, ""]) for lines in sections)])


def place() -> Path:
    """The file of the page."""
    return ROOT / "docs" / "reference" / "observations.md"


if __name__ == "__main__":
    place().write_text(page(), encoding="utf-8")
