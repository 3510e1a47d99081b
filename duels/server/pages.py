"""Pages and static files: one index.html for all paths, link previews, security headers."""

from __future__ import annotations

import asyncio
import gzip
import html
import json
import mimetypes
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duels.client.identity import is_room_id
from duels.core.errors import DuelsError
from duels.games import catalogue, specs
from duels.server.messages import title
from duels.server.preview_image import names, picture
from duels.server.room_manager import RoomManager
from duels.server.storage.base import CLOSED, OVER, WAITING, Row

STATIC = Path(__file__).parent / "static"
PAGES = (
    "/", "/match/{id}", "/match/{id}/replay", "/match/{id}/mistakes", "/history", "/ratings", "/me",
    "/puzzles", "/live",
)  # fmt: skip
META = "<!-- meta -->"
DESCRIPTIONS = {  # of link previews, by state
    WAITING: "You are invited: open the link and join. There is no sign-up.",
    OVER: "See the replay: every move graded, the dice checked.",
    CLOSED: "This match was not played.",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; media-src 'self'; connect-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".webmanifest": "application/manifest+json",
}
FOR_EVER = "public, max-age=31536000, immutable"
PICTURES = 512  # preview images in memory; each has a few kilobytes
COMPRESSED = {".js", ".mjs", ".css", ".html", ".svg", ".json", ".webmanifest", ".txt"}


