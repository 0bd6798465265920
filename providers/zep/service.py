"""The adapter of Zep Cloud, over either version of its interface.

A container is a user, whose graph is searched, and a session is a thread of his. A session's turns are sent as
messages, thirty at a time; what became of them is asked for afterwards, and the episodes that the thread then lists are
what hits are mapped by: that needs no assumption about ids.

A lost answer to messages is never met by sending them again: ``find`` counts what the thread holds, and sends what it
lacks. Documents go to a container one after another, so the one in doubt is in one of its newest threads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from providers.remote.errors import Absent, CallFailed, Refused, TimedOut, Unavailable, UnknownOutcome
from providers.remote.service import Description, Document, Hit, Message, Receipt, Scope
from providers.zep.api import Api, Episode
from providers.zep.settings import IngestSettings, RetrievalSettings
from providers.zep.texts import asked, messages_of
from providers.zep.v4 import V4

_MESSAGES: Final = 30
_MOST_HITS: Final = 50
_LONGEST_EPISODE: Final = 10_000
_TRIES: Final = 6
_OTHERS: Final = 20
"""Threads with other documents that are looked at before a document in doubt is taken not to be there."""
_WAITING: Final = 5
"""Documents that are found to be waiting before the rest is taken to wait as well: Zep works in order of arrival."""
_CLEARED_S: Final = 300.0


@dataclass(frozen=True)
class Ticket:
    """What to ask after a document with: its thread or episode, and the tasks that are known."""

    thread: str | None = None
    episode: str | None = None
    tasks: Sequence[str] = ()

    def __str__(self) -> str:
        return json.dumps({"thread": self.thread, "episode": self.episode, "tasks": list(self.tasks)})

    @classmethod
    def of(cls, receipt: Receipt) -> Ticket:
        """That of a pending document."""
        return cls(**json.loads(receipt.ticket or "{}"))


@dataclass(frozen=True)
class Zep:
    """See ``providers.remote.service.RemoteService``."""

    ingesting: IngestSettings
    retrieval: RetrievalSettings
    api: Api

    def describe(self) -> Description:
        """Documents go one at a time, so that what is lost is in doubt of one only. Messages are split here."""
        return Description(
            name="zep",
            api=self.ingesting.api,
            container_length=100,
            max_hits=_MOST_HITS,
            batch=1,
            longest=_LONGEST_EPISODE if self._v4_whole is not None else None,
            measure="characters",
            recovery="look",
            takes_as_of=False,
            indexing=True,
        )

    def probe(self) -> Mapping[str, str]:
        """Ask for a user whom nobody made, which needs a good key."""
        self.api.user("eval-assets-probe", "probe")
        return {"api": self.ingesting.api}

    def prepare(self, container: str) -> Mapping[str, str]:
        """Look before making, and again after a making whose outcome nobody knows."""
        for _ in range(_TRIES):
            there = self.api.user(container, "prepare")
            if there is not None:
                return there
            try:
                return self.api.create_user(container)
            except UnknownOutcome:
                continue
            except Refused:
                there = self.api.user(container, "prepare")
                if there is None:
                    raise
                return there
        raise Unavailable(f"zep: nobody knows whether user {container} was made, after {_TRIES} tries")

    def ingest(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """Send; what was processed is asked for by ``settle``."""
        return [self._ingest(scope, document) for document in documents]

    def settle(self, scope: Scope, pending: Sequence[Receipt]) -> Sequence[Receipt]:
        """Ask in order of sending, until some are found to be waiting."""
        after: list[Receipt] = []
        waiting = 0
        for one in pending:
            now = self._asked(scope, one) if waiting < _WAITING else one
            waiting += now.status == "pending"
            after.append(now)
        return after

    def find(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        """Those that are there; one of which only a part is there is completed."""
        try:
            if self._v4_whole is not None:
                return _found_whole(self._v4_whole, scope, documents)
            return self._found(scope, documents)
        except Absent:
            return []
        except CallFailed as error:
            raise UnknownOutcome(f"zep: what is stored could not be found out: {error}") from None

    def search(self, scope: Scope, query: str, *, limit: int, as_of: datetime | None) -> Sequence[Hit]:
        """Array order is the rank: scores are of several scales. Only 400 characters of a question are asked."""
        return self.api.search(scope, asked(query), min(limit, _MOST_HITS), self.retrieval)

    def count(self, scope: Scope) -> int:
        """The user's threads, or with ``episodes`` his episodes."""
        if self._v4_whole is None:
            return self.api.count_threads(scope)
        try:
            return sum(1 for _ in self._v4_whole.graph_episodes(scope, "count"))
        except Absent:
            return 0

    def clear(self, scope: Scope) -> None:
        """Delete the user, which takes his threads and his graph; wait until he is gone."""
        import stamina

        try:
            task = self.api.delete_user(scope)
        except Absent:
            return
        for attempt in stamina.retry_context(
            on=TimedOut, attempts=None, timeout=_CLEARED_S, wait_initial=0.05, wait_max=10.0, wait_jitter=0.05
        ):
            with attempt:
                state = self.api.task(task) if task else None
                if state is not None and state.status == "failed":
                    raise Refused(f"zep: user {scope.name} was not deleted: {state.error}")
                if state is not None and state.status in ("pending", "processing"):
                    raise TimedOut(f"zep: user {scope.name} is not deleted after {_CLEARED_S:g} s")
                if self.api.user(scope.name, "clear") is not None:
                    raise TimedOut(f"zep: user {scope.name} is still there after {_CLEARED_S:g} s")

    @property
    def _v4_whole(self) -> V4 | None:
        return self.api if isinstance(self.api, V4) and self.api.whole else None

    def _ingest(self, scope: Scope, document: Document) -> Receipt:
        messages = messages_of(document, self.ingesting.longest_message)
        if not messages:
            return Receipt(document.id, "skipped", error="it holds no text")
        if self._v4_whole is not None:
            episode, tasks = self._v4_whole.add_episode(scope, document)
            return Receipt(document.id, "pending", ticket=str(Ticket(episode=episode, tasks=tasks)))
        thread = self.api.open_thread(scope, document)
        return self._send(scope, thread, document, messages, 0)

    def _send(
        self, scope: Scope, thread: str, document: Document, messages: Sequence[Message], already: int
    ) -> Receipt:
        """Send the messages from the number ``already`` on."""
        tasks: list[str] = []
        for first in range(already, len(messages), _MESSAGES):
            try:
                tasks += self.api.add(scope, thread, document, messages[first : first + _MESSAGES], first)
            except (Refused, Unavailable) as error:
                if not first:
                    raise
                if isinstance(error, Refused):
                    return Receipt(document.id, "failed", error=f"stored up to message {first}: {error}")
                # Part of it is stored: it must be completed, not begun anew.
                raise UnknownOutcome(str(error)) from None
        # Tasks of what was there already are not known, and some would be taken for all.
        return Receipt(document.id, "pending", ticket=str(Ticket(thread, tasks=() if already else tasks)))

    def _found(self, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
        wanted = {document.id: document for document in documents}
        found: list[Receipt] = []
        others = 0
        for thread, named in self.api.threads(scope, documents):
            held = self.api.held(thread)
            if held is None or not held.count:
                continue
            document = wanted.pop(named or held.document or "", None)
            if document is None:
                others += 1
            else:
                found.append(
                    self._send(
                        scope, thread, document, messages_of(document, self.ingesting.longest_message), held.count
                    )
                )
            if not wanted or others == _OTHERS:
                break
        return found

    def _asked(self, scope: Scope, one: Receipt) -> Receipt:
        ticket = Ticket.of(one)
        states = [state for task in ticket.tasks if (state := self.api.task(task)) is not None]
        if failed := next((state for state in states if state.status == "failed"), None):
            return Receipt(one.document, "failed", error=f"Zep could not process it: {failed.error}")
        if any(state.status in ("pending", "processing") for state in states):
            return one
        partial = next((state for state in states if state.status == "partial"), None)
        ended = (
            bool(states) and len(states) == len(ticket.tasks) and all(state.status == "succeeded" for state in states)
        )
        episodes = self._episodes(scope, ticket, ended=ended)
        names = tuple(dict.fromkeys(episode.uuid for episode in episodes))
        if partial is not None:
            return Receipt(one.document, "failed", names, error=f"Zep processed only part of it: {partial.error}")
        if not episodes or not all(episode.processed for episode in episodes):
            return one
        return Receipt(one.document, "done", names)

    def _episodes(self, scope: Scope, ticket: Ticket, *, ended: bool) -> Sequence[Episode]:
        """What was made of a document; nothing while it is not known that all of it was processed."""
        if ticket.episode is not None and self._v4_whole is not None:
            return [self._v4_whole.one_episode(scope, ticket.episode)]
        thread = ticket.thread or ""
        if not ended:
            held = self.api.held(thread)
            if held is None or not held.processed:
                return []
        return self.api.thread_episodes(thread)


def _found_whole(api: V4, scope: Scope, documents: Sequence[Document]) -> Sequence[Receipt]:
    wanted = {document.id for document in documents}
    found: list[Receipt] = []
    for episode in api.graph_episodes(scope, "status"):
        for document in wanted.intersection(episode.documents):
            found.append(Receipt(document, "pending", ticket=str(Ticket(episode=episode.uuid))))
            wanted.discard(document)
        if not wanted:
            break
    return found
