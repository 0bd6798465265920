"""From hits to rankings of distinct sessions and of distinct turns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from judges.retrieval_metrics import Counts, Flags


@dataclass(frozen=True)
class Mapped:
    """Hits with what they stand for.

    Attributes:
        sessions: row, content_hash: the sessions that hits map to, best hit first within a row, repeats included.
        turns: row, content_hash, turn_index: the same for turns.
        n_unmapped: by row, hits that map to no session of the haystack.
        turns_known: by row, whether every hit that maps to a session also says which of its turns it covers.
    """

    sessions: pl.DataFrame
    turns: pl.DataFrame
    n_unmapped: Counts
    turns_known: Flags


@dataclass(frozen=True)
class Ranking:
    """Where evidence was found: row and rank of each piece in that order, and by row the length of the ranking."""

    found_row: Counts
    found_rank: Counts
    n_ranked: Counts


def map_hits(rows: pl.DataFrame, haystacks: pl.DataFrame) -> Mapped:
    """Map hits to sessions through each question's haystack.

    A hit may name several sessions: they follow one another in the order it names them. One that the haystack does not
    hold is dropped. The turns of a hit are taken in turn order; they say nothing where the hit covers several texts.

    Args:
        rows: row (number of the question, from 0), haystack_id, hits (see ``converters.tables.HIT``).
        haystacks: haystack_id, session_key, content_hash.
    """
    hits = (
        rows.select(
            "row",
            "haystack_id",
            rank=pl.col("hits").list.eval(pl.element().struct.field("rank")),
            session_key=pl.col("hits").list.eval(pl.element().struct.field("session_keys")),
            turns=pl.col("hits").list.eval(pl.element().struct.field("turns")),
        )
        .filter(pl.col("rank").list.len() > 0)
        .explode("rank", "session_key", "turns")
        .sort("row", "rank", maintain_order=True)
        .with_row_index("hit")
    )
    texts = haystacks.select("haystack_id", "session_key", "content_hash").unique(["haystack_id", "session_key"])
    sessions = (
        hits.select("hit", "row", "haystack_id", "session_key")
        .explode("session_key")
        .join(texts, on=["haystack_id", "session_key"], how="inner", maintain_order="left")
        .select("hit", "row", "content_hash")
        .unique(maintain_order=True)
    )
    covers = sessions.group_by("hit", "row", maintain_order=True).agg(pl.col("content_hash").first(), n_texts=pl.len())
    covers = covers.join(hits.select("hit", "turns"), on="hit", how="left", maintain_order="left")
    tellable = pl.col("turns").is_not_null() & (pl.col("n_texts") == 1)
    turns = (
        covers.filter(tellable & (pl.col("turns").list.len() > 0))
        .with_columns(turn_index=pl.col("turns").list.sort())
        .explode("turn_index")
        .select("row", "content_hash", "turn_index")
    )
    n_mapped = _count(covers["row"], rows.height)
    return Mapped(
        sessions=sessions.select("row", "content_hash"),
        turns=turns,
        n_unmapped=_count(hits["row"], rows.height) - n_mapped,
        turns_known=_count(covers.filter(tellable)["row"], rows.height) == n_mapped,
    )


def rank(pieces: pl.DataFrame, evidence: pl.DataFrame, n_rows: int) -> Ranking:
    """Drop what was seen before, count what is left, and find the evidence in it.

    Args:
        pieces: row and the columns that identify a session or a turn; best first within a row.
        evidence: the same columns, in any order of rows.
        n_rows: how many questions.
    """
    key = pieces.columns
    ranking = pieces.unique(maintain_order=True).with_columns(rank=pl.col("row").cum_count().over("row"))
    found = ranking.join(evidence, on=key, how="semi").sort("row", "rank")
    return Ranking(
        found_row=found["row"].to_numpy().astype(np.int64),
        found_rank=found["rank"].to_numpy().astype(np.int64),
        n_ranked=_count(ranking["row"], n_rows),
    )


def _count(rows: pl.Series, n_rows: int) -> Counts:
    return np.bincount(rows.to_numpy().astype(np.int64), minlength=n_rows)
