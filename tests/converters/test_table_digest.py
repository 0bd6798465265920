"""A table's digest does not depend on the order of its rows, nor on how they are handed over."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import dataframely as dy
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from converters.schema import Table


class Places(dy.Schema):
    name = dy.String(primary_key=True)
    position = dy.UInt32(primary_key=True)
    seen = dy.Datetime(time_unit="us", time_zone="UTC", nullable=True)
    note = dy.String(nullable=True)


PLACES = Table("places", Places, volatile=frozenset({"note"}))
rows = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "bb", "é", ""]),
        st.integers(0, 5),
        st.none() | st.integers(0, 3).map(lambda day: datetime(2024, 1, 1 + day, tzinfo=UTC)),
    ),
    unique_by=lambda row: row[:2],
)


def frame(found: list[tuple[str, int, datetime | None]]) -> pl.DataFrame:
    return pl.DataFrame([(*row, "note") for row in found], schema=PLACES.empty.schema, orient="row")


@given(rows, st.randoms(use_true_random=False))
def test_order_does_not_matter(found: list[tuple[str, int, datetime | None]], chance: object) -> None:
    shuffled = list(found)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert PLACES.digest(frame(found)) == PLACES.digest(frame(shuffled))


@given(rows, st.lists(st.integers(0, 30), max_size=4))
def test_rows_in_order_may_come_in_parts(found: list[tuple[str, int, datetime | None]], cuts: list[int]) -> None:
    whole = frame(found).sort("name", "position")
    ends = sorted({0, whole.height, *(cut for cut in cuts if cut < whole.height)})
    parts = [whole[start:end] for start, end in pairwise(ends)]
    assert PLACES.digest_in_order(parts) == PLACES.digest(whole)


@given(rows.filter(lambda found: len(found) > 1))
def test_rows_out_of_order_are_noticed_within_a_part_and_between_two(
    found: list[tuple[str, int, datetime | None]],
) -> None:
    turned = frame(found).sort("name", "position", descending=True)
    assert PLACES.digest_in_order([turned]) is None
    assert PLACES.digest_in_order(turned.iter_slices(1)) is None