class SecurityHeaders:
    """ASGI middleware that adds security headers, and the version of the pages, to responses."""

    def __init__(self, app: ASGIApp, version: str = "") -> None:
        self.app = app
        self.headers = [*HEADERS, *([(b"duels-version", version.encode())] if version else [])]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self.headers]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class Pages:
    """Pages and static files, cached in memory until they change on disk.

    They are compressed once; Starlette's `StaticFiles` reads and compresses them for each request.
    The pages refer to the files below `/static/VERSION/`, where browsers keep them for a year; a
    new version of any file has another address.
    """

    def __init__(self, manager: RoomManager, static: Path = STATIC) -> None:
        self.manager, self.static = manager, static
        self._files: dict[str, tuple[float, bytes, bytes | None, str]] = {}
        self._drawing = asyncio.Lock()
        self._pictures: dict[tuple[str, ...], asyncio.Task[bytes]] = {}  # least recently used first

    @cached_property
    def version(self) -> str:
        """A digest of all static files, those of themes included, at the start of the server."""
        files = {str(path.relative_to(self.static)): path for path in self.static.rglob("*.*")}
        digest = sha256()
        for name, path in sorted({**files, **self._themes}.items()):
            if path.is_file():
                digest.update(f"{name} {sha256(path.read_bytes()).hexdigest()} ".encode())
        return digest.hexdigest()[:16]

    def routes(self) -> list[Route]:
        """The routes of pages, static files and images."""
        return [
            *(Route(path, self.page) for path in PAGES),
            *(Route(f"/{page}/{{slug}}", self.page_of_game) for page in ("explore", "learn")),
            Route("/match/{id}/picture.png", self.picture),
            Route("/sw.js", self.service_worker),
            Route("/static/themes/index.json", self.themes),
            Route(f"/static/{self.version}/themes/index.json", self.themes),
            Route("/static/{path:path}", self.file),
            Route("/favicon.ico", self.no_icon),
        ]

    async def page(self, request: Request) -> Response:
        """The index page, with the title and the link preview of the match; 404 without one."""
        index = self._read("index.html")
        if index is None:
            return Response("the pages are not installed", 404)
        missing = False
        try:
            row = await self._row(request)
            missing = row is None and "id" in request.path_params
        except DuelsError:  # the store cannot be read now
            row = None
        scheme = request.url.scheme
        if self.manager.settings.proxy and request.headers.get("x-forwarded-proto") == "https":
            scheme = "https"
        tags = _tags(row, f"{scheme}://{request.url.netloc}")
        body = index[1].replace(META.encode(), tags.encode(), 1)
        body = body.replace(b'"/static/', f'"/static/{self.version}/'.encode())
        compressed = gzip.compress(body, 6, mtime=0)
        found = _response(request, body, compressed, "text/html; charset=utf-8", "")
        if missing:
            found.status_code = 404
        return found

    async def page_of_game(self, request: Request) -> Response:
        """The explorer or the lesson of a game; 404 if there is no such game."""
        found = await self.page(request)
        if request.path_params["slug"] not in catalogue():
            found.status_code = 404
        return found

    async def _row(self, request: Request) -> Row | None:
        """The row of the match in the path; None without one."""
        id = request.path_params.get("id")
        return await self.manager.store.row(str(id)) if is_room_id(id) else None

    async def file(self, request: Request) -> Response:
        """A static file; below the version, browsers need not ask for it again."""
        path = request.path_params["path"]
        name = path.removeprefix(f"{self.version}/")
        found = self._read(name)
        if found is None:
            return Response("there is no such file", 404)
        _, body, compressed, tag = found
        kept = "no-cache" if name == path else FOR_EVER
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"ETag": tag, "Cache-Control": kept})
        return _response(request, body, compressed, _media_type(name), tag, kept)

    async def service_worker(self, request: Request) -> Response:
        """The service worker, which must be at the root to serve pages; it contains the version."""
        found = self._read("sw.js")
        if found is None:
            return Response("the pages are not installed", 404)
        names = (str(path.relative_to(self.static)) for path in self.static.glob("js/*.js"))
        files = sorted([*names, "base.css", "table.css", "explore.css", "study.css", "icon.svg"])
        files += [f"vendor/{path.name}" for path in self.static.glob("vendor/*.js")]
        files += [name for name in self._themes if not name.endswith(".json")]
        shell = [f"/static/{self.version}/{name}" for name in [*files, "themes/index.json"]]
        body = found[1].replace(b"'VERSION'", json.dumps(self.version).encode())
        body = body.replace(b"['SHELL']", json.dumps(shell).encode())
        return _response(request, body, gzip.compress(body, 6, mtime=0), TYPES[".js"], "")

    @cached_property
    def _themes(self) -> dict[str, Path]:
        """The files of the games' themes, by their paths below `/static`."""
        found = {}
        for slug, spec in specs().items():
            if spec.theme:
                folder = Path(spec.folder(spec.theme))
                found[f"themes/{slug}.json"] = folder / "theme.json"
                found[f"themes/{slug}.css"] = folder / "theme.css"
                found[f"themes/{slug}.svg"] = folder / "picture.svg"
        return found

    async def themes(self, request: Request) -> Response:
        """The themes of all games that have one."""
        names = [name for name in self._themes if name.endswith(".json")]
        return JSONResponse(
            {Path(name).stem: json.loads(self._themes[name].read_bytes()) for name in names},
            headers={"Cache-Control": "no-cache"},
        )

    def _read(self, name: str) -> tuple[float, bytes, bytes | None, str] | None:
        """A file as its time of change, content, compressed content and tag; None if missing."""
        try:
            path = self._themes.get(name) or (self.static / name).resolve()
            if not path.is_file():
                return None
            if name not in self._themes and not path.is_relative_to(self.static.resolve()):
                return None
        except (OSError, ValueError, RuntimeError):  # not a valid file name
            return None
        changed, known = path.stat().st_mtime, self._files.get(name)
        if known is None or known[0] != changed:
            body = path.read_bytes()
            compressed = gzip.compress(body, 9, mtime=0) if path.suffix in COMPRESSED else None
            tag = f'"{sha256(body).hexdigest()[:20]}"'
            known = self._files[name] = changed, body, compressed, tag
        return known

    async def picture(self, request: Request) -> Response:
        """The preview image of a match."""
        try:
            row = await self._row(request)
        except DuelsError:
            row = None
        if row is None:
            return Response("there is no such match", 404)
        body = await asyncio.shield(self._picture(row))
        tag = f'"{sha256(body).hexdigest()[:20]}"'
        headers = {"Cache-Control": "no-cache", "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="image/png", headers=headers)

    def _picture(self, row: Row) -> asyncio.Task[bytes]:
        """The image for a row, drawn once for all requests, outside the event loop."""
        shown = title(row.game), *names(row), row.state
        task = self._pictures.pop(shown, None)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = asyncio.create_task(self._draw(shown[0], row))
        self._pictures[shown] = task
        if len(self._pictures) > PICTURES:
            del self._pictures[next(iter(self._pictures))]
        return task

    async def _draw(self, title: str, row: Row) -> bytes:
        """Draw an image, one at a time, as threads that compute delay the event loop."""
        async with self._drawing:
            return await asyncio.to_thread(picture, title, row)

    async def no_icon(self, request: Request) -> Response:
        """An empty response: the icon is part of the page."""
        return Response(status_code=204)


def _response(
    request: Request, body: bytes, compressed: bytes | None, kind: str, tag: str,
    kept: str = "no-cache",
) -> Response:  # fmt: skip
    headers = {"Cache-Control": kept, "Vary": "Accept-Encoding"}
    if tag:
        headers["ETag"] = tag
    if compressed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(
            compressed, media_type=kind, headers={**headers, "Content-Encoding": "gzip"}
        )
    return Response(body, media_type=kind, headers=headers)


def _media_type(name: str) -> str:
    suffix = Path(name).suffix
    return TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"


def _tags(row: Row | None, base: str) -> str:
    """The HTML tags of the title and the link preview of a page."""
    if row is None:
        about = "Five two-player number games: play a friend or the computer in the browser."
        shown = {"og:title": "Duels", "og:description": about, "og:type": "website"}
    else:
        one, two = names(row)
        shown = {
            "og:title": f"{title(row.game)}: {one} against {two}",
            "og:description": DESCRIPTIONS.get(row.state, "Watch the match."),
            "og:type": "website",
            "og:image": f"{base}/match/{row.id}/picture.png",
        }
    lines = [f"<title>{html.escape(shown['og:title'])}</title>"]
    lines += [
        f'<meta property="{name}" content="{html.escape(text)}">' for name, text in shown.items()
    ]
    return "\n".join(lines)
