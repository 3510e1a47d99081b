"""`duels play --server`: a match on a server, played at the terminal."""

from __future__ import annotations

import time
from argparse import Namespace
from contextlib import suppress
from typing import Any

from duels.cli.keyboard import MessageArrived, TimeUp
from duels.cli.prompt import QUIT, Quit, ask_step, command_help, confirms_resignation, prompt_of
from duels.cli.serve import check_extra
from duels.cli.terminal import Terminal, printable
from duels.core.errors import OptionError, program, quote
from duels.core.player import View
from duels.core.presentation import ON_TABLE, Step, tone
from duels.core.views import table_of
from duels.core.wire import load as load_wire
from duels.core.wire import load_view
from duels.games import find, load
from duels.players import HUMAN
from duels.players import full_name as find_player

NOT_HERE = ("save [FILE]", "back")  # commands of a local match only


def play_remote(terminal: Terminal, given: Namespace) -> int:
    """Create a match on a server, or join the match with the given address."""
    check_extra()
    from duels.client.connection import Client, own_key

    server, slash, id = given.server.rstrip("/").partition("/match/")
    if not server.startswith(("http://", "https://")):
        raise OptionError(
            "--server: expected an address such as http://127.0.0.1:8000; "
            f"got {quote(given.server)}"
        )
    client = Client(server, own_key(), keeps=True)
    if slash:
        match = client.join(id.partition("/")[0])
    elif given.game is None:
        raise OptionError("which game? Name one, or give the address of a match to join")
    else:
        match = client.create(find(given.game).slug, **_fields(given))
    if match["state"] == "waiting":
        terminal.say([f"Send this to your opponent: {server}/match/{match['id']}"], whole=True)
    remote_match = RemoteMatch(terminal)
    connection = client.connect(match["id"], remote_match.on_message)
    remote_match.connection = connection
    try:
        remote_match.run()
        return check_dice(terminal, connection)
    except (Quit, EOFError, KeyboardInterrupt):
        come_back = f"{program()} play --server {server}/match/{match['id']}"
        terminal.note(f"The match goes on without you; come back with: {come_back}")
        return 0
    finally:
        connection.close()


def check_dice(terminal: Terminal, connection: Any) -> int:
    """Check the dice of a finished match; raises RecordError or Unfair if they are wrong."""
    from duels.client.connection import Refused

    if connection.match.get("state") == "closed":
        return 0
    try:
        terminal.say([f"Dice checked: {connection.check_dice()}."])
    except Refused as error:  # the server cannot be reached; the dice can be checked later
        terminal.note(f"The dice could not be checked: {error}")
    return 0


def _fields(given: Namespace) -> dict[str, Any]:
    fields: dict[str, Any] = {"options": dict(given.set)}
    if given.first is not None:
        fields["options"]["first"] = given.first
    other = find_player(given.p2) if given.p2 else HUMAN
    if other != HUMAN:
        fields["opponent"] = other
    if given.time_limit or given.time_budget:
        fields["time"] = {
            "limit": given.time_limit, "budget": given.time_budget,
            "increment": given.increment or 0.0,
        }  # fmt: skip
    return fields


