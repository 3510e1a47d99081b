"""HTTP responses: JSON that is not cached, and refusals with a reason."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from duels.server.encoded import encode

NO_STORE = {"Cache-Control": "no-store"}


class Refusal(Exception):
    """A request is refused with a status and a reason."""

    def __init__(self, status: int, reason: str) -> None:
        self.status, self.reason = status, reason


def json_response(data: Any, status: int = 200) -> Response:
    """A response with JSON, which is not cached."""
    return encoded_response(encode(data), status)


def encoded_response(data: bytes, status: int = 200) -> Response:
    """A response with encoded JSON, which is not cached."""
    return Response(data, status, media_type="application/json", headers=NO_STORE)


def refusal(status: int, reason: str) -> Response:
    """A response with the reason why a request is refused."""
    return json_response({"type": "refusal", "reason": reason}, status)
