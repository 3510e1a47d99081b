"""A match at the terminal: turns, what each player is shown, and hand-over of the keyboard."""

from __future__ import annotations

from contextlib import suppress

from duels.cli.autosave import Autosave
from duels.cli.prompt import Prompt, Quit
from duels.cli.terminal import Terminal
from duels.core import narrator
from duels.core.chance import stream
from duels.core.game import Decide, Outcome, Pick
from duels.core.match import Match
from duels.core.presentation import ON_TABLE, Lines, Shared, player_name, tone
from duels.core.views import table_of
from duels.players import BUILT_IN, HUMAN, PERFECT, label_of, make_player
from duels.players.runner import MatchRunner


class TerminalMatch:
    """Plays one match through a terminal."""

    def __init__(
        self, match: Match, terminal: Terminal, autosave: Autosave, secrets: bool = True
    ) -> None:
        self.match, self.terminal, self.autosave = match, terminal, autosave
        self.humans = [player for player in (0, 1) if match.players[player] == HUMAN]
        self._runner: MatchRunner | None = (
            None  # of computer players; made on first use, for fast start-up
        )
        self._asker = Prompt(match, terminal, autosave, self.humans, self._cover)
        together = len(self.humans) == 2 and terminal.interactive
        self._hands_over = together and match.game.private and secrets
        self._narrated = 0  # events already narrated
        self._facing: int | None = None  # the player at the screen, if hands are secret
        self._read = [0, 0]  # by player: events already narrated, if hands are secret

    def viewer_of(self, player: int | None) -> int | None:
        """The viewer of a passage about a player.

        A single human reads everything; at a shared keyboard the viewer is the player in question.
        Transcripts and shared screens use the names of players.
        """
        viewer = self.humans[0] if len(self.humans) == 1 else player if self.humans else None
        if viewer is None or (len(self.humans) == 1 and self.terminal.interactive):
            return viewer
        return Shared(viewer)

    # Playing

    def run(self) -> None:
        """Play to the end.

        After an interruption the match is in the state of its last event, and no hand is on the
        screen.
        """
        try:
            self._play()
        except BaseException:
            if self._facing is not None:
                with suppress(OSError):
                    self._cover()
            raise
        finally:
            if self._runner is not None:
                self._runner.close()

    def _play(self) -> None:
        match = self.match
        self.autosave.begin(match)  # reports a file that cannot be written before the game begins
        self._cover()
        self._introduce()
        if any(isinstance(entry, Pick) for entry in match.events):
            self._tell_again()
        else:
            self._say(narrator.opening(match, self.viewer_of).lines)
        for player in match.deciders:  # time before a resume is not charged
            match.start_clock(player)
        self._tell_new()
        while match.result is None:
            self._turn()
            self.autosave.keep(match)
            self._tell_new()
        if self.terminal.drawing and self.humans and match.result.by == "rules":
            self._say([""])
            self._draw(self.viewer_of(None))
        if self._runner is not None:
            self._runner.end()
        self._say(narrator.ending(match, self.viewer_of).lines)
        if self.terminal.interactive and self.humans:
            from duels.analysis import summary

            self._say(["", *summary(match, self.viewer_of(None), ascii_only=self.terminal.ascii)])

    def _introduce(self) -> None:
        """Show the options that differ and, on a terminal, the players and the commands."""
        match, lines = self.match, []
        if self.terminal.interactive and self.humans:
            lines = [f"{match.game.title}. {self._seats()}"]
            if match.time_control:
                lines.append(_spoken(match.time_control))
        if options := match.game.differing_line():
            lines.append(options)
        if self.terminal.interactive and self.humans:
            hint = "" if len(self.humans) == 2 else " hint for advice,"
            lines += [f"Type ? for the rules,{hint} quit to leave.", ""]
        self._say(lines)

    def _seats(self) -> str:
        if len(self.humans) == 2:
            return "Player 1 and Player 2 share this keyboard."
        own, other = self.humans[0], 1 - self.humans[0]
        name = self.match.players[other]
        about = [BUILT_IN[name].about] if name in BUILT_IN else []
        if name == PERFECT and self.match.game.private:
            from duels.algorithms.solutions import measured_gain

            about += filter(None, [measured_gain(self.match.game)])
        told = f" ({'; '.join(about)})" if about else ""
        return f"You are {player_name(own)}; {player_name(other)} is {label_of(name)}{told}."

    def _turn(self) -> None:
        match = self.match
        deciders = match.deciders
        sealed = isinstance(match.turn, Decide) and len(match.turn.options) > 1
        for passage in narrator.status(match, len(match.events), self.viewer_of):
            self._hand_over(passage.viewer)
            self._say(passage.lines)
            if any(player in self.humans for player in deciders):
                self._draw(passage.viewer)
        if any(player not in self.humans for player in deciders):
            self._computers_choose(alone=not sealed)
        for player in deciders:
            if player not in self.humans or match.result is not None:
                continue
            if not self._asker.ask(player, sealed):
                self._tell_again()
                return

    def _computers_choose(self, alone: bool) -> None:
        match = self.match
        if self._runner is None:
            computers = {
                seat: make_player(name, stream(match.seed or 0, seat))
                for seat, name in enumerate(match.players)
                if seat not in self.humans
            }
            self._runner = MatchRunner(match, computers, charged=not self.humans)
        if alone:
            self.terminal.pace()
        self._runner.choose()

    # Narration

    def _say(self, lines: Lines) -> None:
        """Show lines, without those that repeat what the drawn table shows."""
        drawn = self.terminal.drawing and bool(self.humans)
        self.terminal.say(line for line in lines if not (drawn and tone(line) == ON_TABLE))

    def _draw(self, viewer: int | None) -> None:
        self.terminal.draw(table_of(self.match.view(viewer)), viewer)

    def _tell_new(self) -> None:
        for number in range(self._narrated, len(self.match.events)):
            self._narrated = number + 1
            self._tell(number)

    def _tell(self, number: int) -> None:
        passage = narrator.tell(self.match, number, self.viewer_of)
        if passage.lines:
            self._hand_over(passage.viewer, upto=number)
        self._say(passage.lines)

    def _tell_again(self) -> None:
        """After a resume or an undo, narrate only the chance events since the last pick."""
        self._narrated = len(self.match.events)
        self._read = [self._narrated, self._narrated]
        latest: list[int] = []
        for number in reversed(self.match.line):
            if not isinstance(self.match.events[number], Outcome):
                break
            latest.insert(0, number)
        for number in latest:
            self._tell(number)

    def _hand_over(self, viewer: int | None, upto: int | None = None) -> None:
        """Between two humans with secret hands: clear the screen before the other player looks."""
        if not self._hands_over or viewer is None or viewer == self._facing:
            return
        terminal, name = self.terminal, player_name(viewer)
        upto = self._narrated if upto is None else upto
        if self._facing is not None:
            self._read[self._facing] = upto
            self._wait(f"\nPress Enter to clear the screen for {name}.")
            terminal.clear()
        self._facing = viewer
        # Each player types another key, after earlier input is discarded, so that a repeated Enter
        # does not show a hand to the wrong person.
        prompt = f"{name}, take the keyboard and type {viewer + 1}:"
        while self._wait(prompt) != str(viewer + 1):
            pass
        terminal.clear()
        for number in range(self._read[viewer], upto):
            self._say(narrator.tell(self.match, number, lambda player: viewer).lines)
        self.match.start_clock(viewer)

    def _cover(self) -> bool:
        """Hide all hands until their owner takes the keyboard; False if no hand is secret."""
        if self._hands_over:
            self.terminal.clear()
            self._facing = None
        return self._hands_over

    def _wait(self, prompt: str) -> str:
        self.terminal.forget_typing()
        text = self.terminal.ask(prompt)
        if text.lower() in ("quit", "exit"):
            raise Quit
        return text


def _spoken(control: tuple[float | None, float | None, float]) -> str:
    limit, budget, increment = control
    words = [] if limit is None else [f"{limit:g} s per choice"]
    if budget is not None:
        words.append(
            f"{budget:g} s for the match" + (f" + {increment:g} s per choice" * (increment > 0))
        )
    return f"Time: {', '.join(words)}."
