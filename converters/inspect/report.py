"""What an inspection finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

from converters.detect import Variant
from converters.source import SourceFingerprint

Value: TypeAlias = int | float | str | bool | None
Section: TypeAlias = Mapping[str, Value]


@dataclass(frozen=True)
class Quirk:
    """Something that readers of such files tend to get wrong.

    Attributes:
        name: stable, for machines.
        unit: what is counted: turns, sessions, questions, ids, texts, dates or others.
        description: one line for a reader.
        count: how many; 0 where the source has none.
        example: where the first one is; null where there is none.
    """

    name: str
    unit: str
    description: str
    count: int
    example: str | None


@dataclass(frozen=True)
class Inspection:
    """What a source holds.

    Attributes:
        source: its name.
        format: ``longmemeval``, ``fixture``, ``corpus`` or another of the registry.
        variant: which benchmark it is; null where the format has but one.
        fingerprint: which bytes; null for a folder.
        facts: counts by section, in the order of reading.
        quirks: all that are looked for in this format, found or not.
    """

    source: str
    format: str
    variant: Variant | None
    fingerprint: SourceFingerprint | None
    facts: Mapping[str, Section]
    quirks: Sequence[Quirk]

    def as_dict(self) -> dict[str, object]:
        """For JSON: the attributes by name."""
        return asdict(self)
