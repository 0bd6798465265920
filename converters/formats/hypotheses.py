"""LongMemEval's answers: JSON lines, with a judge's label once they are evaluated.

Source of the format: ``src/generation/run_generation.py`` and ``src/evaluation/evaluate_qa.py`` of the LongMemEval
repository.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from converters.errors import BadInput
from converters.formats.files import counted, json_line, whole_file


class Hypothesis(NamedTuple):
    """An answer, and what a judge said of it.

    Attributes:
        question_id: which question.
        hypothesis: the answer's text.
        label: whether it is right; None where nobody has judged it.
        judge_model: who has; LongMemEval's ``print_qa_metrics.py`` accepts ``gpt-4o-2024-08-06`` alone.
    """

    question_id: str
    hypothesis: str
    label: bool | None = None
    judge_model: str | None = None


def write_hypotheses(rows: Iterable[Hypothesis], out: Path, *, force: bool = False) -> list[str]:
    """Write answers, a line each in the order given; lines that say what was written.

    ``{"question_id", "hypothesis"}``, and ``"autoeval_label": {"model", "label"}`` where there is a label.

    Raises:
        BadInput: a question has two answers, something is at ``out``, or the place cannot be written to. Nothing is
            written then.
    """
    seen: set[str] = set()
    n_judged = 0
    with whole_file(out, force=force) as file:
        for row in rows:
            if row.question_id in seen:
                raise BadInput(out, "has two answers", "give each question one", record=ascii(row.question_id))
            seen.add(row.question_id)
            line: dict[str, object] = {"question_id": row.question_id, "hypothesis": row.hypothesis}
            if row.label is not None:
                line["autoeval_label"] = {"model": row.judge_model, "label": row.label}
                n_judged += 1
            file.write(json_line(line) + "\n")
    return [f"wrote {out}: {counted(len(seen), 'answer')}, {n_judged:,} of them judged"]
