"""Filling containers at a service and asking them: nothing twice, nothing lost, nothing made up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from fakes.everyone import EVERYONE, Service, at_once
from fakes.faults import ALL, Faults
from fakes.server import Answer, Seen
from fakes.supermemory import FakeSupermemory
from fakes.zengram import FakeZengram
from links import MANNERS, bench, built, linked, right, searched

from eval_assets.ledger.stats import ledger_stats
from eval_assets.remote.errors import Foreign, StoreLost
from providers.protocol import RETRYABLE_DOCUMENTS
from providers.remote.errors import BadKey, OutOfQuota, Unreachable
from providers.remote.service import Scope

SMALL = bench(3, 4)


def test_a_second_run_sends_and_asks_nothing(tmp_path: Path) -> None:
    with FakeZengram() as fake:
        with linked(fake, "zengram", tmp_path) as system:
            store = built(system, SMALL)
            first = searched(system, SMALL, store)
            assert system.facts == {"calls made": 3, "calls replayed": 0, "hits without a session": 0}
        assert (store.sent, store.stored, right(SMALL, first)) == (12, 12, 3)
        imports, searches = fake.count("/export/import"), fake.count("/memory/search")
        with linked(fake, "zengram", tmp_path) as system:
            again = built(system, SMALL)
            second = searched(system, SMALL, again)
            assert system.facts["calls replayed"] == 3
        assert (fake.count("/export/import"), fake.count("/memory/search")) == (imports, searches)
        assert second.equals(first)
        assert again.tables["receipts"].equals(store.tables["receipts"])


def test_systems_that_differ_in_retrieval_share_what_was_ingested(tmp_path: Path) -> None:
    with FakeZengram() as fake:
        for form in ("full", "index"):
            with linked(fake, "zengram", tmp_path, retrieval={"format": form}) as system:
                searched(system, SMALL, built(system, SMALL))
        assert fake.count("/export/import") == 3
        assert fake.count("/memory/search") == 6


@pytest.mark.parametrize("seed", range(4))
def test_three_of_ten_calls_fail_and_all_is_well_in_the_end(tmp_path: Path, seed: int) -> None:
    made = bench(6, 5)
    faults = Faults(0.3, kinds=[kind for kind in ALL if kind != "late"], seed=seed)
    with FakeZengram(faults=faults) as fake:
        with linked(fake, "zengram", tmp_path) as system:
            store = built(system, made)
            replies = searched(system, made, store)
        failed = set(replies.filter(replies["status"] == "error")["query"])
        broken = {int(name, 16) for name in store.tables["receipts"].filter(status="failed")["container"]}
        assert replies.height == 6
        assert right(made, replies) == 6 - len(failed)
        assert broken <= failed
        assert len(failed) <= 1
        assert fake.stored_twice == 0
        assert faults.happened.total() > 5


def test_an_answer_that_comes_too_late_stores_nothing_twice(tmp_path: Path) -> None:
    faults = Faults(1.0, kinds=["late"], only=["/export/import", "/memory/search"], first=2)
    manners = replace(MANNERS, timeout_s=0.2)
    made = bench(1, 2)
    with FakeZengram(faults=faults) as fake, linked(fake, "zengram", tmp_path, manners=manners) as system:
        store = built(system, made)
        assert (store.stored, right(made, searched(system, made, store))) == (2, 1)
        assert fake.stored_twice == 0
        assert faults.happened["late"] == 2


def test_foreign_documents_are_refused_or_cleared(tmp_path: Path) -> None:
    with FakeZengram() as fake:
        name = SMALL.documents["container"][0]
        fake.records["x"] = {"id": "x", "client_id": name, "type": "event", "content": "old", "active": True}
        with linked(fake, "zengram", tmp_path) as system, pytest.raises(Foreign, match="holds 1 things in container"):
            built(system, SMALL)
        with linked(fake, "zengram", tmp_path, clear=True) as system:
            assert right(SMALL, searched(system, SMALL, built(system, SMALL))) == 3
        assert not fake.records["x"]["active"]


def test_a_wiped_server_is_noticed_and_filled_again(tmp_path: Path) -> None:
    with FakeZengram() as fake, linked(fake, "zengram", tmp_path) as system:
        store = built(system, SMALL)
        searched(system, SMALL, store)
        fake.records.clear()
        other = SMALL.queries.with_columns(text=SMALL.queries["text"] + " please")
        with pytest.raises(StoreLost, match="holds 0 of 4 things"):
            system.search(store=store.tables, queries=other, limit=5)
        again = built(system, SMALL)
        assert set(again.tables["receipts"]["build"]) == {2}
        replies = system.search(store=again.tables, queries=other, limit=5)
        assert right(SMALL, replies) == 3


def test_what_the_ledger_answers_needs_no_server(tmp_path: Path) -> None:
    with FakeZengram() as fake:
        with linked(fake, "zengram", tmp_path) as system:
            store = built(system, SMALL)
            first = searched(system, SMALL, store)
        seen = len(fake.seen)
        with linked(fake, "zengram", tmp_path, mode="replay") as system:
            assert searched(system, SMALL, built(system, SMALL)).equals(first)
            other = SMALL.queries.with_columns(text=SMALL.queries["text"] + " please")
            replies = system.search(store=store.tables, queries=other, limit=5)
            assert replies["status"].to_list() == ["not_run"] * 3
        assert len(fake.seen) == seen


def test_asking_all_again(tmp_path: Path) -> None:
    with FakeZengram() as fake:
        for mode in ("record", "refresh"):
            with linked(fake, "zengram", tmp_path, mode=mode) as system:  # type: ignore[arg-type]
                searched(system, SMALL, built(system, SMALL))
        assert fake.count("/memory/search") == 6


class FakeWithoutCredit(FakeZengram):
    """Nothing is left after some searches."""

    left = 2

    def answer(self, seen: Seen) -> Answer:
        if seen.path == "/memory/search":
            self.left -= 1
            if self.left < 0:
                return Answer(402, {"error": "payment required"})
        return super().answer(seen)


def test_a_payment_stop_ends_the_step_and_keeps_what_is_done(tmp_path: Path) -> None:
    manners = replace(MANNERS, concurrency=1)
    with FakeWithoutCredit() as fake:
        with linked(fake, "zengram", tmp_path, manners=manners) as system:
            store = built(system, SMALL)
            with pytest.raises(OutOfQuota, match="payment required"):
                searched(system, SMALL, store)
            assert fake.count("/memory/search") == 3
        fake.left = 1
        with linked(fake, "zengram", tmp_path, manners=manners) as system:
            assert right(SMALL, searched(system, SMALL, store)) == 3
        assert fake.count("/memory/search") == 4


def test_a_server_that_is_down_ends_the_step_with_its_address(tmp_path: Path) -> None:
    with FakeZengram() as fake:
        pass
    with linked(fake, "zengram", tmp_path) as system, pytest.raises(Unreachable, match=fake.url):
        built(system, SMALL)


def test_a_wrong_key_ends_the_step_and_is_nowhere(tmp_path: Path) -> None:
    with FakeZengram() as fake, linked(fake, "zengram", tmp_path, key="planted-secret") as system:
        with pytest.raises(BadKey) as caught:
            built(system, SMALL)
        assert "planted" not in str(caught.value)
        kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert b"invalid key" in kept
        assert b"planted" not in kept


def test_without_what_a_service_refuses_for_good_answers_are_degraded(tmp_path: Path) -> None:
    made = bench(2, 2)
    with FakeRefusing() as fake, linked(fake, "zengram", tmp_path) as system:
        store = built(system, made)
        assert dict(store.left_out) == {"failed": 1}
        replies = searched(system, made, store)
        assert replies["status"].to_list() == ["degraded", "ok"]
        assert replies["error"].to_list() == ["the service took all but 1 documents of its container", None]
        assert replies["retryable"].to_list() == [False, False]
        assert replies["hits"].list.len().min() == 1
        assert fake.count("/memory/search") == 2
        sent = fake.count("/memory/import")
        assert built(system, made).left_out == store.left_out
        assert fake.count("/memory/import") == sent


def test_a_container_of_which_the_service_took_nothing_is_not_asked(tmp_path: Path) -> None:
    made = bench(2, 1)
    with FakeRefusing() as fake, linked(fake, "zengram", tmp_path) as system:
        fake.refused = "word0x"
        store = built(system, made)
        replies = searched(system, made, store)
        assert replies["status"].to_list() == ["error", "ok"]
        assert replies["error"][0] == "the service took none of the 1 documents of its container"
        assert replies["retryable"].to_list() == [False, False]
        assert fake.count("/memory/search") == 1


@pytest.mark.parametrize("status", ["failed", "pending"])
def test_a_question_of_an_incomplete_container_is_not_asked(tmp_path: Path, status: str) -> None:
    made = bench(2, 2)
    with FakeZengram() as fake, linked(fake, "zengram", tmp_path) as system:
        store = built(system, made)
        receipts = store.tables["receipts"].with_row_index()
        lacks = pl.col("index") == 0
        said = receipts.with_columns(
            status=pl.when(lacks).then(pl.lit(status)).otherwise("status"), retryable=lacks
        ).drop("index")
        replies = system.search(store={"receipts": said}, queries=made.queries, limit=10)
        assert replies["status"].to_list() == ["error", "ok"]
        assert "its container is not complete" in str(replies["error"][0])
        assert replies["retryable"].to_list() == [True, False]
        assert fake.count("/memory/search") == 1


class FakeRefusing(FakeZengram):
    """Some records are never taken."""

    refused = "word0x1"

    def _store(self, given: object) -> str:
        content = given["content"]  # type: ignore[index]
        return "errors" if self.refused in content else super()._store(given)  # type: ignore[arg-type]


class FakeBusy(FakeZengram):
    """Takes no import while it is busy."""

    busy = True

    def answer(self, seen: Seen) -> Answer:
        if self.busy and seen.path == "/export/import":
            return Answer(429, {"error": "busy"})
        return super().answer(seen)


def test_documents_that_an_overload_kept_out_are_sent_by_the_next_run(tmp_path: Path) -> None:
    with FakeBusy() as fake, linked(fake, "zengram", tmp_path) as system:
        store = built(system, SMALL)
        assert dict(store.left_out) == {"failed": 12}
        assert store.notes[RETRYABLE_DOCUMENTS] == 12
        assert set(searched(system, SMALL, store)["status"]) == {"error"}
        fake.busy = False
        again = built(system, SMALL)
        assert (again.stored, dict(again.left_out)) == (12, {})
        assert right(SMALL, searched(system, SMALL, again)) == 3


def test_what_is_not_indexed_in_time_is_pending_and_waited_for_by_the_next_run(tmp_path: Path) -> None:
    with FakeSupermemory(polls=10**6) as fake:
        with linked(fake, "supermemory", tmp_path, index_deadline_s=0.3) as system:
            store = built(system, SMALL)
            assert dict(store.left_out) == {"pending": 12}
            assert "not indexed after 0.3 s" in str(store.tables["receipts"]["error"][0])
        sent = len(fake.seen)
        for document in fake.docs.values():
            document.polls = 1
        with linked(fake, "supermemory", tmp_path) as system:
            assert built(system, SMALL).stored == 12
        assert not any(one.method == "POST" and one.path.endswith("batch") for one in fake.seen[sent:])


@pytest.mark.parametrize("one", [one for one in EVERYONE if one.fake is not None], ids=lambda one: one.name)
def test_what_goes_well_has_no_failed_call(tmp_path: Path, one: Service) -> None:
    with (
        at_once(20),
        one.served(tmp_path) as server,
        linked(server, one.provider, tmp_path, ingest=one.ingest) as system,  # type: ignore[arg-type]
    ):
        searched(system, SMALL, built(system, SMALL))
        link = system.link
        for row in link.ledger.containers(service=link.name, store=link.store, benchmark=link.benchmark):
            service = link.service()
            service.clear(Scope(row.container, row.handle))
            assert service.count(Scope(row.container, row.handle)) == 0
        counts = {call.purpose: call.calls for call in ledger_stats(link.ledger).calls}
    assert counts["search"]["usable"] >= 3
    assert not any(number for calls in counts.values() for state, number in calls.items() if state != "usable"), counts
