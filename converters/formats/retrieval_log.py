"""LongMemEval's retrieval log: JSON lines that its generation and its printing of metrics read.

Source of the format: ``src/retrieval/run_retrieval.py``, ``src/generation/run_generation.py`` and
``src/evaluation/print_retrieval_metrics.py`` of the LongMemEval repository.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from converters.formats.files import counted, json_line, whole_file
from converters.formats.longmemeval import check_conversations, records
from converters.formats.official_metrics import CUTOFFS, official_metrics
from converters.formats.rankings import Ranking, rankings
from converters.longmemeval_file import PublishedRecord

# The order in which run_retrieval.py writes a question's fields.
_FIELDS: Final = (
    "question_id",
    "question_type",
    "question",
    "answer",
    "question_date",
    "haystack_dates",
    "haystack_sessions",
    "haystack_session_ids",
    "answer_session_ids",
)


def write_retrieval_log(
    tables: Mapping[str, pl.DataFrame], results: pl.DataFrame, out: Path, *, force: bool = False
) -> list[str]:
    """Write search results as a retrieval log, a line a question in the order of the source; lines that say so.

    A line has the question's fields as in LongMemEval's file, and ``retrieval_results``:

    - ``query``: the question's text.
    - ``ranked_items``: distinct sessions, best first: ``corpus_id`` (the source's id of the session), ``text`` (content
      of the best hit that maps to it), ``timestamp`` (its date as LongMemEval writes it). A session that stands in the
      haystack several times on one date follows as often.
    - ``metrics``: ``session`` (see ``converters.formats.official_metrics``) and ``turn``, which is empty. To be found
      are the evidence sessions with a marked turn of the user's, as in run_retrieval.py. Cut-offs that a search did not
      reach are left out, and all of them where it failed: LongMemEval's script then prints none, not a low one.

    Args:
        tables: the corpus.
        results: ``SearchResults``.
        out: where it goes.
        force: replace what is there.

    Raises:
        BadInput: the corpus is a fixture's or lacks dates or answers, something is at ``out``, or the place
            cannot be written to. Nothing is written then.
    """
    check_conversations(tables)
    counts: Counter[str] = Counter()
    with whole_file(out, force=force) as file:
        for record, ranking in zip(records(tables), rankings(tables, results), strict=True):
            line = _line(record, ranking)
            file.write(json_line(line) + "\n")
            counts["items"] += len(line["retrieval_results"]["ranked_items"])
            counts["failed"] += ranking.failed
            counts["cut"] += ranking.cut and len(ranking.hits) < CUTOFFS[-1]
    told = [
        f"wrote {out}: {counted(tables['questions'].height, 'question')}, {counted(counts['items'], 'ranked item')}"
    ]
    if counts["failed"]:
        told.append(f"  without items or metrics, for their search failed: {counts['failed']:,}")
    if counts["cut"]:
        told.append(f"  without metrics beyond the end of a list that was cut: {counts['cut']:,}")
    return told


def _line(record: PublishedRecord, ranking: Ranking) -> dict[str, Any]:
    places: dict[str, list[int]] = defaultdict(list)
    for position, key in enumerate(ranking.haystack):
        places[key].append(position)
    ids, dates = record["haystack_session_ids"], record["haystack_dates"]
    items = [
        {"corpus_id": ids[position], "text": hit.content, "timestamp": dates[position]}
        for hit in ranking.hits
        for position in places[hit.session_key]
    ]
    metrics: dict[str, float] = {}
    if not ranking.failed:
        depth = len(items) if ranking.cut else CUTOFFS[-1]
        metrics = official_metrics([item["corpus_id"] for item in items], _gold(record), ids, depth)
    fields = dict(record)
    return {
        **{name: fields[name] for name in _FIELDS},
        "retrieval_results": {
            "query": record["question"],
            "ranked_items": items,
            "metrics": {"session": metrics, "turn": {}},
        },
    }


def _gold(record: PublishedRecord) -> set[str]:
    evidence = set(record["answer_session_ids"])
    return {
        name
        for name, session in zip(record["haystack_session_ids"], record["haystack_sessions"], strict=True)
        if name in evidence and any(turn["role"] == "user" and turn.get("has_answer") for turn in session)
    }
