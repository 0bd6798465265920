"""The published LoCoMo file, as several projects counted it independently; skipped, saying so, where it is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from converters.convert import convert_corpus
from converters.corpus import read_corpus
from converters.detect import sniff_format

pytestmark = pytest.mark.real_data


def test_the_published_file(real_locomo: Path, tmp_path: Path) -> None:
    assert sniff_format(real_locomo) == "locomo"
    conversion = convert_corpus(real_locomo, "locomo", tmp_path / "corpus")
    tables = read_corpus(tmp_path / "corpus")
    assert (conversion.variant.name, conversion.variant.how) == ("locomo10", "digest")
    counts = conversion.counts
    assert (counts["haystacks"], counts["haystack_rows"], counts["turns"]) == (10, 272, 5_882)
    assert (counts["dates_without_session"], counts["photo_turns"], counts["blank_turns"]) == (16, 1_226, 0)
    truth = tables["ground_truth"]
    assert dict(truth["question_type"].value_counts().rows()) == {
        "multi-hop": 282,
        "temporal": 321,
        "open-domain": 96,
        "single-hop": 841,
        "adversarial": 446,
    }
    assert truth["is_abstention"].sum() == 446
    assert counts["answered_abstentions"] == 2
    assert dict(truth["answer_type"].drop_nulls().value_counts().rows())["int"] == 6
    # D10:19 and D4:36 name turns that do not exist; one string is a bare D. All others name turns.
    assert sorted(note.split(": evidence ")[1].split(" names")[0] for note in conversion.notes) == [
        "'D'",
        "'D10:19'",
        "'D4:36'",
    ]
    said = {
        f'{turn["speaker"]} said, "{turn["text"]}"'
        + (f" and shared {turn['blip_caption']}" if "blip_caption" in turn else "")
        for sample in json.loads(real_locomo.read_bytes())
        for session in sample["conversation"].values()
        if isinstance(session, list)
        for turn in session
    }
    assert set(tables["turns"]["content"]) == said
