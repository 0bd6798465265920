"""What differs between the two interfaces of Supermemory, and what the adapter makes of either."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol

from providers.remote.errors import Unreadable, one_line
from providers.remote.service import Document
from providers.remote.values import some_name
from providers.remote.wire import Purpose, Request
from providers.supermemory.settings import RetrievalSettings

KEY: Final = "session_id"
"""Our id in a document's metadata. Keys that begin with ``sm_`` are the service's own, and cannot be searched."""
_LONGEST_ID: Final = 100
_DIGEST: Final = 32


@dataclass(frozen=True)
class Item:
    """A document as the service tells of it.

    Attributes:
        names: its ids there, the service's own first.
        session: our id, from its metadata.
        status: of its text: queued, extracting, chunking, embedding, indexing, done, failed or unknown.
        dreaming: of its memories: dreaming or done; None where this reply does not say.
        error: why it failed, if that is told.
    """

    names: tuple[str, ...]
    session: str | None
    status: str
    dreaming: str | None
    error: str | None = None


class Dialect(Protocol):
    """One interface: its paths, its names of fields, its limits.

    Attributes:
        api: as in the settings.
        page: documents that one page of a list holds, at most.
        by_our_id: whether a document is surely found by the id that we gave it.
    """

    api: ClassVar[str]
    page: ClassVar[int]
    by_our_id: ClassVar[bool]

    def record(self, container: str, document: Document) -> dict[str, Any]:
        """A document as it is sent."""
        ...

    def batch(self, container: str, records: Sequence[dict[str, Any]], dreaming: str) -> Request:
        """Take these documents."""
        ...

    def listing(self, container: str, page: int, limit: int, purpose: Purpose) -> Request:
        """A page, from 1, of a container's documents, in the order in which they were made."""
        ...

    def listed(self, body: Mapping[str, Any]) -> Sequence[Item]:
        """The documents of such a page."""
        ...

    def one(self, container: str, name: str) -> Request:
        """One document."""
        ...

    def item(self, record: Mapping[str, Any]) -> Item:
        """A document of a reply."""
        ...

    def emptying(self, container: str) -> Request:
        """Delete all that a container holds."""
        ...

    def emptied(self, body: Mapping[str, Any]) -> None:
        """Raise ``Unreadable`` unless the reply says that it is deleted."""
        ...

    def searching(self, container: str, query: str, limit: int, settings: RetrievalSettings) -> Request:
        """Search a container. All options go in the body."""
        ...

    def origins(self, hit: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """The documents that come with a hit."""
        ...


def own_id(container: str, document: str) -> str:
    """What a document is called there.

    It holds the container's name, for it is not known whether ids are apart between containers, and only letters,
    digits and ``-``. Where the whole would be longer than 100 characters, a digest stands for our id.
    """
    name = f"{container}-{document}"
    if len(name) <= _LONGEST_ID:
        return name
    return f"{container}-{hashlib.sha256(document.encode()).hexdigest()[:_DIGEST]}"


def session_of(told: Mapping[str, Any]) -> str | None:
    """Our id in the metadata of a document or a hit."""
    metadata = told.get("metadata")
    return next(iter(some_name(metadata.get(KEY))), None) if isinstance(metadata, Mapping) else None


def mappings(value: object) -> list[Mapping[str, Any]]:
    """The objects of an array that may be anything."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def why(told: Mapping[str, Any]) -> str | None:
    """What a reply gives as the reason of a failure."""
    reasons = [told[key] for key in ("error", "errorMessage", "details") if isinstance(told.get(key), str)]
    return one_line(": ".join(reasons)) if reasons else None


def word(value: object, what: str) -> str:
    """A status; raises ``Unreadable`` for anything but a string."""
    if not isinstance(value, str):
        raise Unreadable(f"{what} is {one_line(repr(value), 80)}, not a word")
    return value
