"""Under which conditions a run was scored, and whether two runs may be compared at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from converters.errors import BadInput

UNNAMED: Final = "(not named)"
"""A judge that nobody names."""


class Conditions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What must be the same for a difference to say something about the systems.

    Attributes:
        benchmark: name of the benchmark.
        digest: of its file, or of whatever else determines its questions and ground truth.
        k: hits asked for; null of a run without retrieval.
        judges: name of each judge to the version of its prompts; empty of a run without judgments.
    """

    benchmark: str
    digest: str
    k: int | None = None
    judges: dict[str, str] = {}

    def unlike(self, other: Conditions) -> list[str]:
        """In words, each condition that differs; empty where the two may be compared."""
        return list(self._differences(other))

    def _differences(self, other: Conditions) -> Iterator[str]:
        if self.benchmark != other.benchmark:
            yield f"benchmark {self.benchmark} and {other.benchmark}"
        if self.digest != other.digest:
            yield f"benchmark digest {self.digest[:12]} and {other.digest[:12]}"
        if self.k != other.k:
            yield f"hits asked for {_shown(self.k)} and {_shown(other.k)}"
        for judge in sorted({*self.judges, *other.judges}):
            mine, theirs = self.judges.get(judge), other.judges.get(judge)
            if mine is None or theirs is None:
                yield f"judge {judge or UNNAMED} on one side only"
            elif mine != theirs:
                yield f"prompt version of {judge or UNNAMED} {mine} and {theirs}"


def refuse_unlike(source: object, left: Conditions, right: Conditions, *, remedy: str) -> None:
    """Refuse to compare unlike runs.

    Args:
        source: what the message is about, for instance the baseline's file.
        left: conditions of one.
        right: conditions of the other.
        remedy: what the reader can do.

    Raises:
        BadInput: they differ; the line names each difference.
    """
    differences = left.unlike(right)
    if differences:
        raise BadInput(source, f"the runs are unlike: {', '.join(differences)}", remedy)


def _shown(k: int | None) -> str:
    return "none" if k is None else str(k)
