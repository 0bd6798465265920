"""Whether a store's vectors come from an endpoint, and which key that needs."""

from __future__ import annotations

import os
from typing import Final

from eval_assets.settings_systems import Store, System
from providers.local.settings import EmbeddingSettings
from providers.registry import PROVIDERS
from providers.remote.access import AccessDefaults

ACCESS: Final = AccessDefaults(base_url="https://api.openai.com/v1", key_env="OPENAI_API_KEY")


def embedding_of(store: Store) -> EmbeddingSettings | None:
    """The settings of a store's endpoint for vectors; None where it has none."""
    found = getattr(PROVIDERS[store.provider].ingest_settings(store.ingest), "embedding", None)
    return found if isinstance(found, EmbeddingSettings) else None


def asks_endpoint(store: Store, system: System | None = None) -> bool:
    """Whether building the store, or else searching it with this system, needs vectors of an endpoint."""
    if embedding_of(store) is None:
        return False
    return system is None or system.retrieval.get("mode") != "lexical"


def vector_code(store: Store, system: System | None = None) -> tuple[str, ...]:
    """Modules that decide what becomes of a text and its vector, where an endpoint is asked (see ``asks_endpoint``)."""
    return ("eval_assets.remote.embedding_wire",) if asks_endpoint(store, system) else ()


def key_variable(store: Store) -> str | None:
    """The environment variable that holds the key; None for an address of one's own that names none: it needs none."""
    return store.service.key_env or (None if store.service.base_url else ACCESS.key_env)


def key_lacking(name: str, store: Store) -> str | None:
    """What a person can do about a key that is not in the environment; None where it is, or none is needed."""
    variable = key_variable(store)
    if embedding_of(store) is None or variable is None or os.environ.get(variable, "").strip():
        return None
    return f"store {name} needs a key for embeddings: set the environment variable {variable}"
