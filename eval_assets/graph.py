"""What all asset factories share: the project, its settings, its shelf, and how an output is described."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import dagster as dg
import polars as pl
from polars.datatypes import DataTypeClass

from converters.errors import BadInput, Told
from converters.parquet import WrittenTable
from converters.schema import Table
from converters.tables import (
    AGREEMENT,
    ANSWERS,
    COMPARISON,
    CORPUS,
    JUDGMENTS,
    LEADERBOARD,
    RELEVANCE,
    REPORT,
    RETRIEVAL_SCORES,
    SEARCH_RESULTS,
)
from converters.tables_corrected import CORRECTED_JUDGMENTS, CORRECTED_SCORES, CORRECTIONS
from eval_assets import keys
from eval_assets.code_version import CodeVersion
from eval_assets.io_manager import Rows
from eval_assets.locks import stepping
from eval_assets.project import Project
from eval_assets.remote.errors import StoreLost
from eval_assets.settings import Settings, flatten
from eval_assets.settings_systems import ImportedSystem, System
from eval_assets.stored import SECONDS, VERSION, Layout, Shelf
from providers.documents import CONTAINERS
from providers.registry import PROVIDERS

BAD_INPUT = "eval_assets/bad_input"
STORE_LOST = "eval_assets/store_lost"


@dataclass(frozen=True)
class Graph:
    """One project's assets in the making."""

    project: Project
    settings: Settings

    @cached_property
    def partitions(self) -> dg.StaticPartitionsDefinition:
        """A partition a benchmark."""
        return dg.StaticPartitionsDefinition(list(self.settings.benchmarks))

    @cached_property
    def shelf(self) -> Shelf:
        """Where the tables of all assets are."""
        return Shelf(self.project, self._layout())

    def _layout(self) -> Layout:
        tables: dict[dg.AssetKey, Table | Mapping[str, Table]] = {
            keys.corpus_key(name): table for name, table in CORPUS.items()
        }
        if self.settings.corrections:
            tables[keys.CORRECTIONS] = CORRECTIONS
        for name, store in self.settings.stores.items():
            tables[keys.store_key(name)] = {
                **PROVIDERS[store.provider].store_tables(),
                CONTAINERS.name: CONTAINERS,
            }
        for name, system in self.settings.systems.items():
            if isinstance(system, System) or system.has_results:
                tables[keys.search_key(name)] = SEARCH_RESULTS
                tables[keys.scores_key(name)] = RETRIEVAL_SCORES
            if isinstance(system, ImportedSystem):
                if system.has_answers:
                    tables[keys.answers_key(name)] = ANSWERS
                    tables[keys.judgments_key(name)] = JUDGMENTS
            else:
                if system.reader is not None:
                    tables[keys.answers_key(name)] = ANSWERS
                tables |= {keys.judgments_key(name, judge): JUDGMENTS for judge in system.judges}
                if len(system.judges) > 1:
                    tables[keys.agreement_key(name)] = AGREEMENT
                if system.relevance is not None:
                    tables[keys.relevance_key(name)] = RELEVANCE
            if self.settings.corrections and keys.scores_key(name) in tables:
                tables[keys.corrected_scores_key(name)] = CORRECTED_SCORES
                judges = system.judges if isinstance(system, System) else ()
                tables |= {keys.corrected_judgments_key(name, judge): CORRECTED_JUDGMENTS for judge in judges}
            tables[keys.report_key(name)] = REPORT
        if self.settings.compared:
            tables[keys.COMPARISON] = COMPARISON
        return {**tables, keys.LEADERBOARD: LEADERBOARD}

    @contextmanager
    def working(self, key: dg.AssetKey, partition: str | None) -> Iterator[None]:
        """Hold the partition's lock; what a person can mend becomes the step's one-line failure."""
        try:
            with stepping(self.project, key.to_user_string(), partition or "all"):
                yield
        except BadInput as error:
            raise dg.Failure(error.line, metadata={BAD_INPUT: True}, allow_retries=False) from None
        except StoreLost as error:
            raise dg.Failure(str(error), metadata={STORE_LOST: True}, allow_retries=False) from None
        except Told as error:
            raise dg.Failure(str(error), allow_retries=False) from None


def column_schema(table: Table) -> dg.TableSchema:
    """A table's columns, short names of their types, and descriptions, for the UI."""
    columns = table.schema.columns()
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                name=name,
                type=_type_name(column.dtype),
                description=column.description,
                constraints=dg.TableColumnConstraints(nullable=column.nullable, unique=table.key == [name]),
            )
            for name, column in columns.items()
        ],
        constraints=dg.TableConstraints(other=[f"primary key: {', '.join(table.key)}"]),
    )


def _type_name(dtype: pl.DataType | DataTypeClass) -> str:
    if isinstance(dtype, pl.List):
        return f"List({_type_name(dtype.inner)})"
    if isinstance(dtype, pl.Datetime):
        return f"Datetime({dtype.time_zone})"
    return f"Struct of {len(dtype.fields)}" if isinstance(dtype, pl.Struct) else str(dtype)


def described(table: Table) -> dict[str, Any]:
    """Definition metadata of an asset that is one table."""
    return {"dagster/column_schema": column_schema(table)}


def in_words(values: Mapping[str, Any]) -> str:
    """Settings as they were given, for a reader; all others have their defaults."""
    return ", ".join(f"{name}: {json.dumps(value)}" for name, value in flatten(values).items()) or "all defaults"


def output(
    value: Rows | WrittenTable | Mapping[str, Rows],
    version: CodeVersion,
    *,
    data_version: str,
    started: float,
    metadata: Mapping[str, Any] | None = None,
    output_name: str = "result",
) -> dg.Output[Any]:
    """An output with its data version, how long it took, and what decided it: last, after what people look for."""
    return dg.Output(
        value,
        output_name=output_name,
        data_version=dg.DataVersion(data_version),
        metadata={
            **(metadata or {}),
            SECONDS: round(time.perf_counter() - started, 3),
            VERSION: dg.MetadataValue.json(version.as_json()),
        },
    )
