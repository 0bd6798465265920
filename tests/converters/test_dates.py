from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converters.dates import format_date, parse_date

MINUTES = st.datetimes(min_value=datetime(1, 1, 2), timezones=st.just(UTC)).map(
    lambda date: date.replace(second=0, microsecond=0)
)


@given(MINUTES)
def test_a_date_comes_back_to_the_minute(date: datetime) -> None:
    assert parse_date(format_date(date)) == date


def test_hour_and_minute_are_kept() -> None:
    assert parse_date("2023/05/20 (Sat) 02:21") == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)


def test_a_wrong_weekday_is_passed_over() -> None:
    assert parse_date("2023/05/20 (Mon) 02:21") == parse_date("2023/05/20 (Sat) 02:21")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2023/05/20",
        "2023/05/20 (Sat)",
        "2023/05/20 02:21",
        "2023-05-20 (Sat) 02:21",
        "2023/5/20 (Sat) 02:21",
        "2023/02/29 (Wed) 02:21",
        "2023/13/20 (Sat) 02:21",
        "2023/05/20 (Sat) 24:00",
        "2023/05/20 (Sat) 02:60",
        "2023/05/20 (Sat) 02:21 ",
        "2023/05/20 (Sat) 02:21:00",
        "٢٠٢٣/05/20 (Sat) 02:21",
    ],
)
def test_any_other_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_date(text)
