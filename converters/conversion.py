"""What a conversion made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from converters.corpus import Corpus
from converters.detect import Variant
from converters.source import SourceFingerprint


@dataclass(frozen=True)
class Conversion:
    """What a conversion made.

    Attributes:
        corpus: the written tables.
        fingerprint: which bytes they come from.
        variant: which benchmark that is.
        counts: what was met, by name; see ``converters.longmemeval_corpus.convert_longmemeval`` for LongMemEval's.
        notes: what a reader should know of single records, a line each: what of them could not be used, and why.
    """

    corpus: Corpus
    fingerprint: SourceFingerprint
    variant: Variant
    counts: Mapping[str, int]
    notes: Sequence[str] = ()
