"""Executes client commands idempotently."""

from __future__ import annotations

from typing import Any

from duels.core.chance import stream
from duels.core.errors import DuelsError, IllegalMove
from duels.server import commands, messages
from duels.server.fair_queue import Busy
from duels.server.log_pages import page
from duels.server.room_manager import RoomManager
from duels.server.rooms import Incomplete, Room
from duels.server.storage.base import COMPUTER, Conflict, Unavailable


class CommandHandler:
    """Executes the commands of clients in a room.

    The id of a command is its idempotency key: a repeated command gets the response of the first.
    """

    def __init__(self, manager: RoomManager) -> None:
        self.manager = manager

    async def execute(self, room: Room, seat: int | None, command: commands.AnyCommand) -> bytes:
        """Execute or refuse a command; returns the response."""
        if isinstance(command, commands.Ping):
            return messages.granted(command.id)
        if isinstance(command, commands.Log):
            return await self._log(room, seat, command)
        if seat is None:
            return messages.refused(command.id, IllegalMove("a spectator cannot send commands"))
        name = f"{seat} {command.id}"
        hint: dict[str, Any] | None = None
        if isinstance(command, commands.Hint) and name not in room.executed:
            try:
                hint = await self._hint(room, seat, command.at)
            except Busy as error:
                return messages.refused(command.id, error)
        async with room.lock:
            if name in room.executed:
                return messages.granted(command.id, room.executed[name])
            if name in room.unstored:
                return room.unstored[name]
            try:
                if room.unloaded:
                    raise Unavailable("the room was unloaded")
                return await self._execute(room, seat, command, hint)
            except (Unavailable, Conflict):
                self.manager.metrics.unavailable += 1
                reason = Unavailable("this could not be stored; try again")
                return messages.refused(command.id, reason)
            except DuelsError as error:
                self.manager.metrics.refusals += 1
                response = messages.refused(command.id, error)
                if not isinstance(error, Incomplete):
                    room.remember(name, response)
                return response

    async def _execute(
        self, room: Room, seat: int, command: commands.AnyCommand, hint: dict[str, Any] | None
    ) -> bytes:
        if isinstance(command, commands.React):
            if command.reaction not in commands.REACTIONS:
                raise IllegalMove(f"reactions are {' '.join(commands.REACTIONS)}")
            self.manager.broadcast(room, lambda viewer: messages.reaction(seat, command.reaction))
            return messages.granted(command.id)
        if _has_no_effect(room, seat, command):
            response = messages.granted(command.id)
            room.remember(f"{seat} {command.id}", response)
            return response
        if isinstance(command, commands.Rematch):
            return await self._rematch(room, seat, command.id)
        if isinstance(command, commands.Move) and room.match is not None and room.match.late(seat):
            await self.manager.change(room, room.time_out)
            raise IllegalMove("your time was up")
        return await self.manager.change(
            room, lambda: _act(room, seat, command, hint), command.id, seat
        )

    async def _log(self, room: Room, seat: int | None, command: commands.Log) -> bytes:
        """A page of the log, for players and spectators; nothing is stored."""
        async with room.lock:  # so that no event is sent before it is stored
            try:
                if room.unloaded:
                    raise Unavailable("the room was unloaded")
                names = messages.names_of(room.row, seat) if command.captions else None
                found = page(room.playing(), seat, command.before, names)
                return messages.granted(command.id, found)
            except DuelsError as error:
                return messages.refused(command.id, error)

    async def _hint(self, room: Room, seat: int, at: int) -> dict[str, Any] | None:
        """Compute a hint, before the room is locked, so that other commands need not wait."""
        match = room.match
        if match is None or seat not in match.deciders or len(match.events) != at:
            return None
        if not room.computers or match.seed is None:
            return None
        text, move = await self.manager.computers.hint(
            room.user, stream(match.seed, seat), match.view(seat)
        )
        return {"hint": text, "move": move}

    async def _rematch(self, room: Room, seat: int, id: str) -> bytes:
        new = room.rematch() if room.completes_rematch(seat) else None
        if new is not None:
            computers = (seat.name for seat in new.seats if seat and seat.kind == COMPUTER)
            self.manager.overload.check(room.user, next(computers, ""))
        if new is not None:  # stored first, so that no client is sent to a room that does not exist
            await self.manager.add(new)

        def act() -> None:
            room.offer_rematch(seat, None if new is None else new.id)

        response = await self.manager.change(room, act, id, seat)
        self.manager.broadcast(room, lambda viewer: messages.rematch(room))
        return response


def _has_no_effect(room: Room, seat: int, command: commands.AnyCommand) -> bool:
    """Whether a command asks for what is the case already. Then nothing is stored."""
    row, match = room.row, room.match
    match command:
        case commands.Commit(hash=hash):
            return row.hashes[seat : seat + 1] == [hash]
        case commands.Reveal(nonce=nonce):
            return row.nonces[seat : seat + 1] == [nonce]
        case commands.Undo(at=at) if match is not None and match.offer is not None:
            return match.offer.player == seat and at == len(match.events)
        case commands.Rematch():
            return row.rematch is not None or seat + 1 in row.offers
    return False


def _act(room: Room, seat: int, command: commands.AnyCommand, hint: dict[str, Any] | None) -> Any:
    """Apply a command to a room; returns additional fields of the response."""
    match command:
        case commands.Commit(hash=hash):
            room.commit(seat, hash)
        case commands.Reveal(nonce=nonce):
            room.reveal(seat, nonce)
        case commands.Nonce():
            raise IllegalMove(
                "this server uses protocol 2, in which a hash of the nonce is sent first: reload"
                " the page, or update the client"
            )
        case commands.Move(at=at, move=move, text=text, so_far=so_far):
            room.submit(seat, at, move, text, so_far)
        case commands.Resign(at=at):
            room.playing().resign(seat, at=at)
        case commands.Undo(at=at):
            room.undo(seat, at)
        case commands.Accept(at=at):
            room.playing().accept_undo(seat, at=at)
        case commands.Decline():
            room.playing().decline_undo(seat)
        case commands.Claim():
            room.claim(seat)
        case commands.Hint():
            if hint is None:
                raise IllegalMove("hints are available only on your turn, against a computer")
            room.row.hinted = True
            return hint
    return None
