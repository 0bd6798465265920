"""The adapter of Supermemory, over both of its interfaces, against a server that does what the contract says."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from fakes.connect import connected, prepared, stored
from fakes.faults import Faults
from fakes.server import Answer, Seen
from fakes.supermemory import UNPROCESSABLE, FakeSupermemory
from hypothesis import given
from hypothesis import strategies as st

from providers.remote.errors import BadKey, OutOfQuota, Refused, UnknownOutcome, Unreachable, Unreadable
from providers.remote.service import Document, Hit, Message, RemoteService, Scope
from providers.supermemory.dialect import own_id

NAME = "c0ffee"
APIS = ("v5", "v4")
BATCHES = {"v5": f"/ns/{NAME}/document/batch", "v4": "/v3/documents/batch"}
SEARCHES = {"v5": f"/ns/{NAME}/search", "v4": "/v4/search"}

both = pytest.mark.parametrize("api", APIS)


@pytest.fixture
def fake() -> Iterator[FakeSupermemory]:
    with FakeSupermemory() as server:
        yield server


def document(name: str, text: str, day: int = 20) -> Document:
    messages = [Message("user", text), Message("assistant", "I see.")]
    return Document(name, messages, datetime(2023, 5, day, 2, 21, tzinfo=UTC))


def find(service: RemoteService, scope: Scope, query: str = "which beagle?") -> list[Hit]:
    return list(service.search(scope, query, limit=10, as_of=None))


def requests(fake: FakeSupermemory, path: str) -> list[Seen]:
    return [one for one in fake.seen if one.path == path]


@both
def test_what_is_stored_is_found_under_our_id(fake: FakeSupermemory, api: str) -> None:
    with connected(fake, "supermemory", ingest={"api": api}) as service:
        scope = prepared(service, NAME)
        service.probe()
        receipts = stored(service, scope, [document("s1", "a beagle called Bo"), document("s2", "tea")])
        assert [one.status for one in receipts] == ["done", "done"]
        hits = find(service, scope)
        assert {hit.provider_id.partition("-")[0] for hit in hits} == {"chunk", "memory"}
        assert [hit.documents for hit in hits] == [("s1",), ("s1",), ("s2",), ("s2",)]
        assert hits[0].content in ("user: a beagle called Bo", "user: a beagle called Bo\nassistant: I see.")
        assert service.count(scope) == 2
        # What the service dates is the upload.
        assert {hit.date for hit in hits} == {None}
        assert len(find(service, scope)) == 4
        assert len(list(service.search(scope, "beagle", limit=1, as_of=None))) == 1


@both
@pytest.mark.parametrize("dreaming", ["instant", "dynamic"])
def test_done_is_both_clocks(fake: FakeSupermemory, api: str, dreaming: str) -> None:
    with connected(fake, "supermemory", ingest={"api": api, "dreaming": dreaming}) as service:
        scope = prepared(service, NAME)
        pending = service.ingest(scope, [document(f"s{index}", f"beagle {index}") for index in range(7)])
        seen = set()
        while pending:
            for one in fake.docs.values():
                seen.add((one.status == "done", one.dreaming))
            after = service.settle(scope, pending)
            for receipt in after:
                assert receipt.status == "pending" or fake.docs[own_id(NAME, receipt.document)].dreaming == "done"
            pending = [one for one in after if one.status == "pending"]
        assert (True, "dreaming") in seen
        assert requests(fake, BATCHES[api])[0].body["dreaming"] == dreaming


@both
@pytest.mark.parametrize("neighbours", [0, 8])
def test_what_cannot_be_processed_is_failed_before_and_after_its_removal(api: str, neighbours: int) -> None:
    with FakeSupermemory(polls=1) as fake, connected(fake, "supermemory", ingest={"api": api}) as service:
        scope = prepared(service, NAME)
        others = [document(f"o{index}", f"tea {index}") for index in range(neighbours)]
        pending = service.ingest(scope, [document("bad", UNPROCESSABLE), *others])
        said = [service.settle(scope, pending)[0] for _ in range(3)]
        assert {one.status for one in said} == {"failed"}
        assert said[0].error == "the service could not process it"
        assert said[-1].error == "the service does not hold it, as it removes what it cannot process"


@both
def test_a_batch_may_fail_in_part(fake: FakeSupermemory, api: str) -> None:
    with connected(fake, "supermemory", ingest={"api": api}) as service:
        too_long = Document("s2", [Message("user", "x" * 1_000_001)])
        scope = prepared(service, NAME)
        receipts = stored(service, scope, [document("s1", "fine"), too_long, document("s3", "fine too")])
        assert {one.document: one.status for one in receipts} == {"s1": "done", "s2": "failed", "s3": "done"}
        assert "at most 1 MB" in str(next(one.error for one in receipts if one.document == "s2"))


@both
def test_one_that_is_refused_harms_no_other(fake: FakeSupermemory, api: str) -> None:
    with connected(fake, "supermemory", ingest={"api": api}) as service:
        scope = prepared(service, NAME)
        odd = document("s?2", "an id that the service does not take")
        receipts = stored(service, scope, [document("s1", "fine"), odd, document("s3", "fine too")])
        assert {one.document: one.status for one in receipts} == {"s1": "done", "s?2": "failed", "s3": "done"}
        refusal = str(next(one.error for one in receipts if one.status == "failed"))
        assert "documents.0.id: an id of" in refusal
        assert "does not take" not in refusal
        assert fake.stored_twice == 0


@both
def test_a_text_without_a_word_is_skipped(fake: FakeSupermemory, api: str) -> None:
    with connected(fake, "supermemory", ingest={"api": api}) as service:
        receipts = stored(service, prepared(service, NAME), [Document("s1", []), document("s2", "tea")])
        assert {one.document: one.status for one in receipts} == {"s1": "skipped", "s2": "done"}


@both
def test_what_is_sent(fake: FakeSupermemory, api: str) -> None:
    with connected(fake, "supermemory", ingest={"api": api}) as service:
        undated = Document("s2", [Message("user", "tea")])
        service.ingest(prepared(service, NAME), [document("s1", "a beagle", day=1), undated])
    (sent,) = requests(fake, BATCHES[api])
    ours, date = ("id", "date") if api == "v5" else ("customId", "documentDate")
    first, second = sent.body["documents"]
    assert first == {
        "content": "user: a beagle\nassistant: I see.",
        ours: f"{NAME}-s1",
        "metadata": {"session_id": "s1"},
        date: "2023-05-01T02:21:00Z",
    }
    assert date not in second
    assert sent.headers["authorization"] == f"Bearer {fake.key}"
    assert sent.body.get("containerTag") == (None if api == "v5" else NAME)


@given(st.text("0123456789abcdef-", min_size=1, max_size=300), st.text("0123456789abcdef", min_size=1, max_size=64))
def test_ids_are_short_and_begin_with_the_container(document: str, container: str) -> None:
    name = own_id(container, document)
    assert name.startswith(f"{container}-")
    assert len(name) <= 100
    assert len(name) == 100 or name == f"{container}-{document}" or len(f"{container}-{document}") > 100


@both
def test_an_id_that_is_too_long_maps_back_all_the_same(fake: FakeSupermemory, api: str) -> None:
    name = f"{hashlib.sha256(b'a session').hexdigest()}-10000"
    with connected(fake, "supermemory", ingest={"api": api}) as service:
        scope = prepared(service, "c" * 32)
        (receipt,) = stored(service, scope, [document(name, "a beagle")])
        assert receipt.status == "done"
        assert find(service, scope)[0].documents == (name,)
        assert [one.document for one in service.find(scope, [document(name, "a beagle")])] == [name]


@both
def test_requests_are_bounded(fake: FakeSupermemory, api: str) -> None:
    with connected(fake, "supermemory", ingest={"api": api}) as service:
        documents = [Document(f"s{index}", [Message("user", f"{index} " + "é" * 100_000)]) for index in range(30)]
        receipts = service.ingest(prepared(service, NAME), documents)
        assert [one.document for one in receipts] == [one.id for one in documents]
        sizes = [len(one.raw) for one in requests(fake, BATCHES[api])]
        assert len(sizes) == 4
        assert max(sizes) < 2_001_000


@both
def test_lists_are_paged(fake: FakeSupermemory, api: str) -> None:
    with connected(fake, "supermemory", ingest={"api": api}) as service:
        scope = prepared(service, NAME)
        documents = [document(f"s{index}", f"beagle {index}") for index in range(250)]
        service.ingest(scope, documents)
        assert len(service.find(scope, [*documents, document("absent", "beagle")])) == service.count(scope) == 250
        assert [one.document for one in service.find(scope, documents[-1:])] == ["s249"]


@both
def test_search_options_are_always_said_and_in_the_body(fake: FakeSupermemory, api: str) -> None:
    asked: dict[str, Any] = {"search_mode": "chunks", "threshold": 0.4, "rerank": True, "rewrite_query": True}
    for retrieval in ({}, asked):
        with connected(fake, "supermemory", ingest={"api": api}, retrieval=retrieval) as service:
            find(service, prepared(service, NAME))
    plain, other = (one.body for one in requests(fake, SEARCHES[api]))
    same = {"limit": 10, "include": {"documents": True}}
    if api == "v5":
        assert plain == same | {
            "query": "which beagle?",
            "searchMode": "hybrid",
            "threshold": 0.0,
            "rerank": "none",
            "rewriteQuery": False,
        }
        assert (other["searchMode"], other["rerank"]) == ("chunks", "order")
    else:
        assert plain == same | {
            "q": "which beagle?",
            "containerTag": NAME,
            "searchMode": "hybrid",
            "threshold": 0.0,
            "rerank": False,
            "rewriteQuery": False,
        }
        assert (other["searchMode"], other["rerank"]) == ("documents", True)
    assert (other["threshold"], other["rewriteQuery"]) == (0.4, True)


@both
@pytest.mark.parametrize("mode", ["memories", "chunks"])
def test_a_mode_gives_its_kind_of_hits(fake: FakeSupermemory, api: str, mode: str) -> None:
    with connected(fake, "supermemory", ingest={"api": api}, retrieval={"search_mode": mode}) as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "a beagle")])
        assert [hit.provider_id.partition("-")[0] + "s" for hit in find(service, scope)] == [
            {"memories": "memorys"}.get(mode, mode)
        ]


@both
def test_a_memory_without_our_id_is_mapped_by_its_documents(api: str) -> None:
    with FakeSupermemory(inherits=False) as fake, connected(fake, "supermemory", ingest={"api": api}) as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "a beagle")])
        assert {hit.documents for hit in find(service, scope)} == {("s1",)}


@pytest.mark.parametrize(("api", "named"), [("v5", ("s1",)), ("v4", ("s1", "s2"))])
def test_a_memory_of_several_sessions(api: str, named: tuple[str, ...]) -> None:
    settings = {"api": api, "dreaming": "dynamic"}
    retrieval = {"search_mode": "memories"}
    with (
        FakeSupermemory(inherits=False, merged=True) as fake,
        connected(fake, "supermemory", ingest=settings, retrieval=retrieval) as service,
    ):
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "a beagle"), document("s2", "a cat")])
        assert [hit.documents for hit in find(service, scope)] == [named]


def test_a_service_that_gives_ids_itself() -> None:
    with FakeSupermemory(keeps_ids=False) as fake, connected(fake, "supermemory") as service:
        scope = prepared(service, NAME)
        (receipt,) = stored(service, scope, [document("s1", "a beagle")])
        assert (receipt.status, receipt.provider_ids) == ("done", ("srv000001",))
        assert find(service, scope)[0].sources == ("srv000001",)
        assert [one.document for one in service.find(scope, [document("s1", "a beagle")])] == ["s1"]


@both
@pytest.mark.parametrize("kind", ["lost", "late", "html", "cut", "500", "inside"])
def test_a_batch_whose_answer_is_lost_is_looked_for_and_not_sent_twice(api: str, kind: Any) -> None:
    with (
        FakeSupermemory(faults=Faults(share=1.0, kinds=[kind], first=1)) as fake,
        connected(fake, "supermemory", ingest={"api": api}) as service,
    ):
        scope = prepared(service, NAME)
        documents = [document("s1", "a beagle"), document("s2", "tea")]
        with pytest.raises(UnknownOutcome):
            service.ingest(scope, documents)
        there = service.find(scope, documents)
        assert [one.document for one in there] == [] if kind in ("500", "inside") else ["s1", "s2"]
        assert {one.status for one in there} <= {"pending"}
        # Should it be sent again nevertheless, the same text under the same id is no second document.
        assert {one.status for one in stored(service, scope, documents)} == {"done"}
        assert fake.stored_twice == 0
        assert service.count(scope) == 2


@both
def test_a_conflict_is_looked_into(api: str) -> None:
    with FakeSupermemory(conflicts=1) as fake, connected(fake, "supermemory", ingest={"api": api}) as service:
        scope = prepared(service, NAME)
        with pytest.raises(UnknownOutcome, match="409"):
            service.ingest(scope, [document("s1", "a beagle")])
        assert [one.document for one in service.find(scope, [document("s1", "a beagle")])] == ["s1"]


@both
@pytest.mark.parametrize("lag", [0, 3])
def test_a_cleared_container_is_empty_and_the_others_are_not(api: str, lag: int) -> None:
    with FakeSupermemory(lag=lag) as fake, connected(fake, "supermemory", ingest={"api": api}) as service:
        scope, other = prepared(service, NAME), prepared(service, "other")
        stored(service, scope, [document("s1", "a beagle")])
        stored(service, other, [document("s1", "a beagle")])
        service.clear(scope)
        assert (service.count(scope), service.count(other)) == (0, 1)
        service.clear(scope)
        deletions = [one for one in fake.seen if one.method == "DELETE"]
        if api == "v5":
            assert {(one.path, one.raw) for one in deletions} == {(f"/ns/{NAME}", b"")}
        else:
            assert [one.body for one in deletions] == [{"containerTags": [NAME]}] * 2


HIT = {"id": "m1", "memory": "a beagle", "metadata": {}, "similarity": 0.5}


class Canned(FakeSupermemory):
    """Answers all searches with what it is told."""

    body: Any = None

    def answer(self, seen: Seen) -> Answer:
        return Answer(200, self.body) if seen.path.endswith("/search") else super().answer(seen)


@both
def test_hostile_hits_do_no_harm(api: str) -> None:
    hits = [
        HIT | {"id": "../a/b", "similarity": float("nan"), "new": [1]},
        HIT | {"id": "../a/b", "metadata": "none", "documents": 3, "included": [3]},
        HIT | {"memory": None, "chunk": "x" * 10_000_000, "metadata": {"session_id": ["s1"]}},
        HIT | {"documents": [None, {"id": {}, "metadata": []}], "included": {"document": {"id": None}}},
    ]
    with Canned() as fake, connected(fake, "supermemory", ingest={"api": api}) as service:
        fake.body = {"results": hits}
        found = find(service, Scope(NAME))
        assert [(hit.provider_id, hit.documents, hit.sources) for hit in found] == [
            ("../a/b", (), ()),
            ("../a/b", (), ()),
            ("m1", (), ()),
            ("m1", (), ()),
        ]
        assert found[0].score is None
        assert len(found[2].content) < 100_000


@both
@pytest.mark.parametrize(
    "body",
    [
        None,
        {"error": "database is locked"},
        {"success": False, "error": [{"message": "no"}]},
        {"results": {}},
        {"results": [HIT | {"memory": None}]},
        {"results": [HIT | {"id": None}]},
        {"results": [HIT | {"memory": 3}]},
    ],
)
def test_what_is_no_answer_is_unreadable(api: str, body: Any) -> None:
    with Canned() as fake, connected(fake, "supermemory", ingest={"api": api}) as service:
        fake.body = body
        with pytest.raises(Unreadable):
            find(service, Scope(NAME))


@both
def test_a_wrong_key_ends_it_and_is_not_repeated(fake: FakeSupermemory, api: str) -> None:
    with (
        connected(fake, "supermemory", ingest={"api": api}, key="planted-secret") as service,
        pytest.raises(BadKey) as caught,
    ):
        service.probe()
    assert "planted-secret" not in str(caught.value)
    assert len(fake.seen) == 1


@both
def test_a_payment_stop_ends_it(api: str) -> None:
    with FakeSupermemory(unpaid=True) as fake, connected(fake, "supermemory", ingest={"api": api}) as service:
        with pytest.raises(OutOfQuota, match="token limit reached"):
            service.ingest(prepared(service, NAME), [document("s1", "a beagle")])
        assert len(fake.seen) == 1


@both
def test_another_server_at_the_address_ends_it(fake: FakeSupermemory, api: str) -> None:
    fake.answer = lambda seen: Answer(404, {"error": "no route"})  # type: ignore[method-assign]
    with (
        connected(fake, "supermemory", ingest={"api": api}) as service,
        pytest.raises(Unreachable, match=f"no route; is the interface {api} of Supermemory at this address"),
    ):
        service.probe()


@both
def test_a_question_that_the_service_refuses_is_not_asked_again(fake: FakeSupermemory, api: str) -> None:
    with connected(fake, "supermemory", ingest={"api": api}) as service:
        with pytest.raises(Refused, match="query: invalid search"):
            service.search(prepared(service, NAME), "", limit=1, as_of=None)
        assert len(requests(fake, SEARCHES[api])) == 1
