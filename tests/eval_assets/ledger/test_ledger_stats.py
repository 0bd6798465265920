"""What a ledger's calls came to, and which of them may go."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from ledger_rows import a_call, a_container, stored
from sqlalchemy import insert, select

from eval_assets.ledger.ledger import Ledger
from eval_assets.ledger.prune import prune_ledger
from eval_assets.ledger.stats import ledger_stats, stats_lines
from eval_assets.ledger.tables import CALLS
from providers.remote.service import Receipt


def add(ledger: Ledger, **values: object) -> None:
    blank = {"key": None, "status": "usable", "reply": None, "error": None, "attempt": 1, "at": time.time()}
    with ledger.writing() as connection:
        connection.execute(insert(CALLS), [stored("call", **{**blank, **values})])


def test_calls_are_counted_by_service_and_purpose(ledger: Ledger) -> None:
    for latency in range(1, 101):
        add(ledger, latency_ms=float(latency), input_tokens=10, cost_usd=0.5)
    add(ledger, status="degraded", latency_ms=9_000.0, output_tokens=7)
    add(ledger, status="failed")
    add(ledger, purpose="ingest", status="unreadable")
    found = ledger_stats(ledger)
    search, ingest = sorted(found.calls, key=lambda one: one.purpose, reverse=True)
    assert search.calls == {"usable": 100, "degraded": 1, "unreadable": 0, "failed": 1}
    assert search.latency_p50_ms in (50.0, 51.0)
    assert search.latency_p95_ms in (95.0, 96.0)
    assert (search.input_tokens, search.output_tokens, search.cost_usd) == (1000, 7, 50.0)
    assert (ingest.calls["unreadable"], ingest.latency_p50_ms, ingest.cost_usd) == (1, None, None)
    assert found.size_bytes > 0
    json.dumps(found.as_dict())


def test_containers_and_documents_are_counted_by_state(ledger: Ledger) -> None:
    for name, benchmark in (("c1", "chats"), ("c2", "chats"), ("c3", "tiny")):
        ledger.open_container(a_container(name, benchmark=benchmark))
        ledger.sending("far 1", name, 1, ["d1", "d2", "d3"])
        ledger.receive("far 1", name, [Receipt("d1", "done"), Receipt("d2", "failed")])
    ledger.set_container("far 1", "c2", "ready", 3)
    ledger.set_container("far 1", "c3", "lost")
    found = ledger_stats(ledger)
    assert [(one.store, one.benchmark) for one in found.stores] == [("there", "chats"), ("there", "tiny")]
    chats, tiny = found.stores
    assert chats.containers == {"open": 1, "ready": 1, "lost": 0, "cleared": 0}
    assert chats.documents == {"sent": 2, "pending": 0, "done": 2, "skipped": 0, "failed": 2}
    assert (tiny.containers["lost"], sum(tiny.documents.values())) == (1, 0)
    assert stats_lines(found)[1:] == [
        "  far 1  there [chats]  containers: 1 open, 1 ready; documents: 2 sent, 2 done, 2 failed",
        "  far 1  there [tiny]  containers: 1 lost; documents: none",
    ]


def left(ledger: Ledger) -> list[tuple[str | None, str, str | None]]:
    with ledger.reading() as connection:
        rows = connection.execute(select(CALLS.c.key, CALLS.c.status, CALLS.c.reply).order_by(CALLS.c.id))
        return [(key, status, reply) for key, status, reply in rows]


def test_what_can_no_longer_answer_goes(ledger: Ledger) -> None:
    for key in ("a", "b"):
        ledger.keep(a_call(key, "failed", error="no"))
        ledger.keep(a_call(key, reply=1))
        ledger.keep(a_call(key, reply=2))
        ledger.keep(a_call(key, "degraded"))
    ledger.keep(a_call(None))
    ledger.keep(a_call(None, "unreadable"))
    before = left(ledger)
    would = prune_ledger(ledger, dry_run=True)
    assert left(ledger) == before
    assert would.calls == {"superseded": 2, "degraded": 2, "failed": 2, "unreadable": 1}
    assert prune_ledger(ledger).calls == would.calls
    assert left(ledger) == [("a", "usable", "2"), ("b", "usable", "2"), (None, "usable", None)]
    assert prune_ledger(ledger).calls == {}
    ledger.keep(a_call("a", reply=3))
    with ledger.reading() as connection:
        attempts = connection.execute(select(CALLS.c.attempt).where(CALLS.c.key == "a").order_by(CALLS.c.id)).scalars()
        assert list(attempts) == [3, 4], "a number is not given twice"


def test_only_old_ones_go_and_answers_only_if_asked_for(ledger: Ledger) -> None:
    old = time.time() - 10 * 86_400
    add(ledger, key="old", reply="1", at=old)
    add(ledger, key="old", status="failed", at=old)
    add(ledger, key="new", reply="2")
    add(ledger, key="new", status="failed")
    assert prune_ledger(ledger, older_than_days=11).calls == {}
    assert prune_ledger(ledger, older_than_days=9).calls == {"failed": 1}
    assert left(ledger) == [("old", "usable", "1"), ("new", "usable", "2"), ("new", "failed", None)]
    assert prune_ledger(ledger, older_than_days=9, answers=True).calls == {"usable": 1}
    assert left(ledger) == [("new", "usable", "2"), ("new", "failed", None)]


def test_pruning_makes_a_file_smaller(new_ledger: Callable[[str], Ledger]) -> None:
    ledger = new_ledger("sqlite")
    for number in range(40):
        add(ledger, key="k", reply="x" * 50_000, at=float(number))
    pruned = prune_ledger(ledger)
    assert pruned.calls == {"superseded": 39}
    assert pruned.freed_bytes > 30 * 50_000
