"""The judge without a model: compares words, numbers and days. It is no substitute for one.

It is there so that the whole pipeline runs without a key, and every number of it is labelled ``lexical``. It reads no
meaning: a right answer in other words is wrong to it, and "not in Denver" holds "Denver".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from judges.judging.choose import PromptName, choose
from judges.judging.facts import alternatives, beside_facts, facts_missing, meaning
from judges.judging.verdict import RIGHT_ABOVE, Verdict
from judges.refusal import is_refusal
from judges.words import words

NAME: Final = "lexical"
"""What ``Judgments`` has as judge."""
LEAST_SHARED: Final = 0.75
"""Share of the reference's words that a right answer has, if it does not hold them in a row."""
RUBRIC_SHARED: Final = 0.3
"""Share of a rubric's words above which advice is taken to follow it."""
_SPAN: Final = re.compile(r"\bhow many (?:day|week|month|year)s\b", re.IGNORECASE)
_DISLIKES: Final = re.compile(
    r"\b(?:might|may|would|will|do|does) not (?:prefer|like|want|appreciate|be)\b", re.IGNORECASE
)
_RUBRIC: Final = frozenset(
    meaning(
        """user prefer response suggestion suggest recommend recommendation tailored specific specifically general
        generic advice build upon mention acknowledge utilize use consider interest related relevant such particularly
        especially include focus take account existing previous current might may"""
    )
)


def lexical_verdict(
    question: str, answer: str | None, hypothesis: str, question_type: str, is_abstention: bool
) -> Verdict:
    """Judge one answer; the arguments are those of ``judges.judging.build.judging_prompt``.

    An abstention is right if the answer refuses. A preference is right if it uses more than ``RUBRIC_SHARED`` of the
    rubric's words. Any other question is right if the answer holds the reference's words in a row, or at least
    ``LEAST_SHARED`` of them with all its numbers, days and durations; those may be off by one for a question about
    time. Of a reference's alternatives the best counts. A wrong answer scores half its F1 of words, at most 0.5.
    """
    prompt = choose(question_type, is_abstention)
    if prompt == "abstention":
        refused = is_refusal(hypothesis)
        return Verdict(float(refused), refused, _why("a refusal" if refused else "no refusal"))
    if not answer or not words(answer):
        return Verdict(0.0, False, _why("there is no reference to compare with"))
    if prompt == "preference":
        return _advice(question, answer, hypothesis)
    verdicts = [_compared(question, gold, hypothesis, prompt) for gold in alternatives(answer) if words(gold)]
    return max(verdicts, key=lambda verdict: verdict.score)


def _compared(question: str, gold: str, hypothesis: str, prompt: PromptName) -> Verdict:
    first = words(hypothesis)[:1]
    if words(gold) in (["yes"], ["no"]) or {words(gold)[0], *first} == {"yes", "no"}:
        agrees = words(gold)[:1] == first
        return Verdict(float(agrees), agrees, _why("yes or no"))
    wanted, given = meaning(gold), meaning(hypothesis)
    off_by = int(prompt == "temporal")
    missing = facts_missing(gold, hypothesis, off_by, off_by if _SPAN.search(question) else 0)
    if _holds(words(hypothesis), words(gold)) or (not missing and _holds(given, wanted)):
        return Verdict(1.0, True, _why("the reference's words, in a row"))
    if is_refusal(hypothesis):
        return Verdict(0.0, False, _why("a refusal"))
    # Facts that are there may be there in other words: two weeks for 14 days.
    needed = set(wanted) if missing else beside_facts(wanted)
    needed = (needed - set(meaning(question))) or needed
    shared = len(needed & set(given)) / len(needed) if needed else 1.0
    if not missing and shared >= LEAST_SHARED:
        why = f"{shared:.0%} of the reference's words" if needed else "the reference's numbers and days"
        return Verdict(shared, True, _why(why))
    precision = len(set(wanted) & set(given)) / max(1, len(set(given)))
    f1 = 2 * shared * precision / (shared + precision) if shared + precision else 0.0
    lacks = f"; missing: {', '.join(missing)}" if missing else ""
    return Verdict(min(RIGHT_ABOVE, f1 / 2), False, _why(f"{shared:.0%} of the reference's words{lacks}"))


def _advice(question: str, rubric: str, hypothesis: str) -> Verdict:
    likes = _DISLIKES.split(rubric, maxsplit=1)[0]
    wanted = set(meaning(likes)) - _RUBRIC - set(meaning(question))
    shared = len(wanted & set(meaning(hypothesis))) / len(wanted) if wanted else 0.0
    score = min(1.0, shared / (RUBRIC_SHARED / RIGHT_ABOVE))
    return Verdict(score, score > RIGHT_ABOVE, _why(f"{shared:.0%} of the rubric's words"))


def _holds(given: Sequence[str], wanted: Sequence[str]) -> bool:
    return f" {' '.join(wanted)} " in f" {' '.join(given)} "


def _why(reason: str) -> str:
    return f"{NAME}: {reason}"
