"""The adapter of Zengram against a server that does what the contract says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from fakes.connect import connected, prepared, stored
from fakes.zengram import FakeZengram

from providers.remote.errors import BadKey, Degraded, Refused, Unreachable
from providers.remote.service import Document, Message, Scope

NAME = "c0ffee"


@pytest.fixture
def fake() -> Iterator[FakeZengram]:
    with FakeZengram() as server:
        yield server


def document(name: str, text: str, day: int = 20) -> Document:
    messages = [Message("user", text), Message("assistant", "I see.")]
    return Document(name, messages, datetime(2023, 5, day, 2, 21, tzinfo=UTC))


def test_what_is_stored_is_found_under_our_id(fake: FakeZengram) -> None:
    with connected(fake, "zengram") as service:
        scope = prepared(service, NAME)
        receipts = stored(service, scope, [document("s1", "a beagle called Bo"), document("s2", "tea")])
        assert [one.status for one in receipts] == ["done", "done"]
        assert receipts[0].provider_ids == (f"{NAME}:s1",)
        hits = service.search(scope, "which beagle?", limit=10, as_of=datetime(2023, 5, 30, tzinfo=UTC))
        assert [hit.documents for hit in hits] == [("s1",), ("s2",)]
        assert hits[0].whole and hits[0].content == "user: a beagle called Bo\nassistant: I see."
        assert hits[0].date == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
        assert service.count(scope) == 2
        assert fake.unread_only_searches == 0


@pytest.mark.parametrize("form", ["full", "compact", "index"])
def test_every_format_maps_to_our_id(fake: FakeZengram, form: str) -> None:
    with connected(fake, "zengram", retrieval={"format": form}) as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "a beagle")])
        hit = service.search(scope, "beagle", limit=1, as_of=None)[0]
        assert hit.documents == ("s1",)
        assert hit.whole == (form == "full")


def test_a_server_that_gives_ids_itself() -> None:
    with FakeZengram(keeps_ids=False) as fake, connected(fake, "zengram", retrieval={"format": "index"}) as service:
        scope = prepared(service, NAME)
        (receipt,) = stored(service, scope, [document("s1", "a beagle")])
        assert receipt.provider_ids == ("server-0",)
        assert service.search(scope, "beagle", limit=1, as_of=None)[0].sources == ("server-0",)


def test_a_text_that_is_there_already_is_skipped_and_said(fake: FakeZengram) -> None:
    with connected(fake, "zengram") as service:
        scope = prepared(service, NAME)
        receipts = stored(service, scope, [document("s1", "same"), document("s2", "same"), document("s3", "other")])
        assert [one.status for one in receipts] == ["done", "skipped", "done"]
        assert receipts[1].provider_ids == (f"{NAME}:s1",)


def test_a_skipped_text_that_the_server_changed_is_skipped_all_the_same(fake: FakeZengram) -> None:
    with connected(fake, "zengram") as service:
        scope = prepared(service, NAME)
        receipts = stored(service, scope, [document("s1", "password: a1"), document("s2", "password: b2")])
        assert [one.status for one in receipts] == ["done", "skipped"]


def test_a_record_that_the_import_refuses_is_failed(fake: FakeZengram) -> None:
    with connected(fake, "zengram") as service:
        scope = prepared(service, NAME)
        too_long = Document("s2", [Message("user", "x" * 10_001)])
        receipts = stored(service, scope, [document("s1", "fine"), too_long])
        assert [one.status for one in receipts] == ["done", "failed"]


def test_requests_stay_below_a_megabyte(fake: FakeZengram) -> None:
    with connected(fake, "zengram") as service:
        documents = [Document(f"s{index}", [Message("user", f"{index} " + "é" * 9_900)]) for index in range(90)]
        receipts = stored(service, prepared(service, NAME), documents)
        assert {one.status for one in receipts} == {"done"}
        imports = [one for one in fake.seen if one.path == "/export/import"]
        assert len(imports) == 2
        assert all(len(one.raw) < 1_000_000 for one in imports)


def test_find_names_those_that_are_there(fake: FakeZengram) -> None:
    with connected(fake, "zengram") as service:
        scope = prepared(service, NAME)
        here, absent = document("s1", "here"), document("s2", "absent")
        stored(service, scope, [here])
        assert [one.document for one in service.find(scope, [here, absent])] == ["s1"]


def test_the_reference_date_decides_what_yesterday_is(fake: FakeZengram) -> None:
    with connected(fake, "zengram") as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "a beagle", day=29), document("s2", "a cat", day=1)])
        hits = service.search(scope, "what happened yesterday", limit=10, as_of=datetime(2023, 5, 30, tzinfo=UTC))
        assert [hit.documents for hit in hits] == [("s1",)]


def test_clearing_pages_through_ids_of_any_kind(fake: FakeZengram) -> None:
    with connected(fake, "zengram") as service:
        scope = prepared(service, NAME)
        memory = Document("d1", [Message("user", "mine")], caller_id="a/b ../c?d#e", attributes={"type": "fact"})
        (receipt,) = stored(service, scope, [memory])
        assert receipt.provider_ids == (f"{NAME}:a/b ../c?d#e",)
        stored(service, prepared(service, "other"), [document("s1", "stays")])
        service.clear(scope)
        assert service.count(scope) == 0
        assert service.count(Scope("other")) == 1


def test_half_an_answer_is_degraded(fake: FakeZengram) -> None:
    with connected(fake, "zengram") as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "a beagle")])
        fake.degraded = True
        with pytest.raises(Degraded) as caught:
            service.search(scope, "beagle", limit=1, as_of=None)
        assert len(list(caught.value.value)) == 1  # type: ignore[call-overload]


def test_a_wrong_key_ends_it_and_is_not_repeated(fake: FakeZengram) -> None:
    with connected(fake, "zengram", key="planted-secret") as service, pytest.raises(BadKey) as caught:
        service.probe()
    assert "planted-secret" not in str(caught.value)


def test_nobody_there_is_one_line_with_the_address(fake: FakeZengram) -> None:
    fake.__exit__(None)
    with connected(fake, "zengram") as service, pytest.raises(Unreachable, match=f"no connection to {fake.url}"):
        service.probe()


def test_a_question_that_the_server_refuses_is_not_asked_again(fake: FakeZengram) -> None:
    with connected(fake, "zengram") as service:
        with pytest.raises(Refused, match="q is required"):
            service.search(prepared(service, NAME), "", limit=1, as_of=None)
        assert fake.count("/memory/search") == 1
