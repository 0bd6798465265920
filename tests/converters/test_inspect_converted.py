"""Formats without an inspector of their own are inspected through their converters."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from locomo_samples import quirky, sample, write
from records import record

from converters.inspect.registry import inspect_source


def test_locomo(tmp_path: Path) -> None:
    found = inspect_source(write(tmp_path / "locomo", sample("conv-1"), quirky()))
    assert found.format == "locomo"
    assert found.facts["questions"] == {
        "total": 12,
        "abstention": 1,
        "adversarial (abstention)": 1,
        "multi-hop": 3,
        "open-domain": 2,
        "single-hop": 3,
        "temporal": 3,
    }
    counts = {quirk.name: quirk.count for quirk in found.quirks}
    assert counts["unmapped_evidence"] == 3
    assert counts["empty_sessions"] == counts["dates_without_session"] == 2
    assert "mended_evidence" not in found.facts["counted"]
    (unmapped,) = [quirk for quirk in found.quirks if quirk.name == "unmapped_evidence"]
    assert unmapped.example is not None
    assert unmapped.example.startswith("conv-42_q5 ('What else?'): evidence 'D' names no turn")


def test_a_data_set_with_the_published_columns(tmp_path: Path) -> None:
    pl.DataFrame([record("q1"), record("q2_abs")]).write_parquet(tmp_path / "rows.parquet")
    found = inspect_source(tmp_path / "rows.parquet")
    assert found.format == "datasets"
    assert found.facts["questions"]["total"] == 2
    assert found.facts["questions"]["abstention"] == 1
