"""What a fixture holds, record by record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from converters.fixture.chunks import CONTENT_LIMIT
from converters.fixture.contents import Contents
from converters.fixture.model import Memory, Query
from converters.fixture.records import read_records
from converters.fixture.sidecar import sidecar_path
from converters.fixture.text import utf16_length
from converters.identity import content_hash
from converters.inspect.report import Inspection, Section
from converters.inspect.tally import Spread, Tally
from converters.inspect.text_quirks import TEXT_QUIRKS, text_quirks
from converters.source import open_source

_OPTIONAL: Final = tuple(name for name in Memory.model_fields if name not in ("id", "content"))


@dataclass(frozen=True)
class _Kind:
    name: str
    unit: str
    description: str


_LONG: Final = _Kind("long_memory", "memories", f"over {CONTENT_LIMIT:,} UTF-16 units: import APIs refuse it")
_SAME: Final = _Kind("same_text", "memories", "the text of an earlier memory of the same client")
_UNDATED: Final = _Kind("undated_memory", "memories", "no created_at, though others have one")
_UNANSWERED: Final = _Kind("no_expected_ids", "queries", "expects nothing: counts as an abstention")
_TWICE: Final = _Kind("same_question", "queries", "the text of an earlier query of the same client")
_REPEATED: Final = _Kind("repeated_expected_id", "queries", "names one memory twice: it counts once")
_QUIRKS: Final = (
    _LONG,
    _SAME,
    _UNDATED,
    _UNANSWERED,
    _TWICE,
    _REPEATED,
    *(_Kind(quirk.name, "memories", quirk.description) for quirk in TEXT_QUIRKS if quirk.name != "long_turn"),
)


def inspect_fixture(path: Path, progress: Callable[[int], None] | None = None) -> Inspection:
    """Inspect a fixture, plain or gzipped.

    Facts: memories (total, clients, distinct texts, first and last created_at), their optional fields (how many
    memories use each) and lengths (characters of a content), queries (total, without expected ids, expected ids of
    each, with a k of their own, with a client), and whether there is a sidecar.

    Raises:
        BadInput: see ``converters.fixture.records.read_records`` and ``converters.fixture.contents.Contents``.
    """
    counted = _Counted(path)
    with open_source(path, progress) as reader:
        for record in read_records(reader):
            if isinstance(record, Memory):
                counted.add_memory(record)
            else:
                counted.add_query(record)
        source = reader.fingerprint()
    counted.contents.check()
    return Inspection(path.name, "fixture", None, source, counted.facts(path), counted.tally.quirks(_QUIRKS))


class _Counted:
    def __init__(self, path: Path) -> None:
        self.contents = Contents(path)
        self.tally = Tally()
        self._fields: Counter[str] = Counter()
        self._lengths, self._expected = Spread(), Spread()
        self._texts: set[tuple[str | None, str]] = set()
        self._asked: set[tuple[str | None, str]] = set()
        self._clients: set[str] = set()
        self._dates: list[datetime] = []
        self._undated: list[str] = []
        self._n_memories = 0
        self._n_queries: Counter[str] = Counter()

    def add_memory(self, memory: Memory) -> None:
        digest = content_hash([("memory", memory.content)])
        self.contents.add_memory(memory, digest)
        self._n_memories += 1
        self._fields.update(name for name in _OPTIONAL if getattr(memory, name) is not None)
        self._lengths.add(len(memory.content))
        if memory.client_id is not None:
            self._clients.add(memory.client_id)
        if memory.created_at is None:
            self._undated.append(memory.id)
        else:
            first, last = (self._dates[0], self._dates[-1]) if self._dates else (memory.created_at, memory.created_at)
            self._dates = [min(first, memory.created_at), max(last, memory.created_at)]
        self.tally.add(_LONG.name, utf16_length(memory.content) > CONTENT_LIMIT, memory.id)
        self.tally.add(_SAME.name, (memory.client_id, digest) in self._texts, memory.id)
        self._texts.add((memory.client_id, digest))
        for name in text_quirks(memory.content):
            self.tally.add(name, 1, memory.id)

    def add_query(self, query: Query) -> None:
        self.contents.add_query(query)
        self._n_queries.update(
            total=1,
            without_expected_ids=not query.expected_ids,
            with_own_k=query.k is not None,
            with_client=query.client_id is not None,
        )
        where = f"query {self._n_queries['total']}"
        self._expected.add(len(set(query.expected_ids)))
        self.tally.add(_UNANSWERED.name, not query.expected_ids, where)
        self.tally.add(_REPEATED.name, len(set(query.expected_ids)) < len(query.expected_ids), where)
        self.tally.add(_TWICE.name, (query.client_id, query.q) in self._asked, where)
        self._asked.add((query.client_id, query.q))

    def facts(self, path: Path) -> Mapping[str, Section]:
        if self._dates:
            for memory_id in self._undated:
                self.tally.add(_UNDATED.name, 1, memory_id)
        names = ("total", "without_expected_ids", "with_own_k", "with_client")
        return {
            "memories": {
                "total": self._n_memories,
                "clients": len(self._clients),
                "distinct_texts": len({digest for _, digest in self._texts}),
                "first_created_at": self._dates[0].isoformat() if self._dates else None,
                "last_created_at": self._dates[-1].isoformat() if self._dates else None,
            },
            "fields": {name: self._fields[name] for name in _OPTIONAL},
            "characters": {"total": self._lengths.total, **self._lengths.told("per_memory")},
            "queries": {**{name: self._n_queries[name] for name in names}, **self._expected.told("expected_ids")},
            "sidecar": {"present": sidecar_path(path).exists()},
        }
