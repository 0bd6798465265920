"""What an LLM judge is sent.

Two sets of prompts. ``default`` is ours: one frame, five sets of rules, a score and a label as JSON. ``official`` is
LongMemEval's: the wording of the templates of ``get_anscheck_prompt``, ``src/evaluation/evaluate_qa.py`` in
xiaowu0162/LongMemEval (MIT, (c) 2024 Di Wu), to the letter, for numbers that compare with published ones. It puts the
answer into the prompt as it is, so that an answer may steer it, and it knows LongMemEval's types only: another type is
asked with its first template, where the repository gives up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from judges.fence import Fence
from judges.judging.choose import NAMES, PromptName, choose
from judges.prompt_files import PromptFile, load

SetName = Literal["default", "official"]
SETS: Final[tuple[SetName, ...]] = ("default", "official")
OFFICIAL_PARAMETERS: Final[Mapping[str, Any]] = {"n": 1, "temperature": 0, "max_tokens": 10}
"""What the repository asks its judge with; its model is gpt-4o-2024-08-06."""
RESPONSE_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "explanation": {"type": "string", "description": "one or two sentences"},
        "score": {"type": "number", "description": "0 to 1"},
        "label": {"type": "string", "enum": ["correct", "incorrect"]},
    },
    "required": ["explanation", "score", "label"],
    "additionalProperties": False,
}
"""JSON schema of a reply, in the form that strict structured output takes."""
_PACKAGE: Final = "judges.judging.prompts"
_NOT_GIVEN: Final = "(none is given)"


@dataclass(frozen=True)
class JudgingPrompt:
    """A request to a judge.

    Attributes:
        messages: role and content, as an OpenAI-compatible endpoint takes them.
        name: which prompt of the set.
        version: of its files, with digests.
        response_schema: JSON schema of the reply where the endpoint honours one; None in the official set.
        parameters: what the set prescribes for the request; empty where it leaves that to the settings.
    """

    messages: list[dict[str, str]]
    name: PromptName
    version: str
    response_schema: Mapping[str, Any] | None
    parameters: Mapping[str, Any] = field(default_factory=dict)


def judging_prompt(
    set_name: SetName, question: str, answer: str | None, hypothesis: str, question_type: str, is_abstention: bool
) -> JudgingPrompt:
    """The prompt that judges one answer.

    Args:
        set_name: one of ``SETS``.
        question: its text.
        answer: the right answer; a rubric for a preference, an explanation for an abstention; None if there is none.
        hypothesis: the answer to judge.
        question_type: as in the source.
        is_abstention: the haystack does not hold the answer; it decides before the type.
    """
    name = choose(question_type, is_abstention)
    gold = _NOT_GIVEN if answer is None else answer
    if set_name == "official":
        file = _official(name)
        text = file.filled({"question": question, "answer": gold, "response": hypothesis})
        return JudgingPrompt([{"role": "user", "content": text}], name, file.label, None, OFFICIAL_PARAMETERS)
    frame, rules = _ours(name)
    fence = Fence.around([question, gold, hypothesis])
    parts = [
        f"Marker: {fence.marker}",
        fence.wrap("question", question),
        fence.wrap("reference", gold),
        fence.wrap("answer to grade", hypothesis),
        "Grade the answer by the rules above. Reply with the JSON object alone.",
    ]
    messages = [
        {"role": "system", "content": frame.filled({"rules": rules.text})},
        {"role": "user", "content": "\n\n".join(parts)},
    ]
    return JudgingPrompt(messages, name, f"{rules.label}+{frame.label}", RESPONSE_SCHEMA)


def prompt_versions(set_name: SetName) -> dict[PromptName, str]:
    """By prompt, the version that ``judging_prompt`` gives."""
    if set_name == "official":
        return {name: _official(name).label for name in NAMES}
    return {name: "+".join(file.label for file in reversed(_ours(name))) for name in NAMES}


def _official(name: PromptName) -> PromptFile:
    return load(_PACKAGE, f"official_{name}")


def _ours(name: PromptName) -> tuple[PromptFile, PromptFile]:
    return load(_PACKAGE, "frame"), load(_PACKAGE, name)
