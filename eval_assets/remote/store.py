"""A store at a service: all its containers filled, several at a time, and what the graph keeps of it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, Final

import polars as pl

from eval_assets.ledger.ledger import SENT, DocumentRow
from eval_assets.remote.documents import Planned, Texts, planned
from eval_assets.remote.fill import Filled, Filler
from eval_assets.remote.link import Link
from providers.protocol import RETRYABLE_DOCUMENTS, Progress, StoreBuild
from providers.remote.idmap import RECEIPTS

_WORST_FIRST: Final = ("failed", "pending", "done", "skipped")


def build(link: Link, *, documents: pl.DataFrame, turns: pl.DataFrame, progress: Progress) -> StoreBuild:
    """Fill the containers of ``documents`` (``providers.protocol.Documents``) with the texts of ``turns``.

    Containers that the ledger knows to be full are counted at the service, and filled anew if it holds less.

    Raises:
        Stop: the service cannot be reached, or takes nothing more; what was stored is in the ledger.
        Foreign: a container holds what the ledger did not put there.
    """
    if link.mode != "replay":
        about = link.probe()
        notes: dict[str, Any] = {f"service says: {name}": value for name, value in about.items()}
    else:
        notes = {}
    texts = Texts.of(turns)
    parts = documents.partition_by("container", maintain_order=True)
    done = Counter[str]()
    lock = threading.Lock()
    stop = threading.Event()

    def told(number: int) -> None:
        with lock:
            done["documents"] += number
            progress("documents", min(done["documents"], documents.height), documents.height)

    def fill(part: pl.DataFrame) -> tuple[list[Planned], Filled]:
        plan = planned(part, texts, link.description)
        filler = Filler(link, str(part["container"][0]), plan, told, stop.is_set)
        return plan, filler.replayed() if link.mode == "replay" else filler.fill()

    rows: list[dict[str, Any]] = []
    with ThreadPoolExecutor(link.concurrency) as threads:
        waiting = [threads.submit(fill, part) for part in parts]
        try:
            for future in as_completed(waiting):
                rows += _receipts(*future.result())
        except BaseException:
            stop.set()
            threads.shutdown(wait=True, cancel_futures=True)
            raise
    _forget_lost(link, set(documents["container"].unique()))
    receipts = RECEIPTS.validate(pl.DataFrame(rows, schema=RECEIPTS.empty.schema).sort(RECEIPTS.key))
    return _summary(receipts, documents.height, notes)


def _forget_lost(link: Link, current: set[str]) -> None:
    """Containers of earlier settings or haystacks that are lost need not be built again."""
    for row in link.ledger.containers(store=link.store, benchmark=link.benchmark, state="lost"):
        if row.container not in current:
            link.ledger.set_container(row.service, row.container, "cleared")


def _receipts(plan: Sequence[Planned], filled: Filled) -> Iterator[dict[str, Any]]:
    for one in plan:
        known = filled.documents.get(one.id)
        receipt = known.receipt if known else None
        yield {
            "container": filled.row.container,
            "piece": one.id,
            "document_id": one.document_id,
            "session_key": one.session_key,
            "first_turn": one.piece.first_turn,
            "last_turn": one.piece.last_turn,
            "build": filled.row.build,
            "status": receipt.status if receipt else "failed",
            "retryable": receipt is None or (known is not None and receipt.status != "done" and known.retryable),
            "provider_ids": list(receipt.provider_ids) if receipt else [],
            "error": receipt.error if receipt else filled.error or "nobody knows whether it was stored",
            "ready_ms": _ready_ms(known),
        }


def _ready_ms(known: DocumentRow | None) -> float | None:
    if known is None or known.state == SENT or known.settled_at is None:
        return None
    return round((known.settled_at - known.sent_at) * 1000, 3)


def _summary(receipts: pl.DataFrame, sent: int, notes: dict[str, Any]) -> StoreBuild:
    """A document is what the worst of its pieces is; it is skipped only if all of them were."""
    rank = {status: place for place, status in enumerate(_WORST_FIRST)}
    status = receipts.group_by("container", "document_id").agg(
        pl.col("status").replace_strict(rank, return_dtype=pl.UInt8).min().alias("worst"), pieces=pl.len()
    )
    counts = Counter(_WORST_FIRST[worst] for worst in status["worst"])
    ready = receipts["ready_ms"].drop_nulls()
    notes |= {
        "pieces sent": receipts.height,
        "documents split": int((status["pieces"] > 1).sum()),
        RETRYABLE_DOCUMENTS: int(receipts.filter("retryable")["document_id"].n_unique()),
    }
    if ready.len():
        notes |= {
            "ready p50 (ms)": round(float(ready.quantile(0.5) or 0), 1),
            "ready max (ms)": round(float(ready.max() or 0), 1),  # type: ignore[arg-type]
        }
    left_out = {name: counts[name] for name in ("skipped", "pending", "failed") if counts[name]}
    return StoreBuild({RECEIPTS.name: receipts}, sent, counts["done"], left_out, notes)
