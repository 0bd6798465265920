"""What a source holds that is read whole by its converter: what the tables hold, and what the converter counted."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from converters.convert import convert_corpus
from converters.inspect.corpus import table_facts
from converters.inspect.report import Inspection, Quirk

_QUIRKS: Final[Mapping[str, tuple[str, str]]] = {
    "mended_evidence": (
        "texts",
        "evidence is not an id as its turn has it, yet names turns: several ids, a stray colon",
    ),
    "unmapped_evidence": ("texts", "evidence of which a part or all names no turn"),
    "questions_without_evidence": ("questions", "evidence is empty, or names no turn"),
    "answered_abstentions": ("questions", "nothing answers it, yet it has an answer"),
    "blank_turns": ("turns", "no words: import and embedding APIs refuse it"),
    "empty_sessions": ("sessions", "without a turn"),
    "dates_without_session": ("dates", "of a session that is not there"),
    "sessions_after_question": ("sessions", "dated after the question"),
    "repeated_ids": ("sessions", "an earlier session of the haystack has the same id"),
}


def inspect_converted(path: Path, format: str, progress: Callable[[int], None] | None = None) -> Inspection:
    """Inspect a source by converting it to tables, which are thrown away.

    Facts: those of ``converters.inspect.corpus``, with what the converter counted beside its quirks; a quirk that has
    to be explained by name has its first explanation as the example.

    Raises:
        BadInput: see ``converters.convert.convert_corpus``.
    """
    with tempfile.TemporaryDirectory(prefix="eval-assets-") as scratch:
        made = convert_corpus(path, format, Path(scratch) / "corpus", progress=progress)
        facts = {name: section for name, section in table_facts(made.corpus.folder).items() if name != "source"}
    counts = {name: n for name, n in made.counts.items() if name not in _QUIRKS}
    examples = {"unmapped_evidence": made.notes[0]} if made.notes else {}
    quirks = [
        Quirk(name, unit, description, made.counts[name], examples.get(name) if made.counts[name] else None)
        for name, (unit, description) in _QUIRKS.items()
        if name in made.counts
    ]
    return Inspection(path.name, format, made.variant, made.fingerprint, {**facts, "counted": counts}, quirks)
