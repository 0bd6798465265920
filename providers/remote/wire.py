"""A request to a service and its reply, apart from how they travel.

An adapter makes requests and reads replies; what carries them is a ``Wire``: HTTP, a library in this process, the
ledger in front of either. A reply is read by a function given with the request, so that whoever keeps replies knows
which of them were usable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Purpose = Literal["probe", "prepare", "ingest", "status", "search", "count", "clear", "answer", "judge", "embed"]
T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    """One call.

    Attributes:
        method: of HTTP.
        path: below the service's address, with its slashes as the contract has them, percent-encoded.
        purpose: what it is for; a ``search``, an ``answer`` and a ``judge`` call is answered by the ledger if it was
            answered before.
        params: query string.
        body: JSON value, or None for no body.
        repeatable: sending it twice does no more than sending it once, so that it may be sent again when nobody knows
            whether it arrived.
        headers: beside those of every request.
        timeout_s: seconds to wait for the answer; None for the wire's own.
    """

    method: Method
    path: str
    purpose: Purpose
    params: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    body: Any = None
    repeatable: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float | None = None


@dataclass(frozen=True)
class Reply:
    """What came back.

    Attributes:
        status: of HTTP.
        body: decoded JSON; None for an empty body.
        latency_ms: of the call that was answered, without waiting for a turn or retries.
        replayed: it comes from the ledger.
        input_tokens: of a model's prompt, as the service counts them; None for what is no model.
        output_tokens: of a model's reply.
        cost_usd: what the call cost, in US dollars, where a price is known.
        text: the JSON that the body was decoded from, where it is at hand.
    """

    status: int
    body: Any
    latency_ms: float
    replayed: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    text: str | None = None


Read = Callable[[Reply], T]
"""Makes of a reply what the adapter wants of it; raises ``Unreadable`` (or another ``CallFailed``) if it cannot."""


class Wire(Protocol):
    """What carries requests."""

    def send(self, request: Request, read: Read[T]) -> T:
        """Send, and give what ``read`` makes of the reply; raises ``CallFailed`` or ``Stop``."""
        ...
