"""`duels` without a command: a menu to play a game, read its rules or resume a match."""

from __future__ import annotations

from argparse import Namespace
from typing import NamedTuple

from duels.cli.files import UnfinishedMatch, unfinished
from duels.cli.pager import columns, fit
from duels.cli.play import default_opponent, play_matches, prepare
from duels.cli.prompt import Quit, ask_step
from duels.cli.resume import choose, resume
from duels.cli.rules import listing, show_rules
from duels.cli.terminal import Terminal
from duels.core.errors import DuelsError, UnknownName, quote
from duels.core.game import AnyGame
from duels.core.presentation import Lines, Step, heading, listed, player_name
from duels.games import catalogue, find
from duels.players import BUILT_IN, DEFAULT, HUMAN

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
    saved = unfinished()
    try:
        terminal.say(greeting(columns(terminal), games, saved))
        while (chosen := _ask(terminal, games, saved)).what == RULES:
            show_rules(terminal, find(chosen.slug)())
        if chosen.what == QUIT:
            return 0
        if chosen.what == RESUME:
            which = saved[0] if len(saved) == 1 else choose(terminal, saved)
            return resume(terminal, Namespace(file=which.path, secrets=True))
        terminal.say([*opponents(columns(terminal)), ""])
        game = find(chosen.slug)()
        opponent = _opponent(terminal, game)
        seats = (HUMAN, opponent)
        if opponent != HUMAN and _seat(terminal) == 1:
            seats = (opponent, HUMAN)
    except (EOFError, Quit):
        return 0
    terminal.say([""])
    return play_matches(terminal, game, seats)


# Output


def greeting(width: int, games: list[MenuEntry], saved: list[UnfinishedMatch]) -> Lines:
    """The games, and how many matches can be resumed."""
    entries = [(f"{number}. {game.title}", game.summary) for number, game in enumerate(games, 1)]
    waiting = f"{len(saved)} unfinished match{'' if len(saved) == 1 else 'es'} can be resumed."
    return [
        heading("Duels"),
        "",
        *_indented(listing(entries, width - 2)),
        "",
        *(fit([waiting, ""], width) if saved else []),
    ]


def opponents(width: int) -> Lines:
    """The opponents that can be chosen."""
    players = [(name, opponent.about) for name, opponent in BUILT_IN.items()]
    players.append((HUMAN, "another person at this keyboard"))
    numbered = [(f"{number}. {name}", about) for number, (name, about) in enumerate(players, 1)]
    return ["", *_indented(listing(numbered, width - 2))]


def question(width: int, saved: list[UnfinishedMatch]) -> Lines:
    """The question, with the possible answers."""
    words = listed([f"{RULES} GAME", *([RESUME] if saved else [])])
    return fit([f"Which game? (number or name, {words} or {QUIT})"], width)


def _indented(lines: Lines) -> Lines:
    return [f"  {line}" for line in lines]


# Input


def read(text: str, games: list[MenuEntry], saved: list[UnfinishedMatch]) -> Chosen:
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
        if not saved:
            raise UnknownName("There is no match to resume.")
        return Chosen(RESUME)
    if RULES.startswith(word) or word == "?":
        if not rest.strip():
            raise UnknownName(f"The rules of which game? For example: {RULES} 1")
        return Chosen(RULES, _game(rest.strip(), games))
    return Chosen("play", _game(text.strip(), games))


def _game(text: str, games: list[MenuEntry]) -> str:
    if text.isascii() and text.isdigit() and len(text) < 6:
        if not 1 <= int(text) <= len(games):
            raise UnknownName(
                f"There is no game {int(text)}; type a number from 1 to {len(games)}."
            )
        return games[int(text) - 1].slug
    wanted = find(text).slug
    if wanted not in (game.slug for game in games):
        raise UnknownName(f"There is no game {quote(text)}; type a number from 1 to {len(games)}.")
    return wanted


def _ask(terminal: Terminal, games: list[MenuEntry], saved: list[UnfinishedMatch]) -> Chosen:
    while True:
        prompt = _begun(terminal, question(columns(terminal), saved))
        try:
            return read(terminal.ask(prompt), games, saved)
        except DuelsError as error:
            terminal.say(fit([str(error)], columns(terminal)))


def _begun(terminal: Terminal, question: Lines) -> str:
    """Show all of a question but its last line, which is the prompt."""
    terminal.say(question[:-1])
    return question[-1]


def _opponent(terminal: Terminal, game: AnyGame) -> str:
    """Ask for the opponent until one is chosen that can play the game."""
    names = (*BUILT_IN, HUMAN)
    numbers = tuple(str(number) for number in range(1, len(names) + 1))
    text = f"Who is your opponent? (number or name; Enter for {DEFAULT})"
    while True:
        asked = _begun(terminal, fit([text], columns(terminal)))
        answer = ask_step(terminal, Step(asked, (*numbers, *names)), DEFAULT)
        name = names[int(answer) - 1] if answer in numbers else answer
        if name == DEFAULT:
            return default_opponent(terminal, game)
        try:
            prepare(game, name)
        except DuelsError as error:
            terminal.say(fit([f"{name} cannot play this: {error}."], columns(terminal)))
        else:
            return name


def _seat(terminal: Terminal) -> int:
    """Ask which player the user is."""
    text = f"Are you {player_name(0)} or {player_name(1)}? (1 or 2; Enter for 1)"
    asked = _begun(terminal, fit([text], columns(terminal)))
    return int(ask_step(terminal, Step(asked, ("1", "2")), "1")) - 1
