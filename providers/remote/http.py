"""Requests over HTTP, with manners: turns, pauses that the service asks for, retries where they are safe, deadlines."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.request import getproxies, proxy_bypass

import httpx

from providers.remote.errors import (
    BadKey,
    OutOfQuota,
    Refused,
    Unavailable,
    UnknownOutcome,
    Unreachable,
    Unreadable,
    one_line,
)
from providers.remote.pace import Pace
from providers.remote.retry import Again, Manners, persistently
from providers.remote.wire import Read, Reply, Request, T

LARGEST_REPLY: Final = 64 * 2**20
_HIDDEN: Final = "[key]"
_UNANSWERED: Final = (
    httpx.ReadTimeout,
    httpx.ReadError,
    httpx.WriteError,
    httpx.WriteTimeout,
    httpx.RemoteProtocolError,
)
_UNSENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)

Judge = Callable[[int, Mapping[str, str], Any], Exception | None]
"""What a service's contract says of an answer that is not 2xx; None leaves it to the usual reading."""


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    text: str


@dataclass
class HttpWire:
    """See ``providers.remote.wire.Wire``. Safe to use from several threads; close it when done.

    Attributes:
        name: of the service, for messages.
        base_url: its address; paths of requests are appended to it.
        headers: of every request, the key among them.
        secrets: what must not be in any message or reply; where a service echoes one, it is replaced.
        manners: see there.
        judge: see ``Judge``.
    """

    name: str
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: Sequence[str] = field(default=(), repr=False)
    manners: Manners = field(default_factory=Manners)
    judge: Judge = field(default=lambda _, __, ___: None, repr=False)

    def __post_init__(self) -> None:
        self._pace = Pace(self.manners.requests_per_minute, self.manners.concurrency)
        limits = httpx.Limits(max_connections=self.manners.concurrency + 1)
        self._transport = httpx.HTTPTransport(limits=limits, proxy=_proxy(self.base_url))
        # Makes requests and sends none: cookies, redirects and logins, which no contract here has, cost it as long as
        # the exchange itself, and that while a place is taken.
        self._client = httpx.Client(headers=dict(self.headers), transport=self._transport)

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def send(self, request: Request, read: Read[T]) -> T:
        """See ``providers.remote.wire.Wire``.

        No connection, 408, 425 and 429 are tried again in any case: nothing was done. A lost or unreadable answer and
        5xx are tried again where the request is repeatable, and are an unknown outcome where it is not.
        """
        return persistently(self.manners, lambda: self.once(request, read))

    def once(self, request: Request, read: Read[T]) -> T:
        """One try of ``send``, for what concerns each of them; raises ``Again`` where another may follow."""
        built = self._built(request)
        try:
            with self._pace.turn():
                began = time.perf_counter()
                answer = _exchange(self._transport, built)
                latency = (time.perf_counter() - began) * 1000
        except _UNSENT as error:
            url = httpx.URL(self.base_url)
            where = f"{url.scheme}://{url.netloc.decode()}"
            raise Again(
                Unreachable(f"{self.name}: no connection to {where} ({_reason(error)}); is the API running there?")
            ) from None
        except _UNANSWERED as error:
            raise self._lost(request, f"no answer ({_reason(error)})") from None
        except httpx.HTTPError as error:
            raise Unreadable(self._clean(f"{self.name}: {_reason(error)}")) from None
        text = self._clean(answer.text)
        if answer.status // 100 == 2:
            return self._read(request, read, answer.status, text, latency)
        raise self._failure(request, answer.status, answer.headers, text)

    def _built(self, request: Request) -> httpx.Request:
        # Told apart from its address, a query costs the client another reading of both.
        query = f"?{httpx.QueryParams(dict(request.params))}" if request.params else ""
        return self._client.build_request(
            request.method,
            self.base_url.rstrip("/") + request.path + query,
            json=request.body,
            headers=dict(request.headers),
            timeout=request.timeout_s or self.manners.timeout_s,
        )

    def _read(self, request: Request, read: Read[T], status: int, text: str, latency: float) -> T:
        try:
            body = json.loads(text) if text.strip() else None
        except (ValueError, RecursionError):
            raise self._lost(request, f"status {status}, not JSON: {text!r}") from None
        try:
            return read(Reply(status, body, latency, text=text if text.strip() else None))
        except Unreadable as error:
            raise self._lost(request, str(error)) from None
        except Unavailable as error:
            raise (Again(error) if request.repeatable else error) from None

    def _lost(self, request: Request, what: str) -> Exception:
        """Something was sent, and nothing that can be used came back."""
        said = f"{self.name}: {request.method} {request.path}: {what}"
        if request.repeatable:
            return Again(Unreadable(said))
        return UnknownOutcome(said)

    def _failure(self, request: Request, status: int, headers: Mapping[str, str], text: str) -> Exception:
        with suppress(ValueError, RecursionError):
            body: Any = None
            body = json.loads(text)
        told = self.judge(status, headers, body)
        if told is not None:
            return told
        said = self._clean(
            one_line(f"{self.name}: {request.method} {request.path}: status {status}: {_message(body, text)}")
        )
        if status in (408, 425, 429):
            seconds = retry_after(headers)
            if seconds is not None:
                self._pace.hold(min(seconds, self.manners.deadline_s))
            return Again(Unavailable(said), seconds)
        if status >= 500:
            return Again(Unavailable(said), retry_after(headers)) if request.repeatable else UnknownOutcome(said)
        if status in (401, 403):
            return BadKey(said)
        if status == 402:
            return OutOfQuota(said)
        return Refused(said)

    def _clean(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, _HIDDEN)
        return text


def _proxy(url: str) -> str | None:
    """What the environment says (HTTPS_PROXY, ALL_PROXY, NO_PROXY and so on) of the way to an address."""
    address = httpx.URL(url)
    proxies = getproxies()
    proxy = proxies.get(address.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(address.netloc.decode()):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _exchange(transport: httpx.BaseTransport, request: httpx.Request) -> _Answer:
    response = transport.handle_request(request)
    try:
        kept = bytearray()
        for piece in response.iter_bytes():
            kept += piece
            if len(kept) > LARGEST_REPLY:
                raise httpx.DecodingError(f"an answer of more than {LARGEST_REPLY} bytes", request=request)
    finally:
        response.close()
    return _Answer(response.status_code, response.headers, kept.decode("utf-8", "replace"))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a Retry-After header asks for, given as a number or a date (RFC 9110, 10.2.3); None without one."""
    value = headers.get("retry-after")
    if value is None:
        return None
    with suppress(ValueError):
        seconds = float(value)
        return seconds if 0 <= seconds < 86_400 else None
    with suppress(ValueError, TypeError):
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    return None


def _message(body: Any, text: str) -> str:
    """What services call their explanation, or the beginning of what came."""
    if isinstance(body, Mapping):
        for name in ("message", "detail", "error"):
            value = body.get(name)
            if isinstance(value, Mapping):
                value = value.get("message")
            if isinstance(value, str):
                return value
    return text


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
