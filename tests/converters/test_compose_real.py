"""The published oracle's questions in filler of 59 real S records."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from composed import check_file, load

from converters.compose.haystack import Length
from converters.compose.write import Plan, compose
from converters.convert import convert_corpus
from converters.inspect.registry import inspect_source

pytestmark = pytest.mark.real_data


def _source(path: Path) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads(gzip.decompress(path.read_bytes()))
    return loaded


def test_s_shaped_haystacks_of_real_text(real_oracle: Path, real_s59: Path, tmp_path: Path) -> None:
    out = tmp_path / "s_like.json"
    written = compose(Plan(real_oracle, [real_s59], Length(sessions=48), 0, limit=24), out)
    assert written.manifest["pool"] == {
        "sessions": 2_663,
        "distinct": 2_585,
        "evidence": 40,
        "blank": 0,
        "telling": 1,
        "usable": 2_544,
    }
    made = load(out)
    assert [len(record["haystack_sessions"]) for record in made] == [48] * 24
    check_file(_source(real_oracle), _source(real_s59), made)

    conversion = convert_corpus(out, "longmemeval", tmp_path / "corpus")
    assert conversion.variant.name == "longmemeval_s"
    assert conversion.counts["haystack_rows"] == 24 * 48
    assert conversion.counts["questions"] == 24
    found = inspect_source(out)
    counts = {quirk.name: quirk.count for quirk in found.quirks}
    assert counts["labels_unlike_published"] == counts["repeated_id"] == counts["wrong_weekday"] == 0
    assert counts["gold_visible_in_ids"] == 24


def test_as_many_tokens_as_the_published_file(real_oracle: Path, real_s59: Path, tmp_path: Path) -> None:
    plan = Plan(real_oracle, [real_s59], Length(tokens=115_000), 0, limit=6)
    made = load(compose(plan, tmp_path / "o.json").path)
    for record in made:
        characters = sum(len(turn["content"]) for session in record["haystack_sessions"] for turn in session)
        assert 38 <= len(record["haystack_sessions"]) <= 62
        assert characters >= 115_000 * 4.25 - 4.25 * len(record["haystack_sessions"])
