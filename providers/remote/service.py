"""What an adapter of a remote service is: how to hold, find and remove documents of a container there.

An adapter sends text, dates and a container, nothing else; it keeps no state between calls. What it must know again
later (ids that the service gave to a container) is the container's ``handle``, which the caller keeps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

Measure = Literal["characters", "utf16", "bytes"]
Recovery = Literal["resend", "look", "clear"]


@dataclass(frozen=True)
class Description:
    """What is known of a service without asking it.

    Attributes:
        name: of the provider.
        api: version of the interface that is spoken.
        container_length: characters of a container's name, at most.
        max_hits: hits that one search can give.
        batch: documents that are sent at a time.
        longest: length of a document, at most; longer ones are split between turns. None where there is no limit.
        measure: how that length is counted.
        recovery: what to do about documents whose request got no answer. ``resend``: send again, the service knows
            them by their id; ``look``: ask for them with ``find``; ``clear``: empty the container and begin anew.
        takes_as_of: whether a search is told the reference date.
        indexing: whether documents can be found only some time after they were taken.
    """

    name: str
    api: str
    container_length: int
    max_hits: int
    batch: int
    longest: int | None
    measure: Measure
    recovery: Recovery
    takes_as_of: bool
    indexing: bool


@dataclass(frozen=True)
class Scope:
    """A container at the service.

    Attributes:
        name: ours: letters and digits.
        handle: what the service calls it, as ``prepare`` gave it.
    """

    name: str
    handle: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Message:
    """One turn."""

    role: str
    content: str


@dataclass(frozen=True)
class Document:
    """What is sent: a session, a piece of one, or a memory.

    Attributes:
        id: ours, unique in its container: letters, digits and ``-``.
        messages: its turns.
        date: when it took place.
        caller_id: the id that the owner of a fixture gave a memory; None for a session.
        attributes: what the owner gave it beside that.
    """

    id: str
    messages: Sequence[Message]
    date: datetime | None = None
    caller_id: str | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All turns, each with its speaker; a memory of a fixture as it is."""
        if self.caller_id is not None:
            return "\n".join(message.content for message in self.messages)
        return "\n".join(f"{message.role}: {message.content}" for message in self.messages)


@dataclass(frozen=True)
class Receipt:
    """What became of a document.

    Attributes:
        document: its id.
        status: done (can be found), pending (taken, not yet), skipped (the service holds its like already, or made
            nothing of it), failed (it will not be found).
        provider_ids: what the service calls it, or what it made of it.
        ticket: what to ask after it with, while pending.
        error: why it failed, or was skipped.
    """

    document: str
    status: Literal["done", "pending", "skipped", "failed"]
    provider_ids: tuple[str, ...] = ()
    ticket: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Hit:
    """A memory that a search returned.

    Attributes:
        provider_id: its id there.
        content: its text.
        documents: ids of ours that the hit names.
        sources: ids of the service's that it comes from, looked up among the receipts' where it names none of ours.
        score: as it came; orders nothing.
        date: of the conversation, not of its upload.
        whole: its content is all of the document that it names, so that it covers the document's turns.
    """

    provider_id: str
    content: str
    documents: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    score: float | None = None
    date: datetime | None = None
    whole: bool = False


class RemoteService(Protocol):
    """An adapter, with its settings and a wire. All methods raise ``CallFailed`` or ``Stop``.

    ``ingest`` is given documents of one container oldest first, at most ``Description.batch`` at a time.
    """

    def describe(self) -> Description:
        """What is known without asking."""
        ...

    def probe(self) -> Mapping[str, str]:
        """Ask whether it is there and the key is good; what it says of itself."""
        ...

    def prepare(self, container: str) -> Mapping[str, str]:
        """Make the container if it must be made, and give its handle; doing it twice does no harm."""
        ...

    def ingest(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """Send; a receipt for every document, in any order."""
        ...

    def settle(self, scope: Scope, pending: Sequence[Receipt]) -> Sequence[Receipt]:
        """Ask once what became of pending documents: a receipt for each, perhaps still pending."""
        ...

    def find(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """Receipts of those of these documents that the service holds (recovery ``look``)."""
        ...

    def search(self, scope: Scope, query: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        """At most ``limit`` hits, in rank order; ``Degraded`` where a sound service would give others."""
        ...

    def count(self, scope: Scope) -> int:
        """How many things the container holds, in the service's own counting; 0 if there is no such container."""
        ...

    def clear(self, scope: Scope) -> None:
        """Remove all that the container holds; return when it is gone."""
        ...
