"""Which file a source is: its format from its first bytes, its variant from its digest or else from its content."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from converters.errors import BadInput
from converters.published import by_digest
from converters.source import open_source

Format: TypeAlias = Literal["longmemeval", "fixture"]


@dataclass(frozen=True)
class Variant:
    """Which benchmark a source is.

    Attributes:
        name: for instance ``longmemeval_s_cleaned``.
        how: ``digest`` if the bytes are those of a published file, ``derived`` if the content looks like it.
        detail: one sentence for a reader.
    """

    name: str
    how: Literal["digest", "derived"]
    detail: str


_ALL_QUESTIONS: Final = 500
# Published haystacks hold 38 to 66 sessions (S) and 460 to about 500 (M): the mean of a file tells one from the other.
_S_SESSIONS: Final = (30, 80)
_M_SESSIONS: Final = (400, 600)


def longmemeval_variant(sha256: str, *, n_questions: int, n_sessions: int, n_filler: int) -> Variant:
    """The variant of a LongMemEval file.

    Args:
        sha256: digest of its content, unpacked.
        n_questions: how many records.
        n_sessions: haystack sessions of all records together.
        n_filler: how many of them are not evidence; an oracle file has none.
    """
    if (published := by_digest(sha256)) is not None:
        return Variant(published.name, "digest", f"{published.detail} (known sha256)")
    mean = n_sessions / n_questions
    if n_filler == 0:
        name, shape = "longmemeval_oracle", "oracle-like (evidence sessions alone)"
    elif _S_SESSIONS[0] <= mean <= _S_SESSIONS[1]:
        name, shape = "longmemeval_s", "S-shaped"
    elif _M_SESSIONS[0] <= mean <= _M_SESSIONS[1]:
        name, shape = "longmemeval_m", "M-shaped"
    else:
        name, shape = "longmemeval_other", "neither oracle-like nor S- or M-shaped"
    part = "" if n_questions == _ALL_QUESTIONS else f" (the published files have {_ALL_QUESTIONS})"
    sizes = f"{n_questions} questions{part}, {mean:.1f} sessions each on average"
    return Variant(name, "derived", f"not a known sha256; {shape}: {sizes}")


def sniff_format(path: Path) -> Format:
    """The format of a source, from its first character: an array is LongMemEval's, an object is a fixture.

    Raises:
        BadInput: the file cannot be read, or begins with neither.
    """
    with open_source(path) as reader:
        data = reader.read(1)
        while data and not data.strip():
            data = reader.read(1)
    match data.lstrip()[:1]:
        case b"[":
            return "longmemeval"
        case b"{":
            return "fixture"
    raise BadInput(
        path,
        "is neither a JSON array (LongMemEval) nor a JSON object (a fixture)",
        "give a file of one of these formats, plain or gzipped",
    )
