"""How a metric is named, in settings, on the command line and in files: ``hit@5``, ``turn.ndcg@10``, ``accuracy``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import polars as pl

from converters.errors import BadInput
from judges.aggregate import LEVELS, OWN_K
from judges.qa import ABSTENTION, ACCURACY, ANSWER, TASK_AVERAGED
from judges.relevance.metrics import JUDGED_LEVEL, NAMES
from judges.retrieval_metrics import CUTOFFS, METRICS

SCORE: Final = "score"
ANSWER_METRICS: Final = (ACCURACY, TASK_AVERAGED, ABSTENTION, SCORE)
_OWN: Final = "own"
_SESSION: Final = LEVELS[0]
_NAME: Final = re.compile(r"(?:(\w+)\.)?(\w+?)@([1-9]\d{0,8}|own)(?:\[(.+)\])?", re.DOTALL)
_ANSWER_NAME: Final = re.compile(r"(\w+)(?:\[(.+)\])?", re.DOTALL)


@dataclass(frozen=True)
class Metric:
    """A metric at a level and cut-off.

    Attributes:
        level: session, turn, judged or answer.
        metric: as in the table ``Report``, or score, a judge's own.
        k: cut-off; 0 for each query's own, and of answers.
        judge: who judged the answers or hits; empty for any, and at the levels session and turn.
    """

    level: str
    metric: str
    k: int = 0
    judge: str = ""

    def __str__(self) -> str:
        if self.level == ANSWER:
            return f"{self.metric}[{self.judge}]" if self.judge else self.metric
        name = f"{self.metric}@{self.k or _OWN}"
        name = name if self.level == _SESSION else f"{self.level}.{name}"
        return f"{name}[{self.judge}]" if self.judge else name

    def matches(self) -> pl.Expr:
        """Which rows of a table with the columns level, metric, k and judge are of this metric."""
        same = (pl.col("level") == self.level) & (pl.col("metric") == self.metric) & (pl.col("k") == self.k)
        return same & (pl.col("judge") == self.judge) if self.judge else same


def parse_metric(text: str, source: object = "metrics") -> Metric:
    """Read ``hit@5``, ``turn.ndcg@10``, ``recall@own``, ``judged.mrr@5``, ``accuracy`` or ``accuracy[JUDGE]``.

    Raises:
        BadInput: there is no such metric; the line names ``source``.
    """
    found = _NAME.fullmatch(text)
    if found:
        level, metric, k = found[1] or _SESSION, found[2], OWN_K if found[3] == _OWN else int(found[3])
        if level in LEVELS and metric in METRICS and not found[4]:
            return Metric(level, metric, k)
        if level == JUDGED_LEVEL and metric in NAMES and k in CUTOFFS:
            return Metric(level, metric, k, found[4] or "")
    else:
        answer = _ANSWER_NAME.fullmatch(text)
        if answer and answer[1] in ANSWER_METRICS:
            return Metric(ANSWER, answer[1], 0, answer[2] or "")
    remedy = (
        f"use one of {', '.join(METRICS)} with a cut-off, as in hit@5, turn.hit@5 or judged.hit@5, "
        f"or {', '.join(ANSWER_METRICS)}"
    )
    raise BadInput(source, "is not a metric", remedy, field=text)


def parse_metrics(texts: Iterable[str], source: object = "metrics") -> tuple[Metric, ...]:
    """Read several, each once, in the order given. Errors as of ``parse_metric``."""
    return tuple(dict.fromkeys(parse_metric(text, source) for text in texts))


HEADLINES: Final = parse_metrics(
    ["hit@5", "recall@5", "mrr@5", "hit@10", "recall@10", "ndcg@10", ACCURACY, TASK_AVERAGED, ABSTENTION],
    source="headlines",
)
"""What is compared where nothing else is asked for: every further test costs the others some of their power."""
