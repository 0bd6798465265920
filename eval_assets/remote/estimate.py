"""What a remote store or search would send, before anything is sent; and what the ledger knows to be lost."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, Final

import dagster as dg
import polars as pl

from eval_assets import keys
from eval_assets.graph import Graph
from eval_assets.ledger.settings import ledger_there, open_ledger
from eval_assets.placed import placement
from eval_assets.scope import Part
from eval_assets.settings_systems import Store
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
        documents: to be sent; None while there is no corpus to tell.
        requests: to be made, not counting how often indexing is asked after; None likewise.
        minutes: that they take at the configured rate; None where there is none, and likewise.
    """

    part: Part
    documents: int | None = None
    requests: int | None = None
    minutes: float | None = None


def store_of(graph: Graph, part: Part) -> tuple[str, Store] | None:
    """Name and settings of the remote store that a part fills or asks; None for all other parts."""
    stage = keys.stage_of(part.key)
    if stage == "store":
        name = part.key.path[1]
    elif stage == "search":
        name = getattr(graph.settings.systems[part.key.path[0]], "store", "")
    else:
        return None
    store = graph.settings.stores.get(name)
    return (name, store) if store and PROVIDERS[store.provider].remote else None


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
