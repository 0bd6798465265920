"""What a judge of relevance is sent: one question and all its hits in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from judges.cutting import Count, beginning
from judges.fence import Fence
from judges.hits import HitLike, shown_date
from judges.prompt_files import PromptFile, load
from judges.tokens import estimate_tokens

RESPONSE_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "relevance": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"index": {"type": "integer"}, "relevant": {"type": "integer", "enum": [0, 1]}},
                "required": ["index", "relevant"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["relevance"],
    "additionalProperties": False,
}
"""JSON schema of a reply, in the form that strict structured output takes."""
HIT_TOKENS: Final = 1_000
"""Tokens of a hit that are shown by default."""


@dataclass(frozen=True)
class RelevancePrompt:
    """A request to a judge of relevance.

    Attributes:
        messages: role and content, as an OpenAI-compatible endpoint takes them.
        n_hits: hits to judge; the reply must have a judgment of each.
        n_shortened: hits of which only the beginning is shown.
        version: of the prompt, with its digest.
        response_schema: JSON schema of the reply where the endpoint honours one.
    """

    messages: list[dict[str, str]]
    n_hits: int
    n_shortened: int
    version: str
    response_schema: Mapping[str, Any]


def prompt_file() -> PromptFile:
    """The rules of relevance."""
    return load("judges.relevance.prompts", "relevance")


def relevance_prompt(
    question: str,
    answer: str | None,
    hits: Sequence[HitLike],
    *,
    hit_tokens: int = HIT_TOKENS,
    count: Count = estimate_tokens,
) -> RelevancePrompt:
    """The prompt that judges every hit of a question.

    Args:
        question: its text.
        answer: the reference; None where there is none.
        hits: best first; their index is their place from 1. Without hits there is nothing to ask.
        hit_tokens: of a longer hit the beginning is shown, and said to be that.
        count: tokens of a text.
    """
    gold = "(none is given)" if answer is None else answer
    fence = Fence.around([question, gold, *(hit.content for hit in hits)])
    shown = [
        hit.content if count(hit.content) <= hit_tokens else beginning(hit.content, hit_tokens, count) for hit in hits
    ]
    parts = [
        f"Marker: {fence.marker}",
        fence.wrap("question", question),
        fence.wrap("reference", gold),
        *(
            fence.wrap(f"memory {index} | {shown_date(hit.date)}", text)
            for index, (hit, text) in enumerate(zip(hits, shown, strict=True), start=1)
        ),
        f"Judge all {len(hits)} memories by the rules above. Reply with the JSON object alone.",
    ]
    file = prompt_file()
    messages = [{"role": "system", "content": file.text}, {"role": "user", "content": "\n\n".join(parts)}]
    n_shortened = sum(hit.content != text for hit, text in zip(hits, shown, strict=True))
    return RelevancePrompt(messages, len(hits), n_shortened, file.label, RESPONSE_SCHEMA)
