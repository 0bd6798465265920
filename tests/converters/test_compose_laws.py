"""Laws of composed haystacks, over any questions and any filler."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from composed import check_file, load, text_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from records import write

from converters.compose.haystack import Length
from converters.compose.write import Plan, compose
from converters.dates import format_date
from converters.errors import BadInput
from converters.longmemeval import read_longmemeval

# Few sentences, so that filler and evidence meet; one long enough to be looked for inside of others.
LONG = "I keep the spare key under the third flower pot on the left."
SENTENCES = (
    "I moved to Oslo.",
    LONG,
    "Owls fly.",
    "Tell me of owls.",
    "",
    " \n",
    "I  moved to\nOslo.",
    f"So: {LONG} Yes.",
)

contents = st.one_of(st.sampled_from(SENTENCES), st.text("abc \u2028\U0001f600", max_size=6))
moments = st.datetimes(datetime(2022, 12, 20), datetime(2023, 2, 10)).map(
    lambda moment: format_date(moment.replace(tzinfo=UTC))
)


@st.composite
def sessions(draw: st.DrawFn, *, labelled: bool) -> list[dict[str, Any]]:
    turns = []
    for role, content in draw(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), contents), max_size=3)):
        label = {"has_answer": draw(st.booleans())} if labelled else {}
        turns.append({"role": role, "content": content, **label})
    return turns


@st.composite
def records(draw: st.DrawFn, number: int, *, n_gold: int, n_filler: int) -> dict[str, Any]:
    gold = [f"answer_{number}_{n % 2}" for n in range(n_gold)]
    names = draw(st.permutations([*gold, *(f"f{n}" for n in range(n_filler))]))
    return {
        "question_id": f"q{number}" + draw(st.sampled_from(["", "_abs"])),
        "question_type": draw(st.sampled_from(["a", "b"])),
        "question": "Where?",
        "answer": draw(st.sampled_from(["Oslo", 3])),
        "question_date": draw(moments),
        "haystack_dates": [draw(moments) for _ in names],
        "haystack_session_ids": names,
        "haystack_sessions": [draw(sessions(labelled=name.startswith("answer_"))) for name in names],
        "answer_session_ids": sorted(set(gold), reverse=draw(st.booleans())),
    }


@st.composite
def files(draw: st.DrawFn, *, most_filler: int) -> list[dict[str, Any]]:
    n = draw(st.integers(1, 4))
    return [
        draw(records(number, n_gold=draw(st.integers(0, 3)), n_filler=draw(st.integers(0, most_filler))))
        for number in range(n)
    ]


@settings(
    max_examples=settings().max_examples // 2, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(files(most_filler=2), files(most_filler=8), st.integers(1, 8), st.integers(0, 3), st.integers(1, 4))
def test_laws(
    questions: list[dict[str, Any]], fillers: list[dict[str, Any]], length: int, seed: int, limit: int
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asked, filled = write(folder / "q", *questions), write(folder / "f", *fillers)

        def made(n: int, to: str, **options: Any) -> list[dict[str, Any]]:
            plan = Plan(asked, [filled], Length(sessions=n), seed, **options)
            return load(compose(plan, folder / to).path)

        try:
            whole = made(length, "a.json")
        except BadInput as error:
            assert "distinct ones" in error.line
            assert sorted(path.name for path in folder.iterdir()) == ["f", "q"]
            return
        check_file(questions, fillers, whole)
        assert [record["question_id"] for record in whole] == [record["question_id"] for record in questions]
        for source, record in zip(questions, whole, strict=True):
            gold = sum(one in source["answer_session_ids"] for one in source["haystack_session_ids"])
            assert len(record["haystack_sessions"]) == max(length, gold)

        again = made(length, "b.json")
        assert again == whole
        assert (folder / "a.json").read_bytes() == (folder / "b.json").read_bytes()

        fewer = made(length, "c.json", limit=limit)
        assert len(fewer) == min(limit, len(questions))
        assert all(record in whole for record in fewer)

        shorter = made(max(1, length - 1), "d.json")
        for less, more in zip(shorter, whole, strict=True):
            assert set(map(text_of, less["haystack_sessions"])) <= set(map(text_of, more["haystack_sessions"]))

        read = list(read_longmemeval(folder / "a.json"))
        assert [record.question_id for record in read] == [record["question_id"] for record in whole]
