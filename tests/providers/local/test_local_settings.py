from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from providers.local.describe import settings_table
from providers.local.settings import EmbeddingSettings, IngestSettings, RetrievalSettings

DOCS = Path(__file__).resolve().parents[3] / "docs" / "local-system.md"
MODELS = [IngestSettings, RetrievalSettings]


@pytest.mark.parametrize("model", [*MODELS, EmbeddingSettings])
def test_the_documentation_has_the_settings_as_they_are(model: type[BaseModel]) -> None:
    assert settings_table(model) in DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize("model", MODELS)
def test_every_setting_has_a_default_and_a_meaning_and_none_is_a_list(model: type[BaseModel]) -> None:
    model()
    for name, field in model.model_json_schema()["properties"].items():
        assert field["description"].endswith("."), name
        assert all(kind.get("type") != "array" for kind in field.get("anyOf", [field])), name


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (IngestSettings, {"granularity": "word"}),
        (IngestSettings, {"chunk_chars": 5}),
        (IngestSettings, {"embedding": {"model": "m"}}),
        (EmbeddingSettings, {"model": "", "dimensions": 8}),
        (EmbeddingSettings, {"model": "m", "dimensions": 8, "batch": 2_049}),
        (RetrievalSettings, {"rrf_K": 60}),
        (RetrievalSettings, {"rrf_k": -1}),
        (RetrievalSettings, {"similarity_floor": 1.2}),
        (RetrievalSettings, {"mode": ["dense"]}),
    ],
)
def test_what_is_not_a_setting_is_refused(model: type[BaseModel], values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(values)


def _loaded(module: str) -> set[str]:
    code = f"import sys, {module}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split())


def test_building_and_searching_do_not_reach_each_other_s_code_and_heavy_libraries_wait() -> None:
    ingest, search, system = (_loaded(f"providers.local.{name}") for name in ("ingest", "search", "system"))
    prefix = "providers.local."
    only_search = {"ranking", "fusion", "boosts", "reorder", "temporal", "dense", "lexical", "retrieval_settings"}
    only_ingest = {"chunking", "consolidation", "supersession", "ingest_settings"}
    assert not {prefix + name for name in only_search} & ingest
    assert not {prefix + name for name in only_ingest} & search
    assert not {prefix + "ingest", prefix + "search"} & system
    assert not {"wordllama", "bm25s", "usearch", "dagster"} & (ingest | search | system)
