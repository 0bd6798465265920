"""LoCoMo's samples as corpus tables: names, photos, categories, evidence however it is written."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from locomo_samples import convert, question, quirky, sample, turn, write

from converters.convert import convert_corpus
from converters.identity import content_hash
from converters.locomo_evidence import TurnIndex
from converters.locomo_record import Session, Turn, parse_date
from converters.parquet import footer

FIRST = [
    ("user", 'Carol said, "I went to Oslo \u2013 by train."'),
    ("assistant", 'Mel said, "Look at this." and shared a photo of a painting of a sunset over a lake'),
    ("user", 'Carol said, "My brother called."'),
]
SECOND = [("assistant", 'Mel said, "I painted a horse."'), ("user", 'Carol said, "I ran a race."')]
NIGHT = datetime(2023, 9, 13, 0, 9, tzinfo=UTC)


def test_a_turn_keeps_its_speakers_name_and_its_photos_caption(tmp_path: Path) -> None:
    _, tables = convert(tmp_path, sample())
    first = tables["turns"].filter(content_hash=content_hash(FIRST)).sort("turn_index")
    assert list(zip(first["role"], first["content"], strict=True)) == FIRST


def test_a_conversation_is_one_haystack_that_its_questions_share(tmp_path: Path) -> None:
    conversion, tables = convert(tmp_path, sample("conv-1"), sample("conv-2"))
    assert tables["questions"]["haystack_id"].to_list() == ["conv-1"] * 3 + ["conv-2"] * 3
    assert tables["questions"]["question_id"].to_list() == [
        f"conv-{one}_q{number}" for one, number in product([1, 2], [1, 2, 3])
    ]
    assert tables["questions"]["question_date"].null_count() == 6
    assert set(tables["questions"]["as_of"]) == {NIGHT}
    held = tables["haystacks"].filter(haystack_id="conv-1")
    assert held["content_hash"].to_list() == [content_hash(FIRST), content_hash(SECOND)]
    assert held["session_date"].to_list() == [datetime(2023, 5, 8, 13, 56, tzinfo=UTC), NIGHT]
    assert conversion.counts == {
        "haystacks": 2, "haystack_rows": 4, "sessions": 2, "turns": 10, "distinct_turns": 5, "blank_turns": 0,
        "photo_turns": 2, "empty_sessions": 2, "dates_without_session": 2, "questions": 6, "abstention_questions": 2,
        "answered_abstentions": 0, "evidence_turns": 6, "mended_evidence": 0, "unmapped_evidence": 0,
        "questions_without_evidence": 0,
    }  # fmt: skip
    assert conversion.notes == []
    assert (conversion.variant.name, conversion.variant.how) == ("locomo", "derived")


def test_categories_have_the_names_that_the_evaluation_gives_them(tmp_path: Path) -> None:
    qa = [question(f"Q{number}?", number, ["D1:1"], answer="x") for number in range(1, 6)]
    _, tables = convert(tmp_path, sample(qa=qa))
    truth = tables["ground_truth"]
    assert truth["question_type"].to_list() == ["multi-hop", "temporal", "open-domain", "single-hop", "adversarial"]
    assert truth["is_abstention"].to_list() == [False] * 4 + [True]


def test_the_wrong_answer_of_an_adversarial_question_is_in_no_table(tmp_path: Path) -> None:
    trap = question("What did Carol paint?", 5, ["D2:1"], adversarial_answer="zzz-trap")
    kept = question("Is it hers?", 5, ["D2:1"], answer="No", adversarial_answer="zzz-trap")
    conversion, tables = convert(tmp_path, sample(qa=[trap, kept]))
    truth = tables["ground_truth"]
    assert truth["answer"].to_list() == [None, "No"]
    assert truth["answer_type"].to_list() == [None, "str"]
    assert truth["evidence_hashes"].to_list() == [[content_hash(SECOND)]] * 2
    assert conversion.counts["answered_abstentions"] == 1
    assert not any("zzz-trap" in frame.write_json() for frame in tables.values())


def test_a_year_stays_a_number(tmp_path: Path) -> None:
    _, tables = convert(tmp_path, sample())
    assert tables["ground_truth"].select("answer", "answer_type").row(1) == ("2023", "int")


def test_evidence_is_mapped_however_it_is_written(tmp_path: Path) -> None:
    conversion, tables = convert(tmp_path, quirky())
    one, two = content_hash(FIRST), content_hash(SECOND)
    found = [
        [(turn["content_hash"], turn["turn_index"]) for turn in turns]
        for turns in tables["ground_truth"]["evidence_turns"]
    ]
    assert found == [
        [(one, 1), (two, 0)],
        [(one, 0), (two, 0), (two, 1)],
        [(one, 2)],
        [(two, 1)],
        [],
        [(one, 0)],
        [(two, 0)],
        [],
        [(one, 0)],
    ]
    assert tables["ground_truth"]["answer_session_ids"].to_list()[:2] == [["session_1", "session_2"]] * 2
    assert conversion.counts["mended_evidence"] == 5
    assert conversion.counts["questions_without_evidence"] == 2


def test_evidence_that_names_no_turn_is_told_by_sample_question_and_string(tmp_path: Path) -> None:
    conversion, tables = convert(tmp_path, sample("conv-1"), quirky())
    assert conversion.notes == [
        "conv-42_q5 ('What else?'): evidence 'D' names no turn",
        "conv-42_q6 ('Which trip?'): evidence 'D1:19' names no turn",
        "conv-42_q7 ('Where?'): a part of evidence 'D2:1; D4:36' names no turn",
    ]
    assert conversion.counts["unmapped_evidence"] == 3
    assert footer(conversion.corpus.tables["questions"].path)["notes"] == conversion.notes
    assert tables["questions"].height == 3 + 9


def test_sessions_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    talk = {
        f"session_{number}{part}": value
        for number in (10, 2, 1)
        for part, value in [
            ("_date_time", f"1:0{number % 10} pm on 8 May, 2023"),
            ("", [turn("Mel", f"D{number}:1", f"text {number}")]),
        ]
    }
    _, tables = convert(tmp_path, sample(qa=[question("Q?", 4, ["D10:1"], answer="x")], **talk))
    truth = tables["ground_truth"].row(0, named=True)
    assert truth["source_session_ids"] == ["session_1", "session_2", "session_10"]
    assert truth["answer_session_ids"] == ["session_10"]
    assert truth["evidence_hashes"] == [content_hash([("assistant", 'Mel said, "text 10"')])]


def test_blank_turns_are_counted_and_kept(tmp_path: Path) -> None:
    blank = [turn("Carol", "D1:1", ""), turn("Mel", "D1:2", " ", blip_caption="a cat")]
    conversion, tables = convert(tmp_path, sample(session_1=blank))
    assert conversion.counts["blank_turns"] == 2
    assert 'Mel said, " " and shared a cat' in tables["turns"]["content"].to_list()


def test_a_gzipped_file_of_any_name_and_any_order_of_keys_is_the_same(tmp_path: Path) -> None:
    plain, tables = convert(tmp_path, sample())
    turned = dict(reversed(sample().items()))
    packed = tmp_path / "data"
    packed.write_bytes(gzip.compress(write(tmp_path / "turned.json", turned).read_bytes()))
    again = convert_corpus(packed, "locomo", tmp_path / "again")
    assert {name: table.digest for name, table in again.corpus.tables.items()} == {
        name: table.digest for name, table in plain.corpus.tables.items()
    }
    assert tables["memories"].is_empty()
    assert isinstance(tables["questions"], pl.DataFrame)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1:56 pm on 8 May, 2023", (2023, 5, 8, 13, 56)),
        ("12:00 pm on 1 January, 2022", (2022, 1, 1, 12, 0)),
        ("12:00 am on 29 February, 2024", (2024, 2, 29, 0, 0)),
        (" 9:05 AM on 31 december, 2023", (2023, 12, 31, 9, 5)),
    ],
)
def test_dates(text: str, moment: tuple[int, int, int, int, int]) -> None:
    assert parse_date(text) == datetime(*moment, tzinfo=UTC)


@given(st.datetimes(min_value=datetime(1000, 1, 1)).map(lambda moment: moment.replace(second=0, microsecond=0)))
def test_every_date_comes_back(moment: datetime) -> None:
    text = f"{moment.hour % 12 or 12}:{moment:%M} {'pm' if moment.hour >= 12 else 'am'} on {moment.day} {moment:%B}, "
    assert parse_date(f"{text}{moment.year}") == moment.replace(tzinfo=UTC)


PLACES = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=5)
FORMS = st.sampled_from(["D{}:{}", "D:{}:{}", "D{}:0{}", "D0{}:{}", "d{}:{}", "D{}: {}"])


@given(st.data(), PLACES, st.sampled_from(["; ", " ", ", ", ";", "\n"]))
def test_any_mixture_of_quirks_names_the_same_turns(
    data: st.DataObject, places: list[tuple[int, int]], between: str
) -> None:
    sessions = [
        Session(f"session_{one}", NIGHT, [Turn(speaker="Mel", dia_id=f"D{one}:{two}", text="x") for two in range(1, 6)])
        for one in range(1, 6)
    ]
    text = between.join(data.draw(FORMS).format(*place) for place in places)
    found = TurnIndex(sessions).find([text])
    known = [(one - 1, two - 1) for one, two in places if one < 6 and two < 6]
    assert found.places == list(dict.fromkeys(known))
    assert found.unmapped == ([] if len(known) == len(places) else [text])


@given(st.lists(st.text(max_size=12)))
def test_no_evidence_is_lost_or_fatal(evidence: list[str]) -> None:
    session = Session("session_1", NIGHT, [Turn(speaker="Mel", dia_id="D1:1", text="x")])
    index = TurnIndex([session])
    for text in evidence:
        found = index.find([text])
        assert bool(found.places) or found.unmapped == [text]
