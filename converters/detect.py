"""Which file a source is: its format from its first bytes, its variant from its digest or else from its content."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from converters.errors import BadInput
from converters.published import by_digest
from converters.source import SourceReader, open_source

Format: TypeAlias = Literal["longmemeval", "locomo", "datasets", "fixture"]


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


# Of an array's elements: below the array and the element.
_FIRST_KEYS: Final = 2
_TELLING: Final[dict[str, Format]] = {
    **dict.fromkeys(("sample_id", "conversation", "qa", "event_summary", "observation", "session_summary"), "locomo"),
    **dict.fromkeys(("question_id", "question_type", "question", "question_date", "haystack_sessions"), "longmemeval"),
    **dict.fromkeys(("haystack_dates", "haystack_session_ids", "answer_session_ids"), "longmemeval"),
}
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
    """The format of a source, from its beginning.

    An object is a fixture. An array is LoCoMo's or LongMemEval's, as the first telling key of its first element says,
    and LongMemEval's if none does; no more of it is read. A Parquet file is a data set.

    Raises:
        BadInput: the file cannot be read, or begins with neither.
    """
    with open_source(path) as reader:
        data = reader.read(1)
        while data and not data.strip():
            data = reader.read(1)
        match data.lstrip()[:1]:
            case b"[":
                return _array_format(_Beginning(data, reader))
            case b"{":
                return "fixture"
    if data.startswith(b"PAR1"):
        return "datasets"
    raise BadInput(
        path,
        "is neither a JSON array (LongMemEval, LoCoMo) nor a JSON object (a fixture)",
        "give a file of one of these formats, plain or gzipped",
    )


class _Beginning:
    """A reader with the bytes before it put back."""

    def __init__(self, data: bytes, reader: SourceReader) -> None:
        self._data = data
        self._reader = reader

    def read(self, size: int = -1) -> bytes:
        if size == 0:
            return b""
        data, self._data = self._data, b""
        return data or self._reader.read(size)


def _array_format(beginning: _Beginning) -> Format:
    import ijson

    # What is damaged is left to the format's own reader, which can say where. As floats: of an integer of more digits
    # than Python converts, ijson's parser otherwise ends the process.
    depth = 0
    with suppress(ijson.JSONError, BadInput):
        # Not ijson.parse: it names the way to each value, whose length grows with the depth, and so would the memory.
        for event, value in ijson.basic_parse(beginning, use_float=True):
            depth += event.startswith("start_") - event.startswith("end_")
            if depth == _FIRST_KEYS and event == "map_key" and value in _TELLING:
                return _TELLING[value]
            if depth == _FIRST_KEYS - 1 and event == "end_map":
                break
    return "longmemeval"
