"""Which providers there are, where their code is, and what of it decides a store and what a search.

A provider is one line here and one module, loaded when it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Final

from pydantic import BaseModel

from converters.schema import Table
from providers.protocol import MemorySystem
from providers.remote.access import Access, AccessDefaults
from providers.remote.idmap import STORE_TABLES as REMOTE_TABLES
from providers.remote.service import RemoteService
from providers.remote.wire import Wire


@dataclass(frozen=True)
class ProviderEntry:
    """One provider.

    Attributes:
        name: as in systems.yaml.
        settings: module with ``IngestSettings`` and ``RetrievalSettings`` (pydantic; light to import).
        system: module with ``create(ingest, retrieval) -> MemorySystem`` and ``STORE_TABLES: Mapping[str, Table]``.
        ingest_code: modules whose code, with what they import, decides a store.
        retrieval_code: the same for a search.
        ingest_libraries: distributions whose version decides a store.
        retrieval_libraries: the same for a search.
        remote: whether it is an adapter of a service (see ``providers.remote.service``). Its ``system`` module has
            ``create(ingest, retrieval, wire) -> RemoteService``, ``open_wire(ingest, access) -> Wire`` and ``ACCESS``.
        baseline: what it does instead of remembering, if it is no memory but what others are measured against.
        sees_gold: whether its search is told the evidence (``evidence=``, see ``providers.baselines.gold.Evidence``).
    """

    name: str
    settings: str
    system: str
    ingest_code: tuple[str, ...]
    retrieval_code: tuple[str, ...]
    ingest_libraries: tuple[str, ...] = field(default=())
    retrieval_libraries: tuple[str, ...] = field(default=())
    remote: bool = False
    baseline: str = ""
    sees_gold: bool = False

    def ingest_settings(self, values: Mapping[str, object]) -> BaseModel:
        """Validate the settings that shape a store; raises ``pydantic.ValidationError``."""
        return self._model("IngestSettings").model_validate(values)

    def retrieval_settings(self, values: Mapping[str, object]) -> BaseModel:
        """Validate the settings that shape a search; raises ``pydantic.ValidationError``."""
        return self._model("RetrievalSettings").model_validate(values)

    def create(self, ingest: BaseModel, retrieval: BaseModel | None, *beside: object) -> MemorySystem:
        """The provider with these settings; ``retrieval`` may be absent where only a store is built.

        ``beside`` is what its settings ask for: of the embedded system, what makes the vectors.
        """
        module: Any = import_module(self.system)
        system: MemorySystem = module.create(ingest, retrieval, *beside)
        return system

    def service(self, ingest: BaseModel, retrieval: BaseModel | None, wire: Wire) -> RemoteService:
        """The adapter of a remote provider with these settings, over this wire."""
        module: Any = import_module(self.system)
        service: RemoteService = module.create(ingest, retrieval, wire)
        return service

    def open_wire(self, ingest: BaseModel, access: Access) -> Wire:
        """What carries requests to the service."""
        module: Any = import_module(self.system)
        wire: Wire = module.open_wire(ingest, access)
        return wire

    @property
    def access(self) -> AccessDefaults:
        """Where the service is if nothing else is said."""
        module: Any = import_module(self.system)
        access: AccessDefaults = module.ACCESS
        return access

    def store_tables(self) -> Mapping[str, Table]:
        """The tables that make up a store, by name."""
        if self.remote:
            return REMOTE_TABLES
        module: Any = import_module(self.system)
        tables: Mapping[str, Table] = module.STORE_TABLES
        return tables

    def _model(self, name: str) -> type[BaseModel]:
        model: type[BaseModel] = getattr(import_module(self.settings), name)
        return model


def _remote(name: str, *, libraries: tuple[str, ...] = ()) -> ProviderEntry:
    module = f"providers.{name}"
    return ProviderEntry(name, module, module, (module,), (module,), libraries, libraries, remote=True)


def _baseline(name: str, module: str, does: str, *, sees_gold: bool = False) -> ProviderEntry:
    system = f"providers.baselines.{module}"
    settings = "providers.baselines.settings"
    return ProviderEntry(name, settings, system, (system,), (system,), baseline=does, sees_gold=sees_gold)


_OURS: Final = (
    ProviderEntry(
        name="local",
        settings="providers.local.settings",
        system="providers.local.system",
        ingest_code=("providers.local.ingest",),
        retrieval_code=("providers.local.search",),
        ingest_libraries=("wordllama", "bm25s"),
        retrieval_libraries=("wordllama", "bm25s", "usearch"),
    ),
    _remote("supermemory"),
    _remote("zengram"),
    _remote("zep"),
    _remote("mem0"),
    _remote("mem0_server"),
    _remote("synap"),
    _remote("mem0_oss", libraries=("mem0ai", "qdrant-client", "wordllama")),
    _baseline("none", "nothing", "it finds nothing"),
    _baseline("full", "whole", "it returns the whole haystack, oldest first"),
    _baseline("oracle", "gold", "it is told the evidence and returns exactly that", sees_gold=True),
)
ENTRY_POINTS: Final = "eval_assets.providers"
"""Group of the entry points by which other distributions add providers; each names a ``ProviderEntry``."""


def _others() -> Iterator[ProviderEntry]:
    for point in entry_points(group=ENTRY_POINTS):
        entry = point.load()
        if not isinstance(entry, ProviderEntry):
            raise TypeError(f"the entry point {point.value} is no ProviderEntry")
        yield entry


PROVIDERS: Final[Mapping[str, ProviderEntry]] = {entry.name: entry for entry in (*_OURS, *_others())}
