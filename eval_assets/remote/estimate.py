"""What a remote store or search would send, before anything is sent; and what the ledger knows to be lost."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, Final

import dagster as dg
import polars as pl

from eval_assets import keys
from eval_assets.graph import Graph
from eval_assets.ledger.settings import ledger_mode, ledger_there, open_ledger
from eval_assets.placed import placement
from eval_assets.remote.embedding_keys import ACCESS, asks_endpoint, embedding_of
from eval_assets.scope import Part
from eval_assets.settings_systems import Store, System
from eval_assets.stored import NotThere
from providers.registry import PROVIDERS
from providers.remote.service import Description

_AROUND_A_CONTAINER: Final = 3
"""Requests that make, count and look through a container."""


@dataclass(frozen=True)
class Remote:
    """What a part would ask of a service, at most.

    Attributes:
        part: a store or search results.
        documents: to be sent; None while there is no corpus to tell, and of an endpoint for vectors.
        requests: to be made, not counting how often indexing is asked after; None likewise.
        minutes: that they take at the configured rate; None where there is none, and likewise.
        texts: whose vectors the ledger does not hold; None where none are asked for.
        tokens: of these texts, estimated; None likewise.
        cost_usd: what these tokens cost; None without a price, and likewise.
    """

    part: Part
    documents: int | None = None
    requests: int | None = None
    minutes: float | None = None
    texts: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None


def store_of(graph: Graph, part: Part) -> tuple[str, Store] | None:
    """Name and settings of the store whose service or endpoint a part asks; None for all other parts."""
    stage, system = keys.stage_of(part.key), None
    if stage == "store":
        name = part.key.path[1]
    elif stage == "search":
        found = graph.settings.systems[part.key.path[0]]
        if not isinstance(found, System):
            return None
        name, system = found.store, found
    else:
        return None
    store = graph.settings.stores.get(name)
    return (name, store) if store and (PROVIDERS[store.provider].remote or asks_endpoint(store, system)) else None


def lost_containers(graph: Graph, part: Part) -> int:
    """How many containers of a store the service is known to hold no longer."""
    found = store_of(graph, part)
    if found is None or keys.stage_of(part.key) != "store" or not ledger_there(graph.project):
        return 0
    ledger = open_ledger(graph.project)
    try:
        return len(ledger.containers(store=found[0], benchmark=str(part.partition), state="lost"))
    finally:
        ledger.close()


def estimate(graph: Graph, instance: dg.DagsterInstance, part: Part) -> Remote | None:
    """What the part would ask; None for parts that ask nobody."""
    found = store_of(graph, part)
    if found is None:
        return None
    store = found[1]
    if embedding_of(store) is not None:
        return _embedding(graph, instance, part, store)
    try:
        questions = graph.shelf.frame(instance, keys.corpus_key("questions"), part.partition)
        if keys.stage_of(part.key) == "search":
            return _remote(store, part, 0, questions.height)
        frames = {
            table: graph.shelf.frame(instance, keys.corpus_key(table), part.partition)
            for table in ("haystacks", "memories", "query_options", "sessions")
        }
    except (NotThere, FileNotFoundError):
        return Remote(part)
    sessions = frames.pop("sessions")
    documents = placement(store, str(part.partition), questions=questions, **frames).documents
    about = description(store)
    longest = about.longest or 10**12
    pieces = documents.join(sessions, on="content_hash", how="left").with_columns(
        pieces=(pl.col("n_chars").fill_null(0) // longest) + 1
    )
    a_container = pieces.group_by("container").agg(pl.col("pieces").sum())["pieces"]
    requests = sum(ceil(number / about.batch) + _AROUND_A_CONTAINER for number in a_container)
    return _remote(store, part, documents.height, requests)


def _embedding(graph: Graph, instance: dg.DagsterInstance, part: Part, store: Store) -> Remote | None:
    """What the part would ask of an endpoint for vectors: the texts themselves, without those that the ledger holds."""
    from eval_assets.remote.embedding import estimated

    mode = ledger_mode()
    if mode == "replay":
        return None

    def frame(table: str) -> pl.DataFrame:
        return graph.shelf.frame(instance, keys.corpus_key(table), part.partition)

    settings: Any = PROVIDERS[store.provider].ingest_settings(store.ingest)
    try:
        if keys.stage_of(part.key) == "search":
            texts, batch = frame("questions")["question"].to_list(), 1
        else:
            from providers.local.ingest import pieces_of

            texts, batch = pieces_of(frame("turns"), settings)["text"].to_list(), settings.embedding.batch
    except (NotThere, FileNotFoundError):
        return Remote(part)
    ledger = open_ledger(graph.project) if ledger_there(graph.project) and mode != "refresh" else None
    try:
        missing, requests, tokens, cost = estimated(settings.embedding, store.revision, texts, batch, ledger)
    finally:
        if ledger is not None:
            ledger.close()
    rate = store.service.requests_per_minute or ACCESS.requests_per_minute
    minutes = requests / rate if rate else None
    return Remote(part, None, requests, minutes, missing, tokens, cost)


def description(store: Store) -> Description:
    """What is known of a store's service without asking it."""
    entry = PROVIDERS[store.provider]
    return entry.service(entry.ingest_settings(store.ingest), None, NO_WIRE).describe()


class _NoWire:
    """For adapters that are only asked to describe themselves."""

    def send(self, request: object, read: object) -> object:
        raise AssertionError("a description needs no call")


NO_WIRE: Final[Any] = _NoWire()


def _remote(store: Store, part: Part, documents: int, requests: int) -> Remote:
    rate = store.service.requests_per_minute or PROVIDERS[store.provider].access.requests_per_minute
    return Remote(part, documents, requests, requests / rate if rate else None)
