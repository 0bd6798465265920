"""The adapter of Synap against a server that does what the contract says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Literal

import pytest
from fakes.connect import connected, prepared, stored
from fakes.faults import Faults, Kind
from fakes.server import Answer, Seen
from fakes.synap import FakeSynap

from providers.remote.errors import (
    BadKey,
    Degraded,
    OutOfQuota,
    Refused,
    Stop,
    Unavailable,
    UnknownOutcome,
    Unreachable,
    Unreadable,
)
from providers.remote.service import Document, Message, Scope

NAME = "c0ffee"
ASKED_AT = datetime(2023, 5, 30, 23, 30, tzinfo=UTC)


@pytest.fixture
def fake() -> Iterator[FakeSynap]:
    with FakeSynap() as server:
        yield server


def document(name: str, text: str, day: int = 20) -> Document:
    messages = [Message("user", text), Message("assistant", "I see.")]
    return Document(name, messages, datetime(2023, 5, day, 2, 21, tzinfo=UTC))


@pytest.mark.parametrize("isolation", ["equals_customer", "isolated", None])
def test_what_is_stored_is_found_through_the_ids_of_its_memories(isolation: str | None) -> None:
    with FakeSynap(isolation=isolation) as fake, connected(fake, "synap") as service:
        scope = prepared(service, NAME)
        receipts = stored(service, scope, [document("s1", "a beagle called Bo"), document("s2", "tea")])
        assert [(one.document, one.status, len(one.provider_ids)) for one in receipts] == [
            ("s1", "done", 2),
            ("s2", "done", 2),
        ]
        hit = service.search(scope, "which beagle?", limit=10, as_of=ASKED_AT)[0]
        assert hit.sources == receipts[0].provider_ids[:1] == (hit.provider_id,)
        assert (hit.content, hit.documents, hit.score) == ("a beagle called Bo", (), 0.5)
        assert hit.date == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
        assert fake.undated == 0


def test_what_is_sent(fake: FakeSynap) -> None:
    with connected(fake, "synap") as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "tea"), Document("d1", [Message("user", "a fact")], caller_id="mine")])
        service.search(scope, "tea?", limit=7, as_of=ASKED_AT)
    chat, fact = next(one.body["documents"] for one in fake.seen if one.path == "/api/v1/memories/batch")
    assert chat == {
        "document": "User: tea\nAssistant: I see.",
        "document_type": "ai-chat-conversation",
        "document_id": "c0ffee:s1",
        "document_created_at": "2023-05-20T02:21:00Z",
        "user_id": NAME,
        "customer_id": None,
        "scope": None,
        "mode": "long-range",
        "metadata": {"session_id": "s1"},
    }
    assert (fact["document"], fact["document_type"], fact["document_created_at"]) == ("a fact", "document", None)
    assert fake.seen[-1].body == {
        "user_id": NAME,
        "customer_id": None,
        "conversation_id": None,
        "search_query": ["tea?"],
        "max_results": 7,
        "types": ["all"],
        "mode": "accurate",
        "response_shape": "ranked",
        "query_date": "2023-05-30",
    }


def test_an_older_server_answers_by_type_and_its_scores_make_one_order(fake: FakeSynap) -> None:
    fake.ranked = False
    with connected(fake, "synap") as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "tea"), document("s2", "a beagle"), document("s3", "see my beagle")])
        hits = service.search(scope, "see my beagle", limit=10, as_of=None)
        scores = [hit.score or 0 for hit in hits]
        assert [hit.content for hit in hits[:1]] == ["see my beagle"]
        assert scores == sorted(scores, reverse=True) and len(set(scores)) > 2
        assert len(hits) == 6


def test_a_quote_is_looked_up_as_part_of_the_search(fake: FakeSynap) -> None:
    fake.excerpts = True
    with connected(fake, "synap") as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "a beagle"), document("s2", "tea")])
        hits = service.search(scope, "beagle", limit=10, as_of=None)
        assert {hit.documents for hit in hits if hit.provider_id.startswith("chunk/")} == {("s1",), ("s2",)}
        looked_up = [one for one in fake.seen if one.raw_path.startswith("/api/v1/memories/chunk%2F")]
        assert len(looked_up) == 2


@pytest.mark.parametrize(("look_up", "calls"), [("all", 4), ("none", 0)])
def test_looking_up_is_a_setting(fake: FakeSynap, look_up: str, calls: int) -> None:
    fake.excerpts = look_up == "none"
    with connected(fake, "synap", retrieval={"look_up": look_up}) as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "a beagle"), document("s2", "tea")])
        before = len(fake.seen)
        hits = service.search(scope, "beagle", limit=10, as_of=None)
        assert len(fake.seen) - before == 1 + calls
        assert all(bool(hit.documents) == bool(calls) for hit in hits)


def test_a_memory_that_is_gone_or_names_nothing_stays_a_hit(fake: FakeSynap) -> None:
    fake.names_documents = False
    with connected(fake, "synap", retrieval={"look_up": "all"}) as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "a beagle")])
        assert [hit.documents for hit in service.search(scope, "beagle", limit=10, as_of=None)] == [(), ()]


def test_metadata_that_comes_back_names_the_document_without_a_call(fake: FakeSynap) -> None:
    fake.echoes = fake.excerpts = True
    with connected(fake, "synap") as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "a beagle")])
        before = len(fake.seen)
        assert {hit.documents for hit in service.search(scope, "beagle", limit=10, as_of=None)} == {("s1",)}
        assert len(fake.seen) == before + 1


def test_what_the_pipeline_makes_of_a_document(fake: FakeSynap) -> None:
    with connected(fake, "synap") as service:
        texts = ["unprocessable", "halfway", "forgettable", "a beagle"]
        sent = [document(f"s{index}", text) for index, text in enumerate(texts)]
        receipts = stored(service, prepared(service, NAME), sent)
        assert [one.status for one in receipts] == ["failed", "done", "skipped", "done"]
        assert [one.error for one in receipts[:3]] == ["the pipeline failed"] * 2 + ["no memory was made of it"]


def test_documents_can_be_found_only_after_their_status_says_so() -> None:
    with FakeSynap(polls=3) as fake, connected(fake, "synap") as service:
        scope = prepared(service, NAME)
        pending = service.ingest(scope, [document("s1", "a beagle")])
        seen = []
        for _ in range(4):
            seen.append(pending[0].status)
            pending = service.settle(scope, pending)
        assert (seen, pending[0].status) == (["pending"] * 4, "done")


def test_a_status_that_cannot_be_had_now_is_pending_and_one_that_is_unknown_is_failed(fake: FakeSynap) -> None:
    with connected(fake, "synap") as service:
        scope = prepared(service, NAME)
        pending = service.ingest(scope, [document("s1", "a"), document("s2", "b")])
        fake.stored.pop(0)
        fake.faults = Faults(1.0, kinds=["500"], only=[pending[1].ticket or ""])
        after = service.settle(scope, pending)
        assert [(one.status, one.ticket) for one in after] == [("failed", None), ("pending", pending[1].ticket)]


def test_one_document_that_is_refused_does_not_harm_the_batch(fake: FakeSynap) -> None:
    with connected(fake, "synap") as service:
        empty = Document("s2", [Message("user", " ")], caller_id="mine")
        receipts = stored(service, prepared(service, NAME), [document("s1", "fine"), empty])
        assert [(one.document, one.status, one.error) for one in receipts] == [
            ("s1", "done", None),
            ("s2", "failed", "document must not be empty"),
        ]


@pytest.mark.parametrize("kind", ["lost", "late", "html", "cut", "500", "502", "reset"])
def test_a_batch_without_an_answer_is_unknown_and_not_sent_again(fake: FakeSynap, kind: Kind) -> None:
    with connected(fake, "synap") as service:
        scope = prepared(service, NAME)
        fake.faults = Faults(1.0, kinds=[kind], only=["/memories/batch"], first=1)
        with pytest.raises(UnknownOutcome):
            service.ingest(scope, [document("s1", "a beagle")])
        assert fake.count("/memories/batch") == 1


def test_only_200_and_204_are_success(fake: FakeSynap) -> None:
    fake.accepts = 202
    with connected(fake, "synap") as service, pytest.raises(UnknownOutcome, match="202"):
        service.ingest(prepared(service, NAME), [document("s1", "a beagle")])


def test_a_thin_answer_says_so(fake: FakeSynap) -> None:
    with connected(fake, "synap") as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "a beagle")])
        fake.degraded = {"degraded": True, "level": "minimal", "code": "overloaded"}
        with pytest.raises(Degraded, match="minimal, overloaded") as caught:
            service.search(scope, "beagle", limit=1, as_of=None)
        assert [hit.content for hit in caught.value.value] == ["a beagle"]  # type: ignore[attr-defined]
        fake.degraded = {"degraded": False}
        assert service.search(scope, "beagle", limit=1, as_of=None)


def test_an_outage_that_looks_like_an_empty_answer(fake: FakeSynap) -> None:
    fake.degraded = {"level": "failed", "code": "unavailable"}
    with connected(fake, "synap") as service, pytest.raises(Degraded, match="failed, unavailable"):
        service.search(prepared(service, NAME), "beagle", limit=1, as_of=None)


def test_a_blank_query_is_not_sent(fake: FakeSynap) -> None:
    with connected(fake, "synap") as service, pytest.raises(Refused, match="blank"):
        service.search(prepared(service, NAME), " \n", limit=1, as_of=None)
    assert fake.count("/fetch") == 0


@pytest.mark.parametrize("isolation", ["equals_customer", "isolated"])
def test_clearing_goes_on_as_long_as_the_service_wants(isolation: str) -> None:
    with FakeSynap(isolation=isolation) as fake, connected(fake, "synap") as service:
        fake.a_call = 2
        scope, other = prepared(service, NAME), prepared(service, "other")
        stored(service, scope, [document(f"s{index}", "tea") for index in range(5)])
        stored(service, other, [document("s1", "stays")])
        before = len(fake.stored)
        assert service.count(scope) == 1
        assert len(fake.stored) == before
        service.clear(scope)
        assert (service.count(scope), service.count(other)) == (0, 1)
        assert fake.count("/v1/data/delete") == 1 + 3 + 2


def test_what_is_not_wholly_removed_is_not_cleared(fake: FakeSynap) -> None:
    fake.stuck = ["vectors"]
    with connected(fake, "synap") as service, pytest.raises(Unavailable, match="vectors"):
        service.clear(prepared(service, NAME))


def test_an_instance_that_is_being_built_is_waited_for(fake: FakeSynap) -> None:
    fake.building = 2
    with connected(fake, "synap") as service:
        (receipt,) = stored(service, prepared(service, NAME), [document("s1", "a beagle")])
        assert receipt.status == "done"
        assert fake.count("/memories/batch") == 3


def test_an_instance_whose_build_failed_ends_it(fake: FakeSynap) -> None:
    fake.build_failed = True
    with connected(fake, "synap") as service, pytest.raises(Stop, match="gave up instances rebuild inst-1"):
        service.search(prepared(service, NAME), "beagle", limit=1, as_of=None)
    assert fake.count("/fetch") == 1


@pytest.mark.parametrize(
    ("stop", "said"),
    [("credits", "no credits left"), ("trial", "trial_limit_reached"), ("lapsed", "subscription_inactive: past due")],
)
def test_payment_stops_end_it_and_are_not_repeated(
    fake: FakeSynap, stop: Literal["credits", "trial", "lapsed"], said: str
) -> None:
    fake.stop = stop
    with connected(fake, "synap") as service, pytest.raises(OutOfQuota, match=said):
        service.search(prepared(service, NAME), "beagle", limit=1, as_of=None)
    assert fake.count("/fetch") == 1


def test_a_rate_limit_is_waited_for(fake: FakeSynap) -> None:
    fake.faults = Faults(1.0, kinds=["busy", "pause"], only=["/memories/batch"], first=3)
    with connected(fake, "synap") as service:
        (receipt,) = stored(service, prepared(service, NAME), [document("s1", "a beagle")])
        assert receipt.status == "done"
        assert fake.stored_twice == 0


def test_a_key_of_another_instance_ends_it(fake: FakeSynap) -> None:
    with connected(fake, "synap") as service, pytest.raises(BadKey):
        service.count(Scope(NAME, {"client_id": "cl-1", "instance_id": "inst-2"}))


def test_a_wrong_key_ends_it_and_is_not_repeated(fake: FakeSynap) -> None:
    with connected(fake, "synap", key="planted-secret") as service, pytest.raises(BadKey) as caught:
        service.probe()
    assert "planted-secret" not in str(caught.value)
    assert fake.count("whoami") == 1


def test_the_probe_says_whose_key_it_is(fake: FakeSynap) -> None:
    with connected(fake, "synap") as service:
        assert service.probe()["instance_id"] == "inst-1"


def test_nobody_there_is_one_line_with_the_address(fake: FakeSynap) -> None:
    fake.__exit__(None)
    with connected(fake, "synap") as service, pytest.raises(Unreachable, match=f"no connection to {fake.url}"):
        service.probe()


@pytest.mark.parametrize(
    "context",
    [
        {"items": [{"content": "no id"}]},
        {"items": [{"id": "a", "content": 7}]},
        {"items": {"a": 1}},
        {"facts": ["text"]},
        [],
        None,
    ],
)
def test_answers_that_are_not_what_was_agreed(
    fake: FakeSynap, context: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connected(fake, "synap") as service:
        scope = prepared(service, NAME)
        monkeypatch.setattr(fake, "answer", lambda _: Answer(200, {"context": context}))
        with pytest.raises(Unreadable):
            service.search(scope, "beagle", limit=1, as_of=None)


def test_hostile_items_do_no_harm(fake: FakeSynap, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(seen: Seen) -> Answer:
        raw = b'{"context": {"items": [{"id": "../a/b?c", "content": "%s", "metadata": {"rank_score": NaN}},' % (
            b"x" * 10_000_000
        )
        raw += b'{"id": "../a/b?c", "content": "", "metadata": [1], "said_at": {"a": 1}, "unknown": [[]]}]}}'
        return Answer(200, raw)

    with connected(fake, "synap") as service:
        scope = prepared(service, NAME)
        monkeypatch.setattr(fake, "answer", answer)
        first, second = service.search(scope, "beagle", limit=10, as_of=None)
        assert len(first.content) < 100_000 and first.score is None
        assert (second.provider_id, second.date, second.documents) == ("../a/b?c", None, ())
