"""Each check passes on what a refresh made, and fails on what was made bad for it."""

from __future__ import annotations

from collections.abc import Callable

import dagster as dg
import polars as pl
from projects import Box, part

from converters.parquet import read_table, write_table
from eval_assets import keys
from eval_assets.build import build_definitions
from eval_assets.stored import last_event

ASSETS = [
    *(keys.corpus_key(name) for name in ("turns", "ground_truth")),
    keys.store_key("turns"),
    keys.search_key("bm25"),
    keys.search_key("hybrid"),
    keys.scores_key("bm25"),
]


def verdicts(box: Box) -> dict[str, dg.AssetCheckEvaluation]:
    """What the checks of these assets say of the partition as it is stored."""
    with box.open() as session:
        graph = session.graph
        # Dagster gives a partition to a run of checks only where an asset runs as well: the source changes nothing.
        selection = dg.AssetSelection.checks_for_assets(*ASSETS) | dg.AssetSelection.assets(keys.SOURCE)
        job = dg.define_asset_job("checking", selection=selection, partitions_def=graph.partitions)
        result = (
            build_definitions(graph, jobs=[job])
            .resolve_job_def("checking")
            .execute_in_process(
                instance=session.instance,
                partition_key="tiny",
                raise_on_error=False,
                run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            )
        )
    return {f"{one.asset_key.to_user_string()}:{one.check_name}": one for one in result.get_asset_check_evaluations()}


def rewrite(box: Box, name: str, change: Callable[[pl.DataFrame], pl.DataFrame], table: str | None = None) -> None:
    """Put other rows where a part's file is, as a whole file with a right footer."""
    with box.open() as session:
        key = part(name).key
        event = last_event(session.instance, key, "tiny")
        assert event is not None
        files = session.graph.shelf.files(key, event)
    (path,) = [path for path in files if table in (None, path.stem)]
    write_table(files[path], change(read_table(files[path], path)), path)


def damage(box: Box, name: str) -> None:
    """Overwrite the middle of a part's file."""
    with box.open() as session:
        event = last_event(session.instance, part(name).key, "tiny")
        assert event is not None
        path = session.graph.shelf.path(event)
    content = bytearray(path.read_bytes())
    content[4:200] = b"\xff" * 196
    path.write_bytes(content)


WARNED = "bm25/retrieval_scores:cutoff_below_haystack"


def test_good_partitions_pass_and_a_small_haystack_is_a_warning(copied: Box) -> None:
    found = verdicts(copied)
    assert len(found) == 15
    assert {name for name, one in found.items() if not one.passed} == {WARNED}
    warned = found[WARNED]
    assert (warned.severity, warned.blocking) == (dg.AssetCheckSeverity.WARN, False)
    # Two queries search four memories, one those of its client: its own and the three that belong to nobody.
    assert warned.metadata["questions with at most 5 sessions"].value == 3
    assert all(one.blocking for name, one in found.items() if name != WARNED)


def test_bad_partitions_fail(copied: Box) -> None:
    damage(copied, "corpus/turns")
    unknown = pl.lit(["0" * 64], dtype=pl.List(pl.String))
    rewrite(copied, "corpus/ground_truth", lambda frame: frame.with_columns(evidence_hashes=unknown))
    rewrite(copied, "bm25/search_results", lambda frame: frame.head(2))
    rewrite(copied, "bm25/retrieval_scores", lambda frame: frame.with_columns(question_id=pl.col("question_id") + "x"))
    found = verdicts(copied)
    assert {name for name, one in found.items() if not one.passed} == {
        "corpus/turns:schema",
        "corpus/ground_truth:evidence_exists",
        "bm25/search_results:every_question",
        "bm25/retrieval_scores:every_question",
        WARNED,
    }
    assert "cannot be read" in found["corpus/turns:schema"].metadata
    assert found["bm25/search_results:every_question"].metadata["missing or unknown"].value == 1
    assert found["bm25/retrieval_scores:every_question"].metadata["missing or unknown"].value == 6
    assert found["corpus/ground_truth:evidence_exists"].metadata["questions with unknown evidence"].value == 3


def test_documents_that_tell_and_documents_that_were_not_sent_fail(copied: Box) -> None:
    renamed = {"session_key": pl.col("session_key").replace(*_first_session(copied))}
    rewrite(copied, "corpus/haystacks", lambda frame: frame.with_columns(**renamed).filter(pl.col("position") < 3))
    rewrite(copied, "corpus/memories", lambda frame: frame.with_columns(**renamed))
    found = verdicts(copied)
    told = {"stores/turns:no_payload_leaks", "stores/turns:stored_is_sent"}
    assert {name for name, one in found.items() if not one.passed} == {*told, WARNED}
    assert found["stores/turns:no_payload_leaks"].metadata["for instance"].value == "answer_1"


def test_a_query_that_tells_fails(copied: Box) -> None:
    question = pl.lit(_first_question(copied))
    rewrite(copied, "stores/turns", lambda frame: frame.with_columns(container=question), "containers")
    found = verdicts(copied)
    told = {f"{system}/search_results:no_payload_leaks" for system in ("bm25", "hybrid")}
    assert {name for name, one in found.items() if not one.passed} == {*told, WARNED}


def _first_session(box: Box) -> tuple[str, str]:
    with box.open() as session:
        frame = session.graph.shelf.frame(session.instance, keys.corpus_key("haystacks"), "tiny")
    return frame["session_key"][0], "answer_1"


def _first_question(box: Box) -> str:
    with box.open() as session:
        frame = session.graph.shelf.frame(session.instance, keys.corpus_key("questions"), "tiny")
    return str(frame["question_id"][0])
