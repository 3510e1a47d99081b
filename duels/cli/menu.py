"""`duels` alone: pick a game, pick who sits where, play."""

from __future__ import annotations

from argparse import Namespace

from duels.cli.asking import Quit, ask_step
from duels.cli.play import play_matches
from duels.cli.terminal import Terminal
from duels.core.show import Step, player_name
from duels.games import catalogue, find
from duels.players import BUILT_IN, HUMAN, STRONGEST


def menu(terminal: Terminal, given: Namespace) -> int:
    """Ask three questions and play. Leaving here leaves nothing behind."""
    try:
        slugs = list(catalogue())
        terminal.say(["Duels", ""])
        for number, slug in enumerate(slugs, 1):
            game = find(slug)
            terminal.say([f"  {number}. {game.title:<16} {game.summary}"])
        terminal.say([""])
        numbers = tuple(str(number) for number in range(1, len(slugs) + 1))
        choice = ask_step(terminal, Step("Which game? (number or name)", (*numbers, *slugs)))
        slug = slugs[int(choice) - 1] if choice.isdigit() else choice
        seats = (_seat(terminal, 0, HUMAN), _seat(terminal, 1, STRONGEST))
    except (EOFError, Quit):
        return 0
    terminal.say([""])
    return play_matches(terminal, find(slug)(), seats)


def _seat(terminal: Terminal, player: int, default: str) -> str:
    names = (HUMAN, *BUILT_IN)
    prompt = f"Who is {player_name(player)}? ({', '.join(names)}; Enter for {default})"
    return ask_step(terminal, Step(prompt, names), default)
