"""What our loop adds to calls of a service that takes its time, and what memory a long ingestion takes.

    python -m benchmarks.remote_calls search            2,000 searches of 50 ms in 40 containers, 10 at a time
    python -m benchmarks.remote_calls ingest            5,000 documents, then 25,000

The server is the tests' Zengram in a process of its own. The rivals of ``search`` are the ideal (calls x latency /
concurrency) and a bare loop of httpx in as many threads, which keeps nothing. Ours includes the ledger and Parquet.
Asserted: every question is answered, every document stored once.
"""

from __future__ import annotations

import argparse
import gc
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import polars as pl

_TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(_TESTS), str(_TESTS / "eval_assets")]

from links import MANNERS, bench, linked  # noqa: E402

from converters.parquet import write_table  # noqa: E402
from providers.protocol import REPLIES  # noqa: E402

_CONTAINERS = 40
_SERVER = """
import sys
sys.path.insert(0, sys.argv[1])
from fakes.zengram import FakeZengram
class Quick(FakeZengram):
    def _search(self, params):
        self.mine = [one for one in self.index.get(params["client_id"], ())]
        whole, self.records = self.records, {one["id"]: one for one in self.mine}
        try:
            return super()._search(params)
        finally:
            self.records = whole
    def _store(self, given):
        if not hasattr(self, "index"):
            self.index = {}
        record = {"type": "event", **given, "active": True, "access_count": 0}
        self.records[record["id"]] = record
        self.index.setdefault(record["client_id"], []).append(record)
        return "imported"
    def _export(self, params):
        mine = self.index.get(params["client_id"], []) if hasattr(self, "index") else []
        whole, self.records = self.records, {one["id"]: one for one in mine}
        try:
            return super()._export(params)
        finally:
            self.records = whole
    def handle(self, seen):
        self.seen.clear()
        self.latency_s = latency if seen.path == "/memory/search" else 0
        return super().handle(seen)
latency = float(sys.argv[2])
with Quick() as fake:
    print(fake.url, flush=True)
    sys.stdin.read()
"""


class _Far:
    """What a link needs to know of a server elsewhere."""

    key = "fake-key"

    def __init__(self, url: str) -> None:
        self.url = url


@contextmanager
def server(latency_s: float) -> Iterator[Any]:
    """The server in a process of its own."""
    command = [sys.executable, "-c", _SERVER, str(_TESTS), str(latency_s)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdin is not None
    try:
        yield _Far(process.stdout.readline().strip())
    finally:
        process.stdin.close()
        process.wait()


def search(calls: int, latency_s: float, concurrency: int) -> None:
    """Print our time against the ideal and against a bare loop."""
    made = bench(_CONTAINERS, 1)
    asked = pl.concat(
        [made.queries.with_columns(text=made.queries["text"] + f" {turn}") for turn in range(calls // _CONTAINERS)]
    ).with_columns(query=pl.int_range(pl.len(), dtype=pl.UInt32))
    manners = replace(MANNERS, concurrency=concurrency)
    with server(latency_s) as far, tempfile.TemporaryDirectory() as folder:
        with linked(far, "zengram", Path(folder), manners=manners) as system:
            store = system.build(documents=made.documents, turns=made.turns)
            started = time.perf_counter()
            replies = system.search(store=store.tables, queries=asked, limit=10)
            write_table(REPLIES, replies, Path(folder) / "replies.parquet", {})
            ours = time.perf_counter() - started
            assert set(replies["status"]) == {"ok"}
        started = time.perf_counter()
        bare(far.url, asked, concurrency)
        rival = time.perf_counter() - started
        ideal = calls * latency_s / concurrency
    print(f"ideal {ideal:.2f} s; ours {ours:.2f} s, {ours / ideal:.3f} of it")
    print(f"bare loop {rival:.2f} s; ours {ours / rival:.3f} of it")


def bare(url: str, queries: pl.DataFrame, concurrency: int) -> None:
    """The same searches, answers thrown away."""
    with httpx.Client(headers={"x-api-key": "fake-key"}) as client, ThreadPoolExecutor(concurrency) as threads:

        def ask(query: dict[str, Any]) -> None:
            params = {"q": query["text"], "client_id": query["container"], "limit": 10, "read_only": "true"}
            client.get(f"{url}/memory/search", params=params).raise_for_status()

        list(threads.map(ask, queries.rows(named=True)))


def ingest(counts: list[int]) -> None:
    """Print time and peak memory for each number of documents."""
    for count in counts:
        made = bench(count // 50, 50, text="x" * 400)
        gc.collect()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        with server(0) as far, tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            with linked(far, "zengram", Path(folder)) as system:
                store = system.build(documents=made.documents, turns=made.turns)
            took = time.perf_counter() - started
            assert store.stored == count
            write_table(REPLIES, REPLIES.empty, Path(folder) / "empty.parquet", {})
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{count} documents: {took:.1f} s, {count / took:.0f} a second; peak {peak:.0f} MB ({peak - before:+.0f})"
        )


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["search", "ingest"])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--concurrency", type=int, default=10)
    arguments = parser.parse_args()
    if arguments.what == "search":
        search(arguments.calls, arguments.latency, arguments.concurrency)
    else:
        ingest([5_000, 25_000])


if __name__ == "__main__":
    main()
