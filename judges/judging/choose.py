"""Which prompt judges a question."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Literal

PromptName = Literal["default", "temporal", "knowledge_update", "preference", "abstention"]

NAMES: Final[tuple[PromptName, ...]] = ("default", "temporal", "knowledge_update", "preference", "abstention")
BY_TYPE: Final = MappingProxyType[str, PromptName](
    {
        # LongMemEval.
        "single-session-user": "default",
        "single-session-assistant": "default",
        "multi-session": "default",
        "temporal-reasoning": "temporal",
        "knowledge-update": "knowledge_update",
        "single-session-preference": "preference",
        # LoCoMo.
        "single-hop": "default",
        "multi-hop": "default",
        "open-domain": "default",
        "temporal": "temporal",
        "adversarial": "abstention",
    }
)


def choose(question_type: str, is_abstention: bool) -> PromptName:
    """The prompt's name: abstention where the question cannot be answered, whatever its type; else by its type.

    A type that is not known is judged by its key facts, with ``default``.
    """
    return "abstention" if is_abstention else BY_TYPE.get(question_type, "default")
