"""Prompts for a person's choice, step by step, and commands such as hint, undo and save."""

from __future__ import annotations

from collections.abc import Callable, Collection

from duels.cli.autosave import Autosave
from duels.cli.keyboard import TimeUp
from duels.cli.terminal import Terminal
from duels.core.errors import DuelsError, IllegalMove, MalformedMove
from duels.core.match import Match
from duels.core.parsing import expected, read_answer, read_move
from duels.core.presentation import Lines, Shared, Step, heading, player_name
from duels.core.views import table_of

COMMANDS = {
    "hint": "a good move, and why",
    "undo": "take back your last move",
    "table": "show the table again",
    "resign": "give up the match",
    "save [FILE]": "save the match in a file",
    "quit": "leave; the match is saved and can be resumed",
    "back": "start this choice over",
}
HELP = "? for help"


QUIT = ("quit", "q", "exit")


class Quit(Exception):
    """The player leaves; the match can be resumed."""


class Prompt:
    """Prompts the people at one keyboard and submits their picks to a match."""

    def __init__(
        self, match: Match, terminal: Terminal, autosave: Autosave, humans: list[int],
        cover: Callable[[], bool],
    ) -> None:  # fmt: skip
        """`cover` clears a private hand from the screen; it returns whether there was one."""
        self.match, self.terminal, self.autosave = match, terminal, autosave
        self.together, self._cover = len(humans) == 2, cover

    def ask(self, player: int, sealed: bool) -> bool:
        """Prompt for a player's pick; False if the turn must be shown again, as after an undo."""
        match, game = self.match, self.match.game
        seen = game.observe(match.state, player)
        secret = sealed and self.together
        if sealed or match.deadline(player) is None:
            match.start_clock(player)

        def ask(so_far: str) -> Step | None:
            return game.ask(seen, player, so_far)

        so_far, version = "", len(match.events)
        step = ask("")
        while step is not None:
            asked = step
            try:
                left = match.remaining(player)
                prompt = prompt_of(asked, self.terminal, self.together, secret)
                text = self.terminal.ask(prompt, secret=secret, seconds=left)
            except TimeUp:
                match.time_out(player)
                return True
            if text.lower() in ("back", "cancel") and so_far:
                so_far, step = "", ask("")
                continue
            command = self._command(text, player, step, secret)
            if command is not None:
                if command == "again":
                    continue
                return command == "done"
            try:
                so_far, step = read_answer(ask, text, so_far)
            except (MalformedMove, IllegalMove) as error:
                self.terminal.say([self._refusal(error, asked, secret)])
        match.submit(player, so_far, at=version)
        return True

    def _refusal(self, error: Exception, step: Step, secret: bool) -> str:
        """Why the input was refused; a secret choice is not repeated on the screen."""
        if not (secret and isinstance(error, MalformedMove)):
            return str(error)
        return f"That is not possible. {'' if self.match.game.private else expected(step)}".strip()

    def _command(self, text: str, player: int, step: Step, secret: bool) -> str | None:
        """Execute a command; None if the text is not one.

        Returns "again" to prompt again, "done" when the choice is made, "turn" to show the turn
        again.
        """
        word, _, rest = text.partition(" ")
        word = word.lower()
        if word in step.choices or (rest and word != "save"):
            return None
        if word in ("?", "help", "rules"):
            self._show_rules()
        elif word == "table":
            viewer = None if secret else Shared(player) if self.together else player
            self.terminal.draw(table_of(self.match.view(viewer)), viewer, whole=True)
        elif word == "hint":
            none = "There are no hints when two people play."
            self.terminal.say([none if self.together else self._hint(player)])
        elif word == "undo":
            return self._undo(player)
        elif word == "resign":
            if not confirms_resignation(self.terminal):
                return "again"
            self.match.resign(player)
            return "done"
        elif word == "save":
            self._save(rest.strip())
        elif word in QUIT:
            raise Quit
        else:
            return None
        return "again"

    def _show_rules(self) -> None:
        from duels.cli.pager import page
        from duels.core.rules_text import rules

        without = ["hint"] if self.together else []
        text = rules(self.match.game, self.match.turn_limit)
        page([*command_help(without), *text], self.terminal)

    def _hint(self, player: int) -> str:
        from duels.core.chance import stream
        from duels.players.hints import search_hint, solved_hint

        view = self.match.view(player)
        hint = solved_hint(view) or search_hint(view, stream(self.match.seed or 0, player))
        return f"Hint: {hint[0]}"

    def _undo(self, player: int) -> str:
        """Undo at once against the computer; a human opponent has to agree."""
        match, say = self.match, self.terminal.say
        try:
            if not self.together:
                match.undo(player)
            else:
                match.offer_undo(player)
                covered = self._cover()  # the opponent will read the screen to answer
                if not self._agrees(1 - player, player):
                    match.decline_undo(1 - player)
                    say([f"{player_name(1 - player)} does not agree."])
                    return "turn" if covered else "again"
                match.accept_undo(1 - player)
        except IllegalMove as error:
            say([str(error)])
            return "again"
        whose = f"{player_name(player)}'s" if self.together else "Your"
        say([f"{whose} last move was taken back."])
        return "turn"

    def _agrees(self, other: int, player: int) -> bool:
        step = Step(
            f"{player_name(other)}, may {player_name(player)} take back the last move? "
            "(yes or no):",
            ("yes", "no"),
        )  # fmt: skip
        return ask_step(self.terminal, step) == "yes"

    def _save(self, path: str) -> None:
        try:
            where = self.autosave.save(self.match, path)
        except DuelsError as error:
            self.terminal.say([str(error)])
        else:
            from duels.cli.files import shown

            self.terminal.note(f"Saved in {shown(where)}")


