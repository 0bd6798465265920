"""What both versions of Zep keep: users, threads, messages, and a graph that is made of them some time later."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid5

from fakes.server import Fake, Seen

_WORD = re.compile(r"\w+")
_SPACE = UUID(int=4)
ROLES = frozenset({"system", "assistant", "user", "function", "tool"})
RERANKERS = frozenset({"rrf", "mmr", "node_distance", "episode_mentions", "cross_encoder"})


class Wrong(Exception):  # noqa: N818
    """A request that is refused."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


@dataclass
class User:
    """His graph has a name of its own; ``leaving`` counts the requests until he is gone."""

    uuid: str
    user_id: str
    graph: str
    leaving: int | None = None


@dataclass
class Thread:
    """Which user's."""

    uuid: str
    user: str
    created_at: str
    messages: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Work:
    """What must be asked after ``left`` times until its episodes are in the graph."""

    uuid: str
    left: int
    ends: str
    episodes: list[dict[str, Any]]


class ZepGraph(Fake):
    """The store. A text that holds ``unreadable`` fails to be processed, one that holds ``half`` is processed in part.

    Attributes:
        index_after: times that work must be asked after.
        stored_twice: how often a document's message was stored again.
    """

    texts = frozenset({"content", "query", "data", "name", "fact"})

    def __init__(self, *, index_after: int = 2, lag: int = 2, **more: Any) -> None:
        super().__init__(**more)
        self.users: dict[str, User] = {}
        self.threads: dict[str, Thread] = {}
        self.episodes: dict[str, dict[str, Any]] = {}
        self.work: dict[str, Work] = {}
        self.index_after = index_after
        self.lag = lag
        self.stored_twice = 0
        self._made = 0

    def new(self) -> str:
        """A UUID."""
        self._made += 1
        return str(uuid5(_SPACE, str(self._made)))

    def moment(self) -> str:
        """The server's own clock, which has nothing to do with conversations."""
        return f"2026-11-30T10:{self._made // 60 % 60:02}:{self._made % 60:02}.{self._made:06}Z"

    def add_user(self, user_id: str, uuid: str | None = None) -> User:
        if any(one.user_id == user_id for one in self.users.values()):
            raise Wrong(409, "conflict", "user already exists")
        user = User(uuid or self.new(), user_id, self.new())
        self.users[user.uuid] = user
        return user

    def there(self, user: User | None) -> User:
        """One who is leaving can be seen for some more requests."""
        if user is not None and user.leaving is not None:
            user.leaving -= 1
            if user.leaving < 0:
                self._remove(user)
                user = None
        if user is None:
            raise Wrong(404, "not_found", "user not found")
        return user

    def add_thread(self, user: User, uuid: str) -> Thread:
        self.threads[uuid] = Thread(uuid, user.uuid, self.moment())
        return self.threads[uuid]

    def add_messages(self, thread: Thread, messages: Sequence[Mapping[str, Any]], date_field: str) -> Work:
        self._count_twice(thread, messages)
        added = []
        for message in messages:
            uuid = self.new()
            given = {**message, "uuid": uuid, "processed": False}
            thread.messages.append(given)
            # An episode has a name of its own, for nothing says that it has the message's.
            added.append(self._episode(thread.user, given, date_field, message["content"], thread.uuid))
        return self.begin(added, [str(one["content"]) for one in messages])

    def add_text(self, user: User, body: Mapping[str, Any], date_field: str) -> tuple[dict[str, Any], Work]:
        known = [one for one in self.episodes.values() if one["user"] == user.uuid]
        self.stored_twice += any(one.get("metadata") == body.get("metadata") for one in known)
        episode = self._episode(user.uuid, {**body, "message": None}, date_field, body["data"], None)
        return episode, self.begin([episode], [body["data"]])

    def begin(self, episodes: list[dict[str, Any]], texts: Sequence[str]) -> Work:
        whole = " ".join(texts)
        ends = "failed" if "unreadable" in whole else "partial" if "half" in whole else "succeeded"
        work = Work(self.new(), self.index_after, ends, episodes)
        self.work[work.uuid] = work
        return work

    def look(self, work: Work) -> str:
        """How far it is, this time."""
        work.left -= 1
        if work.left > 0:
            return "processing" if work.left == 1 else "pending"
        done = {"succeeded": work.episodes, "partial": work.episodes[:1], "failed": []}[work.ends]
        for episode in done:
            episode["processed"] = True
            if episode["message"] is not None:
                episode["message"]["processed"] = True
        return work.ends

    def look_at_thread(self, thread: Thread) -> None:
        """Asking after a thread is asking after its work."""
        for work in self.work.values():
            if any(one["thread"] == thread.uuid for one in work.episodes) and work.left > 0:
                self.look(work)

    def of_thread(self, thread: Thread) -> list[dict[str, Any]]:
        """Episodes cannot be seen before they are processed."""
        return [one for one in self.episodes.values() if one["thread"] == thread.uuid and one["processed"]]

    def found(self, user: User, query: str, scope: str) -> Iterator[tuple[float, dict[str, Any]]]:
        """All that the graph holds, by shared words; a fact that was said twice comes from two episodes."""
        asked = set(_WORD.findall(query.lower()))
        ready = [one for one in self.episodes.values() if one["user"] == user.uuid and one["processed"]]
        if scope == "edges":
            facts: dict[str, list[str]] = {}
            for one in ready:
                facts.setdefault(one["content"], []).append(one["uuid"])
            ready = [{"uuid": sources[0][::-1], "content": fact, "of": sources} for fact, sources in facts.items()]
        scored = [(self._score(asked, one["content"]), one) for one in ready]
        yield from sorted(scored, key=lambda pair: (-pair[0], pair[1]["uuid"]))

    def _score(self, asked: set[str], content: str) -> float:
        return 0.3 + 0.7 * len(asked & set(_WORD.findall(content.lower()))) / max(len(asked), 1)

    def _episode(
        self, user: str, given: dict[str, Any], date_field: str, content: str, thread: str | None
    ) -> dict[str, Any]:
        uuid = self.new()
        self.episodes[uuid] = {
            "uuid": uuid,
            "user": user,
            "thread": thread,
            "content": content,
            "metadata": given.get("metadata"),
            "date": given.get(date_field) or self.moment(),
            "processed": False,
            "message": given if thread else None,
        }
        return self.episodes[uuid]

    def _count_twice(self, thread: Thread, messages: Sequence[Mapping[str, Any]]) -> None:
        """A document is in one thread, and what its user says is there once."""
        documents = [message.get("metadata") for message in messages]
        for other in self.threads.values():
            if other.user == thread.user and other is not thread:
                self.stored_twice += any(one.get("metadata") in documents for one in other.messages)
        held = [one["content"] for one in thread.messages if one["role"] == "user"]
        self.stored_twice += any(one["content"] in held for one in messages if one["role"] == "user")

    def _remove(self, user: User) -> None:
        self.users.pop(user.uuid, None)
        self.threads = {uuid: one for uuid, one in self.threads.items() if one.user != user.uuid}
        self.episodes = {uuid: one for uuid, one in self.episodes.items() if one["user"] != user.uuid}


