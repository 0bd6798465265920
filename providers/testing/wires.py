"""Wires that watch what passes, lose a reply, or give once more what was given before."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from providers.remote.errors import NotRecorded, UnknownOutcome
from providers.remote.wire import Read, Reply, Request, T, Wire
from providers.testing.blind import breaches, told


@dataclass
class Recorder:
    """Passes all on, and keeps requests and replies.

    Attributes:
        inner: what carries the calls.
        texts: names of the fields and parameters that hold conversation text.
        seen: requests, in order.
        replies: the last usable one to each of them.
        broken: what was told that must not leave.
    """

    inner: Wire
    texts: Collection[str]
    seen: list[Request] = field(default_factory=list)
    replies: dict[str, Reply] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def send(self, request: Request, read: Read[T]) -> T:
        """See ``providers.remote.wire.Wire``."""
        told_of = told(request.body, request.params, request.path, self.texts)
        with self._lock:
            self.seen.append(request)
            self.broken += breaches(told_of, ())

        def kept(reply: Reply) -> T:
            value = read(reply)
            with self._lock:
                self.replies[_digest(request)] = reply
            return value

        return self.inner.send(request, kept)

    def purposes(self, since: int = 0) -> set[str]:
        """Of the requests from the number ``since`` on."""
        return {request.purpose for request in self.seen[since:]}


@dataclass
class Losing:
    """Loses the reply to one request that stores something, after it was carried out.

    Where the adapter calls that request repeatable it is sent once more, as the real wire does; else nobody knows.

    Attributes:
        inner: what carries the calls.
        at: which of the requests with the purpose ``ingest``, from 0.
        lost: whether it happened.
    """

    inner: Wire
    at: int
    lost: bool = False

    def send(self, request: Request, read: Read[T]) -> T:
        """See ``providers.remote.wire.Wire``."""
        if request.purpose != "ingest" or self.lost:
            return self.inner.send(request, read)
        self.at -= 1
        if self.at >= 0:
            return self.inner.send(request, read)
        self.lost = True
        self.inner.send(request, read)
        if request.repeatable:
            return self.inner.send(request, read)
        raise UnknownOutcome("the reply was lost, as this check wants it")


@dataclass(frozen=True)
class Replaying:
    """Answers from what a recorder kept, and asks nobody; only a search may be answered so."""

    replies: Mapping[str, Reply]

    def send(self, request: Request, read: Read[T]) -> T:
        """See ``providers.remote.wire.Wire``; raises ``NotRecorded``."""
        kept = self.replies.get(_digest(request)) if request.purpose == "search" else None
        if kept is None:
            raise NotRecorded(f"{request.method} {request.path} ({request.purpose}) was not answered before")
        return read(replace(kept, replayed=True))


def _digest(request: Request) -> str:
    """What determines an answer, as the ledger has it: headers do not."""
    parts: Sequence[object] = [request.method, request.path, dict(request.params), request.body]
    return json.dumps(parts, sort_keys=True)
