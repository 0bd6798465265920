"""A LongMemEval file with composed haystacks, and a manifest beside it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from converters.compose.choose import Chosen, choose
from converters.compose.haystack import Composed, Length, compose_haystack
from converters.compose.pool import CHARACTERS_PER_TOKEN, Pool, read_pool
from converters.detect import longmemeval_variant
from converters.errors import BadInput
from converters.longmemeval import read_records
from converters.longmemeval_file import RecordsWriter
from converters.source import open_source
from converters.whole import refuse_present, whole_files

_FORMAT: Final = "eval-assets composed haystacks 1"
_TOKENS: Final = f"characters of a session's contents / {CHARACTERS_PER_TOKEN}, rounded up; no tokenizer is asked"


@dataclass(frozen=True)
class Plan:
    """What to compose.

    Attributes:
        questions: a LongMemEval file: its questions, and their evidence.
        fillers: LongMemEval files whose other sessions are the filler.
        length: of each haystack.
        seed: another seed draws other filler.
        types: only questions of these types; none: all. See ``converters.fixture.sample.select``.
        limit: at most so many questions. Those that are written have the haystacks that they have without a limit.
        force: replace what is there.
    """

    questions: Path
    fillers: Sequence[Path]
    length: Length
    seed: int
    types: Sequence[str] = ()
    limit: int | None = None
    force: bool = False


@dataclass(frozen=True)
class Written:
    """What was written: where, its manifest, and the ids of questions whose evidence alone is longer than asked."""

    path: Path
    manifest_path: Path
    manifest: Mapping[str, object]
    longer: Sequence[str]


def manifest_path(out: Path) -> Path:
    """``<name>.manifest.json`` beside ``<name>.json``."""
    return out.with_name(out.name.removesuffix(".json") + ".manifest.json")


def compose(plan: Plan, out: Path, progress: Callable[[str, int, int], None] | None = None) -> Written:
    """Write ``out``, in the order of the questions file, and its manifest: both or neither.

    The questions file is read twice, record by record; the filler's texts are held in memory, nothing else is. The same
    files, length, seed, types and limit give the same bytes.

    Args:
        plan: what to compose.
        out: the file, plain JSON as the published ones.
        progress: told what is under way, how much of it is done, and of how much.

    Raises:
        BadInput: a source or an option is at fault, there is too little filler, or something is at ``out``.
    """
    tell = progress or (lambda what, done, total: None)
    _check(plan, out)
    size = plan.questions.stat().st_size if plan.questions.is_file() else 0
    chosen = choose(
        plan.questions,
        types=plan.types,
        limit=plan.limit,
        seed=plan.seed,
        progress=lambda done: tell("reading questions", done, size),
    )
    pool = read_pool(
        plan.fillers, chosen.evidence, lambda path, done: tell("reading filler", done, path.stat().st_size)
    )
    counts: Counter[str] = Counter()
    longer = []
    with whole_files(out, manifest_path(out), force=plan.force) as (file, beside):
        with open_source(plan.questions, mark_surrogates=False) as reader, RecordsWriter(file) as writer:
            for record in read_records(reader):
                if record.question_id not in chosen.ids:
                    continue
                made = compose_haystack(record, pool.fillers, plan.length, plan.seed)
                writer.add(made.record)
                _count(made, counts)
                longer += [record.question_id] if made.is_over else []
                tell("writing", writer.n_records, len(chosen.ids))
            if reader.fingerprint() != chosen.source:
                raise BadInput(plan.questions, "changed while it was read", "run this again")
        manifest = _manifest(plan, chosen, pool, counts, longer)
        manifest["output"] = {
            "name": out.name,
            "sha256": writer.sha256,
            "n_bytes": writer.n_bytes,
            "variant": longmemeval_variant(
                writer.sha256,
                n_questions=writer.n_records,
                n_sessions=counts["evidence_sessions"] + counts["filler_sessions"],
                n_filler=counts["filler_sessions"],
            ).name,
            **counts,
        }
        beside.write_text(json.dumps(manifest, indent=4) + "\n", encoding="ascii", newline="\n")
    return Written(out, manifest_path(out), manifest, longer)


def _check(plan: Plan, out: Path) -> None:
    length = plan.length
    if (length.sessions is None) == (length.tokens is None):
        raise BadInput("--sessions, --tokens", "are two ways to say how long", "give one of them")
    for option, value in (("--sessions", length.sessions), ("--tokens", length.tokens)):
        if value is not None and value < 1:
            raise BadInput(option, f"{value} is below 1", "ask for at least one")
    if not plan.fillers:
        raise BadInput("--filler", "is missing", "name a LongMemEval file with full haystacks")
    if out.suffix == ".gz":
        raise BadInput(out, "would not be gzipped", "give a name without .gz, and gzip the file afterwards")
    refuse_present([out, manifest_path(out)], force=plan.force)
    for source in (plan.questions, *plan.fillers):
        for place in (out, manifest_path(out)):
            if place.exists() and source.exists() and place.samefile(source):
                raise BadInput(place, "is what is read from", "choose another name")


def _count(made: Composed, counts: Counter[str]) -> None:
    counts.update(
        questions=1,
        evidence_sessions=made.n_evidence,
        filler_sessions=made.n_filler,
        turns=sum(map(len, made.record["haystack_sessions"])),
        estimated_tokens=made.tokens,
    )


def _manifest(plan: Plan, chosen: Chosen, pool: Pool, counts: Counter[str], longer: Sequence[str]) -> dict[str, object]:
    from importlib.metadata import version

    return {
        "format": _FORMAT,
        "made_by": f"eval-assets {version('eval-assets')}",
        "settings": {**asdict(plan.length), "seed": plan.seed, "types": list(plan.types), "limit": plan.limit},
        "tokens": _TOKENS,
        "questions": {"name": plan.questions.name, **asdict(chosen.source)},
        "selection": chosen.words,
        "fillers": [
            {"name": path.name, **asdict(source)} for path, source in zip(plan.fillers, pool.sources, strict=True)
        ],
        "pool": pool.counts,
        "longer_than_asked": list(longer),
    }