class RemoteMatch:
    """Shows the messages of a server and prompts for the player's choices."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.connection: Any = None
        self.said, self.noted = "", ""
        self.moment = 0  # of the last update
        self.claim: Any = None  # the absent player, and from when on the win may be claimed
        self.passages: set[tuple[str, int]] = set()  # shown; a status is sent again after a pick

    def on_message(self, message: dict[str, Any]) -> None:
        """Show a message of the server."""
        match message["type"]:
            case "update":
                if (left_out := message["since"] - self.moment) > 0:
                    self.terminal.note(f"({left_out} earlier events are not shown.)")
                self.moment = message["moment"]
                for passage in load_wire(message["passages"]):
                    if (passage.kind, passage.number) in self.passages:
                        continue
                    self.passages.add((passage.kind, passage.number))
                    drawn = self.terminal.drawing
                    self.terminal.say(
                        line for line in passage.lines if not (drawn and tone(line) == ON_TABLE)
                    )
            case "match" | "welcome":
                self._introduce(message["match"])
            case "reaction":
                self.terminal.say([f"Player {message['player']}: {printable(message['reaction'])}"])
            case "presence" if message["claim"] != self.claim and self.connection.match["you"]:
                self.claim = message["claim"]
                if self.claim is not None and self.connection.view is not None:
                    self.terminal.note("(Your opponent is away; if they stay away, type: claim)")
            case "bye":
                self.terminal.note(f"({printable(message['reason'])})")

    def _introduce(self, match: dict[str, Any]) -> None:
        names = [printable(seat["name"]) if seat else "(no player yet)" for seat in match["seats"]]
        said = f"{match['game']['title']}: {names[0]} against {names[1]}."
        if match["you"]:
            said += f" You are Player {match['you']}."
        if match["state"] == "closed":
            said = f"The match was closed. {match.get('reason', '')}"
        if said != self.said:
            self.said = said
            self.terminal.say([said])

    def _tell_waiting(self) -> None:
        """Show what a match that has not started is waiting for."""
        match, note = self.connection.match, ""
        if match["you"] and match["state"] == "starting":
            note = "(Waiting for the opponent's share of the dice.)"
            if self.connection.commitment_client is None:
                note = (
                    "(Another client with your key gives your share of the dice, and must be open"
                    " for the match to start. If there is none, the dice cannot be trusted.)"
                )
        if note and note != self.noted:
            self.terminal.note(note)
        self.noted = note

    def run(self) -> None:
        connection = self.connection
        while not connection.over:
            view = connection.view
            if view is not None and self._offered():
                self._answer_offer(view["offer"])
            elif view is not None and view["options"]:
                self._choose(load_view(view, load))
            else:
                try:
                    connection.receive(30.0)
                except TimeoutError:
                    self._tell_waiting()

    def _offered(self) -> bool:
        """Whether the opponent asks to undo a move."""
        view = self.connection.view
        return view["offer"] not in (None, view["player"])

    def _news(self) -> bool:
        """Whether a message has arrived that is important enough to interrupt the prompt."""
        return any(map(self._matters, self.connection.unread())) or bool(self.connection.lost)

    def _matters(self, message: dict[str, Any]) -> bool:
        match message["type"]:
            case "update":
                new, old = message["view"], self.connection.view
                return any(new[key] != old[key] for key in ("moment", "offer", "result"))
            case "presence":
                return message["claim"] not in (None, self.claim)
        return bool(message["type"] == "reaction")

    def _hear(self) -> None:
        """Show the messages that have arrived; reconnect if the connection is lost."""
        version = self.connection.version
        while self.connection.unread():
            self.connection.receive()
        if self.connection.lost:
            self.terminal.note("(Reconnecting.)")
            with suppress(TimeoutError):
                while self.connection.receive(30.0)["type"] != "update":
                    pass
        if self.connection.version != version or self.connection.over:
            self.terminal.forget_typing()  # it was typed for a choice that has passed

    def _answer_offer(self, other: int) -> None:
        question = f"May Player {other} take back the last move? (yes or no):"
        try:
            yes = ask_step(self.terminal, Step(question, ("yes", "no")), news=self._news) == "yes"
        except MessageArrived:
            self._hear()
            return
        self._send("accept" if yes else "decline", at=self.connection.version)

    def _choose(self, view: View) -> None:
        """Prompt until the server accepts a move or the match has moved on."""
        assert view.player is not None
        self.terminal.draw(table_of(view), view.player)
        version, so_far = view.version, ""
        until = None if view.clock is None else time.monotonic() + view.clock
        step = view.game.ask(view.observation, view.player, "")
        while step is not None and self.connection.version == version and not self.connection.over:
            try:
                left = None if until is None else until - time.monotonic()
                text = self.terminal.ask(
                    prompt_of(step, self.terminal), seconds=left, news=self._news
                )
            except TimeUp:
                self.terminal.say(["Your time is up."])
                self._wait_for(version)
                return
            except MessageArrived:
                self._hear()
                if self._offered():
                    return
                continue
            if self._command(text.lower().strip(), view):
                continue
            answer = self.connection.command("move", at=version, text=text, so_far=so_far)
            if answer["ok"]:
                return
            if "step" in answer:
                so_far, step = answer["so_far"], load_wire(answer["step"])
            else:
                self.terminal.say([printable(answer["reason"])])

    def _wait_for(self, version: int) -> None:
        while self.connection.version == version and not self.connection.over:
            with suppress(TimeoutError):
                self.connection.receive(30.0)

    def _command(self, word: str, view: View) -> bool:
        """Execute a command; False if the word is not one."""
        if word in QUIT:
            raise Quit
        if word in ("?", "help", "rules"):
            from duels.cli.pager import page
            from duels.core.rules_text import rules

            page([*command_help(NOT_HERE), *rules(view.game)], self.terminal)
        elif word == "table":
            self.terminal.draw(table_of(view), view.player, whole=True)
        elif word == "resign" and not confirms_resignation(self.terminal):
            pass
        elif word in ("undo", "resign", "hint", "claim"):
            more = {} if word == "claim" else {"at": self.connection.version}
            answer = self._send(word, **more)
            if "hint" in answer:
                self.terminal.say([printable(answer["hint"])])
        else:
            return False
        return True

    def _send(self, kind: str, **fields: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.connection.command(kind, **fields)
        if not answer["ok"]:
            self.terminal.say([printable(answer["reason"])])
        return answer
