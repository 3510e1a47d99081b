"""The HTTP API as an OpenAPI 3.1 document."""

from __future__ import annotations

from typing import Any

import msgspec

from duels import __version__
from duels.server.explored import LONGEST_LINE

Json = dict[str, Any]


def document() -> Json:
    """The OpenAPI document: requests and responses."""
    from duels.server.matchmaking import NewMatch
    from duels.server.routes import Name, ReportBody

    _, schemas = msgspec.json.schema_components(
        [NewMatch, Name, ReportBody], ref_template="#/components/schemas/{name}"
    )
    schemas["Refusal"] = {
        "type": "object",
        "required": ["type", "reason"],
        "properties": {"type": {"const": "refusal"}, "reason": {"type": "string", "minLength": 1}},
    }
    schemas["Match"] = {
        "type": "object",
        "required": ["type", "id", "state", "game", "seats", "you", "moment", "commitment"],
        "properties": {
            "type": {"const": "match"},
            "id": {"type": "string"},
            "state": {"enum": ["waiting", "starting", "playing", "over", "closed"]},
            "seats": {"type": "array", "minItems": 2, "maxItems": 2},
            "you": {"enum": [1, 2, None]},
            "moment": {"type": "integer", "minimum": 0},
        },
    }
    schemas["Well"] = {
        "type": "object",
        "required": ["ok"],
        "properties": {"ok": {"const": True}},
    }
    one, match = "/api/matches/{id}", _schema("Match")
    slug = [_in_path("slug")]
    id = [_in_path("id")]
    before = {"name": "before", "in": "query", "schema": {"type": "number"}}
    after = {
        "name": "after", "in": "query",
        "schema": {"type": "array", "items": {"type": "string"}, "maxItems": LONGEST_LINE},
    }  # fmt: skip
    game = {"name": "game", "in": "query", "schema": {"type": "string"}}
    paths: Json = {
        "/api/games": {"get": _op("The games, the levels and the reactions", _listing("games"))},
        "/api/games/{slug}/rules": {
            "get": _op("The rules with these options", _listing("lines"), slug, refused=(400, 404))
        },
        "/api/value/{slug}": {
            "get": _op("The value of a position", _listing("choices", "table"), [*slug, after],
                       refused=(400, 404, 422))
        },
        "/api/learn/{slug}": {
            "get": _op("Guided moves, charts and facts", _listing("charts", "facts"), slug,
                       refused=(404, 422))
        },
        "/api/puzzles/day/{date}": {
            "get": _op("The puzzles of a day", _listing("puzzles"), [_in_path("date")],
                       refused=(400, 404))
        },
        "/api/puzzles/practice/{page}": {
            "get": _op("Puzzles for practice", _listing("puzzles"), [_in_path("page"), game],
                       refused=(400, 404, 422))
        },
        "/api/matches": {
            "get": _op("Your matches, and all open challenges", _listing("mine", "open"),
                       refused=(401,)),
            "post": _op("Create a match", match, status=201, body="NewMatch", key=True,
                        refused=(400, 401, 403, 404, 409, 413)),
        },
        "/api/live": {
            "get": _op("Public matches that are played now", _listing("matches"), refused=(401,))
        },
        one: {"get": _op("A match", match, id, refused=(401, 404))},
        f"{one}/join": {
            "post": _op("Take the free seat", match, id, key=True, refused=(401, 403, 404, 409))
        },
        f"{one}/leave": {
            "post": _op("Withdraw a match", match, id, key=True, refused=(400, 401, 404, 409))
        },
        f"{one}/resign": {
            "post": _op("Resign a match", match, id, key=True, refused=(400, 401, 404, 409))
        },
        f"{one}/record": {
            "get": _op("The record", _listing("entries"), id, refused=(401, 404, 409))
        },
        f"{one}/replay": {"get": _op("Every step", _listing("steps"), id, refused=(404, 409))},
        f"{one}/analysis": {
            "get": _op("Graded moves", _listing("moves"), id, refused=(404, 409, 422))
        },
        f"{one}/fair": {
            "get": _op("Data to check the dice", _listing("draws"), id, refused=(404, 409))
        },
        f"{one}/report": {
            "post": _op("Report the opponent to the operator", _typed("report"), id, status=201,
                        body="ReportBody", key=True, refused=(400, 401, 403, 404, 409, 413))
        },
        "/api/me": {
            "get": _op("Your name and ratings", _listing("ratings"), key=True, refused=(401,)),
            "put": _op("Choose a name", _listing("ratings"), body="Name", key=True,
                       refused=(400, 401, 403, 413)),
            "delete": _op("Delete your data", _typed("deleted"), key=True, refused=(401, 409)),
        },
        "/api/me/export": {
            "get": _op("All data of your key", _listing("ratings", "reports", "matches"), key=True,
                       refused=(401,))
        },
        "/api/me/history": {
            "get": _op("Your finished matches", _listing("matches"), [before], key=True,
                       refused=(400, 401))
        },
        "/api/ratings/{slug}": {
            "get": _op("The highest ratings in a game", _listing("ratings"), slug, refused=(404,))
        },
        "/healthz": {"get": _op("Does the process work?", _schema("Well"))},
        "/readyz": {"get": _op("Do the database and all workers respond?", _schema("Well"))},
    }  # fmt: skip
    return {
        "openapi": "3.1.0",
        "info": {"title": "Duels", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _schema(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _typed(kind: str) -> Json:
    return {
        "type": "object", "required": ["type"], "properties": {"type": {"const": kind}},
    }  # fmt: skip


def _listing(*names: str) -> Json:
    lists = {name: {"type": "array"} for name in names}
    return {"type": "object", "required": list(names), "properties": lists}


def _in_path(name: str) -> Json:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _content(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _op(
    summary: str, made: Json, parameters: list[Json] | None = None, *, status: int = 200,
    body: str = "", key: bool = False, refused: tuple[int, ...] = (),
) -> Json:  # fmt: skip
    answers: Json = {str(status): {"description": "Done", "content": _content(made)}}
    for code in (*refused, 429, 503):
        answers[str(code)] = {"description": "Refused", "content": _content(_schema("Refusal"))}
    found: Json = {"summary": summary, "responses": answers}
    if parameters:
        found["parameters"] = parameters
    if body:
        found["requestBody"] = {"required": True, "content": _content(_schema(body))}
    if key:
        found["security"] = [{"key": []}]
    return found
