"""BEIR: a folder of documents, queries and relevance judgments.

Source of the format: the BEIR repository, ``beir/datasets/data_loader.py`` (``GenericDataLoader``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Final

import polars as pl

from converters.fixture.conversations import iso
from converters.formats.files import Progress, counted, json_line, whole_tree, write_lines
from converters.formats.ids import encode_id
from converters.formats.rows import Groups, Relevant, candidates, documents, relevant

_NAMES: Final = frozenset({"corpus.jsonl", "queries.jsonl", "qrels", "candidates"})


def write(
    tables: Mapping[str, pl.DataFrame], out: Path, *, force: bool = False, progress: Progress | None = None
) -> list[str]:
    """Write a corpus as a BEIR folder; lines that say what was written.

    - ``corpus.jsonl``: ``_id`` (session_key), ``title`` (its date as ISO with Z, or empty), ``text`` (``role: content``
      of each turn, blank lines between; a fixture's memory as it is), ``metadata`` (``date``, ``turns``).
    - ``queries.jsonl``: ``_id`` (question_id, percent-encoded), ``text``, ``metadata`` (``date``, ``as_of``).
    - ``qrels/test.tsv``: query-id, corpus-id, score; see ``converters.formats.rows.Relevant``. None for abstentions.
    - ``candidates/test.tsv``: query-id, corpus-id: the haystack that a query may be answered from. BEIR itself knows
      one corpus for all queries; a search over all of it is another, harder task.

    Raises:
        BadInput: something is at ``out``, or the place cannot be written to. Nothing is written then.
    """
    counts: Counter[str] = Counter()
    with whole_tree(out, _NAMES, force=force) as folder:
        n_documents = write_lines(folder / "corpus.jsonl", _corpus(tables, progress))
        n_queries = write_lines(folder / "queries.jsonl", _queries(tables))
        write_lines(folder / "qrels" / "test.tsv", _judgments(relevant(tables), counts))
        n_pairs = write_lines(folder / "candidates" / "test.tsv", _pairs(tables)) - 1
    return [
        f"wrote {out}: {counted(n_documents, 'document')}, {counted(n_queries, 'query', 'queries')}, "
        f"{counted(counts['judgments'], 'judgment')}",
        *without_judgments(counts),
        f"  candidates/test.tsv: the haystack of each query, {counted(n_pairs, 'pair')}",
    ]


def without_judgments(counts: Mapping[str, int]) -> list[str]:
    """A line about queries that a file of judgments says nothing about: counts of ``abstention`` and ``lost``."""
    parts = {"abstention": "abstention", "lost": "without an evidence session in the haystack"}
    told = [f"{counts[name]:,} {words}" for name, words in parts.items() if counts[name]]
    return [f"  queries without judgments: {', '.join(told)}"] if told else []


def tally(found: Relevant, counts: Counter[str]) -> None:
    """Count a question's judgments, or why it has none: judgments, abstention, lost."""
    counts["judgments"] += len(found.session_keys)
    if not found.session_keys:
        counts["abstention" if found.is_abstention else "lost"] += 1


def _corpus(tables: Mapping[str, pl.DataFrame], progress: Progress | None) -> Iterator[str]:
    turns = Groups(tables["turns"], "content_hash", "turn_index")
    total = tables["haystacks"]["session_key"].n_unique()
    number = count(1)
    for document in documents(tables):
        said = list(turns[document.content_hash].select("role", "content").iter_rows())
        date = _date(document.date)
        yield json_line(
            {
                "_id": document.session_key,
                "title": date or "",
                "text": "\n\n".join(text if role == "memory" else f"{role}: {text}" for role, text in said),
                "metadata": {"date": date, "turns": len(said)},
            }
        )
        if progress is not None:
            progress(next(number), total)


def _queries(tables: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    columns = ("question_id", "question", "question_date", "as_of")
    for question_id, text, date, as_of in tables["questions"].sort("ordinal").select(columns).iter_rows():
        metadata = {"date": _date(date), "as_of": _date(as_of)}
        yield json_line({"_id": encode_id(question_id), "text": text, "metadata": metadata})


def _judgments(found: Iterable[Relevant], counts: Counter[str]) -> Iterator[str]:
    yield "query-id\tcorpus-id\tscore"
    for one in found:
        tally(one, counts)
        yield from (f"{encode_id(one.question_id)}\t{key}\t1" for key in one.session_keys)


def _pairs(tables: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    yield "query-id\tcorpus-id"
    for question_id, keys in candidates(tables):
        yield from (f"{encode_id(question_id)}\t{key}" for key in keys)


def _date(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)
