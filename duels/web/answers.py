"""How requests are answered: JSON, never kept by anybody on the way, and a reason for refusals."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from duels.web import frames

NO_STORE = {"Cache-Control": "no-store"}


class Refusal(Exception):
    """A request that is not granted."""

    def __init__(self, status: int, reason: str) -> None:
        self.status, self.reason = status, reason


def answer(data: Any, status: int = 200) -> Response:
    return encoded(frames.encode(data), status)


def encoded(data: bytes, status: int = 200) -> Response:
    return Response(data, status, media_type="application/json", headers=NO_STORE)


def refusal(status: int, reason: str) -> Response:
    return answer({"type": "refusal", "reason": reason}, status)
