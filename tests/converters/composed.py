"""What holds of every composed haystack, checked on the files alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

CONTAINED = 40


def load(path: Path) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads(path.read_bytes())
    return loaded


def moment(text: str) -> datetime:
    return datetime.strptime(f"{text[:10]} {text[-5:]}", "%Y/%m/%d %H:%M")


def text_of(session: Sequence[dict[str, Any]]) -> tuple[tuple[str, str], ...]:
    return tuple((turn["role"], turn["content"]) for turn in session)


def sessions_of(record: dict[str, Any], *, gold: bool) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    rows = zip(record["haystack_dates"], record["haystack_session_ids"], record["haystack_sessions"], strict=True)
    return (row for row in rows if (row[1] in record["answer_session_ids"]) is gold)


def evidence_of(records: Sequence[dict[str, Any]]) -> tuple[set[tuple[tuple[str, str], ...]], list[str]]:
    """The texts of evidence sessions, and the marked turns with each run of white space as one blank."""
    texts = {text_of(session) for record in records for _, _, session in sessions_of(record, gold=True)}
    turns = (turn for record in records for session in record["haystack_sessions"] for turn in session)
    marked = {" ".join(turn["content"].split()) for turn in turns if turn.get("has_answer") is True}
    return texts, sorted(marked - {""})


def check_file(
    questions: Sequence[dict[str, Any]], fillers: Sequence[dict[str, Any]], made: Sequence[dict[str, Any]]
) -> None:
    """Everything that does not depend on how long haystacks should be."""
    sources = {record["question_id"]: record for record in questions}
    evidence, marked = evidence_of([*questions, *fillers])
    pool = {text_of(session) for record in fillers for _, _, session in sessions_of(record, gold=False)}
    told: dict[str, bool] = {}
    for record in made:
        check_evidence(sources[record["question_id"]], record)
        names, texts = [], []
        for date, name, session in sessions_of(record, gold=False):
            assert moment(date) < moment(record["question_date"])
            assert not name.startswith("answer_")
            assert not any("has_answer" in turn for turn in session)
            names.append(name)
            texts.append(text_of(session))
            for turn in session:
                content = turn["content"]
                if content not in told:
                    told[content] = tells(content, marked)
                assert not told[content]
        assert len(set(names)) == len(names) == len(set(texts))
        assert pool.issuperset(texts)
        assert evidence.isdisjoint(texts)
        dates = list(map(moment, record["haystack_dates"]))
        assert dates == sorted(dates)


def tells(content: str, marked: Sequence[str]) -> bool:
    normal = " ".join(content.split())
    return any(text == normal or (len(text) >= CONTAINED and text in normal) for text in marked)


def check_evidence(source: dict[str, Any], made: dict[str, Any]) -> None:
    kept = [name for name in source if not name.startswith("haystack_")]
    assert {name: made[name] for name in kept} == {name: source[name] for name in kept}
    assert type(made["answer"]) is type(source["answer"])
    before, after = (sorted(map(repr, sessions_of(record, gold=True))) for record in (source, made))
    assert before == after
