"""LoCoMo's samples to corpus tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from itertools import chain
from pathlib import Path

from converters.array import array_objects
from converters.checked import shown
from converters.conversion import Conversion
from converters.corpus import CorpusWriter
from converters.detect import Variant
from converters.errors import BadInput
from converters.locomo_evidence import TurnIndex
from converters.locomo_record import CATEGORIES, FIELDS, Question, Sample, parse_sample
from converters.published import by_digest
from converters.record_problem import RecordProblem
from converters.source import SourceReader, open_source


def convert_locomo(
    source: Path,
    folder: Path,
    provenance: Mapping[str, object] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Conversion:
    """As ``converters.convert.convert_corpus``, from LoCoMo's ``locomo10.json`` or a file like it.

    - A sample's conversation is one haystack with the sample's id, shared by all its questions.
    - ``speaker_a`` has the role user and ``speaker_b`` assistant, for the tables know no names. Questions ask for
      people by name, so a turn's text is ``Caroline said, "..."``, followed by `` and shared CAPTION`` for a photo:
      the form that LoCoMo's own scripts give to a retriever. Captions hold answers; urls and search words do not.
    - Dates have no zone and are read as UTC. Sessions are in the order of their numbers; those without a turn, and
      dates without a session, are left out and counted.
    - A question's id is the sample's id, ``_q`` and its number from 1. It has no date (``question_date`` is null);
      ``as_of`` is the haystack's last date. Its type is the name of its category.
    - Category 5 (adversarial) asks for what the conversation does not hold: ``is_abstention`` is true. The right
      reply is a refusal, so ``answer`` is null, and ``adversarial_answer``, the wrong reply that the question leads
      to, is in no table. Two of the published file's have an ``answer`` as well, which is kept.
    - Evidence is mapped by ``converters.locomo_evidence``; what names no turn is counted, and named in ``notes`` and
      in the files' footers.

    Counts:

    - questions, abstention_questions; haystacks
    - haystack_rows: sessions; sessions: distinct texts of sessions; turns, and distinct_turns
    - blank_turns: turns without words, photos or not; photo_turns: turns with a caption
    - evidence_turns: turns that are evidence, counted as often as a question names them
    - mended_evidence: evidence strings that are no id as written, yet name turns
    - unmapped_evidence: evidence strings of which a part or all names no turn
    - questions_without_evidence: whose evidence is empty, or names no turn
    - answered_abstentions: of category 5, with an answer all the same
    - empty_sessions, dates_without_session: left out

    Raises:
        BadInput: as for ``converters.locomo_record.parse_sample``; two samples with one id; not an array of samples.
    """
    counts: Counter[str] = Counter()
    notes: list[str] = []
    with open_source(source, progress, mark_surrogates=False) as reader, CorpusWriter(folder, provenance) as writer:
        for sample in _samples(reader):
            _add(writer, sample, counts, notes)
        fingerprint = reader.fingerprint()
        variant = _variant(fingerprint.sha256, counts)
        writer.add_provenance(
            {"source": {"name": source.name, **asdict(fingerprint)}, "variant": asdict(variant), "notes": notes}
        )
    assert writer.corpus is not None
    counts["sessions"] = writer.corpus.tables["sessions"].n_rows
    counts["distinct_turns"] = writer.corpus.tables["turns"].n_rows
    return Conversion(writer.corpus, fingerprint, variant, dict(counts), notes)


def _samples(reader: SourceReader) -> Iterator[Sample]:
    seen: dict[str, int] = {}
    for number, value in enumerate(chain.from_iterable(array_objects(reader, FIELDS)), 1):
        try:
            sample = parse_sample(value)
            first = seen.setdefault(sample.sample_id, number)
            if first != number:
                raise RecordProblem("sample_id", f"is the sample_id of sample {first} too", "give each sample its own")
        except RecordProblem as error:
            raise BadInput(
                reader.path, error.problem, error.remedy, record=_name(number, value), field=error.field
            ) from None
        yield sample
    if not seen:
        raise BadInput(reader.path, "is an array without samples", "fetch the file again")


def _name(number: int, value: object) -> str:
    sample_id = value.get("sample_id") if isinstance(value, dict) else None
    if not isinstance(sample_id, str) or not sample_id:
        return f"sample {number}"
    return f"sample {number} ({sample_id if sample_id.isprintable() else ascii(sample_id)})"


def _variant(sha256: str, counts: Mapping[str, int]) -> Variant:
    published = by_digest(sha256)
    if published is not None:
        return Variant(published.name, "digest", f"{published.detail} (known sha256)")
    sizes = f"{counts['haystacks']} conversations, {counts['questions']} questions"
    return Variant("locomo", "derived", f"not a known sha256; LoCoMo-shaped: {sizes}")


def _add(writer: CorpusWriter, sample: Sample, counts: Counter[str], notes: list[str]) -> None:
    hashes = [
        writer.add_session([(sample.roles[turn.speaker], turn.content) for turn in session.turns])
        for session in sample.sessions
    ]
    writer.add_haystack(sample.sample_id, zip(hashes, (session.date for session in sample.sessions), strict=True))
    turns = [turn for session in sample.sessions for turn in session.turns]
    counts.update(
        {
            "haystacks": 1,
            "haystack_rows": len(hashes),
            "turns": len(turns),
            "blank_turns": sum(not turn.text.strip() for turn in turns),
            "photo_turns": sum(bool(turn.blip_caption) for turn in turns),
            "empty_sessions": sample.n_empty,
            "dates_without_session": sample.n_dates_alone,
        }
    )
    index = TurnIndex(sample.sessions)
    for number, question in enumerate(sample.questions, 1):
        question_id = f"{sample.sample_id}_q{number}"
        writer.add_question(
            question_id,
            haystack_id=sample.sample_id,
            question=question.question,
            question_date=None,
            as_of=max(session.date for session in sample.sessions),
        )
        notes += _add_truth(writer, question_id, question, sample, index, hashes, counts)


def _add_truth(
    writer: CorpusWriter,
    question_id: str,
    question: Question,
    sample: Sample,
    index: TurnIndex,
    hashes: list[str],
    counts: Counter[str],
) -> list[str]:
    evidence = index.find(question.evidence)
    positions = list(dict.fromkeys(position for position, _ in evidence.places))
    answer = question.answer
    writer.add_ground_truth(
        question_id,
        question_type=CATEGORIES[question.category],
        is_abstention=question.is_adversarial,
        answer=None if answer is None else str(answer),
        answer_type=None if answer is None else type(answer).__name__,
        source_session_ids=[session.name for session in sample.sessions],
        answer_session_ids=[sample.sessions[position].name for position in positions],
        evidence_hashes=list(dict.fromkeys(hashes[position] for position in positions)),
        evidence_turns=list(dict.fromkeys((hashes[position], turn) for position, turn in evidence.places)),
        turn_labels=[],
    )
    counts.update(
        {
            "questions": 1,
            "abstention_questions": int(question.is_adversarial),
            "answered_abstentions": int(question.is_adversarial and answer is not None),
            "evidence_turns": len(evidence.places),
            "mended_evidence": evidence.n_mended,
            "unmapped_evidence": len(evidence.unmapped),
            "questions_without_evidence": int(not evidence.places),
        }
    )
    return [
        f"{question_id} ({shown(question.question)}): evidence {shown(text)} names no turn"
        if not index.find([text]).places
        else f"{question_id} ({shown(question.question)}): a part of evidence {shown(text)} names no turn"
        for text in evidence.unmapped
    ]
