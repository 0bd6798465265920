"""The adapter of Zep against servers that do what the contracts of v4 and v3 say: storing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from fakes.connect import connected, prepared, stored
from fakes.faults import Faults, Kind
from fakes.zep import FakeZep
from fakes.zep_graph import ZepGraph
from fakes.zep_v3 import FakeZepV3
from zep_kit import MAKING, NAME, V3, document, either, fake, long_document, said_in, settled  # noqa: F401

from providers.remote.errors import Refused, UnknownOutcome
from providers.remote.service import Document, Message, Scope


def test_what_is_stored_is_found_under_our_id(either: tuple[ZepGraph, dict[str, Any]]) -> None:
    server, ingest = either
    with connected(server, "zep", ingest=ingest) as service:
        scope = prepared(service, NAME)
        receipts = stored(service, scope, [document("s1", "a beagle called Bo"), document("s2", "tea", day=21)])
        assert [one.status for one in receipts] == ["done", "done"]
        episodes = [one for one in server.episodes.values() if one["metadata"] == {"session_id": "s1"}]
        assert receipts[0].provider_ids == tuple(one["uuid"] for one in episodes)
        hits = service.search(scope, "a beagle called Bo?", limit=10, as_of=None)
        assert len(hits) == 4
        assert hits[0].documents == ("s1",) and hits[0].sources == (hits[0].provider_id,)
        assert hits[0].content == "a beagle called Bo" and not hits[0].whole
        assert hits[0].date == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
        assert service.count(scope) == 2


def test_a_fact_names_every_session_that_it_comes_from(either: tuple[ZepGraph, dict[str, Any]]) -> None:
    server, ingest = either
    with connected(server, "zep", ingest=ingest, retrieval={"scope": "edges"}) as service:
        scope = prepared(service, NAME)
        receipts = stored(service, scope, [document("s1", "a beagle"), document("s2", "a beagle", day=22)])
        beagle, see = service.search(scope, "a beagle", limit=10, as_of=None)
        ours = {uuid: one.document for one in receipts for uuid in one.provider_ids}
        assert [ours[uuid] for uuid in beagle.sources] == ["s1", "s2"]
        assert beagle.content == "a beagle" and see.content == "I see."
        if ingest["api"] == "v4":
            assert beagle.documents == ("s1", "s2")
            assert beagle.date == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
            assert all(one.raw_path.startswith("/api/v4/graphs/") for one in server.seen if "search" in one.path)


def test_facts_of_many_episodes_are_resolved_page_by_page(fake: FakeZep) -> None:
    with connected(fake, "zep", retrieval={"scope": "edges"}) as service:
        scope = prepared(service, NAME)
        said_in(fake, scope, {f"s{index}": "I see." for index in range(260)})
        (hit,) = service.search(scope, "I see", limit=1, as_of=None)
        assert hit.documents == tuple(f"s{index}" for index in range(260))
        lists = [one for one in fake.seen if one.path.endswith("/episodes/list")]
        assert [len(one.body["filters"]["mentioned_node_uuids"]) for one in lists] == [256, 256, 256, 4]


def test_a_container_is_looked_up_before_it_is_made(either: tuple[ZepGraph, dict[str, Any]]) -> None:
    server, ingest = either
    with connected(server, "zep", ingest=ingest) as service:
        first = service.prepare(NAME)
        assert service.prepare(NAME) == first
        assert sum(str(one) in MAKING for one in server.seen) == 1
        assert len(server.users) == 1


@pytest.mark.parametrize("kind", ["lost", "html", "500", "inside"])
def test_a_lost_answer_to_its_making_is_looked_up(either: tuple[ZepGraph, dict[str, Any]], kind: Kind) -> None:
    server, ingest = either
    server.faults = _Making(1.0, [kind], first=1)
    with connected(server, "zep", ingest=ingest) as service:
        handle = service.prepare(NAME)
        assert handle == service.prepare(NAME)
        assert len(server.users) == 1 and server.faults.happened == {kind: 1}


class _Making(Faults):
    """Only what makes a user fails; a look-up has a path that begins alike."""

    def draw(self, what: str) -> Kind | None:
        return super().draw(what) if what in MAKING else None


def test_ids_of_the_server_are_in_the_handle(fake: FakeZep) -> None:
    with connected(fake, "zep") as service:
        scope = prepared(service, NAME)
        assert UUID(scope.handle["user"]) and UUID(scope.handle["graph"])
        stored(service, scope, [document("s1", "a beagle")])
        assert service.search(Scope(NAME), "beagle", limit=1, as_of=None)[0].documents == ("s1",)
        assert all(NAME not in one.path for one in fake.seen)


def test_turns_are_split_and_sent_thirty_at_a_time(either: tuple[ZepGraph, dict[str, Any]]) -> None:
    server, ingest = either
    text = "word " * 2000
    many = Document("s1", [Message("user", text), Message("assistant", " "), *long_document("s1", 40).messages])
    with connected(server, "zep", ingest=ingest) as service:
        (receipt,) = stored(service, prepared(service, NAME), [many])
        assert receipt.status == "done" and len(receipt.provider_ids) == 43
        adds = [one.body["messages"] for one in server.seen if one.method == "POST" and one.path.endswith("/messages")]
        assert [len(one) for one in adds] == [30, 13]
        assert "".join(one["content"] for one in adds[0][:3]) == text


def test_shorter_messages_can_be_asked_for(fake: FakeZep) -> None:
    with connected(fake, "zep", ingest={"longest_message": 2500}) as service:
        service.ingest(prepared(service, NAME), [Document("s1", [Message("user", "word " * 1000)])])
    (thread,) = fake.threads.values()
    assert [len(one["content"]) for one in thread.messages] == [2500, 2500]


def test_dates_are_the_conversations(either: tuple[ZepGraph, dict[str, Any]]) -> None:
    server, ingest = either
    field, other = ("reference_time", "created_at") if ingest["api"] == "v4" else ("created_at", "reference_time")
    with connected(server, "zep", ingest=ingest) as service:
        service.ingest(prepared(service, NAME), [document("s1", "a beagle")])
    (body,) = [one.body for one in server.seen if one.path.endswith("/messages")]
    assert [one.get(field) for one in body["messages"]] == ["2023-05-20T02:21:00Z"] * 2
    assert all(other not in one for one in body["messages"])


def test_a_speaker_is_a_user_with_a_name(either: tuple[ZepGraph, dict[str, Any]]) -> None:
    server, ingest = either
    with connected(server, "zep", ingest=ingest) as service:
        service.ingest(prepared(service, NAME), [Document("s1", [Message("Caroline", "hello")])])
    (message,) = next(one.body["messages"] for one in server.seen if one.path.endswith("/messages"))
    assert (message["role"], message["name"]) == ("user", "Caroline")


def test_a_document_without_text_is_skipped(either: tuple[ZepGraph, dict[str, Any]]) -> None:
    server, ingest = either
    with connected(server, "zep", ingest=ingest) as service:
        (receipt,) = service.ingest(prepared(service, NAME), [Document("s1", [Message("user", " \n")])])
    assert receipt.status == "skipped" and not server.threads


def test_nothing_is_done_before_it_is_in_the_graph(either: tuple[ZepGraph, dict[str, Any]]) -> None:
    server, ingest = either
    server.index_after = 3
    with connected(server, "zep", ingest=ingest) as service:
        scope = prepared(service, NAME)
        receipts = list(service.ingest(scope, [document("s1", "a beagle")]))
        assert [one.status for one in receipts] == ["pending"]
        assert not service.search(scope, "beagle", limit=5, as_of=None)
        receipts = list(service.settle(scope, receipts))
        assert [one.status for one in receipts] == ["pending"]
        assert [one.status for one in settled(service, scope, receipts)] == ["done"]
        assert len(service.search(scope, "beagle", limit=5, as_of=None)) == 2


def test_few_of_many_waiting_documents_are_asked_for(fake: FakeZep) -> None:
    fake.index_after = 100
    with connected(fake, "zep") as service:
        scope = prepared(service, NAME)
        receipts = [
            one for index in range(20) for one in service.ingest(scope, [document(f"s{index}", f"cat {index}")])
        ]
        assert service.settle(scope, receipts) == receipts
    assert fake.count("GET /api/v4/tasks") == 5


@pytest.mark.parametrize(("text", "said"), [("unreadable", "could not process"), ("half of it", "only part")])
def test_work_that_ends_badly_is_a_failed_document(fake: FakeZep, text: str, said: str) -> None:
    with connected(fake, "zep") as service:
        scope = prepared(service, NAME)
        bad, good = stored(service, scope, [document("s1", text), document("s2", "tea")])
        assert (bad.status, good.status) == ("failed", "done")
        assert said in str(bad.error) and "a message could not be read" in str(bad.error)


def test_v3_says_what_failed() -> None:
    with FakeZepV3() as fake, connected(fake, "zep", ingest=V3) as service:
        scope = prepared(service, NAME)
        bad, good = stored(service, scope, [document("s1", "unreadable"), document("s2", "tea")])
        assert (bad.status, good.status) == ("failed", "done")


def test_a_task_that_is_not_known_any_more_is_made_up_for_by_the_thread(fake: FakeZep) -> None:
    with connected(fake, "zep") as service:
        scope = prepared(service, NAME)
        receipts = list(service.ingest(scope, [document("s1", "a beagle")]))
        for work in fake.work.values():
            work.uuid = "forgotten"
        fake.work = {work.uuid: work for work in fake.work.values()}
        assert [one.status for one in settled(service, scope, receipts)] == ["done"]


@pytest.mark.parametrize("remembers", [True, False])
@pytest.mark.parametrize("kind", ["lost", "cut", "html", "late"])
def test_a_lost_answer_to_messages_is_looked_into_in_v4(kind: Kind, remembers: bool) -> None:
    with FakeZep(remembers=remembers) as fake:
        _lose_and_find(fake, {"api": "v4"}, kind, first=1)


@pytest.mark.parametrize("kind", ["lost", "cut", "html", "late"])
def test_a_lost_answer_to_messages_is_looked_into_in_v3(kind: Kind) -> None:
    with FakeZepV3() as fake:
        _lose_and_find(fake, V3, kind, first=1)


def _lose_and_find(fake: ZepGraph, ingest: dict[str, Any], kind: Kind, first: int) -> None:
    """The first of two requests arrives, its answer is lost, and the second one is never sent."""
    with connected(fake, "zep", ingest=ingest) as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s0", "tea")])
        lost, absent = long_document("s1", 40), document("s2", "never sent")
        fake.faults = Faults(1.0, [kind], only=["/messages"], first=first)
        with pytest.raises(UnknownOutcome):
            service.ingest(scope, [lost])
        found = list(service.find(scope, [lost, absent]))
        assert [one.document for one in found] == ["s1"]
        (receipt,) = settled(service, scope, found)
        assert receipt.status == "done" and len(receipt.provider_ids) == 40
        thread = next(one for one in fake.threads.values() if len(one.messages) > 2)
        assert [one["content"] for one in thread.messages] == [one.content for one in lost.messages]
        assert fake.stored_twice == 0


class _Nth(Faults):
    """One request of those that store fails."""

    def __init__(self, kind: Kind, number: int) -> None:
        super().__init__(kinds=[kind])
        self.number = number

    def draw(self, what: str) -> Kind | None:
        self.number -= what.startswith("POST") and ("/messages" in what or what.endswith("/threads"))
        hit = self.number == -1
        self.number -= hit
        return self.kinds[0] if hit else None


@pytest.mark.parametrize("which", ["v4", "v4 that forgets keys", "v3"])
def test_wherever_an_answer_is_lost_every_message_is_stored_once(which: str) -> None:
    kinds: tuple[Kind, ...] = ("lost", "reset", "busy")
    ingest = {"api": which[:2]}
    with (
        FakeZepV3() if which == "v3" else FakeZep(remembers=which == "v4") as server,
        connected(server, "zep", ingest=ingest) as service,
    ):
        scope = prepared(service, NAME)
        for kind in kinds:
            for number in range(4):
                one = long_document(f"{kind}-{number}", 70)
                server.faults = _Nth(kind, number)
                for _ in range(3):
                    try:
                        receipts = list(service.find(scope, [one])) or list(service.ingest(scope, [one]))
                        break
                    except UnknownOutcome:
                        continue
                assert [receipt.document for receipt in receipts] == [one.id]
                server.faults = Faults()
                (receipt,) = settled(service, scope, receipts)
                assert (receipt.status, len(receipt.provider_ids)) == ("done", 70)
                texts = [m["content"] for thread in server.threads.values() for m in thread.messages]
                assert [text for text in texts if text.endswith(f" {one.id}")] == [m.content for m in one.messages]
        assert server.stored_twice == 0


def test_what_never_arrived_is_not_found_and_can_be_sent(either: tuple[ZepGraph, dict[str, Any]]) -> None:
    server, ingest = either
    with connected(server, "zep", ingest=ingest) as service:
        scope = prepared(service, NAME)
        server.faults = Faults(1.0, ["reset"], only=["/messages"], first=1)
        with pytest.raises(UnknownOutcome):
            service.ingest(scope, [document("s1", "a beagle")])
        assert not service.find(scope, [document("s1", "a beagle")])
        assert [one.status for one in stored(service, scope, [document("s1", "a beagle")])] == ["done"]
        assert server.stored_twice == 0


def test_a_document_that_is_busy_half_way_is_in_doubt_and_not_sent_anew(
    either: tuple[ZepGraph, dict[str, Any]],
) -> None:
    server, ingest = either
    with connected(server, "zep", ingest=ingest) as service:
        scope = prepared(service, NAME)
        server.faults = _BusySecond()
        with pytest.raises(UnknownOutcome):
            service.ingest(scope, [long_document("s1", 40)])
        server.faults = Faults()
        assert len(list(service.find(scope, [long_document("s1", 40)]))) == 1
        assert [len(one.messages) for one in server.threads.values()] == [40]


class _BusySecond(Faults):
    """All requests with messages but the first are told to wait."""

    def draw(self, what: str) -> Kind | None:
        self.happened["messages"] += "/messages" in what
        return "busy" if "/messages" in what and self.happened["messages"] > 1 else None


def test_v3_does_not_send_messages_twice_by_itself() -> None:
    with FakeZepV3(faults=Faults(1.0, ["500"], only=["/messages"])) as fake:
        with connected(fake, "zep", ingest=V3) as service:
            scope = prepared(service, NAME)
            with pytest.raises(UnknownOutcome):
                service.ingest(scope, [document("s1", "a beagle")])
        assert fake.count("/messages") == 1


def test_a_document_that_v3_holds_already_is_looked_into() -> None:
    with FakeZepV3() as fake, connected(fake, "zep", ingest=V3) as service:
        scope = prepared(service, NAME)
        stored(service, scope, [document("s1", "a beagle")])
        with pytest.raises(UnknownOutcome, match="holds messages already"):
            service.ingest(scope, [document("s1", "a beagle")])
        assert fake.stored_twice == 0


def test_threads_of_v3_begin_with_the_container() -> None:
    with FakeZepV3() as fake, connected(fake, "zep", ingest=V3) as service:
        for name in ("one", "two"):
            stored(service, prepared(service, name), [document("s1", f"a beagle of {name}")])
        assert sorted(fake.threads) == ["one-s1", "two-s1"]


def test_the_search_for_a_lost_document_ends(fake: FakeZep) -> None:
    with connected(fake, "zep") as service:
        scope = prepared(service, NAME)
        said_in(fake, scope, {f"s{index}": f"cat {index}" for index in range(30)})
        before = fake.count("/messages")
        assert not service.find(scope, [document("absent", "cat")])
        assert fake.count("/messages") - before == 20


def test_a_lost_document_is_found_among_many_older_ones(fake: FakeZep) -> None:
    fake.remembers = False
    with connected(fake, "zep") as service:
        scope = prepared(service, NAME)
        said_in(fake, scope, {f"s{index}": f"cat {index}" for index in range(130)})
        fake.faults = Faults(1.0, ["lost"], only=["/messages"], first=1)
        with pytest.raises(UnknownOutcome):
            service.ingest(scope, [document("lost", "a beagle")])
        assert [one.document for one in service.find(scope, [document("lost", "a beagle")])] == ["lost"]


def test_keys_of_documents_stay_the_same(fake: FakeZep) -> None:
    fake.remembers = False
    with connected(fake, "zep") as service:
        scope = prepared(service, NAME)
        for _ in range(2):
            service.ingest(scope, [document("s1", "a beagle")])
    keys = [one.headers["idempotency-key"] for one in fake.seen if str(one) == "POST /api/v4/threads"]
    assert len(set(keys)) == 1 and len(keys) == 2
    assert fake.keyless == 0


def test_keys_of_what_only_reads_are_new(fake: FakeZep) -> None:
    with connected(fake, "zep") as service:
        scope = prepared(service, NAME)
        assert not service.search(scope, "beagle", limit=5, as_of=None)
        stored(service, scope, [document("s1", "a beagle")])
        assert service.search(scope, "beagle", limit=5, as_of=None)


def test_a_conflict_is_not_tried_again(fake: FakeZep) -> None:
    with connected(fake, "zep") as service:
        service.prepare(NAME)
        with pytest.raises(Refused, match="already exists"):
            service.api.create_user(NAME)  # type: ignore[attr-defined]
        assert fake.count("POST /api/v4/users") == 3
