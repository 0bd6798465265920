"""Which systems are compared, and which metrics must reach what, as written in systems.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from converters.errors import BadInput
from eval_assets.strict import Name, Strict

Floor = Annotated[float, Field(ge=0, le=1)]


class Comparison(Strict):
    """Two systems, or sweeps, to compare on every benchmark.

    Attributes:
        left: compared with.
        right: which the verdicts are about.
        metrics: as ``hit@5``, ``turn.ndcg@10``, ``accuracy`` or ``accuracy[JUDGE]``; the headlines if none.
        unlike: compare all the same where hits asked for, judges or prompts differ.
    """

    left: Name
    right: Name
    metrics: tuple[str, ...] = ()
    unlike: bool = False

    @field_validator("metrics")
    @classmethod
    def _are_metrics(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _metrics(value)

    @model_validator(mode="after")
    def _two(self) -> Self:
        if self.left == self.right:
            raise PydanticCustomError("same", "one system on both sides")
        return self


class Gate(Strict):
    """The least values of metrics, strict, for each of the systems on each of the benchmarks."""

    systems: tuple[Name, ...]
    benchmarks: tuple[Name, ...]
    floors: dict[str, Floor]

    @field_validator("floors")
    @classmethod
    def _are_metrics(cls, value: dict[str, float]) -> dict[str, float]:
        _metrics(tuple(value))
        return value


@dataclass(frozen=True)
class Pair:
    """Two systems to compare; see ``Comparison``."""

    left: str
    right: str
    metrics: tuple[str, ...] = ()
    unlike: bool = False

    def __str__(self) -> str:
        metrics = f" ({', '.join(self.metrics)})" if self.metrics else ""
        return f"{self.left} and {self.right}{metrics}{', unlike' if self.unlike else ''}"


def expanded(comparisons: Sequence[Comparison], sweeps: Mapping[str, Sequence[str]]) -> list[Pair]:
    """Each pair of systems, a sweep's name standing for all its systems; the first to name a pair decides."""
    pairs: dict[tuple[str, str], Pair] = {}
    for one in comparisons:
        for left in sweeps.get(one.left, (one.left,)):
            for right in sweeps.get(one.right, (one.right,)):
                pairs.setdefault((left, right), Pair(left, right, one.metrics, one.unlike))
    return list(pairs.values())


def _metrics(names: tuple[str, ...]) -> tuple[str, ...]:
    # Loads numpy, which settings without comparisons or gates need not.
    from judges.statistics.metric import parse_metrics

    try:
        parse_metrics(names)
    except BadInput as error:
        told = {"name": error.field, "problem": error.problem, "remedy": error.remedy}
        raise PydanticCustomError("metric", "{name}: {problem} ({remedy})", told) from None
    return names
