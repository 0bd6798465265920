"""A project of the embedded system whose vectors come from an endpoint on loopback, and an embedder by itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fakes.embeddings import FakeEmbeddings
from projects import Box, chats, make_project, write_yaml

from eval_assets.ledger.ledger import Ledger, Mode
from eval_assets.models.budget import Budget
from eval_assets.remote.embedding import LedgerEmbedder
from eval_assets.remote.embedding_wire import EmbeddingWire, judged
from providers.local.settings import EmbeddingSettings
from providers.remote.retry import Manners

KEY_VARIABLE = "FAKE_EMBEDDINGS_KEY"
MODEL: dict[str, Any] = {"model": "bag", "dimensions": 64, "batch": 3, "input_usd": 1000.0}
QUICK: dict[str, Any] = {"backoff_s": 0.001, "timeout_s": 2.0, "deadline_s": 20.0}


def embedding_project(root: Path, fake: FakeEmbeddings, **embedding: Any) -> Box:
    """Systems ``dense``, ``hybrid`` and ``words`` over one store, on the benchmark ``chats``."""
    box = make_project(root)
    box.chats.write_text(json.dumps(chats()))
    service = {**QUICK, "base_url": f"{fake.url}/v1", "key_env": KEY_VARIABLE, "requests_per_minute": 10**6}
    modes = {"dense": "dense", "hybrid": "hybrid", "words": "lexical"}
    settings = {
        "stores": {
            "vectors": {"provider": "local", "ingest": {"embedding": {**MODEL, **embedding}}, "service": service}
        },
        "systems": {
            name: {"store": "vectors", "limit": 5, "retrieval": {"mode": mode, "temporal_filter": False}}
            for name, mode in modes.items()
        },
        "targets": [{"systems": list(modes), "benchmarks": ["chats"]}],
    }
    write_yaml(box.systems_file, settings)
    for record in chats():
        fake.known_ids |= {record["question_id"], *record["haystack_session_ids"]}
    return box


@contextmanager
def embedder(
    fake: FakeEmbeddings, folder: Path, *, mode: Mode = "record", budget: Budget | None = None, **embedding: Any
) -> Iterator[LedgerEmbedder]:
    """An embedder over a ledger in the folder."""
    settings = EmbeddingSettings(**{**MODEL, **embedding})
    headers = {"Authorization": f"Bearer {fake.key}"}
    manners = Manners(concurrency=2, attempts=8, backoff_s=0.001, timeout_s=0.3, deadline_s=20.0)
    wire = EmbeddingWire(
        "embedding bag", f"{fake.url}/v1", headers, (fake.key,), manners, judged, settings, budget or Budget()
    )
    ledger = Ledger(f"sqlite:///{folder / 'ledger.sqlite'}")
    try:
        yield LedgerEmbedder(settings, None if mode == "replay" else wire, ledger, mode, concurrency=2)
    finally:
        ledger.close()
        wire.close()
