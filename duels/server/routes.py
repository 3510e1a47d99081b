"""The endpoints of the HTTP API (docs/reference/protocol.md)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from duels.algorithms.solution import Unsolved
from duels.client.identity import digest, is_key, is_room_id, public_id, usual_name
from duels.client.names import blocked_words, checked_name
from duels.core.commitment import KEY, draws
from duels.core.errors import DuelsError, MalformedMove, OptionError, UnknownName, quote
from duels.core.match import Match
from duels.core.presentation import Line, tone
from duels.core.record import dumps, redacted
from duels.core.rules_text import rules
from duels.core.wire import dump, dump_table
from duels.games import catalogue, find
from duels.players import BUILT_IN, LEVELS
from duels.server import messages
from duels.server.commands import REACTIONS
from duels.server.computer_players import levels
from duels.server.encoded import encode
from duels.server.explored import LONGEST_LINE
from duels.server.fair_queue import Busy
from duels.server.limits import EXPORTS, REPORTS, address_group
from duels.server.match_start import published
from duels.server.matchmaking import Matchmaking, NewMatch, NotAllowed, seat_of
from duels.server.moderation import LONGEST_REASON, Moderation
from duels.server.responses import NO_STORE, Refusal, encoded_response, json_response, refusal
from duels.server.room_manager import RoomManager
from duels.server.rooms import NoRoom, Room
from duels.server.storage.base import (
    CLOSED,
    HUMAN,
    OVER,
    PLAYING,
    Conflict,
    Report,
    Row,
    StoreError,
    Unavailable,
    log,
)
from duels.server.storage.schema import ESTABLISHED
from duels.server.study import FIRST_DAY, LAST_PAGE
from duels.server.validation import check
from duels.server.websocket import address_of

PAGE = 50  # matches on a page of the history
BEST = 100  # ratings listed
CHALLENGES = 50
LIVE = 200  # matches that are looked through for public ones
CACHED_VALUES = 2048  # positions in memory; each has a few kilobytes
FIRST_BEGINS = timedelta(hours=14)  # before UTC, a day begins in the first time zone
Endpoint = Callable[[Request], Awaitable[Response]]


class Name(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request to change the name of a player."""

    name: str


class ReportBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request to report a match to the operator."""

    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_REASON)]


class Api:
    """The endpoints of the HTTP API."""

    def __init__(self, manager: RoomManager) -> None:
        self.manager, self.store, self.matchmaking = manager, manager.store, Matchmaking(manager)
        self.moderation = Moderation(manager.store, manager.settings, manager.find)
        words = manager.settings.blocked_words
        self._blocked = blocked_words(words) if words else None
        self._games: bytes | None = None
        self._values: dict[tuple[Any, ...], bytes] = {}  # of positions, least recently used first

    def routes(self) -> list[Route]:
        """The routes of all endpoints."""

        def route(path: str, endpoint: Endpoint, *methods: str) -> Route:
            return Route(path, self._guarded(endpoint), methods=list(methods) or ["GET"])

        one = "/api/matches/{id}"
        return [
            route("/api/games", self.games),
            route("/api/games/{slug}/rules", self.rules),
            route("/api/value/{slug}", self.value),
            route("/api/learn/{slug}", self.lesson),
            route("/api/puzzles/day/{date}", self.puzzles_of_day),
            route("/api/puzzles/practice/{page}", self.practice),
            route("/api/matches", self.matches),
            route("/api/matches", self.create, "POST"),
            route("/api/live", self.live),
            route(one, self.match),
            route(f"{one}/join", self.join, "POST"),
            route(f"{one}/leave", self.leave, "POST"),
            route(f"{one}/resign", self.resign, "POST"),
            route(f"{one}/record", self.record),
            route(f"{one}/replay", self.replay),
            route(f"{one}/analysis", self.analysis),
            route(f"{one}/fair", self.fair),
            route(f"{one}/report", self.report, "POST"),
            route("/api/me", self.me),
            route("/api/me", self.rename, "PUT"),
            route("/api/me", self.forget, "DELETE"),
            route("/api/me/export", self.export),
            route("/api/me/history", self.history),
            route("/api/ratings/{slug}", self.ratings),
            Route("/metrics", self.metrics),
        ]

    def _guarded(self, endpoint: Endpoint) -> Endpoint:
        """Wrap an endpoint: convert exceptions to responses."""

        async def guarded(request: Request) -> Response:
            self.manager.metrics.requests += 1
            try:
                return await endpoint(request)
            except Refusal as error:
                return refusal(error.status, error.reason)
            except (NoRoom, UnknownName) as error:
                return refusal(404, str(error))
            except NotAllowed as error:
                return refusal(409, str(error))
            except Busy as error:
                return refusal(503, str(error))
            except (Unavailable, Conflict):
                return refusal(503, "this cannot be stored or read now; try again")
            except StoreError as error:
                log.error("%s %s: %s", request.method, request.url.path, error)
                return refusal(500, "this match is damaged, or cannot be stored")
            except Unsolved as error:
                return refusal(422, str(error))
            except DuelsError as error:
                return refusal(400, str(error))
            except ClientDisconnect:
                return refusal(400, "the request ended early")
            except Exception:
                log.exception("%s %s failed", request.method, request.url.path)
                return refusal(500, "this is a fault of the server; its log has the cause")

        return guarded

    # Reading requests.

    def _user(self, request: Request) -> str:
        """The address group of the client."""
        return address_group(address_of(request.scope, self.manager.settings.proxy))

    def _digest(self, request: Request) -> str | None:
        """The digest of the key of a request; None without a key."""
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        if not scheme:
            return None
        if scheme.lower() != "bearer" or not is_key(key):
            raise Refusal(401, "expected a key of 43 characters: Authorization: Bearer KEY")
        return digest(key)

    def _known(self, request: Request) -> str:
        """The digest of the key of a request, which must have one."""
        found = self._digest(request)
        if found is None:
            raise Refusal(401, "a key is needed: Authorization: Bearer KEY")
        return found

    def _allowed(self, request: Request) -> str:
        """The digest of the key of a request, which must not be banned."""
        found = self._known(request)
        if reason := self.manager.notices.ban(found):
            raise Refusal(403, reason)
        return found

    def _limit(self, rate: int, digest: str, what: str) -> None:
        """Refuse a request beyond a rate of the key."""
        limit = getattr(self.manager.settings.limits, what)
        if not self.manager.limits.take(rate, digest, limit):
            self.manager.metrics.limited += 1
            raise Refusal(429, f"too many {what}; wait a minute")

    def _id(self, request: Request) -> str:
        """The room id in the path of a request."""
        id = request.path_params["id"]
        if not is_room_id(id):
            raise NoRoom("there is no such match")
        return str(id)

    async def _body(self, request: Request, kind: Any) -> Any:
        """The body of a request, decoded as `kind` and checked."""
        body, most = b"", self.manager.settings.limits.message_size
        async for piece in request.stream():
            body += piece
            if len(body) > most:
                raise Refusal(413, f"a request may have at most {most} bytes")
        try:
            found = msgspec.json.decode(body or b"{}", type=kind)
            check(msgspec.to_builtins(found))
            return found
        except (msgspec.MsgspecError, UnicodeError, RecursionError, MalformedMove) as error:
            raise Refusal(400, str(error)[:200]) from None

    def _info(self, row: Row, digest: str | None) -> dict[str, Any]:
        return messages.match_info(row, seat_of(row, digest))

    def _infos(self, rows: list[Row], digest: str | None) -> list[dict[str, Any]]:
        """The public information about matches; damaged ones are reported and left out."""
        listed = []
        for row in rows:
            try:
                listed.append(self._info(row, digest))
            except Exception as error:
                self.store.damage.report(row.id, error)
        return listed

    # Games.

    async def games(self, request: Request) -> Response:
        """The games with their options, the computer players and the reactions."""
        if self._games is None:
            listed = [info for slug in catalogue() if (info := game_info(slug)) is not None]
            known = [
                {"name": name, "about": made.about, "more": name not in LEVELS}
                for name, made in BUILT_IN.items()
            ]
            self._games = encode({"games": listed, "levels": known, "reactions": REACTIONS})
        return encoded_response(self._games)

    async def rules(self, request: Request) -> Response:
        """The rules of a game with the given options, its table at the start, and its levels."""
        slug = request.path_params["slug"]
        options = {k: v for k, v in request.query_params.items() if (k, v) != ("first", "random")}
        game = self.manager.find(slug, **options)
        lines = [dump(Line(line, tone(line))) for line in rules(game)]
        table = dump_table(Match(game).view(None))
        return json_response({"lines": lines, "table": table, "levels": levels(game)})

    async def value(self, request: Request) -> Response:
        """The value of a position, given by what has happened in it; never of a match."""
        slug = exact_slug(request.path_params["slug"])
        after = request.query_params.getlist("after")
        given = {k: v for k, v in request.query_params.items() if k != "after"}
        if len(after) > LONGEST_LINE:
            raise OptionError(f"after: expected at most {LONGEST_LINE} moves and outcomes")
        options = self.manager.find(slug, **given).settings()

        async def compute(user: str) -> bytes:
            return await self.manager.computers.explore(user, slug, options, after)

        return await self._computed(request, (slug, *options.items(), *after), compute)

    async def lesson(self, request: Request) -> Response:
        """The lesson, the charts and the facts of a game."""
        slug = exact_slug(request.path_params["slug"])

        async def compute(user: str) -> bytes:
            return await self.manager.computers.lesson(user, slug)

        return await self._computed(request, ("lesson", slug), compute)

    async def puzzles_of_day(self, request: Request) -> Response:
        """The puzzles of a day, which has begun somewhere."""
        day = self._day(request.path_params["date"])

        async def compute(user: str) -> bytes:
            return await self.manager.computers.puzzles_of_day(user, day)

        return await self._computed(request, ("puzzles", day), compute)

    async def practice(self, request: Request) -> Response:
        """A page of puzzles for practice."""
        text = request.path_params["page"]
        if not (text.isascii() and text.isdecimal() and len(text) <= len(str(LAST_PAGE))):
            raise OptionError(f"page: expected a number from 0 to {LAST_PAGE}; got {quote(text)}")
        given = request.query_params.get("game")
        slug = None if given is None else exact_slug(given)

        async def compute(user: str) -> bytes:
            return await self.manager.computers.practice(user, int(text), slug)

        return await self._computed(request, ("practice", int(text), slug), compute)

    def _day(self, text: str) -> date:
        """A day that has puzzles."""
        try:
            day = date.fromisoformat(text)
        except ValueError:
            day = None
        if day is None or day.isoformat() != text:  # other forms would be kept in memory again
            raise OptionError(f"date: expected YYYY-MM-DD; got {quote(text)}")
        now = datetime.fromtimestamp(self.manager.settings.now(), UTC)
        if not FIRST_DAY <= day <= (now + FIRST_BEGINS).date():
            raise Refusal(404, f"there are puzzles from {FIRST_DAY} to today; got {quote(text)}")
        return day

    async def _computed(
        self, request: Request, key: tuple[Any, ...], compute: Callable[[str], Awaitable[bytes]]
    ) -> Response:
        """A response that is the same for all clients: from memory, or computed and kept there."""
        known = self._values.pop(key, None)
        if known is None:
            known = await compute(self._user(request))
        self._values[key] = known  # the most recently used last
        if len(self._values) > CACHED_VALUES:
            del self._values[next(iter(self._values))]
        found = encoded_response(known)
        found.headers["Cache-Control"] = "public, max-age=3600"
        return found

    # Matches.

    async def matches(self, request: Request) -> Response:
        """The client's unfinished matches, and open challenges of other players."""
        digest = self._digest(request)
        mine = [] if digest is None else await self.store.mine(digest)
        mine.sort(key=lambda row: -row.updated)
        offered = await self.store.challenges(CHALLENGES)
        others = [row for row in offered if seat_of(row, digest) is None]
        return json_response(
            {"mine": self._infos(mine, digest), "open": self._infos(others, digest)}
        )

    async def live(self, request: Request) -> Response:
        """Matches that are played now, of players who met by an open challenge."""
        rows = await self.store.latest(PLAYING, LIVE)
        shown = [row for row in rows if row.open and row.game in catalogue()]
        return json_response({"matches": self._infos(shown, self._digest(request))})

    async def create(self, request: Request) -> Response:
        """Create a match."""
        digest = self._allowed(request)
        body = await self._body(request, NewMatch)
        row = await self.matchmaking.create(digest, body, self._user(request))
        return json_response(self._info(row, digest), 201)

    async def match(self, request: Request) -> Response:
        """The public information about a match."""
        digest = self._digest(request)
        row = await self.store.row(self._id(request))
        if row is None:
            raise NoRoom("there is no such match")
        return json_response(self._info(row, digest))

    async def join(self, request: Request) -> Response:
        """Take the free seat of a match."""
        digest = self._allowed(request)
        row = await self.matchmaking.join(self._id(request), digest, self._user(request))
        return json_response(self._info(row, digest))

    async def leave(self, request: Request) -> Response:
        """Withdraw a match that has not started."""
        digest = self._known(request)
        return json_response(
            self._info(await self.matchmaking.leave(self._id(request), digest), digest)
        )

    async def resign(self, request: Request) -> Response:
        """Resign a match from outside, as from a list of matches."""
        digest = self._known(request)
        return json_response(
            self._info(await self.matchmaking.resign(self._id(request), digest), digest)
        )

    async def record(self, request: Request) -> Response:
        """The record of a match; redacted for the client while the match is played."""
        digest = self._digest(request)
        async with self.manager.using(self._id(request)) as room:
            self._begun(room)
            if room.row.state == OVER:
                found = encoded_response(dumps(room.playing()).encode())
            else:
                seat = seat_of(room.row, digest)
                found = json_response(redacted(room.playing(), seat, published(room.row)))
        if request.query_params.get("download"):
            name = f"{room.row.game}-{room.row.id[:8]}.json"
            found.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return found

    async def replay(self, request: Request) -> Response:
        """The steps of a finished match."""
        digest = self._digest(request)
        async with self.manager.using(self._id(request)) as room:
            self._over(room)
            names = messages.names_of(room.row, seat_of(room.row, digest))
            return json_response({"steps": messages.replay(room.playing(), names)})

    async def analysis(self, request: Request) -> Response:
        """The graded moves of a finished match; computed once and stored."""
        id = self._id(request)
        known = await self.store.analysis(id)
        if known is None:
            async with self.manager.using(id) as room:
                self._over(room)
                text = dumps(room.playing())
            try:
                known = await self.manager.computers.analyse(self._user(request), text)
            except Busy:
                raise
            except DuelsError as error:
                raise Refusal(422, str(error)) from None
            await self.store.keep_analysis(id, known)
        return encoded_response(known)

    async def fair(self, request: Request) -> Response:
        """The data for checking the dice of a finished match."""
        async with self.manager.using(self._id(request)) as room:
            self._over(room)
            match = room.playing()
            seed = None if match.seed is None else str(match.seed)
            if not isinstance(fair := match.about.get(KEY), dict):
                raise NotAllowed(
                    "the record lacks the secret or the nonces, so its seed cannot be checked"
                )
            return json_response({**fair, "seed": seed, "draws": draws(match)})

    async def report(self, request: Request) -> Response:
        """Report the opponent in a match to the operator, once per match and player."""
        digest = self._allowed(request)
        id, player = self._id(request), public_id(digest)
        reason = (await self._body(request, ReportBody)).reason.strip()
        row = await self.store.row(id)
        if row is None:
            raise NoRoom("there is no such match")
        if (seat := seat_of(row, digest)) is None:
            raise Refusal(403, "only a player of the match can report it")
        other = row.seats[1 - seat]
        if other is None or other.kind != HUMAN:
            raise NotAllowed("only a match against another player can be reported")
        if not reason:
            raise OptionError("reason: expected a text")
        self._limit(REPORTS, digest, "reports")
        if not await self.store.report(Report(id, player, reason, self.manager.settings.now())):
            raise NotAllowed("you have reported this match already")
        return json_response({"type": "report", "match": id, "reason": reason}, 201)

    def _begun(self, room: Room) -> None:
        if room.match is None:
            raise NotAllowed("the match has not started")

    def _over(self, room: Room) -> None:
        if room.row.state == CLOSED:
            raise NotAllowed("the match was not played")
        if room.row.state != OVER:
            raise NotAllowed("the match is not over")

    # Players.

    async def me(self, request: Request) -> Response:
        """The client's public id, name and ratings."""
        return await self._me(self._known(request))

    async def _me(self, digest: str) -> Response:
        id = public_id(digest)
        rated = [messages.rating_info(rating) for rating in await self.store.ratings_of(id)]
        name = await self.store.name(digest) or usual_name(digest)
        return json_response({"id": id, "name": name, "ratings": rated})

    async def rename(self, request: Request) -> Response:
        """Change the client's name."""
        digest = self._allowed(request)
        name = checked_name((await self._body(request, Name)).name, self._blocked)
        await self.store.rename(digest, name, self.manager.settings.now())
        return await self._me(digest)

    async def forget(self, request: Request) -> Response:
        """Delete the client's data; finished matches stay for opponents, without the identity."""
        digest = self._known(request)
        await self.moderation.forget(digest)
        await self.manager.apply_notices()
        return json_response({"type": "deleted", "id": public_id(digest)})

    async def export(self, request: Request) -> Response:
        """All data of the client's key, as a file."""
        digest = self._known(request)
        self._limit(EXPORTS, digest, "exports")
        found = self.moderation.data_of(digest)
        first = encode(await anext(found))

        async def pieces() -> AsyncIterator[bytes]:
            yield first[:-1] + b',"matches":['
            comma = b""
            async for match in found:
                yield comma + encode(match)
                comma = b","
            yield b"]}"

        attached = {"Content-Disposition": 'attachment; filename="duels-data.json"'}
        return StreamingResponse(
            pieces(), media_type="application/json", headers={**NO_STORE, **attached}
        )

    async def history(self, request: Request) -> Response:
        """A page of the client's finished matches."""
        digest = self._known(request)
        before = request.query_params.get("before", "1e12")
        try:
            before_time = float(before)
        except ValueError:
            raise OptionError("before: expected seconds since 1970") from None
        if not 0 <= before_time <= 1e12:
            raise OptionError("before: expected seconds since 1970")
        rows = await self.store.history(digest, before_time, PAGE + 1)
        listed = self._infos(rows[:PAGE], digest)
        return json_response({"matches": listed, "more": len(rows) > PAGE})

    async def ratings(self, request: Request) -> Response:
        """The best ratings of a game."""
        slug = exact_slug(request.path_params["slug"])
        rated = [messages.rating_info(rating) for rating in await self.store.ratings(slug, BEST)]
        return json_response({"ratings": rated, "established": ESTABLISHED})

    # For operators.

    async def metrics(self, request: Request) -> Response:
        """Figures of all workers for Prometheus."""
        text = self.manager.metrics.text()
        return Response(text, media_type="text/plain; version=0.0.4", headers=NO_STORE)


def exact_slug(slug: str) -> str:
    """The name of a game, which may not be shortened; UnknownName if there is no such game."""
    if (known := find(slug).slug) != slug:
        raise UnknownName(f"game: expected {quote(known)}; got {quote(slug)}")
    return slug


def game_info(slug: str) -> dict[str, Any] | None:
    """The description of a game for clients; None for a plugin that does not load."""
    try:
        kind = find(slug)
        game = kind()
    except (DuelsError, ImportError, AttributeError):
        log.warning("the game %s does not load", slug)
        return None
    return {
        "slug": kind.slug, "title": kind.title, "summary": kind.summary, "private": kind.private,
        "options": [messages.option_info(name, option) for name, option in kind.options().items()],
        "levels": levels(game),
    }  # fmt: skip
