"""A server on loopback: threads, faults, latency, and a record of every request."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from fakes.blind import breaches, told
from fakes.faults import DONE, Faults, Kind


@dataclass(frozen=True)
class Seen:
    """A request as it came; ``path`` is percent-decoded, ``raw_path`` is not; header names are in lower case."""

    method: str
    path: str
    raw_path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    raw: bytes

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Answer:
    """A reply; a ``bytes`` body goes out as it is."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Fake:
    """The base of all fakes: subclasses answer. Use it as a context manager; at its end it says which requests told
    what must not leave.

    Attributes:
        texts: names of fields and parameters that hold conversation text.
        known_ids: ids of the source, which no request may hold outside of text.
        seen: every request that reached it.
        faults: what goes wrong.
        latency_s: from a request to its answer.
    """

    texts: Collection[str] = ()
    key = "fake-key"
    late_s = 0.4

    def __init__(self, *, faults: Faults | None = None, latency_s: float = 0.0, port: int = 0) -> None:
        self.known_ids: set[str] = set()
        self.seen: list[Seen] = []
        self.breaches: list[str] = []
        self.bugs: list[str] = []
        self.faults = faults or Faults()
        self.latency_s = latency_s
        self.lock = threading.RLock()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", port), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        if kind is None:
            assert not self.bugs, f"the fake itself failed: {self.bugs[:5]}"
            assert not self.breaches, f"requests told what must not leave: {self.breaches[:5]}"

    def answer(self, seen: Seen) -> Answer:
        """What the service says to a request; called by one thread at a time."""
        raise NotImplementedError

    def handle(self, seen: Seen) -> tuple[Answer | None, Kind | None]:
        """The answer, or None where the connection ends without one."""
        due = time.monotonic() + self.latency_s
        with self.lock:
            self.seen.append(seen)
            self.breaches += breaches(told(seen.body, seen.params, seen.path, self.texts), self.known_ids)
            kind = self.faults.draw(str(seen))
            try:
                answer = self.answer(seen) if kind is None or kind in DONE else None
            except Exception as error:
                self.bugs.append(repr(error))
                raise
        if self.latency_s:
            self._closing.wait(max(0.0, due - time.monotonic()))
        if kind is None or (answer is not None and kind is None):
            return answer, None
        return self._fault(kind, answer), kind

    def _fault(self, kind: Kind, answer: Answer | None) -> Answer | None:
        match kind:
            case "busy":
                return Answer(429, {"error": "too many requests"})
            case "pause":
                return Answer(429, {"error": "too many requests"}, {"Retry-After": "0"})
            case "500":
                return Answer(500, {"error": "internal error"})
            case "502":
                return Answer(502, b"<html><body>Bad Gateway</body></html>", {"Content-Type": "text/html"})
            case "html":
                return Answer(200, b"<html><body>Log in</body></html>", {"Content-Type": "text/html"})
            case "inside":
                return Answer(200, {"error": "database is locked"})
            case "late":
                self._closing.wait(self.late_s)
                return None
            case _:
                return None if kind != "cut" else answer

    def count(self, what: str) -> int:
        """How many requests whose "METHOD path" holds this."""
        return sum(what in str(one) for one in self.seen)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what the tests are about."""


def _handler(fake: Fake) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        # Head and body in one piece, as servers send what is short.
        wbufsize = -1

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def handle_any(self) -> None:
            parts = urlsplit(self.path)
            promised = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(promised)
            if len(raw) < promised:
                # The client died in the middle of its request, which therefore was none.
                self._end()
                return
            try:
                body = json.loads(raw) if raw else None
            except ValueError:
                body = None
            params = dict(parse_qsl(parts.query, keep_blank_values=True))
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen = Seen(self.command, unquote(parts.path), parts.path, params, headers, body, raw)
            answer, kind = fake.handle(seen)
            if answer is None:
                self._end()
                return
            content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            given = {"Content-Type": "application/json", **answer.headers}
            for name, value in given.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if kind == "cut" else content)
            if kind == "cut":
                self.wfile.flush()
                self._end()

        def _end(self) -> None:
            """End the connection the hard way."""
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

    return Handler
