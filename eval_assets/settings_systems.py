"""What is under evaluation, as written in systems.yaml: stores, systems over them, and systems made of result files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Discriminator, Field, StringConstraints, Tag, model_validator
from pydantic_core import PydanticCustomError

from eval_assets.project import Project
from eval_assets.strict import Name, Strict
from eval_assets.yaml_files import CHOICE

DEFAULT_LIMIT: Final = 50
IMPORTED: Final = "imported"
"""The provider of a system that asks nobody: its results are read from files."""

_OWN: Final = f"{CHOICE}searched"
_OTHERS: Final = f"{CHOICE}imported"

Role = Literal["results", "answers", "judgments"]


class Service(Strict):
    """Where a store's service is, and how it is treated: nothing of it changes a result or makes anything stale.

    Attributes:
        base_url: its address; None for the provider's usual one.
        key_env: name of the environment variable that holds the key; None for the provider's usual one.
        concurrency: calls at a time; None for the provider's usual number.
        requests_per_minute: at most; None for the provider's usual number.
        timeout_s: seconds for one try of a call.
        deadline_s: seconds for a call with all its retries and the pauses that the service asks for.
        attempts: tries of a call, at most.
        backoff_s: seconds before a second try where the service names no pause; doubled each time.
        index_deadline_s: seconds until what was sent can be found.
        clear_foreign: empty a container that holds what the ledger did not put there, where else the step would fail.
    """

    base_url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s@]+$")] | None = None
    key_env: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*$")] | None = None
    concurrency: Annotated[int, Field(ge=1, le=64)] | None = None
    requests_per_minute: Annotated[float, Field(gt=0)] | None = None
    timeout_s: Annotated[float, Field(gt=0)] = 60.0
    deadline_s: Annotated[float, Field(gt=0)] = 300.0
    attempts: Annotated[int, Field(ge=1, le=20)] = 6
    backoff_s: Annotated[float, Field(ge=0)] = 0.5
    index_deadline_s: Annotated[float, Field(gt=0)] = 1800.0
    clear_foreign: bool = False


class Store(Strict):
    """What is ingested: a provider, how haystacks become containers, and the settings that shape the store."""

    provider: str
    isolation: Literal["global", "isolated"] = "isolated"
    revision: str | int = 1
    ingest: dict[str, Any] = Field(default_factory=dict)
    service: Service = Service()


class System(Strict):
    """A store, how it is searched, how many hits are asked for, who reads them, and who judges what was read.

    ``relevance`` names a judge that asks a model, to judge the hits as well.
    """

    description: str = ""
    owner: str = "team:memory"
    store: Name
    revision: str | int = 1
    limit: Annotated[int, Field(ge=1, le=1000)] = DEFAULT_LIMIT
    reader: Name | None = None
    judges: tuple[Name, ...] = ()
    relevance: Name | None = None
    retrieval: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _read_before_judged(self) -> Self:
        if self.judges and self.reader is None:
            raise PydanticCustomError("reader", "judges judge what a reader answered: name a reader, too")
        if len(set(self.judges)) < len(self.judges):
            raise PydanticCustomError("judges", "a judge is named twice")
        return self


class ResultFile(Strict):
    """A file that somebody's run left behind; its name is relative to data/, or to the folder of sources."""

    file: Annotated[str, StringConstraints(min_length=1)]
    format: str

    def find(self, project: Project) -> Path | None:
        """The file, or None where there is none."""
        places = (folder / self.file for folder in (project.data, project.sources))
        return next((path for path in places if path.is_file()), None)

    def target(self, project: Project) -> Path:
        """Where a person puts it."""
        return project.sources / self.file


class RankingFile(ResultFile):
    """Rankings: see ``converters.results.trec_run`` and ``converters.results.retrieval_log``."""

    format: Literal["trec_run", "retrieval_log"]


class AnswersFile(ResultFile):
    """Answers, judged or not: see ``converters.results.hypotheses``."""

    format: Literal["hypotheses"] = "hypotheses"


class ImportedSystem(Strict):
    """A system whose results others made: by benchmark, the files that hold them.

    Attributes:
        limit: how many hits its makers asked for; where it is None, as many as the longest list of a file has.
        results: rankings.
        answers: answers; labels in them are judgments.
        judgments: judged answers; their labels stand in for those of ``answers``.
    """

    description: str = ""
    owner: str = "team:memory"
    provider: Literal["imported"]
    limit: Annotated[int, Field(ge=1)] | None = None
    results: dict[Name, RankingFile] = Field(default_factory=dict)
    answers: dict[Name, AnswersFile] = Field(default_factory=dict)
    judgments: dict[Name, AnswersFile] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.benchmarks:
            raise PydanticCustomError("nothing", "an imported system without files; give results, answers or judgments")
        return self

    @property
    def benchmarks(self) -> list[str]:
        """The benchmarks that it has a file for, each once."""
        return list(dict.fromkeys([*self.results, *self.answers, *self.judgments]))

    @property
    def has_results(self) -> bool:
        """Whether it has rankings on any benchmark."""
        return bool(self.results)

    @property
    def has_answers(self) -> bool:
        """Whether it has answers on any benchmark."""
        return bool(self.answers or self.judgments)

    def files(self, benchmark: str) -> Mapping[Role, ResultFile]:
        """Its files on a benchmark, by what they are."""
        return dict(self._files(benchmark))

    def _files(self, benchmark: str) -> Iterator[tuple[Role, ResultFile]]:
        if benchmark in self.results:
            yield "results", self.results[benchmark]
        if benchmark in self.answers:
            yield "answers", self.answers[benchmark]
        if benchmark in self.judgments:
            yield "judgments", self.judgments[benchmark]


def _kind(value: object) -> str:
    if isinstance(value, ImportedSystem):
        return _OTHERS
    return _OTHERS if isinstance(value, Mapping) and "provider" in value else _OWN


AnySystem = Annotated[Annotated[System, Tag(_OWN)] | Annotated[ImportedSystem, Tag(_OTHERS)], Discriminator(_kind)]
