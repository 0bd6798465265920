"""The tables of corrected labels: what ``converters.tables`` has, of the corrected questions alone."""

from __future__ import annotations

from typing import Final

from converters.schema import Table, dy
from converters.tables import JUDGMENTS, RETRIEVAL_SCORES, GroundTruth, Judgments, RetrievalScores


def _overlay() -> dy.String:
    return dy.String(primary_key=True, nullable=False, description="the name of the set of corrections")


class Corrections(GroundTruth):
    """One row an overlay and question that it corrects. Seen by scoring and reports alone."""


class CorrectedScores(RetrievalScores):
    """One row an overlay and question that it corrects: as in ``RetrievalScores``, against the corrected labels."""

    overlay = _overlay()


class CorrectedJudgments(Judgments):
    """One row an overlay and question that it corrects: as in ``Judgments``, against the corrected labels."""

    overlay = _overlay()


CORRECTIONS: Final = Table("corrections", Corrections)
CORRECTED_SCORES: Final = Table("corrected_scores", CorrectedScores, volatile=RETRIEVAL_SCORES.volatile)
CORRECTED_JUDGMENTS: Final = Table("corrected_judgments", CorrectedJudgments, volatile=JUDGMENTS.volatile)
