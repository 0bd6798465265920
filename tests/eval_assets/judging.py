"""Judges of a fake model that know the bundled cases, and the hits that hold the reference."""

from __future__ import annotations

import json
from collections.abc import Collection

from fakes.openai import Asked, Say, usual, verdict

from judges.judging.cases import Case, bundled_cases


def case_of(asked: Asked) -> Case | None:
    """The case that a judge is shown; None for anything else."""
    shown = (case for case in bundled_cases() if case.question in asked.text and case.hypothesis in asked.text)
    return max(
        (case for case in shown if case.answer is None or case.answer in asked.text),
        key=lambda case: len(case.hypothesis),
        default=None,
    )


def judges_hits(asked: Asked) -> bool:
    """Whether hits are to be judged, and no answer."""
    return asked.judges and bool(asked.fenced("memory"))


def hits_judged(asked: Asked) -> Say:
    """A hit that holds the reference is relevant."""
    gold = asked.fenced("reference")[0]
    said = [
        {"index": index, "relevant": int(gold in text)} for index, text in enumerate(asked.fenced("memory"), start=1)
    ]
    return Say(json.dumps({"relevance": said}))


class Knowing:
    """Says of each case what is true, but for those that it is to get wrong; of all else what the usual judge says."""

    def __init__(self, wrong: Collection[str] = (), unreadable: Collection[str] = ()) -> None:
        self.wrong = wrong
        self.unreadable = unreadable

    def __call__(self, asked: Asked) -> Say:
        if judges_hits(asked):
            return hits_judged(asked)
        case = case_of(asked) if asked.judges else None
        if case is None:
            return usual(asked)
        if case.case in self.unreadable:
            return Say("Hard to say.")
        right = case.expected != (case.case in self.wrong)
        return Say(verdict(right) if asked.fenced("reference") else "yes" if right else "no")
