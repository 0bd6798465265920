from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_corpora import day

from providers.local.temporal import Slack, question_time

# A Wednesday.
AS_OF = day("2023-05-31T18:30")
SLACK = Slack()


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("What did I eat yesterday?", "2023-05-30", "2023-05-30"),
        ("What did I see last night?", "2023-05-30", "2023-05-30"),
        ("The day before yesterday I ran", "2023-05-29", "2023-05-29"),
        ("What is up today", "2023-05-31", "2023-05-31"),
        ("What did I buy 10 days ago?", "2023-05-19", "2023-05-23"),
        ("what did I buy three days ago", "2023-05-26", "2023-05-30"),
        ("the film I saw a couple of weeks ago", "2023-05-12", "2023-05-22"),
        ("a month ago", "2023-04-01", "2023-04-30"),
        ("Six months ago", "2022-11-01", "2022-11-30"),
        ("2 years ago", "2021-01-01", "2021-12-31"),
        ("in the past two weeks", "2023-05-17", "2023-05-31"),
        ("during the past month", "2023-04-30", "2023-05-31"),
        ("this week", "2023-05-29", "2023-05-31"),
        ("this month", "2023-05-01", "2023-05-31"),
        ("this year", "2023-01-01", "2023-05-31"),
        ("last week", "2023-05-17", "2023-05-31"),
        ("last month", "2023-03-27", "2023-05-05"),
        ("last year", "2022-01-01", "2022-12-31"),
        ("in March", "2023-03-01", "2023-03-31"),
        ("in December", "2022-12-01", "2022-12-31"),
        ("in feb 2020", "2020-02-01", "2020-02-29"),
        ("back in 2021", "2021-01-01", "2021-12-31"),
        ("on March 5th", "2023-03-05", "2023-03-05"),
        ("on the 5th of March, 2022", "2022-03-05", "2022-03-05"),
        ("on December 24", "2022-12-24", "2022-12-24"),
        ("on 2023/03/05", "2023-03-05", "2023-03-05"),
        ("on 2023-03-05", "2023-03-05", "2023-03-05"),
        ("last Wednesday", "2023-05-24", "2023-05-24"),
        ("on Sunday", "2023-05-28", "2023-05-28"),
        ("What have I cooked recently?", "2023-05-17", "2023-05-31"),
    ],
)
def test_a_named_time(text: str, first: str, last: str) -> None:
    found = question_time(text, AS_OF, SLACK)
    assert found.about_time
    assert found.range is not None
    assert (found.range.start, found.range.end) == (day(first), day(last) + timedelta(days=1))


@pytest.mark.parametrize(
    ("text", "about_time"),
    [
        ("How many days are between the two trips?", True),
        ("When did I move?", True),
        ("Which one did I buy first?", True),
        ("May I have a sandwich?", False),
        ("Who is my dentist?", False),
        ("on 2023/13/45", False),
        ("on February 30", False),
        ("99999 years ago", True),
    ],
)
def test_no_named_time(text: str, about_time: bool) -> None:
    found = question_time(text, AS_OF, SLACK)
    assert (found.range, found.about_time) == (None, about_time)


def test_without_a_reference_date_nothing_is_named() -> None:
    assert question_time("What did I eat 3 days ago?", None, SLACK).range is None


def test_slack_is_a_setting() -> None:
    found = question_time("3 days ago", AS_OF, Slack(days=0)).range
    assert found is not None
    assert found.end - found.start == timedelta(days=1)


@given(st.text(max_size=60), st.datetimes(datetime(1, 1, 1), datetime(9990, 1, 1)))
def test_any_text_can_be_read(text: str, as_of: datetime) -> None:
    found = question_time(text, as_of, SLACK).range
    assert found is None or found.start < found.end
