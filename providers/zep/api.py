"""What the adapter asks of a version of Zep's interface, and what both versions have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from urllib.parse import quote

from providers.remote.errors import Absent, Unreadable, one_line
from providers.remote.service import Document, Hit, Message, Scope
from providers.remote.values import content, date_of, mapping, name, number, rows, some_name
from providers.remote.wire import Purpose, Reply, Request, Wire
from providers.zep.settings import RetrievalSettings


@dataclass(frozen=True)
class Held:
    """What a thread holds.

    Attributes:
        document: which of ours, by its first message.
        count: of messages.
        processed: all of them are in the graph.
    """

    document: str | None
    count: int
    processed: bool


@dataclass(frozen=True)
class Episode:
    """A text in the graph.

    Attributes:
        uuid: Zep's name for it.
        documents: ours that it names: one or none.
        date: of the conversation.
        processed: it can be found.
    """

    uuid: str
    documents: tuple[str, ...]
    date: datetime | None
    processed: bool


@dataclass(frozen=True)
class Task:
    """A piece of work at Zep: pending, processing, succeeded, partial or failed, and why."""

    status: str
    error: str | None


class Api(Protocol):
    """A version of the interface. A user is a container; a thread of his is a session."""

    def user(self, container: str, purpose: Purpose) -> Mapping[str, str] | None:
        """The container's handle, or None if there is no such user."""
        ...

    def create_user(self, container: str) -> Mapping[str, str]:
        """Make the user; what is there already is ``Refused``."""
        ...

    def delete_user(self, scope: Scope) -> str | None:
        """Have the user, his threads and his graph removed; the task that does it, if there is one."""
        ...

    def threads(self, scope: Scope, documents: Sequence[Document]) -> Iterator[tuple[str, str | None]]:
        """Where these documents may be, newest first, and the document that belongs there if that is known."""
        ...

    def count_threads(self, scope: Scope) -> int:
        """How many threads the user has."""
        ...

    def open_thread(self, scope: Scope, document: Document) -> str:
        """An empty thread for a document."""
        ...

    def add(self, scope: Scope, thread: str, document: Document, some: Sequence[Message], first: int) -> Sequence[str]:
        """Add messages, the document's from ``first`` on; the tasks that process them."""
        ...

    def held(self, thread: str) -> Held | None:
        """What the thread holds; None if there is no such thread."""
        ...

    def thread_episodes(self, thread: str) -> Sequence[Episode]:
        """What was made of its messages."""
        ...

    def task(self, task: str) -> Task | None:
        """How far it is; None if nothing is known of it."""
        ...

    def search(self, scope: Scope, query: str, limit: int, how: RetrievalSettings) -> Sequence[Hit]:
        """Hits as they came."""
        ...


@dataclass(frozen=True)
class Calls:
    """Requests of both versions."""

    wire: Wire

    def get(self, path: str, purpose: Purpose, params: Mapping[str, str | int] | None = None) -> Any:
        """The body of a reply."""
        return self.wire.send(Request("GET", path, purpose, params=params or {}, repeatable=True), answered)

    def task(self, task: str) -> Task | None:
        """See ``Api``."""
        try:
            return self.wire.send(Request("GET", f"/tasks/{quoted(task)}", "status", repeatable=True), _task)
        except Absent:
            return None


def judge(status: int, _: Mapping[str, str], body: Any) -> Exception | None:
    """404 is said apart; everything else is read as usual."""
    return Absent(f"zep: not found: {_said(body)}") if status == 404 else None


def quoted(value: str) -> str:
    """An id within a path."""
    return quote(value, safe="")


def answered(reply: Reply) -> Any:
    """A body that is no error, which may come with status 200."""
    body = reply.body
    if isinstance(body, Mapping) and body.get("error"):
        raise Unreadable(f"an error in a good answer: {_said(body)}")
    return body


def episode(value: Mapping[str, Any], date_field: str) -> Episode:
    """An episode of a list."""
    processed = value.get("processed") is not False
    return Episode(name(value.get("uuid")), named(value), date_of(value.get(date_field)), processed)


def episode_hit(value: Mapping[str, Any], date_field: str, *, whole: bool) -> Hit:
    """An episode that a search found."""
    found = episode(value, date_field)
    text = content(value.get("content") or "")
    score = number(value.get("score"))
    return Hit(found.uuid, text, found.documents, (found.uuid,), score, found.date, whole=whole and bool(text))


def edge_hit(value: Mapping[str, Any], sources: object, known: Mapping[str, Episode]) -> Hit:
    """A fact that a search found; it has the date of the first of its episodes."""
    uuids = strings(sources)
    found = [known[uuid] for uuid in uuids if uuid in known]
    documents = tuple(dict.fromkeys(one for episode in found for one in episode.documents))
    date = next((one.date for one in found if one.date), None)
    fact = content(value.get("fact") or "")
    return Hit(name(value.get("uuid")), fact, documents, uuids, number(value.get("score")), date)


def named(value: Mapping[str, Any]) -> tuple[str, ...]:
    """Our id in the metadata of a message or an episode."""
    metadata = value.get("metadata")
    return some_name(metadata.get("session_id")) if isinstance(metadata, Mapping) else ()


def strings(value: object) -> tuple[str, ...]:
    """Those elements of an array that are ids, each once."""
    return tuple(dict.fromkeys(one for item in value for one in some_name(item))) if isinstance(value, list) else ()


def held(messages: Sequence[Mapping[str, Any]], count: int) -> Held:
    """What a thread with these messages holds."""
    document = named(messages[0]) if messages else ()
    processed = all(message.get("processed") is not False for message in messages)
    return Held(document[0] if document else None, count, processed)


def optional_rows(value: object, what: str) -> Sequence[Mapping[str, Any]]:
    """An array of objects; servers leave out an empty one."""
    return [] if value is None else rows(value, what)


def _task(reply: Reply) -> Task:
    body = mapping(reply.body)
    status = body.get("status")
    if not isinstance(status, str):
        raise Unreadable(f"a task's status is {one_line(repr(status), 80)}: {_said(body)}")
    return Task(status, _said(body) if body.get("error") else None)


def _said(body: Any) -> str:
    if isinstance(body, Mapping):
        error = body.get("error")
        said = error.get("message") if isinstance(error, Mapping) else error or body.get("message")
        if isinstance(said, str):
            return one_line(said)
    return one_line(repr(body), 80)
