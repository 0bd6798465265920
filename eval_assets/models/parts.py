"""Which model a part of the graph asks."""

from __future__ import annotations

from eval_assets import keys
from eval_assets.scope import Part
from eval_assets.settings import Settings
from eval_assets.settings_systems import System


def model_of(settings: Settings, part: Part) -> str | None:
    """Name of the model that a part asks: answers, judgments or relevance; None for all others, and without a model."""
    stage = keys.stage_of(part.key)
    found = settings.systems.get(keys.system_of(part.key) or "")
    if not isinstance(found, System):
        return None
    if stage == "answers" and found.reader is not None:
        return settings.readers[found.reader].model
    if stage == "relevance":
        return settings.judges[str(found.relevance)].model
    if stage == "judgments" or keys.is_corrected_judgments(part.key):
        return settings.judges[part.key.path[-1]].model
    return None
