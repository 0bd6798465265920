"""The adapter of Mem0's own server against one that does what the contract says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from fakes.connect import connected, prepared, stored
from fakes.faults import Faults
from fakes.mem0_server import FakeMem0Server

from providers.remote.errors import BadKey, Refused, Unavailable, UnknownOutcome, Unreachable
from providers.remote.service import Document, Message, Receipt

NAME = "c0ffee"
DIRECT: dict[str, Any] = {"infer": False}


@pytest.fixture
def fake() -> Iterator[FakeMem0Server]:
    with FakeMem0Server() as server:
        yield server


def document(name: str, text: str, day: int = 20) -> Document:
    messages = [Message("user", text), Message("assistant", "I see.")]
    return Document(name, messages, datetime(2023, 5, day, 2, 21, tzinfo=UTC))


def test_a_session_as_it_is_comes_back_whole_under_our_id_and_date(fake: FakeMem0Server) -> None:
    with connected(fake, "mem0_server", ingest=DIRECT) as service:
        scope = prepared(service, NAME)
        receipts = stored(service, scope, [document("s1", "a beagle called Bo"), document("s2", "tea")])
        assert [(one.status, len(one.provider_ids)) for one in receipts] == [("done", 1), ("done", 1)]
        hits = service.search(scope, "which beagle?", limit=5000, as_of=None)
        assert [hit.documents for hit in hits] == [("s1",), ("s2",)]
        assert hits[0].whole and hits[0].content == "user: a beagle called Bo\nassistant: I see."
        assert hits[0].date == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
        assert service.count(scope) == 2


def test_the_body_has_no_timestamp_and_a_search_names_the_user_in_filters(fake: FakeMem0Server) -> None:
    with connected(fake, "mem0_server") as service:
        scope = prepared(service, NAME)
        service.ingest(scope, [document("s1", "a beagle")])
        service.search(scope, "unrelated", limit=7, as_of=datetime(2023, 5, 30, tzinfo=UTC))
    user = scope.handle["user_id"]
    add, search = (one.body for one in fake.seen)
    assert add == {
        "messages": [
            {"role": "user", "content": "[2023-05-20T02:21:00Z]\na beagle"},
            {"role": "assistant", "content": "I see."},
        ],
        "user_id": user,
        "metadata": {"session_id": "s1", "created_at": "2023-05-20T02:21:00Z"},
        "infer": True,
    }
    assert search == {"query": "unrelated", "filters": {"user_id": user}, "top_k": 7, "threshold": 0.0}


def test_a_date_in_the_text_may_be_left_out(fake: FakeMem0Server) -> None:
    with connected(fake, "mem0_server", ingest={"date_in_text": False}) as service:
        service.ingest(prepared(service, NAME), [document("s1", "a beagle")])
    assert fake.seen[0].body["messages"][0]["content"] == "a beagle"


def test_facts_that_were_known_already_leave_a_session_skipped(fake: FakeMem0Server) -> None:
    with connected(fake, "mem0_server") as service:
        same = [document("s1", "Thanks!"), document("s2", "Thanks!"), Document("s3", [Message("user", "")])]
        receipts = stored(service, prepared(service, NAME), same)
        assert [one.status for one in receipts] == ["done", "skipped", "skipped"]


@pytest.mark.parametrize("kind", ["lost", "cut", "500", "reset"])
@pytest.mark.parametrize("infer", [True, False])
def test_a_lost_addition_is_never_sent_again_into_the_same_container(kind: str, infer: bool) -> None:
    faults = Faults(1.0, [kind], only=["POST /memories"], first=1)  # type: ignore[list-item]
    with FakeMem0Server(faults=faults) as fake, connected(fake, "mem0_server", ingest={"infer": infer}) as service:
        first = prepared(service, NAME)
        with pytest.raises(UnknownOutcome):
            service.ingest(first, [document("s1", "a beagle")])
        assert fake.count("POST /memories") == 1
        assert service.describe().recovery == "clear"
        service.clear(first)
        assert (service.count(first), fake.stored_twice) == (0, 0)
        assert prepared(service, NAME) != first


def test_a_failing_embedder_is_in_doubt_as_a_part_may_be_stored(fake: FakeMem0Server) -> None:
    fake.broken = "beagle"
    with connected(fake, "mem0_server") as service, pytest.raises(UnknownOutcome, match="OPENAI_API_KEY is wrong"):
        service.ingest(prepared(service, NAME), [document("s1", "a beagle")])


def test_clearing_goes_on_where_only_a_part_is_deleted_at_a_time() -> None:
    with FakeMem0Server(delete_page=2) as fake, connected(fake, "mem0_server", ingest=DIRECT) as service:
        scope, other = prepared(service, NAME), prepared(service, NAME)
        stored(service, scope, [document(f"s{index}", f"text {index}") for index in range(5)])
        stored(service, other, [document("s1", "stays")])
        service.clear(scope)
        assert (service.count(scope), service.count(other)) == (0, 1)
        assert (fake.count("DELETE"), fake.resets) == (3, 0)


def test_a_deletion_that_deletes_nothing_ends(fake: FakeMem0Server) -> None:
    fake.delete_page = 0
    with connected(fake, "mem0_server", ingest=DIRECT) as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "a beagle")])
        with pytest.raises(Unavailable, match="still has 1 memories"):
            service.clear(scope)


def test_a_key_that_may_not_delete_says_which_may() -> None:
    with FakeMem0Server(admin=False) as fake, connected(fake, "mem0_server") as service:
        service.probe()
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "a beagle")])
        with pytest.raises(BadKey, match=r"Admin role required.*admin role"):
            service.clear(scope)


def test_a_server_without_authentication_is_sent_no_key() -> None:
    with FakeMem0Server(auth=False) as fake, connected(fake, "mem0_server", key="") as service:
        assert service.probe() == {}
        assert "x-api-key" not in fake.seen[0].headers


def test_a_wrong_key_ends_it_and_is_not_repeated(fake: FakeMem0Server) -> None:
    with connected(fake, "mem0_server", key="planted-secret") as service, pytest.raises(BadKey) as caught:
        service.probe()
    assert "planted-secret" not in str(caught.value)
    assert len(fake.seen) == 1


def test_nobody_there_is_one_line_with_the_address(fake: FakeMem0Server) -> None:
    fake.__exit__(None)
    with connected(fake, "mem0_server") as service, pytest.raises(Unreachable, match=f"no connection to {fake.url}"):
        service.probe()


def test_find_and_settle_tell_what_memories_name(fake: FakeMem0Server) -> None:
    with connected(fake, "mem0_server", ingest=DIRECT) as service:
        scope = prepared(service, NAME)
        here, absent = document("s1", "here"), document("s2", "absent")
        stored(service, scope, [here])
        assert [one.document for one in service.find(scope, [here, absent])] == ["s1"]
        after = service.settle(scope, [Receipt("s1", "pending"), Receipt("s2", "pending")])
        assert [one.status for one in after] == ["done", "pending"]


def test_a_blank_question_is_refused_and_not_asked_again(fake: FakeMem0Server) -> None:
    with connected(fake, "mem0_server") as service:
        with pytest.raises(Refused, match="Query must not be blank"):
            service.search(prepared(service, NAME), " ", limit=1, as_of=None)
        assert fake.count("/search") == 1
