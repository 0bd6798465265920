"""Small corpora for the tests of the embedded system, and the real one as documents and queries."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import polars as pl

from converters.tables import CORPUS
from providers.local.settings import IngestSettings, RetrievalSettings
from providers.local.system import create
from providers.protocol import DOCUMENTS, QUERIES, StoreBuild

Session = Sequence[tuple[str, str]]


@dataclass
class Corpus:
    """Documents under construction; equal sessions share their text, as in the corpus tables."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    sessions: dict[str, Session] = field(default_factory=dict)

    def add(self, container: str, session: Session | str, **attributes: Any) -> str:
        """Add a session, or a memory by its text; returns its document id."""
        turns = [("memory", session)] if isinstance(session, str) else session
        content_hash = hashlib.sha256(repr(turns).encode()).hexdigest()
        self.sessions[content_hash] = turns
        name = attributes.pop("document_id", f"{container}:{len(self.rows)}")
        document = {"container": container, "document_id": name, "session_key": name, "content_hash": content_hash}
        position = sum(row["container"] == container for row in self.rows)
        self.rows.append({"position": position, **document, **attributes})
        return str(name)

    @property
    def documents(self) -> pl.DataFrame:
        return DOCUMENTS.validate(pl.DataFrame(self.rows, schema=DOCUMENTS.empty.schema))

    @property
    def turns(self) -> pl.DataFrame:
        rows = [
            (content_hash, index, role, content)
            for content_hash, session in self.sessions.items()
            for index, (role, content) in enumerate(session)
        ]
        return CORPUS["turns"].validate(pl.DataFrame(rows, schema=CORPUS["turns"].empty.schema, orient="row"))

    def build(self, **settings: Any) -> StoreBuild:
        system = create(IngestSettings(**settings), None)
        return system.build(documents=self.documents, turns=self.turns)


def ask(*questions: tuple[str, str], as_of: datetime | None = None) -> pl.DataFrame:
    """Queries of (container, text)."""
    rows = [(number, container, text, as_of) for number, (container, text) in enumerate(questions)]
    return QUERIES.validate(pl.DataFrame(rows, schema=QUERIES.empty.schema, orient="row"))


def find(build: StoreBuild, queries: pl.DataFrame, limit: int = 10, **settings: Any) -> list[list[dict[str, Any]]]:
    """Hits of each query."""
    return replies(build.tables, queries, limit, **settings)["hits"].to_list()


def replies(store: Mapping[str, pl.DataFrame], queries: pl.DataFrame, limit: int = 10, **settings: Any) -> pl.DataFrame:
    system = create(IngestSettings(), RetrievalSettings(**settings))
    return system.search(store=store, queries=queries, limit=limit)


def day(text: str) -> datetime:
    """A UTC date from ISO text."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def documents_of(haystacks: pl.DataFrame) -> pl.DataFrame:
    """Documents of a converted corpus, each haystack a container that holds each session once."""
    frame = haystacks.unique(["haystack_id", "session_key"], keep="first", maintain_order=True).select(
        "position",
        "session_key",
        "content_hash",
        container="haystack_id",
        document_id="session_key",
        date="session_date",
    )
    return DOCUMENTS.validate(pl.concat([DOCUMENTS.empty, frame], how="diagonal"))
