"""What a system found, exported and imported again, scores the same."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
from click.testing import Result
from polars.testing import assert_frame_equal
from projects import Box

Command = Callable[..., Result]
FILES = {
    "as_run": {"file": "out.run", "format": "trec_run"},
    "as_log": {"file": "out.log", "format": "retrieval_log"},
}
IMPORTED = {name: {"provider": "imported", "limit": 50, "results": {"chats": file}} for name, file in FILES.items()}


def session_level(box: Box, system: str) -> pl.DataFrame:
    report = pl.read_parquet(box.root / "data" / "tables" / system / "report" / "chats" / "current.parquet")
    return report.filter(level="session")


def ranks(box: Box, system: str) -> pl.DataFrame:
    scores = pl.read_parquet(box.root / "data" / "tables" / system / "retrieval_scores" / "chats" / "current.parquet")
    return scores.select("question_id", "status", "evidence_ranks", "n_ranked", "n_unmapped")


def test_an_export_scores_as_the_original_does(copied: Box, command: Command) -> None:
    copied.refresh(systems=["hybrid"], benchmarks=["chats"])
    for target, name in (("trec-run", "out.run"), ("retrieval-log", "out.log")):
        out = copied.chats.parent / name
        assert command(copied, "export", "hybrid", "chats", "--to", target, "--out", str(out)).exit_code == 0
    copied.edit_systems({"systems": IMPORTED})
    assert not copied.refresh(systems=list(IMPORTED)).failures
    original = session_level(copied, "hybrid")
    assert original.filter(pl.col("value") > 0).height > 0
    for system in IMPORTED:
        assert_frame_equal(session_level(copied, system), original)
        assert_frame_equal(ranks(copied, system), ranks(copied, "hybrid"))
