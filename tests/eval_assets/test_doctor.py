from __future__ import annotations

from collections.abc import Callable

import polars as pl
from click.testing import Result
from projects import Box
from test_asset_checks import damage, rewrite
from test_stored import stored


def findings(result: Result) -> list[str]:
    """The lines between what doctor says of the project and its last one."""
    lines = result.stdout.splitlines()
    return [line for line in lines[:-1] if "; " in line]


def test_a_good_project_agrees(refreshed: Box, command: Callable[..., Result]) -> None:
    result = command(refreshed, "doctor")
    assert result.exit_code == 0
    assert findings(result) == []
    assert result.stdout.splitlines()[-1] == "16 stored partitions compared with the instance: nothing to mend"
    assert f"project        {refreshed.root}" in result.stdout
    assert "4 systems over 1 stores" in result.stdout
    assert "benchmark      absent: its file is missing" in result.stdout
    assert "dagster 1." in result.stdout


def test_each_disagreement_is_named(copied: Box, command: Callable[..., Result]) -> None:
    damage(copied, "corpus/turns")
    stored(copied, "bm25/report").unlink()
    rewrite(copied, "bm25/search_results", lambda frame: frame.head(2))
    rewrite(copied, "corpus/questions", lambda frame: frame.with_columns(question=pl.lit("other")))
    tables = copied.root / "data" / "tables"
    (tables / "bm25" / ".x.parquet.1234.tmp").touch()
    (tables / ".corpus-1234").mkdir()
    result = command(copied, "doctor")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1].endswith(": 7 to mend")
    found = "\n".join(findings(result))
    for said in (
        "data/tables/.corpus-1234 was left by a process that died; remove it",
        "data/tables/bm25/.x.parquet.1234.tmp was left by a process that died; remove it",
        "corpus/turns [tiny]: data/tables/corpus/turns/tiny/",
        " cannot be read (",
        "corpus/questions [tiny]: data/tables/corpus/questions/tiny/",
        "bm25/search_results [tiny]: 2 rows on disk, 3 recorded; refresh",
        " is not the data version that the instance names; remove ",
        " is gone; refresh makes it again",
    ):
        assert said in found


def test_rows_that_are_not_those_written_are_named(copied: Box, command: Callable[..., Result]) -> None:
    path = stored(copied, "bm25/report")
    content = path.read_bytes()
    digest = content.index(b'"digest": "') + len(b'"digest": "')
    path.write_bytes(content[:digest] + b"0" * 8 + content[digest + 8 :])
    result = command(copied, "doctor")
    assert result.exit_code == 1
    assert "does not hold the rows that were written; remove" in result.stdout
