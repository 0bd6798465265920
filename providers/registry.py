"""Which providers there are, where their code is, and what of it decides a store and what a search.

A provider is one line here and one module, loaded when it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from pydantic import BaseModel

from converters.schema import Table
from providers.protocol import MemorySystem


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
    """

    name: str
    settings: str
    system: str
    ingest_code: tuple[str, ...]
    retrieval_code: tuple[str, ...]
    ingest_libraries: tuple[str, ...] = field(default=())
    retrieval_libraries: tuple[str, ...] = field(default=())

    def ingest_settings(self, values: Mapping[str, object]) -> BaseModel:
        """Validate the settings that shape a store; raises ``pydantic.ValidationError``."""
        return self._model("IngestSettings").model_validate(values)

    def retrieval_settings(self, values: Mapping[str, object]) -> BaseModel:
        """Validate the settings that shape a search; raises ``pydantic.ValidationError``."""
        return self._model("RetrievalSettings").model_validate(values)

    def create(self, ingest: BaseModel, retrieval: BaseModel | None) -> MemorySystem:
        """The provider with these settings; ``retrieval`` may be absent where only a store is built."""
        module: Any = import_module(self.system)
        system: MemorySystem = module.create(ingest, retrieval)
        return system

    def store_tables(self) -> Mapping[str, Table]:
        """The tables that make up a store, by name."""
        module: Any = import_module(self.system)
        tables: Mapping[str, Table] = module.STORE_TABLES
        return tables

    def _model(self, name: str) -> type[BaseModel]:
        model: type[BaseModel] = getattr(import_module(self.settings), name)
        return model


PROVIDERS: Final[Mapping[str, ProviderEntry]] = {
    entry.name: entry
    for entry in (
        ProviderEntry(
            name="local",
            settings="providers.local.settings",
            system="providers.local.system",
            ingest_code=("providers.local.ingest",),
            retrieval_code=("providers.local.search",),
            ingest_libraries=("wordllama", "bm25s"),
            retrieval_libraries=("wordllama", "bm25s", "usearch"),
        ),
    )
}
