"""Text to lexical terms, the same way for what is stored and what is asked."""

from __future__ import annotations

from typing import Final

import polars as pl

_WORD: Final = r"\b\w\w+\b"


def analyze(texts: pl.Series, analyzer: str) -> pl.DataFrame:
    """Terms of texts.

    Args:
        texts: strings.
        analyzer: ``simple`` (lower-case words of two characters or more) or ``english`` (those without stop words,
            plurals stripped by the S-stemmer: D. Harman, How effective is suffixing?, 1991).

    Returns:
        Columns ``row`` (UInt32, place of the text) and ``term`` (String), one row an occurrence, in text order.
    """
    words = (
        pl.DataFrame({"word": texts.cast(pl.String)})
        .with_columns(pl.col("word").str.to_lowercase().str.extract_all(_WORD))
        .with_row_index("row")
        .explode("word", empty_as_null=False)
        .drop_nulls("word")
    )
    if analyzer == "simple":
        return words.rename({"word": "term"})
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    # A text has few distinct words: the suffix rules run once each.
    distinct = words.select(pl.col("word").unique()).filter(~pl.col("word").is_in(list(STOPWORDS_EN_PLUS)))
    return words.join(distinct.with_columns(term=_singular(pl.col("word"))), on="word", maintain_order="left").select(
        "row", "term"
    )


def _singular(word: pl.Expr) -> pl.Expr:
    """The first rule that fits applies, alone."""
    return (
        pl.when(word.str.contains("[^ae]ies$"))
        .then(pl.concat_str(word.str.head(-3), pl.lit("y")))
        .when(word.str.contains("[^aeo]es$") | word.str.contains("[^us]s$"))
        .then(word.str.head(-1))
        .otherwise(word)
    )
