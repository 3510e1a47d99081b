"""Matches against the computer players of a server.

The handle of a match is its id on the server, and the key is in the user's data directory, so that
a restart loses nothing. A person can watch at the address of the match.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from json import dumps

from duels.client.connection import Client, MatchConnection, Refused, history, own_key
from duels.client.identity import is_room_id
from duels.core.entries import Logged
from duels.core.errors import IllegalMove, OptionError, UnknownName, quote
from duels.core.game import AnyGame
from duels.core.match import Match
from duels.core.record import loads
from duels.core.wire import load as load_wire
from duels.core.wire import load_view
from duels.games import find, load
from duels.integrations.mcp.matches import checked_level, chosen, current, repeats, variant
from duels.integrations.mcp.results import SeatedMatch

KEY = "mcp-key"  # the file with the key


class RemoteMatches:
    """Matches on a server. Hints are given as the server allows."""

    def __init__(self, server: str) -> None:
        self.client = Client(server, own_key(KEY), keeps=True)

    def start(
        self, game: str, options: dict[str, str], opponent: str, seat: int, seed: int | None,
        hints: bool,
    ) -> SeatedMatch:  # fmt: skip
        if seed is not None:
            raise OptionError(
                "the dice of a match on a server cannot be seeded; leave out the seed"
            )
        made = self.client.create(
            find(game).slug, options=options, opponent=checked_level(opponent), seat=seat + 1
        )
        return self.find(made["id"])

    def find(self, handle: str) -> SeatedMatch:
        with self._connected(handle) as connection:
            return _seated(connection)

    def move(self, handle: str, version: int, move: str) -> SeatedMatch:
        with self._connected(handle) as connection:
            match = _seated(connection)
            assert match.view.player is not None
            if repeats(_log(connection), match.view.player, version, move):
                return match
            answer = connection.command("move", at=version, move=chosen(match.view, version, move))
            return self._acted(connection, version, answer)

    def resign(self, handle: str, version: int) -> SeatedMatch:
        with self._connected(handle) as connection:
            current(_seated(connection).view, version)
            return self._acted(connection, version, connection.command("resign", at=version))

    def _acted(
        self, connection: MatchConnection, version: int, answer: dict[str, object]
    ) -> SeatedMatch:
        if not answer["ok"]:
            raise Refused(str(answer["reason"]))
        while connection.version == version and not connection.over:
            with suppress(TimeoutError):
                connection.receive(30.0)
        connection.choosing()
        return _seated(connection)

    def hint(self, handle: str, version: int) -> tuple[str, str]:
        with self._connected(handle) as connection:
            answer = connection.command("hint", at=version)
        if not answer["ok"]:
            raise Refused(answer["reason"])
        return answer["hint"], answer["move"]

    def finished(self, handle: str) -> Match:
        with self._connected(handle) as connection:
            if _seated(connection).view.result is None:
                raise IllegalMove("the match is not over; its analysis would be a hint")
        return loads(dumps(self.client.ask("GET", f"/api/matches/{handle}/record")), load)

    def hides_values(self, game: AnyGame) -> bool:
        own = variant(game.slug, game.settings())
        return any(
            match["state"] == "playing"
            and variant(match["game"]["slug"], match["game"]["options"]) == own
            for match in self.client.ask("GET", "/api/matches")["mine"]
        )

    @contextmanager
    def _connected(self, handle: str) -> Iterator[MatchConnection]:
        """A connection to a match, once the client has to choose or the match is over."""
        if not is_room_id(handle):
            raise UnknownName(f"there is no match {quote(handle)}; start_match returns the handle")
        connection = self.client.connect(handle)
        try:
            connection.choosing()
            yield connection
        finally:
            connection.close()


def _log(connection: MatchConnection) -> list[Logged]:
    return [entry for entry in load_wire(connection.log) if isinstance(entry, Logged)]


def _seated(connection: MatchConnection) -> SeatedMatch:
    if connection.view is None or connection.match["you"] is None:
        raise UnknownName("this is no match of yours on the server; start_match starts one")
    view = load_view(connection.view, load)
    # When a computer player seals its pick depends on the server's load, so it is not shown.
    view = view._replace(history=history(view.game, _log(connection)), sealed=())
    other = connection.match["seats"][2 - connection.match["you"]]
    return SeatedMatch(connection.id, view, other["name"], hints=True)
