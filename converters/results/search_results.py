"""A file of rankings as a system's search results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import polars as pl

from converters.results.known import check_known
from converters.results.retrieval_log import read_retrieval_log
from converters.results.sessions import Named, Sessions
from converters.results.trec_run import read_trec_run
from converters.tables import SEARCH_RESULTS

NO_LINE: Final = "no line in the file"
"""What is said of a question that the file does not have."""

RankingFormat = Literal["trec_run", "retrieval_log"]

_COLUMNS: Final = ("question_id", "rank", "doc_id", "content", "score")


@dataclass(frozen=True)
class Imported:
    """Search results that a file held.

    Attributes:
        frame: ``SearchResults``, one row a question in the order of the source.
        n_absent: questions that the file has no line of; their status is ``empty``, which scores zero.
        n_hits: hits taken.
        n_unmapped: those whose id names no session of their question's haystack.
    """

    frame: pl.DataFrame
    n_absent: int
    n_hits: int
    n_unmapped: int


def import_rankings(
    path: Path, format: RankingFormat, tables: Mapping[str, pl.DataFrame], *, limit: int | None = None
) -> Imported:
    """Read rankings, and map their ids to the sessions of each question's haystack.

    Ids are session_keys, as in our own exports, or the source's ids of sessions or turns, whichever names more (see
    ``Sessions.reading``). An id that occurs several times in a haystack means each occurrence. A hit whose id names
    nothing keeps its rank and its id as ``provider_id``; all others get the session_key there, for the source's ids
    may tell the answer. Content is a log's text, and empty for a run.

    Args:
        path: the file.
        format: how to read it.
        tables: ``questions``, ``haystacks``, ``sessions`` and ``ground_truth`` of the corpus.
        limit: how many hits were asked for, hits after that many are not taken; where it is None, it is the length of
            the longest list.

    Raises:
        BadInput: the file cannot be used (see its reader), or names a question that the corpus does not have.
    """
    rows = _rows(path, format)
    check_known(path, rows["question_id"].unique(maintain_order=True).to_list(), tables["questions"])
    absent = set(tables["questions"]["question_id"]) - set(rows["question_id"])
    rows = rows.drop_nulls("rank").sort("question_id", "rank", maintain_order=True)
    asked = limit or int(rows["rank"].max() or 1)  # type: ignore[arg-type]
    rows = rows.filter(pl.col("rank") <= asked)
    sessions = Sessions.of(tables)
    names = rows.group_by("question_id", maintain_order=True).agg("doc_id")
    reading = sessions.reading(dict(names.iter_rows()))
    hits: dict[str, list[dict[str, Any]]] = {question: [] for question in sessions.haystacks}
    unmapped = 0
    for question, rank, name, content, score in rows.select(_COLUMNS).iter_rows():
        named = reading(sessions.haystacks[question], name)
        unmapped += named is None
        hits[question].append({"rank": rank, "content": content or "", "score": score, **_place(name, named)})
    frame = pl.DataFrame(
        {
            "question_id": list(hits),
            "status": ["ok" if found else "empty" for found in hits.values()],
            "error": [NO_LINE if question in absent else None for question in hits],
            "retryable": False,
            "limit": asked,
            "latency_ms": None,
            "hits": list(hits.values()),
        },
        schema=SEARCH_RESULTS.empty.schema,
    )
    return Imported(SEARCH_RESULTS.validate(frame), len(absent), rows.height, unmapped)


def _rows(path: Path, format: RankingFormat) -> pl.DataFrame:
    """``_COLUMNS``; a question without hits has one row, its rank null."""
    if format == "trec_run":
        return read_trec_run(path).with_columns(content=pl.lit("")).select(_COLUMNS)
    log = read_retrieval_log(path).rename({"corpus_id": "doc_id", "text": "content"})
    return log.with_columns(score=pl.lit(None, pl.Float64)).select(_COLUMNS)


def _place(name: str, named: Named | None) -> dict[str, Any]:
    if named is None:
        return {"provider_id": name, "session_keys": [], "turns": None, "date": None}
    first = named.places[0]
    return {
        "provider_id": first.session_key if named.turn is None else f"{first.session_key}_{named.turn + 1}",
        "session_keys": list(dict.fromkeys(place.session_key for place in named.places)),
        "turns": None if named.turn is None else [named.turn],
        "date": first.date,
    }
