"""The filler sessions that haystacks are filled from: distinct texts that tell no question's evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from converters.compose.evidence import Evidence, evidence_positions, session_hash
from converters.identity import Turn
from converters.longmemeval import read_records
from converters.source import SourceFingerprint, open_source

# The published S file holds about 489,000 characters a question, and other tools count about 115,000 tokens in them.
CHARACTERS_PER_TOKEN: Final = 4.25


def estimated_tokens(n_chars: int) -> int:
    """Characters of a session's contents by ``CHARACTERS_PER_TOKEN``, rounded up."""
    return math.ceil(n_chars / CHARACTERS_PER_TOKEN)


class Filler(NamedTuple):
    """A session to fill with: its hash, its turns without labels, its date where it was met first, its tokens."""

    digest: str
    turns: Sequence[Turn]
    date: datetime
    tokens: int


@dataclass(frozen=True)
class Pool:
    """Filler sessions.

    Attributes:
        fillers: in the order in which they were met.
        sources: which bytes they come from, by file.
        counts: sessions (read, evidence of their own questions left out), distinct (texts), evidence (of these, texts
            that are evidence of another question), blank (of these, without text), telling (of these, with a turn that
            tells a question's evidence) and usable (the rest).
    """

    fillers: Sequence[Filler]
    sources: Sequence[SourceFingerprint]
    counts: dict[str, int]


def read_pool(paths: Sequence[Path], evidence: Evidence, progress: Callable[[Path, int], None] | None = None) -> Pool:
    """The distinct sessions of LongMemEval files that are nobody's evidence. The texts are held in memory.

    Args:
        paths: plain or gzipped.
        evidence: of the questions to fill for; the evidence of the files' own questions is added.
        progress: told how many bytes of which file are read.

    Raises:
        BadInput: see ``converters.longmemeval.read_records``.
    """
    met: dict[str, Filler] = {}
    sources = []
    n_sessions = 0
    for path in paths:
        tell = None if progress is None else lambda done, path=path: progress(path, done)
        with open_source(path, tell, mark_surrogates=False) as reader:
            for record in read_records(reader):
                evidence.add(record)
                gold = set(evidence_positions(record))
                for position, session in enumerate(record.haystack_sessions):
                    if position in gold:
                        continue
                    n_sessions += 1
                    digest = session_hash(session)
                    if digest not in met:
                        turns = [(turn.role, turn.content) for turn in session]
                        tokens = estimated_tokens(sum(len(content) for _, content in turns))
                        met[digest] = Filler(digest, turns, record.haystack_dates[position], tokens)
            sources.append(reader.fingerprint())
    others = [filler for filler in met.values() if filler.digest not in evidence.hashes]
    speaking = [filler for filler in others if any(content.strip() for _, content in filler.turns)]
    usable = _telling_nothing(speaking, evidence)
    counts = {
        "sessions": n_sessions,
        "distinct": len(met),
        "evidence": len(met) - len(others),
        "blank": len(others) - len(speaking),
        "telling": len(speaking) - len(usable),
        "usable": len(usable),
    }
    return Pool(usable, sources, counts)


def _telling_nothing(fillers: Sequence[Filler], evidence: Evidence) -> list[Filler]:
    told = iter(evidence.told_by([content for filler in fillers for _, content in filler.turns]))
    # The list within takes as many as the session has turns; any() alone would stop early, and lose its place.
    return [filler for filler in fillers if not any([next(told) for _ in filler.turns])]  # noqa: C419
