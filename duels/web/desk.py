"""What players wish over their connections, granted or refused, each wish once."""

from __future__ import annotations

from typing import Any

from duels.core.chance import stream
from duels.core.errors import DuelsError, IllegalMove
from duels.web import commands as say
from duels.web import frames
from duels.web.hall import Hall
from duels.web.room import PLAIN, REMEMBERED, Incomplete, Room
from duels.web.store import Conflict, Unavailable


class Desk:
    """Where wishes are handed in."""

    def __init__(self, hall: Hall) -> None:
        self.hall = hall

    async def command(self, room: Room, seat: int | None, wish: say.AnyCommand) -> bytes:
        """Grant or refuse a wish; the answer."""
        if isinstance(wish, say.Ping):
            return frames.granted(wish.id)
        if seat is None:
            return frames.refused(wish.id, IllegalMove("a spectator only looks on"))
        name = f"{seat} {wish.id}"
        hint: dict[str, Any] | None = None
        if isinstance(wish, say.Hint) and name not in room.answers:
            hint = await self._hint(room, seat, wish.at)
        async with room.lock:
            known = room.answers.get(name, room.refusals.get(name))
            if known is not None:
                return known if known != PLAIN else frames.granted(wish.id)
            try:
                if room.gone:
                    raise Unavailable("the match was put away")
                return await self._grant(room, seat, wish, hint)
            except (Unavailable, Conflict):
                self.hall.metrics.unavailable += 1
                reason = Unavailable("this could not be stored; try again")
                return frames.refused(wish.id, reason)
            except DuelsError as error:
                self.hall.metrics.refusals += 1
                answer = frames.refused(wish.id, error)
                if not isinstance(error, Incomplete):
                    room.refusals[name] = answer
                    if len(room.refusals) > REMEMBERED:
                        del room.refusals[next(iter(room.refusals))]
                return answer

    async def _grant(
        self, room: Room, seat: int, wish: say.AnyCommand, hint: dict[str, Any] | None
    ) -> bytes:
        if isinstance(wish, say.React):
            if wish.reaction not in say.REACTIONS:
                raise IllegalMove(f"reactions are {' '.join(say.REACTIONS)}")
            self.hall.broadcast(room, lambda viewer: frames.reaction(seat, wish.reaction))
            return frames.granted(wish.id)
        if isinstance(wish, say.Rematch):
            return await self._rematch(room, seat, wish.id)
        if isinstance(wish, say.Move) and room.match is not None and room.match.late(seat):
            await self.hall.change(room, room.time_out)
            raise IllegalMove("your time was up")
        return await self.hall.change(room, lambda: _act(room, seat, wish, hint), wish.id, seat)

    async def _hint(self, room: Room, seat: int, at: int) -> dict[str, Any] | None:
        """Looked for before the room is locked, so that nobody waits."""
        match = room.match
        if match is None or seat not in match.deciders or len(match.events) != at:
            return None
        if not room.computers or match.seed is None:
            return None
        text, move = await self.hall.computers.hint(stream(match.seed, seat), match.view(seat))
        return {"hint": text, "move": move}

    async def _rematch(self, room: Room, seat: int, id: str) -> bytes:
        new = room.rematch() if room.completes_rematch(seat) else None
        if new is not None:  # first of all the room, so that nobody is sent to one that is not
            await self.hall.add(new)

        def act() -> None:
            room.wish_rematch(seat, None if new is None else new.id)

        answer = await self.hall.change(room, act, id, seat)
        self.hall.broadcast(room, lambda viewer: frames.rematch(room))
        return answer


def _act(room: Room, seat: int, wish: say.AnyCommand, hint: dict[str, Any] | None) -> Any:
    """What a wish does to a room; more for its answer."""
    match wish:
        case say.Commit(hash=hash):
            room.commit(seat, hash)
        case say.Reveal(nonce=nonce):
            room.reveal(seat, nonce)
        case say.Nonce():
            raise IllegalMove(
                "this server speaks protocol 2, in which a hash of the nonce comes first: reload"
                " the page, or update the client"
            )
        case say.Move(at=at, move=move, text=text, so_far=so_far):
            room.submit(seat, at, move, text, so_far)
        case say.Resign(at=at):
            room.playing().resign(seat, at=at)
        case say.Undo(at=at):
            room.undo(seat, at)
        case say.Accept(at=at):
            room.playing().accept_undo(seat, at=at)
        case say.Decline():
            room.playing().decline_undo(seat)
        case say.Claim():
            room.claim(seat)
        case say.Hint():
            if hint is None:
                raise IllegalMove("a hint is for one's own choice against a computer")
            room.row.hinted = True
            return hint
    return None
