"""What is wrong with a record of a source; light, for where nothing is wrong nothing else is needed."""

from __future__ import annotations


class RecordProblem(ValueError):  # noqa: N818 - named as what it says
    """What is wrong with a record: the field, the problem, and what to do."""

    def __init__(self, field: str | None, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.field = field
        self.problem = problem
        self.remedy = remedy
