"""A hub on loopback: HEAD and GET of files, ranges, redirects to a store, and connections that break."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from converters.published import Published

REVISION = "0123456789abcdef0123456789abcdef01234567"


def published(content: bytes, *, sha256: str | None = "", n_bytes: int | None = -1) -> Published:
    """An entry for some bytes; by default with their true digest and length."""
    return Published(
        name="letters",
        detail="the published letters",
        host="hub",
        repo="someone/letters",
        revision=REVISION,
        file="deep/letters.json",
        sha256=hashlib.sha256(content).hexdigest() if sha256 == "" else sha256,
        n_bytes=len(content) if n_bytes == -1 else n_bytes,
        licence="MIT",
    )


@dataclass
class Hub:
    """What it serves, how it behaves, and what it was asked.

    Attributes:
        content: the one file's bytes.
        path: where it is.
        linked: whether HEAD answers as for a large file: a redirect with its digest and length.
        cuts: after how many bytes of a body the connection breaks, one a GET; then no more.
        down: the status of every further answer once the cuts are used up.
        ranges: whether it knows ranges.
        asked: method and path of each request, with its range.
        gets: the ranges of those that a file was sent for.
        headers: all names of headers that it was sent, in lower case.
    """

    content: bytes
    path: str = f"/datasets/someone/letters/resolve/{REVISION}/deep/letters.json"
    linked: bool = False
    cuts: list[int] = field(default_factory=list)
    down: HTTPStatus | None = None
    ranges: bool = True
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    gets: list[str | None] = field(default_factory=list)
    headers: set[str] = field(default_factory=set)
    port: int = 0

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _answer(self, *, body: bool) -> None:
        hub, wanted = self.hub, self.headers["Range"]
        hub.asked.append((self.command, self.path, wanted))
        hub.headers |= {name.lower() for name in self.headers}
        status = HTTPStatus.OK if self.path in ("/store", hub.path) else HTTPStatus.NOT_FOUND
        if hub.down and not hub.cuts:
            status = hub.down
        if status != HTTPStatus.OK:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif hub.linked and self.path != "/store":
            self.send_response(HTTPStatus.FOUND)
            self.send_header("Location", f"http://localhost:{hub.port}/store")
            self.send_header("X-Linked-Size", str(len(hub.content)))
            self.send_header("X-Linked-Etag", f'"{hashlib.sha256(hub.content).hexdigest()}"')
            self.send_header("X-Repo-Commit", REVISION)
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._file(wanted, body)

    def _file(self, wanted: str | None, body: bool) -> None:
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and self.hub.ranges else 0
        rest = self.hub.content[start:]
        self.send_response(HTTPStatus.PARTIAL_CONTENT if start else HTTPStatus.OK)
        if start:
            whole = len(self.hub.content)
            self.send_header("Content-Range", f"bytes {start}-{whole - 1}/{whole}")
        self.send_header("Content-Length", str(len(rest)))
        self.send_header("ETag", '"a-git-digest"')
        self.send_header("X-Repo-Commit", REVISION)
        self.end_headers()
        if body:
            self.hub.gets.append(wanted)
            cut = self.hub.cuts.pop(0) if self.hub.cuts else None
            self.wfile.write(rest[:cut])
            self.close_connection = cut is not None


@contextmanager
def serving(content: bytes) -> Iterator[Hub]:
    """A hub for as long as the block runs."""
    hub = Hub(content)
    handler = type("Handler", (_Handler,), {"hub": hub})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        hub.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()
