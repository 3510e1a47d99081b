"""Texts of `duels --help`: groups of commands, examples, and suggestions for unknown commands."""

from __future__ import annotations

from collections.abc import Mapping

from duels.core.errors import quote

GROUPS = {
    "Play": ("play", "resume", "games", "rules"),
    "Study": ("replay", "analyse", "value", "explain", "verify"),
    "Bots and tournaments": ("bot", "arena", "join"),
    "Server": ("serve", "export", "import", "ratings", "backup", "restore", "admin"),
    "Research": ("exploit", "positions", "bench", "solve"),
    "Shell": ("help", "completion"),
}
# {0}, {1} … are games.
EXAMPLES = {
    "": ["play {0}", "serve --open", "exploit {1} greedy", "help arena"],
    "play": ["play {2} --p2 hard", "play {1} --p2 human", "play {4} --p2 ./bot --first random"],
    "resume": ["resume", "resume game.json"],
    "games": ["games --json"],
    "rules": ["rules {3}"],
    "replay": ["replay game.json", "replay game.json --view 1"],
    "analyse": ["analyse game.json", "analyse game.json --out game.html"],
    "value": ["value {0}", "value {3} --json"],
    "explain": ["explain {0}", "explain {1} --out picture.svg"],
    "verify": ["verify game.json"],
    "bot": ["bot new mybot.py", "bot check ./mybot.py", "bot describe {1}"],
    "arena": [
        "arena ./mybot.py greedy perfect",
        "arena new=./mybot.py old=./mybot-1.py --games {3} -n 500 --sprt 0,10",
    ],
    "join": ["join http://127.0.0.1:8000 --bot ./mybot.py"],
    "serve": ["serve --open", "serve --host 0.0.0.0 --database duels.sqlite"],
    "export": ["export --out records.jsonl"],
    "import": ["import records.jsonl"],
    "ratings": ["ratings"],
    "admin": ["admin search ada", "admin ban ID --days 7", "admin prune --dry-run"],
    "admin list": ["admin list --state playing"],
    "admin search": ["admin search ada"],
    "admin rename": ["admin rename ID 'New name'"],
    "admin ban": ["admin ban ID --days 7 --reason 'uses a program'"],
    "admin unban": ["admin unban ID"],
    "admin close": ["admin close MATCH --reason 'opened by mistake'"],
    "admin delete": ["admin delete ID"],
    "admin reports": ["admin reports -n 10"],
    "admin suspects": ["admin suspects --than medium"],
    "admin prune": ["admin prune --keep closed=1 --dry-run"],
    "backup": ["backup duels-backup.sqlite"],
    "restore": ["restore duels-backup.sqlite --database duels.sqlite"],
    "exploit": ["exploit {1} greedy", "exploit {0} ./mybot.py --json"],
    "positions": ["positions {3} -n 100 --out positions.jsonl"],
    "bench": [
        "bench --model qwen3 --base-url http://127.0.0.1:11434/v1 --dry-run",
        "bench --player greedy --games {1} -n 20",
    ],
    "solve": ["solve {0} --set first=2"],
    "help": ["help play"],
    "completion": ['eval "$(PROGRAM completion bash)"'],
}
OTHER_SPELLINGS = {"analyze": "analyse", "tournament": "arena", "server": "serve", "load": "resume"}


def overview(program: str, summaries: Mapping[str, str]) -> str:
    """The commands in groups, examples, and where the documentation is."""
    lines = []
    for group, names in GROUPS.items():
        lines += [f"{group}:", *(f"  {name:<12}{summaries[name]}" for name in names), ""]
    where = "Documentation: README.md and docs/. Help for a command: "
    return "\n".join([*lines, examples(program, ""), "", f"{where}{program} help COMMAND"])


def examples(program: str, command: str) -> str:
    """Command lines to try, with the first games of the catalogue."""
    from duels.games import catalogue

    lines = []
    for line in EXAMPLES[command]:
        words = line if "PROGRAM" in line else f"PROGRAM {line.format(*catalogue())}"
        lines.append(f"  {words.replace('PROGRAM', program)}")
    return "\n".join(["Examples:", *lines])


def unknown_command(program: str, word: str, known: Mapping[str, str]) -> str:
    """The error for an unknown command, with the most similar one."""
    from difflib import get_close_matches

    similar = OTHER_SPELLINGS.get(word) or next(iter(get_close_matches(word, known, 1)), None)
    meant = f"; did you mean {similar}?" if similar else "."
    return f"there is no command {quote(word)}{meant} All commands: {program} --help"
