"""An OpenAI-compatible server whose model is a built-in player, with faults on demand.

It reads the position from the prompt: the caller passes the views that may be asked about. It
serves real HTTP on a loopback port, from a thread.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# From a prompt and the number of times it was asked to the text of an answer.
Model = Callable[[str, int], str]
# By number of a call, from 1: "429", "500", "cut", "slow", "html", "length", "refusal", or "".
Fault = Callable[[int], str]


class Fake:
    """What the server did."""

    def __init__(self, model: Model, fault: Fault) -> None:
        self.model, self.fault = model, fault
        self.calls, self.answered = 0, 0
        self.times = Counter[str]()
        self.keys = set[str]()
        self.bodies: list[dict[str, Any]] = []
        self.lock = threading.Lock()
        self.url = ""
        self.last = False  # whether the model gets the last message instead of the first


def streamed(answer: dict[str, Any]) -> bytes:
    """An answer as a stream of events: the message, why it ended, the usage."""
    (choice,) = answer["choices"]
    chunk = {**answer, "object": "chat.completion.chunk", "usage": None}
    parts: list[dict[str, Any]] = [
        {"index": 0, "delta": choice["message"], "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]},
    ]
    events: list[dict[str, Any]] = [
        *({**chunk, "choices": [part]} for part in parts),
        {**chunk, "choices": [], "usage": answer["usage"]},
    ]
    lines = [f"data: {json.dumps(event)}" for event in events]
    return "\n\n".join([*lines, "data: [DONE]", ""]).encode()


@contextmanager
def serving(model: Model, fault: Fault = lambda call: "") -> Iterator[Fake]:
    fake = Fake(model, fault)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with fake.lock:
                fake.calls += 1
                kind = fake.fault(fake.calls)
                fake.keys.add(self.headers["Authorization"])
                fake.bodies.append(body)
                if kind not in ("429", "500", "cut", "html"):
                    fake.answered += 1
                asked = json.dumps(body["messages"])
                number = fake.times[asked]
                fake.times[asked] += kind not in ("429", "500", "cut", "html")
            if kind == "cut":
                self.close_connection = True
                self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{"choices"')
                return
            if kind in ("429", "500"):
                self._send(int(kind), b'{"error": {"message": "try again"}}')
                return
            if kind == "html":
                self._send(200, b"<html>", "text/html")
                return
            text = fake.model(body["messages"][-fake.last]["content"], number)
            message: dict[str, Any] = {"role": "assistant", "content": text}
            if kind == "refusal":
                message |= {"content": None, "refusal": "I do not play."}
            finish = "length" if kind == "length" else "stop"
            answer = {
                "id": "1", "object": "chat.completion", "created": 1, "model": body["model"],
                "choices": [{"index": 0, "finish_reason": finish, "message": message}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
            }  # fmt: skip
            if body.get("stream"):
                self._send(200, streamed(answer), "text/event-stream")
            else:
                self._send(200, json.dumps(answer).encode())

        def _send(self, status: int, content: bytes, kind: str = "application/json") -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("retry-after-ms", "1")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
