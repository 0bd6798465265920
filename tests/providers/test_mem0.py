"""The adapter of Mem0's platform against a server that does what the contract says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from fakes.connect import connected, prepared, stored
from fakes.faults import Faults
from fakes.mem0 import FakeMem0

from providers.remote.errors import BadKey, OutOfQuota, Refused, UnknownOutcome, Unreadable
from providers.remote.service import Document, Message, Scope

NAME = "c0ffee"
DIRECT: dict[str, Any] = {"infer": False}
AS_OF = datetime(2023, 5, 30, 23, 40, tzinfo=UTC)


@pytest.fixture
def fake() -> Iterator[FakeMem0]:
    with FakeMem0() as server:
        yield server


def document(name: str, text: str, day: int = 20) -> Document:
    messages = [Message("user", text), Message("assistant", "I see.")]
    return Document(name, messages, datetime(2023, 5, day, 2, 21, tzinfo=UTC))


def bodies(fake: FakeMem0, path: str) -> Sequence[Any]:
    return [one.body for one in fake.seen if one.path == path]


def test_a_session_as_it_is_comes_back_whole_under_our_id(fake: FakeMem0) -> None:
    with connected(fake, "mem0", ingest=DIRECT) as service:
        scope = prepared(service, NAME)
        receipts = service.ingest(scope, [document("s1", "a beagle called Bo"), document("s2", "tea", day=21)])
        assert [(one.status, len(one.provider_ids)) for one in receipts] == [("done", 1), ("done", 1)]
        hits = service.search(scope, "which beagle?", limit=10, as_of=AS_OF)
        assert [hit.documents for hit in hits] == [("s1",), ("s2",)]
        assert hits[0].whole and hits[0].content == "user: a beagle called Bo\nassistant: I see."
        assert hits[0].sources == receipts[0].provider_ids
        assert hits[0].date == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
        assert service.count(scope) == 2


def test_the_date_goes_as_whole_seconds_and_the_user_at_the_top(fake: FakeMem0) -> None:
    with connected(fake, "mem0", ingest=DIRECT) as service:
        service.ingest(prepared(service, NAME), [document("s1", "a beagle")])
    assert bodies(fake, "/v3/memories/add/") == [
        {
            "messages": [
                {"role": "user", "content": "[2023-05-20T02:21:00Z]\nuser: a beagle\nassistant: I see.\n[s1]"}
            ],
            "user_id": NAME,
            "metadata": {"session_id": "s1"},
            "timestamp": 1684549260,
            "infer": False,
        }
    ]


def test_a_search_names_the_user_in_filters_and_turns_the_floor_off(fake: FakeMem0) -> None:
    with connected(fake, "mem0", ingest=DIRECT) as service:
        scope = prepared(service, NAME)
        service.ingest(scope, [document("s1", "a beagle")])
        assert len(service.search(scope, "  unrelated words ", limit=5000, as_of=AS_OF)) == 1
    assert bodies(fake, "/v3/memories/search/") == [
        {
            "query": "unrelated words",
            "filters": {"user_id": NAME},
            "top_k": 1000,
            "threshold": 0.0,
            "rerank": False,
            "reference_date": "2023-05-30T23:40:00Z",
        }
    ]


def test_a_floor_that_is_asked_for_cuts(fake: FakeMem0) -> None:
    with connected(fake, "mem0", ingest=DIRECT, retrieval={"threshold": 0.1, "rerank": True}) as service:
        scope = prepared(service, NAME)
        service.ingest(scope, [document("s1", "a beagle")])
        assert service.search(scope, "unrelated words", limit=5, as_of=None) == []


def test_sessions_that_say_the_same_are_all_kept(fake: FakeMem0) -> None:
    with connected(fake, "mem0", ingest=DIRECT) as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "Thanks!"), document("s2", "Thanks!")])
        found = service.search(scope, "thanks", limit=10, as_of=None)
        assert {hit.documents for hit in found} == {("s1",), ("s2",)}


@pytest.mark.parametrize("kind", ["lost", "html", "cut", "500"])
def test_a_lost_answer_is_asked_for_again_where_repeats_are_not_stored(kind: str) -> None:
    faults = Faults(1.0, [kind], only=["/add/"], first=1)  # type: ignore[list-item]
    with FakeMem0(faults=faults) as fake, connected(fake, "mem0", ingest=DIRECT) as service:
        scope = prepared(service, NAME)
        (receipt,) = service.ingest(scope, [document("s1", "a beagle")])
        assert receipt.status == "done"
        assert (service.count(scope), fake.stored_twice) == (1, 0)
        assert service.describe().recovery == "resend"


def test_pending_without_inference_is_asked_after_too() -> None:
    with FakeMem0(direct_pending=True) as fake, connected(fake, "mem0", ingest=DIRECT) as service:
        scope = prepared(service, NAME)
        assert [one.status for one in service.ingest(scope, [document("s1", "a beagle")])] == ["pending"]
        assert [one.status for one in stored(service, scope, [document("s2", "tea")])] == ["done"]


def test_with_inference_turns_go_in_their_roles_and_events_are_asked_after(fake: FakeMem0) -> None:
    with connected(fake, "mem0") as service:
        scope = prepared(service, NAME)
        memory = Document("m1", [Message("memory", "mine")], caller_id="x")
        turns = [Message("user", "a beagle"), Message("assistant", "  "), Message("assistant", "nice")]
        receipts = stored(service, scope, [Document("s1", turns, AS_OF), memory])
        assert [(one.status, len(one.provider_ids)) for one in receipts] == [("done", 2), ("done", 1)]
        hits = service.search(scope, "beagle", limit=10, as_of=None)
        assert hits[0].documents == ("s1",)
        assert not any(hit.whole for hit in hits)
    sent = [body["messages"] for body in bodies(fake, "/v3/memories/add/")]
    assert [[one["role"] for one in messages] for messages in sent] == [["user", "assistant"], ["user"]]


def test_a_memory_without_a_date_does_not_take_that_of_its_upload(fake: FakeMem0) -> None:
    with connected(fake, "mem0", ingest=DIRECT) as service:
        scope = prepared(service, NAME)
        text = "[2023-05-20T02:21:00Z]\nis how its own text begins"
        service.ingest(scope, [Document("m1", [Message("memory", text)], caller_id="x")])
        (hit,) = service.search(scope, "mine", limit=1, as_of=None)
        assert (hit.date, hit.content, hit.whole) == (None, text, True)


def test_what_the_service_makes_nothing_of_is_skipped_and_said(fake: FakeMem0) -> None:
    with connected(fake, "mem0") as service:
        scope = prepared(service, NAME)
        same = [document("s1", "Thanks!"), document("s2", "Thanks!"), Document("s3", [Message("user", " ")], AS_OF)]
        receipts = stored(service, scope, same)
        assert [one.status for one in receipts] == ["done", "skipped", "skipped"]
        assert all(one.error for one in receipts[1:])
        assert fake.count("/add/") == 2


def test_an_extraction_that_fails_is_failed_with_its_reason(fake: FakeMem0) -> None:
    fake.extraction_fails = "cat"
    with connected(fake, "mem0") as service:
        receipts = stored(service, prepared(service, NAME), [document("s1", "a cat"), document("s2", "a dog")])
        assert [one.status for one in receipts] == ["failed", "done"]
        assert "the model gave up" in (receipts[0].error or "")


def test_an_event_that_cannot_be_read_holds_up_no_other(fake: FakeMem0) -> None:
    with connected(fake, "mem0") as service:
        scope = prepared(service, NAME)
        receipts = service.ingest(scope, [document("s1", "a cat"), document("s2", "a dog")])
        del fake.events["event-0"]
        fake.clock += 10
        after = service.settle(scope, receipts)
        assert [one.status for one in after] == ["pending", "done"]
        assert after[0].ticket == "event-0" and "Event not found" in (after[0].error or "")


def test_what_comes_late_of_a_lost_addition_is_never_seen_in_the_container_begun_anew() -> None:
    faults = Faults(1.0, ["lost"], only=["/add/"], first=1)
    with FakeMem0(faults=faults, delay=40, lag=0) as fake, connected(fake, "mem0") as service:
        first = prepared(service, NAME)
        assert service.describe().recovery == "clear"
        with pytest.raises(UnknownOutcome):
            service.ingest(first, [document("s1", "a beagle")])
        service.clear(first)
        again = prepared(service, NAME)
        receipts = stored(service, again, [document("s1", "a beagle")])
        assert [one.status for one in receipts] == ["done"]
        assert service.count(first) == 1
        assert len(service.search(again, "beagle", limit=10, as_of=None)) == 2
        assert fake.stored_twice == 0


def test_clearing_returns_when_reads_show_nothing_any_more() -> None:
    with FakeMem0(delay=2, lag=2) as fake, connected(fake, "mem0", ingest=DIRECT) as service:
        scope, other = prepared(service, NAME), prepared(service, "other")
        stored(service, scope, [document(f"s{index}", f"text {index}") for index in range(3)])
        stored(service, other, [document("s1", "stays")])
        service.clear(scope)
        assert service.search(scope, "text", limit=10, as_of=None) == []
        assert (service.count(scope), service.count(other), fake.everybody_deleted) == (0, 1, 0)
        deletions = [one for one in fake.seen if one.method == "DELETE"]
        assert all(one.params == {"user_id": NAME} for one in deletions)
        service.clear(scope)
        assert fake.count("DELETE") == len(deletions)


def test_find_pages_through_all_that_is_there(fake: FakeMem0) -> None:
    with connected(fake, "mem0", ingest=DIRECT) as service:
        scope = prepared(service, NAME)
        documents = [document(f"s{index}", f"text {index}") for index in range(201)]
        stored(service, scope, documents[:-1])
        assert len(service.find(scope, documents)) == 200


def test_a_container_that_nobody_made_is_empty(fake: FakeMem0) -> None:
    with connected(fake, "mem0") as service:
        assert service.count(Scope("nobody")) == 0


def test_merged_memories_do_not_make_a_container_lost(fake: FakeMem0) -> None:
    with connected(fake, "mem0", retrieval={"include_merged": True}) as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "a beagle"), document("s2", "tea")])
        before = service.count(scope)
        fake.memories[0]["merged"] = True
        assert service.count(scope) == before == 1
        assert len(service.search(scope, "beagle", limit=10, as_of=None)) == 3


def test_replaced_memories_are_hits_unless_only_the_latest_are_wanted(fake: FakeMem0) -> None:
    for latest_only, expected in ((False, {("s1",), ("s2",)}), (True, {("s2",)})):
        retrieval = {"latest_only": latest_only}
        with connected(fake, "mem0", ingest=DIRECT, retrieval=retrieval) as service:
            scope = prepared(service, NAME)
            stored(service, scope, [document("s1", "a beagle"), document("s2", "tea")])
            fake.memories[0]["replaced_by"] = fake.memories[1]["id"]
            assert {hit.documents for hit in service.search(scope, "beagle", limit=10, as_of=None)} == expected


@pytest.mark.parametrize("status", [403, 413])
def test_a_used_up_plan_ends_it_and_is_no_bad_key(fake: FakeMem0, status: int) -> None:
    fake.adds_left, fake.quota_status = 1, status
    with connected(fake, "mem0") as service:
        scope = prepared(service, NAME)
        service.ingest(scope, [document("s1", "a")])
        with pytest.raises(OutOfQuota, match="Add quota is used up"):
            service.ingest(scope, [document("s2", "b")])
        assert fake.count("/add/") == 2


def test_a_wrong_key_ends_it_and_is_not_repeated(fake: FakeMem0) -> None:
    with connected(fake, "mem0", key="planted-secret") as service, pytest.raises(BadKey) as caught:
        service.probe()
    assert "planted-secret" not in str(caught.value)
    assert len(fake.seen) == 1


def test_the_probe_does_not_tell_whose_account_it_is(fake: FakeMem0) -> None:
    with connected(fake, "mem0") as service:
        assert service.probe() == {"status": "ok"}


def test_a_blank_question_is_refused_and_not_asked_again(fake: FakeMem0) -> None:
    with connected(fake, "mem0") as service:
        with pytest.raises(Refused, match="query must not be blank"):
            service.search(prepared(service, NAME), " ", limit=1, as_of=None)
        assert fake.count("/search/") == 1


def test_a_session_longer_than_is_known_to_be_stored_would_be_split(fake: FakeMem0) -> None:
    with connected(fake, "mem0", ingest={"infer": False, "longest": 2000}) as service:
        longest = service.describe().longest
        assert longest is not None
        text = "x" * (longest - len("user: \nassistant: I see."))
        stored(service, prepared(service, NAME), [document("a" * 32 + "-1234", text)])
        assert len(fake.memories[0]["memory"]) <= 2000


HOSTILE: dict[str, tuple[Any, int | None]] = {
    "odd values": ([{"id": "../a?b#c", "memory": "x" * 10**6, "score": float("nan"), "metadata": [], "new": 1}], 1),
    "twice": ([{"id": "a", "memory": "x", "metadata": {"session_id": {}}}] * 2, 2),
    "synthesized": ([{"id": 7, "memory": "a pattern", "metadata": None, "created_at": "soon"}], 1),
    "no text": ([{"id": "a"}], None),
    "no id": ([{"memory": "x"}], None),
    "no list": ({"a": 1}, None),
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_hostile_hits_are_bounded_or_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    results, expected = HOSTILE[name]
    with FakeMem0() as fake, connected(fake, "mem0") as service:
        monkeypatch.setattr(fake, "_search", lambda body: fake_answer({"results": results}))
        scope = prepared(service, NAME)
        if expected is None:
            with pytest.raises(Unreadable):
                service.search(scope, "q", limit=5, as_of=None)
            return
        hits = service.search(scope, "q", limit=5, as_of=None)
        assert len(hits) == expected
        assert all(hit.documents == () and hit.score is None and hit.date is None and not hit.whole for hit in hits)
        assert all(len(hit.content) <= 65_536 for hit in hits)


def fake_answer(body: Any) -> Any:
    from fakes.server import Answer

    return Answer(200, body)
