"""LoCoMo and LongMemEval are both JSON arrays: the keys of the first element tell them apart, in whatever order."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from locomo_samples import sample
from records import record

from converters.detect import sniff_format

ELEMENTS = {"locomo": sample(), "longmemeval": record()}


@pytest.mark.parametrize("expected", ELEMENTS)
@given(st.data())
def test_any_order_of_keys(tmp_path_factory: pytest.TempPathFactory, expected: str, data: st.DataObject) -> None:
    element = dict(data.draw(st.permutations(list(ELEMENTS[expected].items()))))
    path = tmp_path_factory.mktemp("sniff") / "source"
    path.write_text(data.draw(st.sampled_from(["", " ", "\ufeff", "\n\n"])) + json.dumps([element]), encoding="utf-8")
    assert sniff_format(path) == expected


@pytest.mark.parametrize(("expected", "large"), list(itertools.product(ELEMENTS, ["list", "text"])))
def test_a_large_strange_value_before_the_telling_key(tmp_path: Path, expected: str, large: str) -> None:
    other = {"qa": "x", "question_id": "y", "conversation": {}}
    notes = [other] * 50_000 if large == "list" else "[{" * 1_000_000
    path = tmp_path / "source.gz"
    path.write_bytes(gzip.compress(json.dumps([{"notes": notes, **ELEMENTS[expected]}]).encode()))
    assert sniff_format(path) == expected


@pytest.mark.parametrize("text", ["[", "[]", '["qa"]', "[[{}", '[{"x": 1}, {"qa": []}]', '[{"x": tru', "[\udcff"])
def test_what_tells_nothing_is_left_to_longmemevals_reader(tmp_path: Path, text: str) -> None:
    path = tmp_path / "source"
    path.write_bytes(text.encode(errors="surrogateescape"))
    assert sniff_format(path) == "longmemeval"


def test_a_file_that_is_cut_off_after_a_telling_key(tmp_path: Path) -> None:
    path = tmp_path / "source"
    path.write_text(json.dumps([sample()])[:100])
    assert sniff_format(path) == "locomo"


def test_parquet_is_a_data_set(tmp_path: Path) -> None:
    pl.DataFrame({"question": ["x"]}).write_parquet(tmp_path / "source")
    assert sniff_format(tmp_path / "source") == "datasets"


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"question":', "}")])
def test_a_deep_value_before_the_telling_key(tmp_path: Path, opening: str, closing: str) -> None:
    path = tmp_path / "source"
    deep = opening * 100_000 + "1" + closing * 100_000
    path.write_text(json.dumps([{"notes": "deep", **sample()}]).replace('"deep"', deep))
    assert sniff_format(path) == "locomo"


@pytest.mark.parametrize("number", ["1" * 5_000, "-" + "9" * 4_301, "1e400", "1e" + "9" * 5_000, "0." + "1" * 5_000])
def test_a_number_that_no_machine_holds(tmp_path: Path, number: str) -> None:
    path = tmp_path / "source"
    path.write_text(json.dumps([{**sample(), "notes": 0}]).replace('"notes": 0', f'"notes": {number}'))
    assert sniff_format(path) == "locomo"
    path.write_text(f"[{number}]")
    assert sniff_format(path) == "longmemeval"
