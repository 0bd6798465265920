"""What the pipeline finds on real questions: a sign that its parts are connected the right way round."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from local_corpora import documents_of, replies

from converters.convert import convert_corpus
from converters.parquet import read_table
from converters.tables import CORPUS
from providers.local.settings import IngestSettings
from providers.local.system import create
from providers.protocol import QUERIES, REPLIES, StoreBuild

pytestmark = pytest.mark.real_data

SYSTEMS = Path(__file__).resolve().parents[3] / "data" / "systems.yaml"
# The shipped presets, by mode. Where they differ from the defaults, docs/local-system.md says why.
PRESETS: dict[str, dict[str, Any]] = {
    system["retrieval"]["mode"]: system["retrieval"]
    for name, system in yaml.safe_load(SYSTEMS.read_text("utf-8"))["systems"].items()
    if name in ("bm25", "dense", "hybrid")
}


@dataclass(frozen=True)
class Real:
    documents: pl.DataFrame
    build: StoreBuild
    queries: pl.DataFrame
    evidence: list[set[str]]
    hash_of: dict[str, str]

    def ranking(self, hits: list[dict[str, Any]]) -> list[str]:
        """Distinct session texts, in the order of the hits."""
        return list(dict.fromkeys(self.hash_of[hit["session_keys"][0]] for hit in hits))

    def hit_at(self, found: pl.DataFrame, k: int) -> float:
        asked = [
            bool(gold & set(self.ranking(hits)[:k]))
            for gold, hits in zip(self.evidence, found["hits"].to_list(), strict=True)
            if gold
        ]
        assert len(asked) == 26
        return sum(asked) / len(asked)


@pytest.fixture(scope="module")
def real(real_s59: Path, tmp_path_factory: pytest.TempPathFactory) -> Real:
    folder = tmp_path_factory.mktemp("s59") / "corpus"
    convert_corpus(real_s59, "longmemeval", folder)
    tables = {name: read_table(table, folder / f"{name}.parquet") for name, table in CORPUS.items()}
    # Half of them: what takes long is to embed every text.
    asked = tables["questions"].gather_every(2)
    documents = documents_of(tables["haystacks"].join(asked, on="haystack_id", how="semi"))
    turns = tables["turns"].join(documents, on="content_hash", how="semi")
    questions = asked.join(
        tables["ground_truth"].select("question_id", "is_abstention", "evidence_hashes"), on="question_id"
    )
    queries = questions.sort("ordinal").select("as_of", query="ordinal", container="haystack_id", text="question")
    evidence = [
        set() if abstains else set(hashes)
        for abstains, hashes in questions.sort("ordinal").select("is_abstention", "evidence_hashes").iter_rows()
    ]
    build = create(IngestSettings(), None).build(documents=documents, turns=turns)
    hash_of = dict(documents.select("session_key", "content_hash").iter_rows())
    return Real(documents, build, QUERIES.validate(queries), evidence, hash_of)


@pytest.fixture(scope="module")
def found(real: Real) -> dict[str, pl.DataFrame]:
    return {name: replies(real.build.tables, real.queries, 50, **preset) for name, preset in PRESETS.items()}


def test_every_document_is_stored_and_every_text_once(real: Real) -> None:
    build, tables = real.build, real.build.tables
    assert build.sent == build.stored == real.documents.height
    assert (set(build.left_out.values()), build.notes["blank_turns"]) == ({0}, 1)
    assert tables["chunks"]["text_hash"].n_unique() == tables["texts"].height == tables["vectors"].height
    assert tables["texts"].height < tables["chunks"].height


def test_each_mode_finds_the_evidence(real: Real, found: dict[str, pl.DataFrame]) -> None:
    at = {(name, k): real.hit_at(replies, k) for name, replies in found.items() for k in (5, 10)}
    assert at["lexical", 5] >= 0.88
    assert at["dense", 5] >= 0.92
    for k in (5, 10):
        assert at["hybrid", k] >= max(at["lexical", k], at["dense", k])


def test_no_more_than_the_limit_from_its_own_container_ranked_without_gaps(
    real: Real, found: dict[str, pl.DataFrame]
) -> None:
    held = dict(real.documents.group_by("container").agg("session_key").iter_rows())
    for frame in found.values():
        REPLIES.validate(frame)
        for container, hits in zip(real.queries["container"], frame["hits"].to_list(), strict=True):
            assert 0 < len(hits) <= 50
            assert [hit["rank"] for hit in hits] == list(range(1, len(hits) + 1))
            assert {key for hit in hits for key in hit["session_keys"]} <= set(held[container])


def test_the_same_search_gives_the_same_answer(real: Real, found: dict[str, pl.DataFrame]) -> None:
    again = replies(real.build.tables, real.queries, 50, **PRESETS["hybrid"])
    assert REPLIES.digest(again) == REPLIES.digest(found["hybrid"])