def command_help(without: Collection[str] = ()) -> Lines:
    """The commands that can be typed at any prompt, for the top of a help page."""
    known = {command: about for command, about in COMMANDS.items() if command not in without}
    width = max(map(len, known)) + 2
    lines = [f"  {command:<{width}}{about}" for command, about in known.items()]
    return [heading("At any prompt"), "", *lines, ""]


def confirms_resignation(terminal: Terminal) -> bool:
    """Whether the player confirms; on a pipe there is no question."""
    step = Step("Resign? (yes or no):", ("yes", "no"))
    return not terminal.interactive or ask_step(terminal, step) == "yes"


def prompt_of(
    step: Step, terminal: Terminal, together: bool = False, secret: bool = False
) -> str:  # fmt: skip
    """The prompt of a step.

    On a terminal, the name of a single player and numbers that are drawn on the table are left out,
    words to choose from are listed if the prompt of the game does not list them, and the prompt
    says how to get help and whether the input is invisible.
    """
    if not terminal.interactive:
        return step.prompt
    words = [choice for choice in step.choices if not choice.isdigit()]
    listing = step.listing
    if not words and terminal.drawing:
        listing = ""
    elif not listing and len(words) == len(step.choices):
        listing = f"({' or '.join(filter(None, [', '.join(words[:-1]), words[-1]]))})"
    text = step.worded(step.name if together else "", listing)
    notes = f"{HELP}; typing is invisible" if secret else HELP
    return f"{text[:-2]}; {notes}):" if text.endswith("):") else f"{text[:-1]} ({notes}):"


def ask_step(
    terminal: Terminal, step: Step, default: str = "", news: Callable[[], bool] | None = None
) -> str:
    """The answer to one question, which is asked until the answer is valid."""
    while True:
        text = terminal.ask(step.prompt, news=news)
        if not text and default:
            return default
        if text.lower() in QUIT and "quit" not in step.choices:
            raise Quit
        try:
            return read_move(lambda so_far: None if so_far else step, text)[0]
        except DuelsError as error:
            terminal.say([str(error)])
