"""Laws of the exchange: a copy is equal, taking twice is taking once, and the order of two files does not matter."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ledger_rows import stored
from sqlalchemy import delete, insert, select

from eval_assets.ledger.ledger import Ledger
from eval_assets.ledger.merge import import_ledger
from eval_assets.ledger.portable import export_ledger
from eval_assets.ledger.tables import CALLS, CONTAINERS, DOCUMENTS

Content = dict[str, list[dict[str, Any]]]
NOTHING: Content = {"containers": [], "documents": [], "calls": []}


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sequence[Ledger]]:
    """Two ledgers, emptied for each example: making one takes longer than the test."""
    folders = [tmp_path_factory.mktemp(name) for name in ("one", "other")]
    made = [Ledger(f"sqlite:///{folder / 'ledger.sqlite'}") for folder in folders]
    yield made
    for one in made:
        one.close()


few = st.sampled_from
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
moments = st.integers(1, 4)

containers = st.dictionaries(
    few(["c1", "C2", "ć3"]), st.tuples(st.integers(1, 3), few(["open", "ready"]), moments), max_size=3
)
documents = st.dictionaries(few(["d1", "d2", "D3"]), st.tuples(few(["sent", "done"]), moments), max_size=3)
calls = st.lists(
    st.tuples(few(["k1", "k2", None]), few(["usable", "failed"]), few(['"a"', '"b"']), texts, moments), max_size=6
)


@st.composite
def contents(draw: st.DrawFn) -> Content:
    """What one ledger holds. No two ledgers tell different things of the same moment, as they would not."""
    found: Content = {"containers": [], "documents": [], "calls": []}
    for name, (build, state, at) in draw(containers).items():
        found["containers"].append(
            stored("container", container=name, build=build, state=state, at=at + (state == "ready") / 2)
        )
        for document, (word, then) in draw(documents).items():
            when = {"sent_at": then + (word == "done") / 2, "provider_ids": f'["{word} {then}"]'}
            found["documents"].append(stored("document", container=name, document=document, state=word, **when))
    counts = itertools.count(1)
    for key, status, reply, error, at in draw(calls):
        answer = reply if status == "usable" and key else None
        then = at + (reply == '"b"') / 2
        one = stored("call", key=key, status=status, reply=answer, error=error, at=then, attempt=next(counts))
        found["calls"].append(one)
    return found


def filled(ledger: Ledger, content: Content) -> Ledger:
    with ledger.writing() as connection:
        for table in (DOCUMENTS, CONTAINERS, CALLS):
            connection.execute(delete(table))
            if content[table.name]:
                connection.execute(insert(table), content[table.name])
    return ledger


def file_of(ledger: Ledger, name: str) -> Path:
    out = Path(ledger.engine.url.database or "").with_name(name)
    export_ledger(ledger, out, force=True)
    return out


def what_services_hold(ledger: Ledger) -> list[set[tuple[Any, ...]]]:
    with ledger.reading() as connection:
        return [{tuple(row) for row in connection.execute(select(table))} for table in (CONTAINERS, DOCUMENTS)]


def answers(ledger: Ledger) -> list[Any]:
    return [found.reply if (found := ledger.look(key)) else None for key in ("k1", "k2")]


def asked(*answered: tuple[str, float]) -> Content:
    rows = [stored("call", key="k1", status="usable", reply=one, error=None, at=at, attempt=1) for one, at in answered]
    return {**NOTHING, "calls": rows}


@settings(max_examples=settings().max_examples // 2)
@given(contents())
def test_a_copy_is_equal_and_taking_it_again_changes_nothing(two: Sequence[Ledger], content: Content) -> None:
    one, other = filled(two[0], content), filled(two[1], NOTHING)
    file = file_of(one, "one.parquet")
    import_ledger(other, file)
    assert file_of(other, "other.parquet").read_bytes() == file.read_bytes()
    assert import_ledger(other, file).added.total() == 0
    assert import_ledger(one, file).added.total() == 0
    assert file_of(one, "other.parquet").read_bytes() == file.read_bytes()


@settings(max_examples=settings().max_examples // 2)
@given(contents(), contents())
@example(asked(('"a"', 1.0), ('"b"', 2.0)), asked(('"a"', 3.0)))
def test_two_ledgers_come_to_agree(two: Sequence[Ledger], first: Content, second: Content) -> None:
    """Whichever takes the other's file, both hold the same containers and documents, and give the same answers."""
    one, other = filled(two[0], first), filled(two[1], second)
    of_one, of_other = file_of(one, "one.parquet"), file_of(other, "other.parquet")
    import_ledger(one, of_other)
    import_ledger(other, of_one)
    assert what_services_hold(one) == what_services_hold(other)
    assert answers(one) == answers(other)
