"""Small corpora with awkward ids and texts, for tests of the formats that they are written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
from hypothesis import strategies as st

from converters.convert import convert_corpus
from converters.corpus import CorpusWriter, read_corpus
from converters.tables import SEARCH_RESULTS

WHEN = datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
ODD_IDS = (
    "../../x",
    "a/b",
    "two words\tand\nlines",
    "nul\0inside",
    "%41",
    '"quoted"',
    "'",
    "#",
    "\u2028\u00a0\x1c\x85",
    "\U0001f600é",
    "long" * 1_250,
)
TEXTS = ("Oslo", "\u2028 and \x0b", '"a\tb"\n\nuser: c', "\U0001f600\x1c\x85", "  ")


@dataclass(frozen=True)
class Ask:
    """A question. Its haystack: a text's number and days after ``WHEN``; its evidence: numbers of texts."""

    question_id: str
    haystack: Sequence[tuple[int, int]] = ((0, 0), (1, 1))
    evidence: Sequence[int] = (0,)
    abstention: bool = False
    labels: Sequence[tuple[int, int, bool]] = field(default=())


def corpus(folder: Path, *asks: Ask) -> Mapping[str, pl.DataFrame]:
    """The tables of these questions; every session is a turn of the user's and a reply."""
    with CorpusWriter(folder) as writer:
        for number, ask in enumerate(asks):
            said = [[("user", f"{text} {TEXTS[text % len(TEXTS)]}"), ("assistant", "Yes.")] for text, _ in ask.haystack]
            hashes = [writer.add_session(turns) for turns in said]
            texts = [text for text, _ in ask.haystack]
            writer.add_haystack(
                f"h{number}",
                [(digest, WHEN + timedelta(days=day)) for digest, (_, day) in zip(hashes, ask.haystack, strict=True)],
            )
            writer.add_question(
                ask.question_id, haystack_id=f"h{number}", question=f"\u2028{number}?", question_date=WHEN, as_of=WHEN
            )
            ids = [f"source {number}/{position}" for position in range(len(texts))]
            writer.add_ground_truth(
                ask.question_id,
                question_type="multi-session",
                is_abstention=ask.abstention,
                answer="4",
                answer_type="int",
                source_session_ids=ids,
                answer_session_ids=[name for name, text in zip(ids, texts, strict=True) if text in ask.evidence],
                evidence_hashes=[hashes[texts.index(text)] for text in ask.evidence if text in texts],
                evidence_turns=[],
                turn_labels=ask.labels,
            )
    return read_corpus(folder)


@st.composite
def asked(draw: st.DrawFn) -> list[Ask]:
    """One to four questions with ids of all kinds."""
    ids = draw(
        st.lists(st.sampled_from(ODD_IDS) | st.text(min_size=1, max_size=8), min_size=1, max_size=4, unique=True)
    )
    places = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), min_size=1, max_size=6)
    return [
        Ask(
            name,
            haystack=draw(places),
            evidence=draw(st.lists(st.integers(0, 6), max_size=3, unique=True)),
            abstention=draw(st.booleans()),
        )
        for name in ids
    ]


def fixture_corpus(folder: Path) -> Mapping[str, pl.DataFrame]:
    """A fixture's tables: two memories, one of them asked for."""
    source = folder / "fixture.json"
    source.write_text(
        '{"memories": [{"id": "../m1", "content": "Keys: blue bowl.", "created_at": "2025-01-02T09:00:00.5Z"},'
        ' {"id": "m2", "content": "No date."}], "queries": [{"q": "Where are they?", "expected_ids": ["../m1"]}]}'
    )
    convert_corpus(source, "fixture", folder / "corpus")
    return read_corpus(folder / "corpus")


def results(*rows: tuple[str, str, Sequence[Sequence[str]]], limit: int = 50) -> pl.DataFrame:
    """Search results: question, status, and the session_keys of each hit, best first."""
    found = [
        {
            "question_id": question_id,
            "status": status,
            "error": None,
            "retryable": False,
            "limit": limit,
            "latency_ms": None,
            "hits": [
                {
                    "rank": rank,
                    "provider_id": f"m{rank}",
                    "session_keys": list(keys),
                    "turns": None,
                    "content": f"hit {rank}\u2028",
                    "score": None,
                    "date": None,
                }
                for rank, keys in enumerate(hits, 1)
            ],
        }
        for question_id, status, hits in rows
    ]
    return pl.DataFrame(found, schema=SEARCH_RESULTS.empty.schema)


def left(folder: Path) -> list[str]:
    """All that is in a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
