"""What services hold of this project, as the ledger knows it, and taking it away again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import dagster as dg

from converters.errors import BadInput
from eval_assets import keys
from eval_assets.graph import Graph
from eval_assets.ledger.ledger import ContainerRow, Ledger
from eval_assets.ledger.settings import ledger_there, open_ledger
from eval_assets.remote.access import access_to
from eval_assets.remote.link import Link
from eval_assets.settings_systems import Store, System
from eval_assets.stored import NotThere
from providers.documents import CONTAINERS
from providers.registry import PROVIDERS
from providers.remote.errors import CallFailed, Stop
from providers.remote.service import Scope


@dataclass(frozen=True)
class Held:
    """A container at a service: its row, how many documents were sent, and whether no store of today uses it."""

    row: ContainerRow
    documents: int
    orphaned: bool


def held(graph: Graph, instance: dg.DagsterInstance) -> list[Held]:
    """All containers that may hold anything, by service and name."""
    if not ledger_there(graph.project):
        return []
    ledger = open_ledger(graph.project)
    try:
        rows = [row for row in ledger.containers() if row.state in ("open", "ready")]
        used = {name for row in _pairs(rows) for name in _used(graph, instance, *row)}
        return [Held(row, len(ledger.documents(row.service, row.container)), row.container not in used) for row in rows]
    finally:
        ledger.close()


def clear(graph: Graph, some: Sequence[Held], told: Callable[[int, int], None]) -> None:
    """Empty containers at their services, and say so in the ledger; raises ``Told`` where a service fails."""
    ledger = open_ledger(graph.project)
    try:
        done = 0
        for name, group in _by_store(some):
            store = graph.settings.stores.get(name)
            if store is None:
                raise BadInput(
                    f"store {name}",
                    "it is no longer in the settings, which say how to reach it",
                    "put it back until its containers are cleared",
                )
            with access_to(graph.project, name, store) as wire:
                for one in group:
                    _service(ledger, store, name, one, wire)
                    done += 1
                    told(done, len(some))
    finally:
        ledger.close()


def of_system(graph: Graph, name: str, some: Sequence[Held]) -> list[Held]:
    """Those of the store that a system searches; raises ``BadInput`` for an unknown or local system."""
    found = graph.settings.systems.get(name)
    if found is None:
        raise BadInput("SYSTEM", f"unknown system {name!r}", f"known are: {', '.join(graph.settings.systems)}")
    if not isinstance(found, System) or not PROVIDERS[graph.settings.stores[found.store].provider].remote:
        raise BadInput("SYSTEM", f"{name} holds nothing at a service", "name a system whose store is remote")
    return [one for one in some if one.row.store == found.store]


def _service(ledger: Ledger, store: Store, name: str, one: Held, wire: object) -> None:
    entry = PROVIDERS[store.provider]
    link = Link(
        entry,
        entry.ingest_settings(store.ingest),
        None,
        wire,  # type: ignore[arg-type]
        ledger,
        "record",
        name,
        one.row.benchmark,
    )
    try:
        link.service().clear(Scope(one.row.container, one.row.handle))
    except CallFailed as error:
        raise Stop(f"container {one.row.container}: {error}; run this again") from None
    ledger.set_container(one.row.service, one.row.container, "cleared")


def _by_store(some: Sequence[Held]) -> Iterator[tuple[str, list[Held]]]:
    for name in dict.fromkeys(one.row.store for one in some):
        yield name, [one for one in some if one.row.store == name]


def _pairs(rows: Sequence[ContainerRow]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row.store, row.benchmark) for row in rows))


def _used(graph: Graph, instance: dg.DagsterInstance, store: str, benchmark: str) -> set[str]:
    if store not in graph.settings.stores:
        return set()
    try:
        table = graph.shelf.table(instance, keys.store_key(store), benchmark, CONTAINERS.name)
    except (NotThere, FileNotFoundError):
        return set()
    return set(table["container"])
