"""What an LLM reader is sent: its rules, the date, the memories that fit, and the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from judges.cutting import Count, beginning
from judges.fence import Fence
from judges.hits import HitLike, shown_date
from judges.prompt_files import PromptFile, load

Message = dict[str, str]

_SAID_MORE: Final = 4
"""Tokens by which longer numbers may lengthen what is said about the cut."""


@dataclass(frozen=True)
class ReadingPrompt:
    """A request to a reader.

    Attributes:
        messages: role and content, as an OpenAI-compatible endpoint takes them.
        n_hits_used: hits that are in the prompt, the last of them perhaps its beginning only.
        n_hits_cut: hits that are not.
        shortened: the last hit used is not whole.
        said: what the prompt says about that.
    """

    messages: list[Message]
    n_hits_used: int
    n_hits_cut: int
    shortened: bool
    said: str


def prompt_file() -> PromptFile:
    """The reader's rules."""
    return load("judges.readers.prompts", "reader")


def prompt_version() -> str:
    """Name, version and digest of the rules."""
    return prompt_file().label


def reading_prompt(
    question: str, as_of: datetime | None, hits: Sequence[HitLike], *, budget_tokens: int, count: Count
) -> ReadingPrompt:
    """Put a question and its hits into a prompt of at most ``budget_tokens``.

    Hits are taken in their order, whole, until one does not fit; of that one its beginning is taken if there is room
    for some of it, and none after it. What is left out is told to the reader.

    Args:
        question: its text.
        as_of: today, to the reader.
        hits: best first.
        budget_tokens: of all messages together, the rules included. Rules and question are never cut: where they alone
            take more, the prompt holds no hit and is longer than the budget.
        count: tokens of a text, for instance ``judges.tokens.estimate_tokens``.
    """
    rules = prompt_file().text
    fence = Fence.around([question, *(hit.content for hit in hits)])

    def made(blocks: Sequence[str], shortened: bool, said: str = "") -> ReadingPrompt:
        said = said or _said(len(blocks), len(hits), shortened)
        top = f"Marker: {fence.marker}\nToday: {shown_date(as_of, 'not known')}\n{said}"
        user = "\n\n".join([top, *blocks, fence.wrap("question", question)])
        messages = [{"role": "system", "content": rules}, {"role": "user", "content": user}]
        return ReadingPrompt(messages, len(blocks), len(hits) - len(blocks), shortened, said)

    def size(prompt: ReadingPrompt) -> int:
        return sum(count(message["content"]) for message in prompt.messages)

    longest = _said(max(1, len(hits) - 1), len(hits), True)
    room = budget_tokens - size(made([], False, longest)) - _SAID_MORE
    blocks: list[str] = []
    shortened = False
    for number, hit in enumerate(hits, start=1):
        label = f"memory {number} | {shown_date(hit.date)}"
        block = fence.wrap(label, hit.content)
        cost = count(f"{block}\n\n")
        if cost > room:
            part = beginning(hit.content, room, lambda text: count(fence.wrap(label, text)))  # noqa: B023
            if part:
                blocks.append(fence.wrap(label, part))
                shortened = True
            break
        blocks.append(block)
        room -= cost
    prompt = made(blocks, shortened)
    # Two texts joined may have more tokens than the two apart, by some tokenizers.
    while blocks and size(prompt) > budget_tokens:
        blocks.pop()
        prompt = made(blocks, shortened := False)
    return prompt


def _said(n_used: int, n_hits: int, shortened: bool) -> str:
    if not n_hits:
        return "Memories: none were found."
    if n_used == n_hits and not shortened:
        return f"Memories: {n_hits}, all that were found."
    if not n_used:
        return f"Memories: {n_hits} found, all left out for lack of space."
    n_cut = n_hits - n_used
    ends = f"the last one shown is cut short{' and ' if n_cut else ''}" if shortened else ""
    left = f"the other {n_cut} are left out" if n_cut else ""
    return f"Memories: the first {n_used} of {n_hits} found; {ends}{left} for lack of space."
