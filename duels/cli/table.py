"""A match at the terminal: who sits where, what each is shown, and asking the humans."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from duels.cli.terminal import Terminal, TimeUp
from duels.core.chance import stream
from duels.core.errors import DuelsError, IllegalMove, MalformedMove
from duels.core.game import Outcome, Pick
from duels.core.match import Match
from duels.core.show import Step, player_name, read_move
from duels.players import HUMAN, class_of

HINT_ROUNDS = 300  # of a search: an answer in a moment
COMMANDS = "?  hint  undo  resign  save  quit"


class Quit(Exception):
    """The player leaves; the match can be resumed."""


class Table:
    """Plays one match through a terminal."""

    def __init__(
        self, match: Match, terminal: Terminal, save: Callable[[Match], str], autosave: bool
    ) -> None:
        self.match, self.terminal, self.save, self.autosave = match, terminal, save, autosave
        self.computers = {
            player: class_of(name)  # seated at their first choice: the first prompt does not wait
            for player, name in enumerate(match.players)
            if name != HUMAN
        }
        self.humans = [player for player in (0, 1) if player not in self.computers]
        self._told = 0  # events already told
        self._facing: int | None = None  # who looks at the screen, where hands are secret
        self._read = [0, 0]  # events each player was told, where hands are secret

    def viewer(self, player: int | None) -> int | None:
        """Whose eyes the text is for: at a shared keyboard, those of the player in question."""
        if len(self.humans) == 1:
            return self.humans[0]
        return player if self.humans else None

    # Playing

    def run(self) -> None:
        """Play to the end. Whatever interrupts leaves the match as the last event left it."""
        match, game = self.match, self.match.game
        if self.autosave:
            self.save(match)  # a place that does not work is told before the game begins
        if any(isinstance(entry, Pick) for entry in match.events):
            self._tell_again()
        else:
            self.terminal.say(game.opening(game.observe(match.state, self.viewer(None))))
        self._tell_new()
        while match.result is None:
            self._turn()
            if self.autosave:
                self.save(match)
            self._tell_new()
        seen = game.observe(match.state, self.viewer(None))
        self.terminal.say(game.ending(seen, match.result))

    def _turn(self) -> None:
        match, game = self.match, self.match.game
        deciders = match.deciders
        viewer = self.viewer(deciders[0] if len(deciders) == 1 else None)
        self._hand_over(viewer)
        seen = game.observe(match.state, viewer)
        self.terminal.say(game.status(seen, viewer))
        if any(player in self.humans for player in deciders):
            self.terminal.draw(game.table(seen, viewer))
        sealed = len(deciders) > 1
        for player in sorted(deciders, key=lambda player: player in self.humans):
            computer = self.computers.get(player)
            if computer is not None:
                seated = computer(stream(match.seed or 0, player))
                match.submit(player, seated.choose(match.view(player)))
            elif not self._ask(player, sealed) or match.result is not None:
                return

    def _tell_new(self) -> None:
        for number in range(self._told, len(self.match.events)):
            self._told = number + 1
            entry = self.match.events[number]
            player: int | None = None
            if isinstance(entry, Outcome):
                player = entry.by
            elif isinstance(entry, Pick) and len(entry.moves) == 1:
                player = entry.moves[0][0]
            self._tell(number, self.viewer(player))

    def _tell(self, number: int, viewer: int | None) -> None:
        before, event, after = self.match.shown(number, viewer)
        if event is not None:
            lines = self.match.game.tell(before, event, after, viewer)
            if lines:
                self._hand_over(viewer, upto=number)
            self.terminal.say(lines)

    def _tell_again(self) -> None:
        """After a resume or an undo, tell only what chance has brought since the last pick."""
        self._told = len(self.match.events)
        self._read = [self._told, self._told]
        for number in self.match.latest_outcomes():
            outcome = self.match.events[number]
            assert isinstance(outcome, Outcome)
            self._tell(number, self.viewer(outcome.by))

    def _hand_over(self, viewer: int | None, upto: int | None = None) -> None:
        """Between two humans with secrets: clear one's cards away before the other looks."""
        shared = self.match.game.private and len(self.humans) == 2 and self.terminal.interactive
        if not shared or viewer is None or viewer == self._facing:
            return
        terminal, name = self.terminal, player_name(viewer)
        upto = self._told if upto is None else upto
        if self._facing is not None:
            self._read[self._facing] = upto
            self._wait(f"\nPress Enter to clear the screen for {name}.")
        self._facing = viewer
        terminal.clear()
        self._wait(f"{name}, take the keyboard and press Enter.")
        terminal.clear()
        for number in range(self._read[viewer], upto):
            before, event, after = self.match.shown(number, viewer)
            if event is not None:
                terminal.say(self.match.game.tell(before, event, after, viewer))
        self.match.start_clock(viewer)

    def _wait(self, prompt: str) -> None:
        if self.terminal.ask(prompt).lower() in ("quit", "exit"):
            raise Quit

    # Asking a human

    def _ask(self, player: int, sealed: bool) -> bool:
        """Get a player's pick into the match; False if the turn has to be shown anew."""
        match, game = self.match, self.match.game
        seen = game.observe(match.state, player)
        if sealed:
            match.start_clock(player)

        def ask(so_far: str) -> Step | None:
            return game.ask(seen, player, so_far)

        so_far, step = "", ask("")
        while step is not None:
            try:
                left = match.remaining(player)
                text = self.terminal.ask(step.prompt, secret=sealed, seconds=left)
            except TimeUp:
                match.time_out(player)
                return True
            if text.lower() in ("back", "cancel") and so_far:
                so_far, step = "", ask("")
                continue
            command = self._command(text, player, step)
            if command is not None:
                if command == "again":
                    continue
                return command == "done"
            try:
                so_far, step = self._read_move(ask, text, so_far)
            except (MalformedMove, IllegalMove) as error:
                self.terminal.say([self._refusal(error, sealed)])
        match.submit(player, so_far)
        return True

    def _read_move(
        self, ask: Callable[[str], Step | None], text: str, so_far: str
    ) -> tuple[str, Step | None]:
        """An answer to this step, or else a whole new move from its first word."""
        try:
            return read_move(ask, text, so_far)
        except DuelsError:
            if so_far:
                with suppress(DuelsError):
                    return read_move(ask, text)
            raise

    def _refusal(self, error: Exception, sealed: bool) -> str:
        """Why the input was refused; a sealed choice is not repeated on the screen."""
        if sealed and isinstance(error, MalformedMove):
            return "That is not possible. Choose one of your available numbers."
        return str(error)

    def _command(self, text: str, player: int, step: Step) -> str | None:
        """Obey a word that is not a move: "again" asks anew, "done" and "turn" end the asking."""
        word, _, rest = text.partition(" ")
        word = word.lower()
        if word in step.choices or (rest and word != "save"):
            return None
        if word in ("?", "help", "rules"):
            from duels.cli.show_rules import rules_text

            commands = f"You can also type: {COMMANDS}"
            self.terminal.say([*rules_text(type(self.match.game)), "", commands])
        elif word == "hint":
            self.terminal.say([self._hint(player)])
        elif word == "undo":
            return self._undo(player)
        elif word == "resign":
            self.match.resign(player)
            return "done"
        elif word == "save":
            self._save(rest.strip())
        elif word in ("quit", "exit"):
            raise Quit
        else:
            return None
        return "again"

    def _hint(self, player: int) -> str:
        """What perfect play would choose; where that is not known, what a search finds."""
        from duels.solve.catalogue import ready, solve

        view = self.match.view(player)
        mix = None
        with suppress(DuelsError):
            if ready(self.match.game):
                mix = solve(self.match.game).assess(view).mix
        if mix is None:
            from duels.players.ismcts import Ismcts

            advice = Ismcts(stream(self.match.seed or 0, player), HINT_ROUNDS).choose(view)
            return f"Hint: a short search chooses {advice}."
        likely = sorted(mix, key=lambda move: -mix[move])[:4]
        if len(mix) == 1:
            return f"Hint: perfect play chooses {likely[0]}."
        shown = ", ".join(f"{move} ({100 * mix[move]:.0f} %)" for move in likely)
        return f"Hint: perfect play chooses {shown}."

    def _undo(self, player: int) -> str:
        if len(self.humans) == 2:
            self.terminal.say(["Undo is for games against the computer."])
            return "again"
        try:
            self.match.undo(player)
        except IllegalMove as error:
            self.terminal.say([str(error)])
            return "again"
        self.terminal.say(["Your last move is taken back."])
        self._tell_again()
        return "turn"

    def _save(self, path: str) -> None:
        try:
            if path:
                from duels.cli.files import check_target, save_to

                check_target(path, self.match)
                save_to(self.match, path)
            else:
                path = self.save(self.match)
        except DuelsError as error:
            self.terminal.say([str(error)])
        else:
            self.terminal.note(f"Saved in {path}")
