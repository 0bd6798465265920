"""An accepted baseline as a tracked file: its conditions, and what became of each question.

The file is one JSON object. Its ``questions`` are one line each, sorted by id, so that a diff shows which changed:

    {
    "format": 1,
    "system": "local",
    "conditions": {"benchmark": "smoke", "digest": "82c1...", "k": 50, "judges": {"gpt-4o": "v3"}},
    "questions": [
    {"id": "q1", "type": "multi-session", "scores": {"hit@5": 1.0, "accuracy[gpt-4o]": "failed"}},
    ...
    ]
    }

A score is a number from 0 to 1, or failed, not_run or undefined. A metric that excludes the question is not named.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import polars as pl

from converters.errors import BadInput
from judges.statistics.conditions import Conditions
from judges.statistics.metric import Metric, parse_metric
from judges.statistics.outcomes import OUTCOMES, SCORED

_FORMAT = 1
_REMEDY = "restore the file from version control, or accept a baseline again"

Score = Annotated[float, msgspec.Meta(ge=0, le=1)] | Literal["failed", "not_run", "undefined"]


class _Question(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    type: str
    scores: dict[str, Score]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: Literal[1]
    system: str
    conditions: Conditions
    questions: list[_Question]


@dataclass(frozen=True)
class Baseline:
    """What was accepted.

    Attributes:
        system: which system's run it was.
        conditions: under which it was scored.
        outcomes: see ``judges.statistics.outcomes``; only the metrics that were accepted.
    """

    system: str
    conditions: Conditions
    outcomes: pl.DataFrame


def write_baseline(path: Path, baseline: Baseline, *, force: bool = True) -> None:
    """Write the file, whole or not at all. Equal baselines give equal bytes.

    Raises:
        BadInput: the place cannot be written to, or holds a file and ``force`` is not given.
    """
    # It loads pyarrow, a third of a second that a gate need not pay.
    from converters.whole import whole_files

    head = {
        "format": _FORMAT,
        "system": baseline.system,
        "conditions": msgspec.to_builtins(baseline.conditions, order="sorted"),
    }
    lines = [f"{json.dumps(name)}: {json.dumps(value)}," for name, value in head.items()]
    questions = ",\n".join(json.dumps(question) for question in _questions(baseline.outcomes))
    text = "\n".join(["{", *lines, '"questions": [', *([questions] if questions else []), "]", "}", ""])
    with whole_files(path, force=force) as (temporary,):
        temporary.write_text(text, "ascii")


def _questions(outcomes: pl.DataFrame) -> list[dict[str, object]]:
    rows: dict[str, dict[str, object]] = {}
    scores: dict[str, dict[str, object]] = {}
    for row in outcomes.sort("question_id", "level", "metric", "k", "judge").iter_rows(named=True):
        name = row["question_id"]
        metric = str(Metric(row["level"], row["metric"], row["k"], row["judge"]))
        rows.setdefault(name, {"id": name, "type": row["question_type"]})
        scores.setdefault(name, {})[metric] = row["value"] if row["state"] == SCORED else row["state"]
    return [{**row, "scores": scores[name]} for name, row in rows.items()]


def read_baseline(path: Path) -> Baseline:
    """Read a file as ``write_baseline`` writes it.

    Raises:
        BadInput: there is none, or it is damaged; the line names the record and field.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BadInput(path, "there is no such file", "accept a baseline first") from None
    except OSError as error:
        raise BadInput(path, f"cannot be read ({error.strerror})", "give the name of a baseline's file") from None
    try:
        found = msgspec.json.decode(content, type=_File)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$.")
        raise BadInput(path, problem, _REMEDY, field=place.rstrip("`") or None) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(path, f"is not JSON ({error})", _REMEDY) from None
    return Baseline(found.system, found.conditions, _outcomes(path, found.questions))


def _outcomes(path: Path, questions: list[_Question]) -> pl.DataFrame:
    known: dict[str, Metric] = {}
    rows: list[tuple[object, ...]] = []
    seen: set[str] = set()
    for place, question in enumerate(questions, start=1):
        record = f"question {place} ({question.id})"
        if question.id in seen:
            raise BadInput(path, "is there twice", _REMEDY, record=record)
        seen.add(question.id)
        for name, score in question.scores.items():
            if name not in known:
                try:
                    known[name] = parse_metric(name, path)
                except BadInput as error:
                    raise BadInput(path, error.problem, _REMEDY, record=record, field=name) from None
            metric = known[name]
            state, value = (score, None) if isinstance(score, str) else (SCORED, float(score))
            rows.append((question.id, question.type, metric.judge, metric.level, metric.metric, metric.k, state, value))
    return pl.DataFrame(rows, schema=OUTCOMES, orient="row")
