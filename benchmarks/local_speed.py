"""Time of the embedded system's two costly steps, against the libraries' own ways.

Usage: python benchmarks/local_speed.py [TEXTS]

Embedding: ours against ``WordLlama.embed`` over batches sorted by length, which is its fastest use. BM25: our index of
stored term numbers against that of ``bm25s.BM25.index``, a container of 500 texts at a time. Texts are drawn from a
vocabulary with the lengths of chat turns (mean 1,000 characters). Prints the ratios.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import bm25s
import numpy as np
import wordllama

from providers.local.embedding import embed
from providers.local.lexical import LexicalIndex
from providers.local.settings import RetrievalSettings

CONTAINER = 500
ASKED_TERMS = 8


def texts(n: int) -> list[str]:
    rng = random.Random(5)
    words = ["".join(rng.choices("abcdefghilmnoprstu", k=rng.randint(2, 9))) for _ in range(20_000)]
    return [" ".join(rng.choices(words, k=min(2_000, int(rng.expovariate(1 / 155)) + 3))) for _ in range(n)]


def timed(run: Callable[[], object]) -> float:
    started = perf_counter()
    run()
    return perf_counter() - started


def stock_index(containers: list[list[np.ndarray]], n_terms: int) -> None:
    vocabulary = {str(term): term for term in range(n_terms)}
    for chunks in containers:
        index = bm25s.BM25()
        index.index(([chunk.tolist() for chunk in chunks], vocabulary), create_empty_token=False, show_progress=False)


def report(what: str, ours: float, rival: str, theirs: float) -> None:
    print(f"{what}: ours {ours:.2f} s, {rival} {theirs:.2f} s, ratio {ours / theirs:.2f}")


def main() -> None:
    sample = texts(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    embed(sample[:1])
    ours = timed(lambda: embed(sample))
    theirs = timed(lambda: model.embed(sorted(sample, key=len), norm=True))
    report(f"embedding {len(sample)} texts, {sum(map(len, sample)) / 1e6:.1f} MB", ours, "WordLlama.embed", theirs)

    rng = np.random.default_rng(5)
    terms = [rng.integers(0, 40, rng.integers(1, 180)).astype(np.int32) for _ in sample]
    terms = [np.where(chunk > ASKED_TERMS, 0, chunk).astype(np.int32) for chunk in terms]
    containers = [terms[start : start + CONTAINER] for start in range(0, len(terms), CONTAINER)]
    settings = RetrievalSettings()
    ours = timed(lambda: [LexicalIndex(chunks, ASKED_TERMS + 1, settings) for chunks in containers])
    theirs = timed(lambda: stock_index(containers, ASKED_TERMS + 1))
    report(f"BM25 index of {len(containers)} containers", ours, "bm25s.BM25.index", theirs)


if __name__ == "__main__":
    main()
