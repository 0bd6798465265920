"""TREC: relevance judgments (qrels) and runs, as trec_eval reads them.

Source of the formats: trec_eval's README (``qid 0 docid rel``; ``qid Q0 docid rank score tag``) and form_res_rels.c,
which ranks by score and, where scores are equal, by document id, whatever the column ``rank`` says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from converters.formats.beir import tally, without_judgments
from converters.formats.files import Progress, counted, whole_file
from converters.formats.ids import encode_id
from converters.formats.rankings import rankings
from converters.formats.rows import relevant

RUN_TAG: Final = "eval-assets"


def write(
    tables: Mapping[str, pl.DataFrame], out: Path, *, force: bool = False, progress: Progress | None = None
) -> list[str]:
    """Write a corpus's relevance judgments as a qrels file; lines that say what was written.

    ``qid 0 docid 1``: the question_id, percent-encoded (see ``converters.formats.ids``), and the session_key of a
    session that holds evidence (see ``converters.formats.rows.Relevant``). Abstention questions have no line.

    Raises:
        BadInput: something is at ``out``, or the place cannot be written to. Nothing is written then.
    """
    counts: Counter[str] = Counter()
    total = tables["questions"].height
    with whole_file(out, force=force) as file:
        for number, found in enumerate(relevant(tables), 1):
            tally(found, counts)
            file.writelines(f"{encode_id(found.question_id)} 0 {key} 1\n" for key in found.session_keys)
            if progress is not None:
                progress(number, total)
    judged = total - counts["abstention"] - counts["lost"]
    told = f"wrote {out}: {counted(counts['judgments'], 'judgment')} of {counted(judged, 'query', 'queries')}"
    return [told, *without_judgments(counts)]


def write_run(
    tables: Mapping[str, pl.DataFrame],
    results: pl.DataFrame,
    out: Path,
    *,
    tag: str = RUN_TAG,
    force: bool = False,
) -> list[str]:
    """Write search results as a run file; lines that say what was written.

    ``qid Q0 docid rank score tag``, ids as in the qrels of ``write``. A session that was met at a better rank, or that
    is not of the question's haystack, is left out; ranks count what is left, from 1. The score is the negative of the
    rank, so that no two are equal and trec_eval keeps the order. A question without hits, or whose search failed, has
    no line: count it as zero with ``trec_eval -c``.

    Args:
        tables: ``questions`` and ``haystacks`` of the corpus.
        results: ``SearchResults``.
        out: where it goes.
        tag: name of the run; white space in it is percent-encoded.
        force: replace what is there.

    Raises:
        BadInput: something is at ``out``, or the place cannot be written to. Nothing is written then.
    """
    counts: Counter[str] = Counter()
    name = encode_id(tag)
    with whole_file(out, force=force) as file:
        for ranking in rankings(tables, results):
            counts["lines"] += len(ranking.hits)
            counts["queries"] += bool(ranking.hits)
            if not ranking.hits:
                counts[ranking.status if ranking.failed else "empty"] += 1
            query = encode_id(ranking.question_id)
            for rank, hit in enumerate(ranking.hits, 1):
                file.write(f"{query} Q0 {hit.session_key} {rank} {-rank} {name}\n")
    absent = ", ".join(f"{counts[status]:,} {status}" for status in sorted(counts.keys() - {"lines", "queries"}))
    told = f"wrote {out}: {counted(counts['lines'], 'line')} of {counted(counts['queries'], 'query', 'queries')}"
    return [told, *([f"  queries without a line (trec_eval -c counts them as zero): {absent}"] if absent else [])]
