"""What a LongMemEval file holds, record by record: a few digests a session are all that is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import UNSET

from converters.detect import longmemeval_variant
from converters.identity import content_hash
from converters.inspect.dated import dated_records
from converters.inspect.record_quirks import RECORD_QUIRKS, Seen
from converters.inspect.report import Inspection, Quirk, Section
from converters.inspect.session_quirks import SESSION_QUIRKS, Finding, session_findings
from converters.inspect.source_quirks import SOURCE_QUIRKS, AcrossRecords
from converters.inspect.tally import Spread, Tally
from converters.inspect.text_quirks import TEXT_QUIRKS
from converters.light import keep_freed_memory
from converters.longmemeval_record import Record, Turn
from converters.source import open_source

_ABSTENTION: Final = " (abstention)"


def inspect_longmemeval(path: Path, progress: Callable[[int], None] | None = None) -> Inspection:
    """Inspect a LongMemEval file, plain or gzipped.

    Facts, over all haystacks, so that a text counts as often as a haystack holds it, unless said:

    - questions: total, abstention, and by type, abstention questions apart
    - sessions: total, per question, distinct_texts, distinct_ids, first and last date
    - turns: total, user, assistant, per question, longest (characters) and where it is
    - characters: total, per question
    - evidence: sessions, per question, filler sessions; turns_marked by role, turns_labelled (has_answer is there, true
      or false), questions_marked
    - order: runs of questions of one type, as ``multi-session 62, ...``

    Args:
        path: the file.
        progress: told how many bytes of it are read.

    Raises:
        BadInput: see ``converters.longmemeval.read_longmemeval``.
    """
    keep_freed_memory()
    counted = _Counted()
    with open_source(path, progress, mark_surrogates=False) as reader:
        for record, date_texts in dated_records(reader):
            counted.add(record, date_texts)
        source = reader.fingerprint()
    variant = longmemeval_variant(
        source.sha256,
        n_questions=counted.n_questions,
        n_sessions=counted.sessions.total,
        n_filler=counted.sessions.total - counted.evidence.total,
    )
    return Inspection(path.name, "longmemeval", variant, source, counted.facts(), counted.quirks())


class _Text(NamedTuple):
    """What is kept of a distinct session: what its turns come to, and its quirks."""

    characters: int
    user: int
    longest: int
    longest_turn: int
    findings: Sequence[Finding]


class _Counted:
    def __init__(self) -> None:
        self.sessions, self.turns, self.characters, self.evidence = Spread(), Spread(), Spread(), Spread()
        self._types: Counter[str] = Counter()
        self._labels: Counter[str] = Counter()
        self._texts: dict[str, _Text] = {}
        self._across = AcrossRecords()
        self._tally = Tally()
        self._user_turns = 0
        self._longest = (-1, "")
        self._dates: tuple[str, str] | None = None

    @property
    def n_questions(self) -> int:
        return sum(self._types.values())

    def add(self, record: Record, date_texts: Sequence[str]) -> None:
        seen = Seen(record, date_texts)
        self._types[record.question_type + _ABSTENTION * record.is_abstention] += 1
        self.sessions.add(len(seen.gold))
        self.evidence.add(sum(seen.gold))
        self.turns.add(sum(map(len, record.haystack_sessions)))
        texts = [self._add_session(record, position) for position in range(len(seen.gold))]
        self.characters.add(sum(text.characters for text in texts))
        self._user_turns += sum(text.user for text in texts)
        for quirk in RECORD_QUIRKS:
            self._tally.add(quirk.name, quirk.count(seen), record.question_id)
        self._labels["turns_labelled"] += sum(
            turn.has_answer is not UNSET for turn in chain.from_iterable(record.haystack_sessions)
        )
        self._labels.update(f"turns_marked_{role}" for role in seen.marked_roles)
        self._labels["questions_marked"] += bool(seen.marked_roles)
        self._across.add_question(record)
        days = [f"{moment:%Y-%m-%d}" for moment in record.haystack_dates]
        if days:
            first, last = self._dates or (min(days), max(days))
            self._dates = min(first, *days), max(last, *days)

    def _add_session(self, record: Record, position: int) -> _Text:
        session, name = record.haystack_sessions[position], record.haystack_session_ids[position]
        digest = content_hash([(turn.role, turn.content) for turn in session])
        text = self._texts.get(digest)
        if text is None:
            text = self._texts[digest] = _read(session)
        where = f"{record.question_id} {name}"
        if text.longest > self._longest[0]:
            self._longest = text.longest, f"{where} turn {text.longest_turn}"
        for finding in text.findings:
            example = where if finding.turn is None else f"{where} turn {finding.turn}"
            self._tally.add(finding.name, finding.n, example)
        self._across.add_session(record, position, digest)
        return text

    def quirks(self) -> list[Quirk]:
        self._across.tell(self._tally)
        return self._tally.quirks([*RECORD_QUIRKS, *SOURCE_QUIRKS, *SESSION_QUIRKS, *TEXT_QUIRKS])

    def facts(self) -> Mapping[str, Section]:
        first, last = self._dates or (None, None)
        labels = {
            name: self._labels[name]
            for name in ("turns_labelled", "turns_marked_user", "turns_marked_assistant", "questions_marked")
        }
        abstention = sum(n for kind, n in self._types.items() if kind.endswith(_ABSTENTION))
        return {
            "questions": {"total": self.n_questions, "abstention": abstention, **dict(sorted(self._types.items()))},
            "sessions": {
                "total": self.sessions.total,
                **self.sessions.told("per_question"),
                "distinct_texts": len(self._texts),
                "distinct_ids": self._across.n_ids,
                "first_day": first,
                "last_day": last,
            },
            "turns": {
                "total": self.turns.total,
                "user": self._user_turns,
                "assistant": self.turns.total - self._user_turns,
                **self.turns.told("per_question"),
                "longest_characters": max(0, self._longest[0]),
                "longest_at": self._longest[1] or None,
            },
            "characters": {"total": self.characters.total, **self.characters.told("per_question")},
            "evidence": {
                "sessions": self.evidence.total,
                **self.evidence.told("per_question"),
                "filler_sessions": self.sessions.total - self.evidence.total,
                **labels,
            },
            "order": {"types": self._across.blocks_in_words},
        }


def _read(session: Sequence[Turn]) -> _Text:
    lengths = [len(turn.content) for turn in session]
    longest = max(lengths, default=-1)
    return _Text(
        sum(lengths),
        sum(turn.role == "user" for turn in session),
        longest,
        lengths.index(longest) if lengths else 0,
        session_findings(session),
    )
