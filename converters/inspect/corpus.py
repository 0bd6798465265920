"""What a folder of corpus tables holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from converters.detect import Variant
from converters.errors import BadInput
from converters.inspect.report import Inspection, Quirk, Section
from converters.parquet import footer, read_table
from converters.schema import SchemaMismatch
from converters.tables import BASE_OVERLAY, CORPUS


def inspect_corpus(folder: Path) -> Inspection:
    """Inspect a folder that ``eval-assets convert --to corpus`` wrote, or a benchmark's tables in the data folder.

    Facts: rows of each table; questions by type, of the base overlay; sessions of each haystack; turns and characters
    of the distinct sessions; evidence; and which source the footers name, with its digest. Texts are not read.

    Raises:
        BadInput: a table is missing, or was written by another version.
    """
    for name in CORPUS:
        if not (folder / f"{name}.parquet").is_file():
            raise BadInput(folder, f"holds no {name}.parquet", "give a folder that --to corpus wrote")
    try:
        return Inspection(folder.name, "corpus", _variant(folder), None, table_facts(folder), _quirks(folder))
    except SchemaMismatch as error:
        raise BadInput(folder, str(error), "convert its source again") from None


def table_facts(folder: Path) -> Mapping[str, Section]:
    """The facts of ``inspect_corpus``."""
    rows = {name: _number(footer(folder / f"{name}.parquet").get("rows")) for name in CORPUS}
    truth = _read(folder, "ground_truth").filter(pl.col("overlay") == BASE_OVERLAY)
    kind = pl.col("question_type") + pl.when("is_abstention").then(pl.lit(" (abstention)")).otherwise(pl.lit(""))
    types = truth.group_by(kind=kind).len().sort("kind").rows()
    per_haystack = _read(folder, "haystacks").group_by("haystack_id").len()["len"]
    sessions = _read(folder, "sessions")
    source: Any = footer(folder / "questions.parquet").get("source") or {}
    return {
        "rows": rows,
        "questions": {
            "total": truth.height,
            "abstention": _number(truth["is_abstention"].sum()),
            **{name: _number(n) for name, n in types},
        },
        "haystacks": {"total": per_haystack.len(), **_spread("sessions", per_haystack)},
        "sessions": {
            "distinct_texts": sessions.height,
            **_spread("turns", sessions["n_turns"]),
            **_spread("characters", sessions["n_chars"]),
        },
        "evidence": {
            **_spread("sessions", truth["evidence_hashes"].list.len()),
            "turns": _number(truth["evidence_turns"].list.len().sum()),
        },
        "source": {name: source.get(name) for name in ("name", "sha256", "n_bytes") if name in source},
    }


def _quirks(folder: Path) -> list[Quirk]:
    truth = _read(folder, "ground_truth").filter(pl.col("overlay") == BASE_OVERLAY)
    bare = truth.filter(~pl.col("is_abstention"), pl.col("evidence_hashes").list.len() == 0)["question_id"]
    empty = _read(folder, "sessions").filter(pl.col("n_chars") == 0)["content_hash"]
    return [
        _quirk(
            "no_evidence", "questions", "has an answer, and names no evidence: no retrieval metric is defined", bare
        ),
        _quirk("empty_session", "sessions", "no characters at all", empty),
    ]


def _quirk(name: str, unit: str, description: str, found: pl.Series) -> Quirk:
    return Quirk(name, unit, description, found.len(), found[0] if found.len() else None)


def _variant(folder: Path) -> Variant | None:
    said: Any = footer(folder / "questions.parquet").get("variant")
    if not isinstance(said, dict) or not {"name", "how", "detail"} <= set(said):
        return None
    return Variant(said["name"], said["how"], said["detail"])


def _read(folder: Path, name: str) -> pl.DataFrame:
    return read_table(CORPUS[name], folder / f"{name}.parquet")


def _spread(prefix: str, numbers: pl.Series) -> Section:
    mean: Any = numbers.mean()
    return {
        f"{prefix}_min": _number(numbers.min()),
        f"{prefix}_mean": round(float(mean or 0), 1),
        f"{prefix}_max": _number(numbers.max()),
    }


def _number(value: Any) -> int:
    return int(value or 0)
