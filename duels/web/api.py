"""The HTTP part of docs/protocol.md.

Each request is read into a type: what is wrong with it is said, and nothing else happens.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from duels.core.errors import DuelsError, MalformedMove, OptionError, UnknownName
from duels.core.fair import KEY, draws
from duels.core.match import Match
from duels.core.record import dumps, redacted
from duels.core.rules import rules
from duels.core.show import Line, tone
from duels.core.wire import dump, dump_table
from duels.games import catalogue, find
from duels.players import BUILT_IN
from duels.solve.solution import Unsolved
from duels.web import frames
from duels.web.answers import NO_STORE, Refusal, answer, encoded, refusal
from duels.web.commands import REACTIONS
from duels.web.computers import levels
from duels.web.hall import Hall
from duels.web.keys import checked_name, digest, is_key, is_room_id, public_id, usual_name
from duels.web.limits import Rates
from duels.web.lobby import Lobby, Taken, Wish, place
from duels.web.room import NoRoom, Room
from duels.web.sockets import address_of
from duels.web.starting import published
from duels.web.store import OVER, Conflict, Row, StoreError, Unavailable, log
from duels.web.text import check

PAGE = 50  # matches of a history at a time
BEST = 100  # ratings of a list
CHALLENGES = 50
Endpoint = Callable[[Request], Awaitable[Response]]


class Name(msgspec.Struct, forbid_unknown_fields=True):
    """What somebody wishes to be called."""

    name: str


class Api:
    """The endpoints over one hall."""

    def __init__(self, hall: Hall) -> None:
        self.hall, self.store, self.lobby = hall, hall.store, Lobby(hall)
        limits = hall.settings.limits
        self._requests, self._creations = Rates(limits.requests), Rates(limits.creations)
        self._games: bytes | None = None

    def routes(self) -> list[Route]:
        def route(path: str, endpoint: Endpoint, *methods: str) -> Route:
            return Route(path, self._guarded(endpoint), methods=list(methods) or ["GET"])

        one = "/api/matches/{id}"
        return [
            route("/api/games", self.games),
            route("/api/games/{slug}/rules", self.rules),
            route("/api/matches", self.matches),
            route("/api/matches", self.create, "POST"),
            route(one, self.match),
            route(f"{one}/join", self.join, "POST"),
            route(f"{one}/leave", self.leave, "POST"),
            route(f"{one}/record", self.record),
            route(f"{one}/replay", self.replay),
            route(f"{one}/analysis", self.analysis),
            route(f"{one}/fair", self.fair),
            route("/api/me", self.me),
            route("/api/me", self.rename, "PUT"),
            route("/api/me/history", self.history),
            route("/api/ratings/{slug}", self.ratings),
            Route("/metrics", self.metrics),
        ]

    def _guarded(self, endpoint: Endpoint) -> Endpoint:
        """Limits before, and a reason for everything that is refused."""

        async def guarded(request: Request) -> Response:
            self.hall.metrics.requests += 1
            address = address_of(request.scope, self.hall.settings.proxy)
            if not self._requests.take(address) or (
                request.method == "POST" and not self._creations.take(address)
            ):
                self.hall.metrics.limited += 1
                return refusal(429, "too many requests; wait a moment")
            try:
                return await endpoint(request)
            except Refusal as error:
                return refusal(error.status, error.reason)
            except (NoRoom, UnknownName) as error:
                return refusal(404, str(error))
            except Taken as error:
                return refusal(409, str(error))
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
                return refusal(500, "this is a defect of the server")

        return guarded

    # Who asks and what for.

    def _digest(self, request: Request) -> str | None:
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        if not scheme:
            return None
        if scheme.lower() != "bearer" or not is_key(key):
            raise Refusal(401, "expected a key of 43 characters: Authorization: Bearer KEY")
        return digest(key)

    def _known(self, request: Request) -> str:
        found = self._digest(request)
        if found is None:
            raise Refusal(401, "a key is needed: Authorization: Bearer KEY")
        return found

    def _id(self, request: Request) -> str:
        id = request.path_params["id"]
        if not is_room_id(id):
            raise NoRoom("there is no such match")
        return str(id)

    async def _body(self, request: Request, kind: Any) -> Any:
        body, most = b"", self.hall.settings.limits.frame
        async for piece in request.stream():
            body += piece
            if len(body) > most:
                raise Refusal(413, f"a request has at most {most} bytes")
        try:
            found = msgspec.json.decode(body or b"{}", type=kind)
            check(msgspec.to_builtins(found))
            return found
        except (msgspec.MsgspecError, UnicodeError, RecursionError, MalformedMove) as error:
            raise Refusal(400, str(error)[:200]) from None

    def _info(self, row: Row, digest: str | None) -> dict[str, Any]:
        return frames.match_info(row, place(row, digest))

    def _infos(self, rows: list[Row], digest: str | None) -> list[dict[str, Any]]:
        """Matches of a list; one that is damaged is left out."""
        listed = []
        for row in rows:
            try:
                listed.append(self._info(row, digest))
            except Exception as error:
                self.store.damage.report(row.id, error)
        return listed

    # Games.

    async def games(self, request: Request) -> Response:
        if self._games is None:
            listed = [info for slug in catalogue() if (info := game_info(slug)) is not None]
            known = [{"name": name, "about": made.about} for name, made in BUILT_IN.items()]
            self._games = frames.encode({"games": listed, "levels": known, "reactions": REACTIONS})
        return encoded(self._games)

    async def rules(self, request: Request) -> Response:
        slug = request.path_params["slug"]
        options = {k: v for k, v in request.query_params.items() if (k, v) != ("first", "random")}
        game = self.hall.find(slug, **options)
        lines = [dump(Line(line, tone(line))) for line in rules(game)]
        return answer({"lines": lines, "table": dump_table(Match(game).view(None))})

    # Matches.

    async def matches(self, request: Request) -> Response:
        digest = self._digest(request)
        mine = [] if digest is None else await self.store.mine(digest)
        mine.sort(key=lambda row: -row.updated)
        offered = await self.store.challenges(CHALLENGES)
        others = [row for row in offered if place(row, digest) is None]
        return answer({"mine": self._infos(mine, digest), "open": self._infos(others, digest)})

    async def create(self, request: Request) -> Response:
        digest = self._known(request)
        row = await self.lobby.create(digest, await self._body(request, Wish))
        return answer(self._info(row, digest), 201)

    async def match(self, request: Request) -> Response:
        digest = self._digest(request)
        row = await self.store.row(self._id(request))
        if row is None:
            raise NoRoom("there is no such match")
        return answer(self._info(row, digest))

    async def join(self, request: Request) -> Response:
        digest = self._known(request)
        return answer(self._info(await self.lobby.join(self._id(request), digest), digest))

    async def leave(self, request: Request) -> Response:
        digest = self._known(request)
        return answer(self._info(await self.lobby.leave(self._id(request), digest), digest))

    async def record(self, request: Request) -> Response:
        digest = self._digest(request)
        async with self.hall.using(self._id(request)) as room:
            self._begun(room)
            if room.row.state == OVER:
                found = encoded(dumps(room.playing()).encode())
            else:
                seat = place(room.row, digest)
                found = answer(redacted(room.playing(), seat, published(room.row)))
        if request.query_params.get("download"):
            name = f"{room.row.game}-{room.row.id[:8]}.json"
            found.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return found

    async def replay(self, request: Request) -> Response:
        async with self.hall.using(self._id(request)) as room:
            self._over(room)
            return answer({"steps": frames.replay(room.playing())})

    async def analysis(self, request: Request) -> Response:
        id = self._id(request)
        known = await self.store.analysis(id)
        if known is None:
            async with self.hall.using(id) as room:
                self._over(room)
                text = dumps(room.playing())
            try:
                known = await self.hall.computers.analyse(text)
            except DuelsError as error:
                raise Refusal(422, str(error)) from None
            await self.store.keep_analysis(id, known)
        return encoded(known)

    async def fair(self, request: Request) -> Response:
        async with self.hall.using(self._id(request)) as room:
            self._over(room)
            match = room.playing()
            seed = None if match.seed is None else str(match.seed)
            if not isinstance(fair := match.about.get(KEY), dict):
                raise Taken("the record does not tell a secret and nonces to check its seed by")
            return answer({**fair, "seed": seed, "draws": draws(match)})

    def _begun(self, room: Room) -> None:
        if room.match is None:
            raise Taken("the match has not started")

    def _over(self, room: Room) -> None:
        if room.row.state != OVER:
            raise Taken("the match is not over")

    # People.

    async def me(self, request: Request) -> Response:
        return await self._me(self._known(request))

    async def _me(self, digest: str) -> Response:
        id = public_id(digest)
        rated = [frames.rating_info(rating) for rating in await self.store.ratings_of(id)]
        name = await self.store.name(digest) or usual_name(digest)
        return answer({"id": id, "name": name, "ratings": rated})

    async def rename(self, request: Request) -> Response:
        digest = self._known(request)
        name = checked_name((await self._body(request, Name)).name)
        await self.store.rename(digest, name, self.hall.settings.now())
        return await self._me(digest)

    async def history(self, request: Request) -> Response:
        digest = self._known(request)
        before = request.query_params.get("before", "1e12")
        try:
            moment = float(before)
        except ValueError:
            raise OptionError("before: expected seconds since 1970") from None
        if not 0 <= moment <= 1e12:
            raise OptionError("before: expected seconds since 1970")
        rows = await self.store.history(digest, moment, PAGE + 1)
        listed = self._infos(rows[:PAGE], digest)
        return answer({"matches": listed, "more": len(rows) > PAGE})

    async def ratings(self, request: Request) -> Response:
        slug = request.path_params["slug"]
        if find(slug).slug != slug:
            raise UnknownName("expected the whole name of a game")
        rated = [frames.rating_info(rating) for rating in await self.store.ratings(slug, BEST)]
        return answer({"ratings": rated})

    # For whoever runs the server.

    async def metrics(self, request: Request) -> Response:
        written, commits = (getattr(self.store, name, 0) for name in ("written", "commits"))
        text = self.hall.metrics.text(
            rooms=len(self.hall.rooms), store_jobs_total=written, store_commits_total=commits,
            thinking_seconds_total=self.hall.computers.thought, process_seconds=time.process_time(),
        )  # fmt: skip
        return Response(text, media_type="text/plain; version=0.0.4", headers=NO_STORE)


def game_info(slug: str) -> dict[str, Any] | None:
    """A game for the first page; None for one that is plugged in and does not load."""
    try:
        kind = find(slug)
        game = kind()
    except (DuelsError, ImportError, AttributeError):
        log.warning("the game %s does not load", slug)
        return None
    return {
        "slug": kind.slug, "title": kind.title, "summary": kind.summary, "private": kind.private,
        "options": [frames.option_info(name, option) for name, option in kind.options().items()],
        "levels": levels(game),
    }  # fmt: skip
