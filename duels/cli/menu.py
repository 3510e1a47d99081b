"""`duels` without a command: a menu to play a game, read its rules or resume a match."""

from __future__ import annotations

from argparse import Namespace
from typing import NamedTuple

from duels.cli.files import Left, unfinished
from duels.cli.pager import columns, fit, row
from duels.cli.play import play_matches, prepare, resume, strongest
from duels.cli.prompt import Quit, ask_step
from duels.cli.rules import listing, show_rules
from duels.cli.terminal import Terminal
from duels.core.errors import DuelsError, UnknownName, quote
from duels.core.game import AnyGame
from duels.core.presentation import Lines, Step, heading, listed, player_name
from duels.games import catalogue, find
from duels.players import BUILT_IN, HUMAN, STRONGEST

RULES, RESUME, QUIT = "rules", "resume", "quit"


class MenuEntry(NamedTuple):
    """A game as the menu lists it."""

    slug: str
    title: str
    summary: str


class Chosen(NamedTuple):
    """What the user chose: to play a game, to read its rules, to resume or to quit."""

    what: str
    slug: str = ""


def menu(terminal: Terminal, given: Namespace) -> int:
    """Ask what to play and who plays. If the user quits here, no file is written."""
    games = [MenuEntry(slug, find(slug).title, find(slug).summary) for slug in catalogue()]
    left = unfinished()
    try:
        terminal.say(greeting(columns(terminal), games, left))
        while (chosen := _ask(terminal, games, left)).what == RULES:
            show_rules(terminal, find(chosen.slug)())
        if chosen.what == QUIT:
            return 0
        if chosen.what == RESUME:
            which = _which(terminal, left)
            return resume(terminal, Namespace(file=which.path, secrets=True))
        terminal.say([*opponents(columns(terminal)), ""])
        game = find(chosen.slug)()
        seats = (_seat(terminal, game, 0, HUMAN), _seat(terminal, game, 1, STRONGEST))
    except (EOFError, Quit):
        return 0
    terminal.say([""])
    return play_matches(terminal, game, seats)


# Output


def greeting(width: int, games: list[MenuEntry], left: list[Left]) -> Lines:
    """The games, and how many matches can be resumed."""
    entries = [(f"{number}. {game.title}", game.summary) for number, game in enumerate(games, 1)]
    waiting = f"{len(left)} unfinished match{'' if len(left) == 1 else 'es'} can be resumed."
    return [
        heading("Duels"),
        "",
        *_indented(listing(entries, width - 2)),
        "",
        *(fit([waiting, ""], width) if left else []),
    ]


def opponents(width: int) -> Lines:
    """The players that can be chosen."""
    players = [(HUMAN, "a person at this keyboard")]
    players += [(name, opponent.about) for name, opponent in BUILT_IN.items()]
    return ["", *_indented(listing(players, width - 2))]


def matches(width: int, left: list[Left]) -> Lines:
    """The matches that can be resumed."""
    return [
        "",
        *(
            line
            for number, match in enumerate(left, 1)
            for line in row(f"  {number}. ", match.line, width)
        ),
        "",
    ]


def question(width: int, left: list[Left]) -> Lines:
    """The question, with the possible answers."""
    words = listed([f"{RULES} GAME", *([RESUME] if left else [])])
    return fit([f"Which game? (number or name, {words} or {QUIT})"], width)


def _indented(lines: Lines) -> Lines:
    return [f"  {line}" for line in lines]


# Input


def read(text: str, games: list[MenuEntry], left: list[Left]) -> Chosen:
    """Parse an answer: a number, a name or its beginning, or one of the command words.

    >>> names = {"digit-duel": "Digit Duel", "number-wars": "Number Wars"}
    >>> games = [MenuEntry(slug, title, "") for slug, title in names.items()]
    >>> read("2", games, []).slug, read("dig", games, []).slug, read("r wars", games, [])
    ('number-wars', 'digit-duel', Chosen(what='rules', slug='number-wars'))
    """
    word, _, rest = text.lower().strip().partition(" ")
    if not word:
        raise UnknownName("Nothing was typed.")
    if not rest.strip() and word in ("q", "exit", QUIT):
        return Chosen(QUIT)
    if len(word) > 1 and RESUME.startswith(word) and not rest.strip():
        if not left:
            raise UnknownName("There is no match to resume.")
        return Chosen(RESUME)
    if RULES.startswith(word) or word == "?":
        if not rest.strip():
            raise UnknownName(f"The rules of which game? Type for instance: {RULES} 1")
        return Chosen(RULES, _game(rest.strip(), games))
    return Chosen("play", _game(text.strip(), games))


def _game(text: str, games: list[MenuEntry]) -> str:
    if text.isascii() and text.isdigit() and len(text) < 6:
        if not 1 <= int(text) <= len(games):
            raise UnknownName(f"There is no game {int(text)}; there are 1 to {len(games)}.")
        return games[int(text) - 1].slug
    wanted = find(text).slug
    if wanted not in (game.slug for game in games):
        raise UnknownName(f"There is no game {quote(text)} here.")
    return wanted


def _ask(terminal: Terminal, games: list[MenuEntry], left: list[Left]) -> Chosen:
    while True:
        prompt = _begun(terminal, question(columns(terminal), left))
        try:
            return read(terminal.ask(prompt), games, left)
        except DuelsError as error:
            terminal.say(fit([str(error)], columns(terminal)))


def _begun(terminal: Terminal, question: Lines) -> str:
    """Show all of a question but its last line, which is the prompt."""
    terminal.say(question[:-1])
    return question[-1]


def _which(terminal: Terminal, left: list[Left]) -> Left:
    if len(left) == 1:
        return left[0]
    terminal.say(matches(columns(terminal), left))
    numbers = tuple(str(number) for number in range(1, len(left) + 1))
    asked = fit(["Which match? (number; Enter for the newest)"], columns(terminal))
    return left[int(ask_step(terminal, Step(_begun(terminal, asked), numbers), "1")) - 1]


def _seat(terminal: Terminal, game: AnyGame, player: int, default: str) -> str:
    """Ask for a player until one is named that can play the game."""
    text = f"Who is {player_name(player)}? (name; Enter for {default})"
    while True:
        asked = _begun(terminal, fit([text], columns(terminal)))
        name = ask_step(terminal, Step(asked, (HUMAN, *BUILT_IN)), default)
        if name == default == STRONGEST:
            return strongest(terminal, game)
        try:
            prepare(game, name)
        except DuelsError as error:
            terminal.say(fit([f"{name} cannot play this: {error}."], columns(terminal)))
        else:
            return name
