"""LongMemEval's answers, judged or not: a line a question; see ``converters.formats.hypotheses`` for the format."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
import polars as pl

from converters.results.lines import bad_line, decode, lines, shown

HYPOTHESES_SCHEMA: Final = pl.Schema(
    {"question_id": pl.String(), "hypothesis": pl.String(), "label": pl.Boolean(), "judge_model": pl.String()}
)
_YES: Final = frozenset({"yes", "true", "1"})
_NO: Final = frozenset({"no", "false", "0"})


class _Label(msgspec.Struct, gc=False):
    label: bool | int | str
    model: str | None = None


class _Line(msgspec.Struct, gc=False):
    question_id: str
    hypothesis: str
    autoeval_label: _Label | bool | int | str | None = None


_DECODER: Final = msgspec.json.Decoder(_Line)


def read_hypotheses(path: Path) -> pl.DataFrame:
    """Answers: question_id, hypothesis, label (whether it is right), judge_model; in the order of the file.

    Label and judge_model are null where nobody judged. A label is true, false, 1, 0, or one of yes, no, true, false, 1
    and 0 as text, in capitals or not; it may stand alone as ``autoeval_label``, without a model.

    Raises:
        BadInput: the file cannot be read or is empty, a line is not such an object, a label is anything else, or a
            question has a line already: names the line and the field.
    """
    seen: dict[str, int] = {}
    rows: list[tuple[str, str, bool | None, str | None]] = []
    for number, line in lines(path):
        found = decode(path, number, line, _DECODER)
        first = seen.setdefault(found.question_id, number)
        if first != number:
            problem = f"{shown(found.question_id)} is the question of line {first} too"
            raise bad_line(path, number, problem, "keep one of the two lines", field="question_id")
        judged = found.autoeval_label
        model = judged.model if isinstance(judged, _Label) else None
        label = judged.label if isinstance(judged, _Label) else judged
        rows.append((found.question_id, found.hypothesis, _label(path, number, label), model))
    return pl.DataFrame(rows, schema=HYPOTHESES_SCHEMA, orient="row")


def _label(path: Path, number: int, label: bool | int | str | None) -> bool | None:
    if label is None:
        return None
    word = str(label).lower()
    if word not in _YES | _NO:
        problem = f"{shown(str(label))} is no label"
        raise bad_line(path, number, problem, "write true or false", field="autoeval_label")
    return word in _YES
