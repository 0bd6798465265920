"""LoCoMo and a data set with a column mapping as benchmarks, from the file to the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from projects import BENCHMARKS, SYSTEMS, Box, make_project, merged, parts, write_yaml

from converters.errors import BadInput
from eval_assets.project import Project
from eval_assets.settings import load_settings

LOCOMO: list[dict[str, Any]] = [
    {
        "qa": [
            {"question": "Where did Carol travel by train?", "answer": "Oslo", "evidence": ["D1:1"], "category": 4},
            {
                "question": "Which painting did Mel share?",
                "answer": "a sunset",
                "evidence": ["D2:1; D9:9"],
                "category": 1,
            },
            {"question": "What did Carol paint?", "adversarial_answer": "sunset", "evidence": ["D2:1"], "category": 5},
        ],
        "conversation": {
            "speaker_a": "Carol",
            "speaker_b": "Mel",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Carol", "dia_id": "D1:1", "text": "I went to Oslo by train."}],
            "session_2_date_time": "9:00 am on 9 May, 2023",
            "session_2": [
                {"speaker": "Mel", "dia_id": "D2:1", "text": "Look.", "blip_caption": "a painting of a sunset"}
            ],
        },
        "sample_id": "conv-1",
    }
]
ROWS = [
    {
        "id": number,
        "q": question,
        "alt": "Another question?",
        "talks": [[{"role": "user", "content": text}] for text in says],
    }
    for number, question, says in [
        (1, "Which dog do I have?", ["I adopted a beagle called Bo.", "My bicycle has a flat tyre."]),
        (2, "What broke?", ["I like tea.", "My bicycle broke."]),
    ]
]
MAPPING = {"question_id": "id", "question": "q", "sessions": "talks"}


@pytest.fixture
def box(tmp_path: Path) -> Box:
    box = make_project(tmp_path)
    added = {
        "talks": {"format": "locomo", "files": ["talks.json"]},
        "rows": {"format": "datasets", "files": ["rows"], "mapping": MAPPING},
    }
    write_yaml(tmp_path / "data" / "benchmarks.yaml", merged(BENCHMARKS, {"benchmarks": added}))
    write_yaml(box.systems_file, {**SYSTEMS, "targets": [{"systems": ["bm25"], "benchmarks": ["talks", "rows"]}]})
    (tmp_path / "data" / "sources" / "talks.json").write_text(json.dumps(LOCOMO))
    rows = tmp_path / "data" / "sources" / "rows"
    rows.mkdir()
    for number, row in enumerate(ROWS):
        (rows / f"part-{number}.jsonl").write_text(json.dumps(row) + "\n")
    return box


def _edit(box: Box, change: dict[str, Any]) -> None:
    path = box.root / "data" / "benchmarks.yaml"
    write_yaml(path, merged(yaml.safe_load(path.read_text()), {"benchmarks": change}))


def test_from_the_file_to_the_report(box: Box) -> None:
    done = box.refresh()
    assert not done.failures
    events = box.events()
    assert {"bm25/report [talks]", "bm25/report [rows]"} <= set(events)
    scores = box.root / "data" / "tables" / "bm25" / "retrieval_scores" / "talks" / "current.parquet"
    rows = {row["question_id"]: row for row in pl.read_parquet(scores).to_dicts()}
    assert [row["status"] for row in rows.values()] == ["ok"] * 3
    assert (rows["conv-1_q1"]["evidence_ranks"], rows["conv-1_q2"]["evidence_ranks"]) == ([1], [1])
    assert rows["conv-1_q3"]["excluded"] == "abstention"
    told = events["corpus/questions [talks]"].metadata
    assert told["unmapped evidence"] == 1
    assert told["notes"] == (
        "conv-1_q2 ('Which painting did Mel share?'): a part of evidence 'D2:1; D9:9' names no turn"
    )

    # A mapping is a part of the source's data version: this benchmark alone is read again.
    assert box.plan().work == ()
    _edit(box, {"rows": {"mapping": {**MAPPING, "question": "alt"}}})
    plan = box.plan()
    assert parts(plan) == ["benchmark_source [rows]"]
    assert plan.work[0].why[0].startswith("how it is read changed: mapping sha256 ")
    _edit(box, {"rows": {"mapping": MAPPING}})

    # So is each file of a folder.
    (box.root / "data" / "sources" / "rows" / "part-2.jsonl").write_text(json.dumps({**ROWS[0], "id": 3}) + "\n")
    plan = box.plan()
    assert parts(plan) == ["benchmark_source [rows]"]
    assert plan.work[0].why[0].startswith("the file changed: sha256 ")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"rows": {"mapping": {"questions": "q"}}}, "benchmarks.rows.mapping.questions: unknown setting"),
        ({"rows": {"mapping": {"question": 3}}}, "benchmarks.rows.mapping.question: input should be a valid string"),
        ({"talks": {"mapping": MAPPING}}, "benchmarks.talks: a mapping has a meaning for format datasets alone"),
    ],
    ids=range(3),
)
def test_a_wrong_mapping(box: Box, change: dict[str, Any], line: str) -> None:
    _edit(box, change)
    with pytest.raises(BadInput) as error:
        load_settings(Project.at(box.root))
    assert error.value.line.startswith(f"{box.root / 'data' / 'benchmarks.yaml'}: {line}; ")
