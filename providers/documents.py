"""From a corpus to what a system is given: documents in containers, and queries that name a container.

Here the source's ids end. A container is named by a digest, a session by its session_key, a query by its number.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import dataframely as dy
import polars as pl

from converters.schema import Table
from providers.protocol import DOCUMENTS, QUERIES


class Containers(dy.Schema):
    """Which container each haystack went into. Kept beside a store; a provider never sees it."""

    haystack_id = dy.String(primary_key=True, description="which haystack")
    container = dy.String(description="digest of benchmark, ingest settings, haystack and content")


CONTAINERS: Final = Table("containers", Containers)

_CONTAINER_LENGTH: Final = 32
_GOLD_MARKS: Final = ("answer_", "_abs", "has_answer")
_MEMORY_ATTRIBUTES: Final = (
    "type",
    "key",
    "subject",
    "importance",
    "knowledge_category",
    "category",
    "confidence",
    "metadata",
)
_WORD: Final = re.compile(r"[0-9A-Za-z_]+")
_IN_ORDER: Final = ("ordinal", "position", "memory_ordinal")


@dataclass(frozen=True)
class Placement:
    """What goes where.

    Attributes:
        documents: see ``providers.protocol.Documents``.
        containers: see ``Containers``.
    """

    documents: pl.DataFrame
    containers: pl.DataFrame


def place(
    *,
    haystacks: pl.DataFrame,
    questions: pl.DataFrame,
    memories: pl.DataFrame,
    query_options: pl.DataFrame,
    isolation: str,
    namespace: str,
) -> Placement:
    """Put each haystack into its own container (``isolated``), or all of them into one (``global``).

    A container holds each session_key once, in the order of the questions and of their haystacks; a fixture's
    memories are documents of their own. Its name is a digest of the namespace (benchmark, ingest settings and
    revision), the haystack and its content, so another haystack is another container.
    """
    order = questions.group_by("haystack_id").agg(pl.col("ordinal").min())
    rows = haystacks.join(order, on="haystack_id", how="inner")
    if memories.height:
        told = memories.select(
            "session_key",
            "client_id",
            "memory_id",
            *_MEMORY_ATTRIBUTES,
            memory_ordinal=pl.col("ordinal").cast(pl.UInt32),
        )
        clients = questions.join(query_options, on="question_id").select("haystack_id", asked="client_id").unique()
        everyone = pl.col("asked").is_null()
        rows = (
            rows.join(clients, on="haystack_id")
            .join(told, on="session_key", how="inner")
            .filter(everyone | (pl.col("asked") == pl.col("client_id")))
        )
    else:
        rows = rows.with_columns(
            pl.lit(None, pl.String).alias("memory_id"),
            pl.lit(0, pl.UInt32).alias("memory_ordinal"),
            *(pl.lit(None, DOCUMENTS.empty.schema[name]).alias(name) for name in _MEMORY_ATTRIBUTES),
        )
    scope = pl.col("haystack_id") if isolation == "isolated" else pl.lit("*")
    rows = (
        rows.with_columns(scope=scope, unit=pl.coalesce("memory_id", "session_key"))
        .sort(_IN_ORDER)
        .unique(["scope", "unit"], keep="first", maintain_order=True)
    )
    names = pl.DataFrame(
        [
            {"scope": str(part["scope"][0]), "container": _container(namespace, part["scope"][0], part["session_key"])}
            for part in rows.select("scope", "session_key").partition_by("scope", maintain_order=True)
        ],
        schema={"scope": pl.String, "container": pl.String},
    )
    documents = (
        rows.join(names, on="scope", how="left", maintain_order="left")
        .with_columns(
            position=pl.int_range(pl.len(), dtype=pl.UInt32).over("container"),
            date=pl.col("session_date"),
            document_id=pl.when(pl.col("memory_id").is_null())
            .then("session_key")
            .otherwise(pl.concat_str("container", pl.lit(":"), "memory_id", ignore_nulls=True)),
        )
        .select(DOCUMENTS.schema.column_names())
    )
    containers = (
        order.select("haystack_id", scope=scope).join(names, on="scope", how="inner").select("haystack_id", "container")
    )
    return Placement(DOCUMENTS.validate(documents), CONTAINERS.validate(containers.sort("haystack_id")))


def ask(questions: pl.DataFrame, containers: pl.DataFrame) -> pl.DataFrame:
    """The queries of all questions in ordinal order: see ``providers.protocol.Queries``; ``query`` is that order."""
    asked = questions.sort("ordinal").join(containers, on="haystack_id", how="left", maintain_order="left")
    return QUERIES.validate(
        asked.select(
            pl.int_range(pl.len(), dtype=pl.UInt32).alias("query"), "container", "as_of", text=pl.col("question")
        )
    )


def leaks(values: Iterable[str], question_ids: Iterable[str]) -> list[str]:
    """Which of these outgoing values tell the gold: a mark of LongMemEval's ids anywhere, a question's id as a word.

    An id may be of several words (``conv-26_q1``); it stands as it is, and no letter, digit or underscore goes on from
    its first or last one.
    """
    ids = _by_first_word(question_ids)
    return sorted(
        value for value in set(values) if any(mark in value for mark in _GOLD_MARKS) or any(_stand_in(value, ids))
    )


def _by_first_word(names: Iterable[str]) -> Mapping[str, Sequence[tuple[int, str]]]:
    """Names by their first word, with the place of that word in them; by nothing those without one."""
    found: dict[str, list[tuple[int, str]]] = {}
    for name in set(names) - {""}:
        word = _WORD.search(name)
        found.setdefault(word[0] if word else "", []).append((word.start() if word else 0, name))
    return found


def _stand_in(value: str, names: Mapping[str, Sequence[tuple[int, str]]]) -> Iterator[bool]:
    yield from (name in value for _, name in names.get("", ()))
    for word in _WORD.finditer(value):
        for place, name in names.get(word[0], ()):
            begin = word.start() - place
            end = begin + len(name)
            goes_on = _WORD.match(name[-1]) and _WORD.match(value, end)
            yield begin >= 0 and value.startswith(name, begin) and not goes_on


def _container(namespace: str, scope: str, session_keys: Iterable[str]) -> str:
    content = "\n".join(session_keys)
    return hashlib.sha256(f"{namespace}\n{scope}\n{content}".encode()).hexdigest()[:_CONTAINER_LENGTH]
