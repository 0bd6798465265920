"""Errors whose message is for a person: what is wrong with what, and what to do about it."""

from __future__ import annotations

from typing import Final

_PART: Final = 300
"""Characters of the record, the field and the problem that a message shows."""
_REMEDY: Final = 1_500
"""Of the remedy, which is in our words, but may name a file, its digest and where it belongs."""
_END: Final = 60


class Told(Exception):  # noqa: N818 - named for what is done with it
    """An error whose message is one line for the reader; the command line prints it and exits with status 1."""


class BadInput(Told):
    """Input that cannot be used.

    Printed as one line, ``FILE: RECORD: FIELD: what is wrong; what to do``, with exit status 2.

    Attributes:
        source: the file, setting or command-line word at fault.
        problem: what is wrong with it.
        remedy: what the reader can do.
        record: which record of the source, for instance ``record 12 (gpt4_2655b836)``.
        field: which field of the record.
    """

    def __init__(
        self, source: object, problem: str, remedy: str, *, record: str | None = None, field: str | None = None
    ) -> None:
        self.source = str(source)
        self.problem = problem
        self.remedy = remedy
        self.record = record
        self.field = field
        super().__init__(self.line)

    @property
    def line(self) -> str:
        """The message on one line, whatever characters the input put into it, and however many."""
        where = ": ".join(_short(part) for part in (self.record, self.field) if part)
        said = f"{_short(self.problem)}; {_short(self.remedy, _REMEDY)}"
        return _printable(": ".join(part for part in (self.source, where, said) if part))


def _short(text: str, length: int = _PART) -> str:
    """Its beginning and its end; what an input holds may be of any length."""
    return text if len(text) <= length else f"{text[: length - _END]}...{text[-_END:]}"


def _printable(text: str) -> str:
    """White space as single blanks; what a terminal would not show, or take as a command, as its escape."""
    words = " ".join(text.split())
    if words.isprintable():
        return words
    return "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in words)
