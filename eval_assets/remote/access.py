"""From a store's settings and the environment to a wire."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from converters.errors import BadInput
from eval_assets.project import Project
from eval_assets.remote import embedding_keys
from eval_assets.settings_systems import Service, Store
from providers.registry import PROVIDERS
from providers.remote.access import Access, AccessDefaults
from providers.remote.wire import Wire

if TYPE_CHECKING:
    from providers.remote.retry import Manners


def key_lacking(name: str, store: Store) -> str | None:
    """What a person can do about a store whose key is not in the environment; None where it is, or none is needed."""
    entry = PROVIDERS[store.provider]
    if not entry.remote:
        return embedding_keys.key_lacking(name, store)
    variable = _variable(store)
    if variable is None or entry.access.key_optional or os.environ.get(variable, "").strip():
        return None
    return f"store {name} needs a key of {store.provider}: set the environment variable {variable}"


@contextmanager
def access_to(project: Project, name: str, store: Store, *, replayed: bool = False) -> Iterator[Wire | None]:
    """A wire to a store's service, or None if calls are only replayed; raises ``BadInput`` without a key.

    What runs in this process has a folder where others have an address: it is below the project's root.
    """
    if replayed:
        yield None
        return
    lacking = key_lacking(name, store)
    if lacking:
        raise BadInput(f"stores.{name}", "there is no key in the environment", lacking)
    entry, service = PROVIDERS[store.provider], store.service
    manners = manners_of(service, entry.access)
    variable = _variable(store)
    key = os.environ.get(variable, "").strip() if variable else ""
    place = service.base_url or entry.access.base_url
    access = Access(place if "://" in place else str(project.root / place), key, manners)
    wire = entry.open_wire(entry.ingest_settings(store.ingest), access)
    try:
        yield wire
    finally:
        close = getattr(wire, "close", None)
        if close:
            close()


def manners_of(service: Service, usual: AccessDefaults) -> Manners:
    """How a service is treated: as the settings say, else as usual."""
    from providers.remote.retry import Manners

    return Manners(
        concurrency=service.concurrency or usual.concurrency,
        requests_per_minute=service.requests_per_minute or usual.requests_per_minute,
        timeout_s=service.timeout_s,
        deadline_s=service.deadline_s,
        attempts=service.attempts,
        backoff_s=service.backoff_s,
    )


def _variable(store: Store) -> str | None:
    return store.service.key_env or PROVIDERS[store.provider].access.key_env