def checked_messages(seen: Seen, date_field: str, allowed: frozenset[str]) -> list[dict[str, Any]]:
    """The messages of a request, within all limits."""
    body = seen.body if isinstance(seen.body, dict) else {}
    messages = body.get("messages")
    only(body, {"messages", "ignore_roles", "return_context", "strict_ontology"})
    if not isinstance(messages, list) or not 1 <= len(messages) <= 30:
        raise Wrong(400, "invalid_argument", "1 to 30 messages at a time")
    for message in messages:
        only(message, {"role", "content", "metadata", "name", date_field})
        content = message.get("content")
        if not isinstance(content, str) or not content.strip() or len(content) > 4096:
            raise Wrong(400, "invalid_argument", "content must be of 1 to 4096 characters")
        if message.get("role") not in allowed:
            raise Wrong(400, "invalid_argument", "unknown role")
        checked_extras(message, date_field)
    return messages


def checked_extras(value: Mapping[str, Any], date_field: str) -> None:
    """Metadata and the date of a message or an episode."""
    metadata = value.get("metadata") or {}
    if len(metadata) > 10 or any(isinstance(one, dict) for one in metadata.values()):
        raise Wrong(400, "invalid_argument", "metadata: at most 10 scalars")
    date = value.get(date_field)
    if date is not None and not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", date):
        raise Wrong(400, "invalid_argument", f"{date_field} must be RFC 3339 with a zone")


def checked_search(body: Any, allowed: set[str]) -> Mapping[str, Any]:
    """A search within its limits."""
    only(body or {}, allowed)
    query = (body or {}).get("query")
    if not isinstance(query, str) or not 1 <= len(query) <= 400:
        raise Wrong(400, "invalid_argument", "query must be of 1 to 400 characters")
    if body.get("reranker", "rrf") not in RERANKERS:
        raise Wrong(400, "invalid_argument", "unknown reranker")
    if body.get("reranker") == "mmr" and "mmr_lambda" not in body:
        raise Wrong(400, "invalid_argument", "mmr needs mmr_lambda")
    return body


def only(value: Mapping[str, Any], allowed: set[str]) -> None:
    """No field of another version."""
    strange = set(value) - allowed
    if strange:
        raise Wrong(400, "invalid_argument", f"unknown field {sorted(strange)[0]}")


def bounded(value: object, least: int, most: int) -> int:
    """A number in its limits."""
    number = int(str(value)) if str(value).isdigit() else -1
    if not least <= number <= most:
        raise Wrong(400, "invalid_argument", f"must be {least} to {most}")
    return number
