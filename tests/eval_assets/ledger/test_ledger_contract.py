"""What a ledger keeps, on each database it may be in."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from ledger_rows import a_call, a_container
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from eval_assets.ledger.ledger import Ledger, call_key
from eval_assets.ledger.tables import CALLS
from providers.remote.service import Receipt


def attempts(ledger: Ledger, key: str | None) -> list[int]:
    with ledger.reading() as connection:
        return list(
            connection.execute(select(CALLS.c.attempt).where(CALLS.c.key == key).order_by(CALLS.c.id)).scalars()
        )


def test_only_a_usable_reply_answers(ledger: Ledger) -> None:
    key = call_key(["who"])
    for status in ("failed", "degraded", "unreadable"):
        ledger.keep(a_call(key, status, error="no"))  # type: ignore[arg-type]
        assert ledger.look(key) is None
        assert ledger.holds([key]) == set()
    ledger.keep(a_call(key, reply={"hits": []}, input_tokens=3, output_tokens=5, cost_usd=0.25))
    found = ledger.look(key)
    assert found is not None
    assert (found.reply, found.latency_ms, found.input_tokens, found.output_tokens, found.cost_usd) == (
        {"hits": []},
        12.5,
        3,
        5,
        0.25,
    )
    assert ledger.holds([key, call_key(["other"])]) == {key}
    assert attempts(ledger, key) == [1, 2, 3, 4]


def test_the_newest_answer_is_the_answer(ledger: Ledger) -> None:
    for number in range(3):
        ledger.keep(a_call("k" * 64, reply=number))
    ledger.keep(a_call("k" * 64, "failed"))
    found = ledger.look("k" * 64)
    assert found is not None
    assert found.reply == 2


def test_any_text_comes_back(ledger: Ledger) -> None:
    reply = {"text": "nul \0, half a pair \ud800, line \u2028, \x0b, \N{SNOWMAN}", "long": "é" * 100_000}
    ledger.keep(a_call("t" * 64, reply=reply))
    found = ledger.look("t" * 64)
    assert found is not None
    assert found.reply == reply


def test_calls_without_a_key_are_kept_and_never_numbered(ledger: Ledger) -> None:
    for _ in range(2):
        ledger.keep(a_call(None))
    with ledger.reading() as connection:
        assert list(connection.execute(select(CALLS.c.attempt)).scalars()) == [1, 1]


def test_a_container_from_open_to_lost(ledger: Ledger) -> None:
    assert ledger.container("far 1", "c1") is None
    ledger.open_container(a_container())
    ledger.open_container(a_container("c2", benchmark="tiny"))
    assert ledger.container("far 1", "c1") == a_container()
    ledger.sending("far 1", "c1", 1, ["d1", "d2"])
    ledger.set_container("far 1", "c1", "ready", 2)
    assert ledger.container("far 1", "c1") == a_container(state="ready", counted=2)
    assert [row.container for row in ledger.containers(benchmark="chats")] == ["c1"]
    assert [row.container for row in ledger.containers(state="open")] == ["c2"]
    ledger.set_container("far 1", "c1", "lost")
    assert ledger.documents("far 1", "c1") == {}
    ledger.open_container(a_container(build=2))
    assert ledger.container("far 1", "c1") == a_container(build=2)


def test_a_document_from_sent_to_done(ledger: Ledger) -> None:
    ledger.open_container(a_container())
    ledger.sending("far 1", "c1", 1, ["d1", "d2", "d3"])
    assert {one.state for one in ledger.documents("far 1", "c1").values()} == {"sent"}
    receipts = [
        Receipt("d1", "done", ("p1", "p/2")),
        Receipt("d2", "pending", ticket="t"),
        Receipt("d3", "failed", error="too long"),
    ]
    ledger.receive("far 1", "c1", receipts)
    known = ledger.documents("far 1", "c1")
    assert [known[receipt.document].receipt for receipt in receipts] == receipts
    assert {name: one.retryable for name, one in known.items()} == {"d1": False, "d2": True, "d3": False}
    assert {name: one.settled_at is None for name, one in known.items()} == {"d1": False, "d2": True, "d3": False}
    ledger.sending("far 1", "c1", 2, ["d3"])
    again = ledger.documents("far 1", "c1")["d3"]
    assert (again.state, again.receipt, again.settled_at) == ("sent", None, None)
    ledger.not_sent("far 1", "c1", ["d3"])
    assert set(ledger.documents("far 1", "c1")) == {"d1", "d2"}


def test_eight_threads_open_and_write_at_once(engine: str, new_url: Callable[[str], str]) -> None:
    url = new_url(engine)
    at_once = threading.Barrier(8)

    def work(number: int) -> None:
        at_once.wait()
        ledger = Ledger(url)
        try:
            ledger.open_container(a_container(f"c{number}"))
            for turn in range(5):
                ledger.keep(a_call("s" * 64, reply=[number, turn]))
                ledger.keep(a_call(f"{number:064}", reply=turn))
                ledger.sending("far 1", f"c{number}", 1, [f"d{turn}"])
                ledger.receive("far 1", f"c{number}", [Receipt(f"d{turn}", "done")])
        finally:
            ledger.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    ledger = Ledger(url)
    assert sorted(attempts(ledger, "s" * 64)) == list(range(1, 41))
    for number in range(8):
        assert attempts(ledger, f"{number:064}") == list(range(1, 6))
        states = [one.state for one in ledger.documents("far 1", f"c{number}").values()]
        assert states == ["done"] * 5
    ledger.close()


def test_many_calls_are_kept_and_looked_for_at_once(ledger: Ledger) -> None:
    ledger.keep(a_call("a" * 64, reply="old"))
    ledger.keep_many([a_call("b" * 64, reply=1), a_call("a" * 64, reply=[0.5]), a_call("b" * 64, reply=2)])
    ledger.keep_many([a_call("c" * 64, "failed")])
    found = ledger.look_many([letter * 64 for letter in "abcd"])
    assert {key[0]: (one.reply, one.latency_ms) for key, one in found.items()} == {"a": ([0.5], 12.5), "b": (2, 12.5)}
    assert attempts(ledger, "a" * 64) == attempts(ledger, "b" * 64) == [1, 2]
    assert not ledger.look_many([])
    no_status = a_call("f" * 64, None)  # type: ignore[arg-type]
    with pytest.raises(IntegrityError):
        ledger.keep_many([a_call("e" * 64, reply=1), no_status])
    assert not ledger.look_many(["e" * 64]), "all or none"


def test_two_writers_of_the_same_calls_do_not_wait_for_each_other(ledger: Ledger) -> None:
    calls = [a_call(letter * 64, reply=letter) for letter in "abcdef"]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: ledger.keep_many(calls[:: 1 if number % 2 else -1]), range(12)))
    assert attempts(ledger, "a" * 64) == attempts(ledger, "f" * 64) == list(range(1, 13))


def test_one_ledger_serves_several_threads(ledger: Ledger) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: ledger.keep(a_call("s" * 64, reply=number)), range(40)))
    assert sorted(attempts(ledger, "s" * 64)) == list(range(1, 41))
