"""The tables of a corpus, looked up question by question and session by session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import polars as pl

from converters.errors import BadInput
from converters.tables import BASE_OVERLAY

_CHUNK: Final = 64
_HAYSTACK: Final = ("haystack_id", "position")


class Groups:
    """The rows of a frame by the value of one column, as slices: no text is copied.

    Args:
        frame: the rows.
        key: the column that they are looked up by.
        order: the column that they are in the order of.
    """

    def __init__(self, frame: pl.DataFrame, key: str, order: str) -> None:
        self._frame = frame.sort(key, order)
        runs = self._frame.select(runs=pl.col(key).rle()).unnest("runs")
        lengths = runs["len"].to_list()
        starts = runs["len"].cum_sum().to_list()
        self._places = {
            name: (end - length, length) for name, length, end in zip(runs["value"], lengths, starts, strict=True)
        }

    def __getitem__(self, value: str) -> pl.DataFrame:
        """The rows of that value; none if it has none."""
        start, length = self._places.get(value, (0, 0))
        return self._frame.slice(start, length)


class Document(NamedTuple):
    """A session as it stands in some haystack."""

    session_key: str
    content_hash: str
    date: datetime | None


class Relevant(NamedTuple):
    """What a question's evidence is.

    Attributes:
        question_id: which question.
        is_abstention: whether it has none because its haystack does not hold the answer.
        session_keys: each session of its haystack that holds the text of an evidence session, in haystack order. A
            text that stands there under two dates is two.
    """

    question_id: str
    is_abstention: bool
    session_keys: Sequence[str]


def documents(tables: Mapping[str, pl.DataFrame]) -> Iterator[Document]:
    """Each session_key of the haystacks once, in the order of the source."""
    frame = tables["haystacks"].select("session_key", "content_hash", "session_date")
    for row in frame.unique("session_key", keep="first", maintain_order=True).iter_rows():
        yield Document(*row)


def questions(tables: Mapping[str, pl.DataFrame]) -> Iterator[dict[str, Any]]:
    """Columns of ``Questions`` and of the base overlay of ``GroundTruth`` a question, in the order of the source.

    Raises:
        BadInput: a question has no ground truth.
    """
    truth = tables["ground_truth"].filter(pl.col("overlay") == BASE_OVERLAY)
    lost = tables["questions"].join(truth, on="question_id", how="anti")["question_id"]
    if len(lost):
        problem = f"no ground truth for {len(lost)} of {tables['questions'].height} questions"
        raise BadInput("ground_truth", problem, "convert the source again", record=ascii(lost[0]))
    rows = tables["questions"].join(truth, on="question_id", how="inner").sort("ordinal")
    # A few at a time: as Python objects the labels of all turns of a large corpus would be gigabytes.
    for part in rows.iter_slices(_CHUNK):
        yield from part.iter_rows(named=True)


def relevant(tables: Mapping[str, pl.DataFrame]) -> Iterator[Relevant]:
    """A question's evidence, in the order of the source; raises ``BadInput`` as ``questions`` does."""
    haystacks = Groups(tables["haystacks"].select("haystack_id", "position", *Document._fields[:2]), *_HAYSTACK)
    for row in questions(tables):
        evidence = [] if row["is_abstention"] else row["evidence_hashes"]
        held = haystacks[row["haystack_id"]].filter(pl.col("content_hash").is_in(evidence))
        keys = held["session_key"].unique(maintain_order=True).to_list()
        yield Relevant(row["question_id"], row["is_abstention"], keys)


def candidates(tables: Mapping[str, pl.DataFrame]) -> Iterator[tuple[str, Sequence[str]]]:
    """Each question's id and the session_keys of its haystack, each once; questions in the order of the source."""
    haystacks = Groups(tables["haystacks"].select("haystack_id", "position", "session_key"), *_HAYSTACK)
    for question_id, haystack_id in (
        tables["questions"].sort("ordinal").select("question_id", "haystack_id").iter_rows()
    ):
        yield question_id, haystacks[haystack_id]["session_key"].unique(maintain_order=True).to_list()
