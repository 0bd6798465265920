"""Which systems are no memory but what others are measured against: said wherever their figures are."""

from __future__ import annotations

from eval_assets.settings import Settings
from eval_assets.settings_systems import Store, System
from providers.registry import PROVIDERS

BASELINE = "baseline"


def baseline_words(store: Store) -> str:
    """What a baseline is, as the end of a description; nothing of a memory system."""
    does = PROVIDERS[store.provider].baseline
    return f" A {BASELINE}, not a memory: {does}." if does else ""


def baseline_of(settings: Settings, system: str) -> str:
    """What a system does in place of remembering; empty for a memory system, and for results that others made."""
    found = settings.systems[system]
    return PROVIDERS[settings.stores[found.store].provider].baseline if isinstance(found, System) else ""
