"""`duels completion`: scripts that complete commands, options, games and players in a shell."""

from __future__ import annotations

from argparse import Namespace

from duels.cli.main import arguments_of_commands
from duels.cli.terminal import Terminal
from duels.games import catalogue
from duels.players import BUILT_IN, HUMAN

BASH = """_duels() {{
  local words
  case "${{COMP_WORDS[1]}}" in
{cases}
    *) words="{commands}" ;;
  esac
  [ "$COMP_CWORD" -gt 1 ] || words="{commands}"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}")
}}
complete -o default -F _duels duels"""
ZSH = """(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
autoload -Uz bashcompinit && bashcompinit
"""


def completion(terminal: Terminal, given: Namespace) -> int:
    """Run `duels completion`."""
    text = fish() if given.shell == "fish" else bash(zsh=given.shell == "zsh")
    terminal.say(text.splitlines(), whole=True)
    return 0


def words() -> dict[str, list[str]]:
    """What can follow each command: options, and names of games and players where it takes them."""
    players = [HUMAN, *BUILT_IN]
    found = {}
    for name, arguments in arguments_of_commands().items():
        texts = [text for text in arguments if text.startswith("--")]
        texts += catalogue() if {"game", "--game", "--games"} & {*arguments} else []
        texts += players if {"player", "players", "--p2"} & {*arguments} else []
        found[name] = texts
    return found


def bash(zsh: bool = False) -> str:
    """The script for bash; zsh runs it too, with its own support for such scripts."""
    found = words()
    cases = "\n".join(f'    {name}) words="{" ".join(texts)}" ;;' for name, texts in found.items())
    script = BASH.format(cases=cases, commands=" ".join(found))
    if not zsh:
        return script
    return ZSH + script.replace(
        'mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")',
        'COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    )


def fish() -> str:
    """The script for fish."""
    found = words()
    lines = [f"complete -c duels -n __fish_use_subcommand -f -a '{' '.join(found)}'"]
    for name, texts in found.items():
        seen = f"complete -c duels -n '__fish_seen_subcommand_from {name}'"
        lines += [f"{seen} -l {text[2:]}" for text in texts if text.startswith("--")]
        names = " ".join(text for text in texts if not text.startswith("--"))
        lines += [f"{seen} -a '{names}'"] if names else []
    return "\n".join(lines)
