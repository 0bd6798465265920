"""The search pipeline for one question: candidates of each leg, their score, its boosts, and the final order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from providers.local.boosts import access_boost, closeness_boost, confidence_boost, within
from providers.local.container import Container
from providers.local.dense import Mask
from providers.local.fusion import Rows, Scores, blend, reciprocal_rank_fusion
from providers.local.lexical import Terms, top
from providers.local.reorder import by_session_in_turn, without_near_duplicates
from providers.local.retrieval_settings import RetrievalSettings
from providers.local.temporal import QuestionTime, Slack, question_time


@dataclass(frozen=True)
class Question:
    """What is asked: its terms, its vector, its text for the times that it names, and today's date."""

    text: str
    terms: Terms
    vector: npt.NDArray[np.float32]
    as_of: datetime | None


def rank(container: Container, question: Question, limit: int, settings: RetrievalSettings) -> tuple[Rows, Scores]:
    """At most ``limit`` chunks, best first, and their scores.

    Scores have six decimals; equal ones keep the container's order. After session diversity they need not fall.
    """
    time = question_time(
        question.text, question.as_of, Slack(settings.slack_days, settings.slack_days_long, settings.recent_days)
    )
    allowed = np.ones(len(container.sessions), dtype=bool)
    if time.range is not None and settings.temporal_filter:
        allowed = within(container.dates, time.range)
    count = max(limit, min(int(limit * settings.candidate_factor), settings.candidate_cap))
    rows, scores = _candidates(container, question, allowed, count, settings)
    scores = np.round(scores * _boosts(container, question.as_of, time, settings)[rows], 6)
    order = np.lexsort((rows, -scores))
    ranking, score_of = rows[order], dict(zip(rows.tolist(), scores.tolist(), strict=True))
    if settings.near_duplicate_threshold is not None:
        ranking = without_near_duplicates(ranking, container.vectors, settings.near_duplicate_threshold)
    if settings.session_diversity and len(ranking) > settings.diversity_above:
        ranking = by_session_in_turn(ranking, container.sessions)
    ranking = ranking[:limit]
    return ranking, np.array([score_of[row] for row in ranking.tolist()])


def _candidates(
    container: Container, question: Question, allowed: Mask, count: int, settings: RetrievalSettings
) -> tuple[Rows, Scores]:
    """Rows that a leg found, ascending, with the score that the mode gives them."""
    n_rows = len(allowed)
    lexical_scores = np.zeros(n_rows)
    lexical: Rows = np.zeros(0, dtype=np.int64)
    if container.lexical is not None:
        lexical_scores = container.lexical.scores(question.terms)
        lexical = top(lexical_scores, count, allowed)
    similarities = np.full(n_rows, settings.lexical_only_similarity)
    dense: Rows = np.zeros(0, dtype=np.int64)
    if container.dense is not None:
        dense, found = container.dense.nearest(question.vector, count, allowed)
        above = found >= settings.similarity_floor
        dense = dense[above]
        similarities[dense] = found[above]
    rows = np.union1d(lexical, dense)
    if settings.mode == "lexical":
        return rows, lexical_scores[rows]
    # Without a hit of the lexical leg there is nothing to fuse, and scores stay comparable with a dense search.
    if settings.mode == "dense" or not len(lexical):
        return rows, similarities[rows]
    weights = (settings.dense_weight, settings.lexical_weight)
    fusion = reciprocal_rank_fusion((dense, lexical), weights, settings.rrf_k, n_rows)
    return rows, blend(similarities[rows], fusion[rows], settings.blend_similarity, settings.blend_fusion)


def _boosts(container: Container, as_of: datetime | None, time: QuestionTime, settings: RetrievalSettings) -> Scores:
    boosts = (
        container.importance
        * access_boost(container.accesses, settings.access_weight, settings.access_boost_cap)
        * confidence_boost(container.confidence, container.decays, container.dates, as_of, settings.decay_factor)
    )
    decay = settings.temporal_decay_days
    if time.range is not None:
        return boosts * closeness_boost(
            container.dates, time.range.start, time.range.end, settings.temporal_boost, decay
        )
    if time.about_time and as_of is not None:
        return boosts * closeness_boost(container.dates, as_of, as_of, settings.recency_boost, decay)
    return boosts
