from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from records import convert, record, turn

from converters.detect import longmemeval_variant, sniff_format
from converters.errors import BadInput
from converters.parquet import footer

ORACLE = "821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c"


def test_a_known_digest_decides() -> None:
    variant = longmemeval_variant(ORACLE, n_questions=1, n_sessions=50, n_filler=49)
    assert (variant.name, variant.how) == ("longmemeval_oracle", "digest")
    assert variant.detail == "the published oracle file (known sha256)"


@pytest.mark.parametrize(
    ("n_sessions", "n_filler", "name"),
    [
        (19, 0, "longmemeval_oracle"),
        (477, 458, "longmemeval_s"),
        (4_750, 4_731, "longmemeval_m"),
        (100, 81, "longmemeval_other"),
        (0, 0, "longmemeval_oracle"),
    ],
)
def test_otherwise_the_content_does(n_sessions: int, n_filler: int, name: str) -> None:
    variant = longmemeval_variant("0" * 64, n_questions=10, n_sessions=n_sessions, n_filler=n_filler)
    assert (variant.name, variant.how) == (name, "derived")
    assert "10 questions (the published files have 500)" in variant.detail
    assert variant.detail.startswith("not a known sha256; ")


def test_a_conversion_says_what_it_found(tmp_path: Path) -> None:
    sessions = [[turn("user", f"text {number}")] for number in range(40)]
    made = record(
        haystack_dates=["2023/05/20 (Sat) 08:05"] * 40,
        haystack_session_ids=[f"s{number}" for number in range(40)],
        haystack_sessions=sessions,
        answer_session_ids=["s3"],
    )
    conversion, _ = convert(tmp_path, made)
    assert conversion.variant.name == "longmemeval_s"
    facts = footer(conversion.corpus.tables["questions"].path)
    assert facts["variant"] == {"name": "longmemeval_s", "how": "derived", "detail": conversion.variant.detail}
    assert facts["source"] == {
        "name": "source.json",
        "sha256": conversion.fingerprint.sha256,
        "n_bytes": conversion.fingerprint.n_bytes,
        "compressed": False,
    }


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b" \n [", "longmemeval"), (b'\xef\xbb\xbf{"memories"', "fixture"), (b" " * 1_000_000 + b"[", "longmemeval")],
)
@pytest.mark.parametrize("packed", [True, False])
def test_a_format_shows_in_the_first_character(tmp_path: Path, data: bytes, expected: str, packed: bool) -> None:
    path = tmp_path / "source"
    path.write_bytes(gzip.compress(data) if packed else data)
    assert sniff_format(path) == expected


@pytest.mark.parametrize("data", [b"question,answer\n", b"  ", b"\x00"])
def test_what_is_no_json_has_no_format(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "source"
    path.write_bytes(data)
    with pytest.raises(BadInput, match="is neither a JSON array"):
        sniff_format(path)
