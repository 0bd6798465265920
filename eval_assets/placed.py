"""What a store is given, and where each haystack goes."""

from __future__ import annotations

import hashlib
import json

import polars as pl

from eval_assets.settings_systems import Store
from providers.documents import Placement, place
from providers.registry import PROVIDERS


def placement(
    store: Store,
    benchmark: str,
    *,
    haystacks: pl.DataFrame,
    questions: pl.DataFrame,
    memories: pl.DataFrame,
    query_options: pl.DataFrame,
) -> Placement:
    """What a store of this benchmark is given, and where each haystack goes."""
    settings = PROVIDERS[store.provider].ingest_settings(store.ingest).model_dump(mode="json")
    decided = json.dumps([benchmark, store.provider, store.revision, settings], sort_keys=True)
    return place(
        haystacks=haystacks,
        questions=questions,
        memories=memories,
        query_options=query_options,
        isolation=store.isolation,
        namespace=hashlib.sha256(decided.encode()).hexdigest(),
    )
