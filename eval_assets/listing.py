"""What benchmarks there are, and whether their files are the published ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from converters.errors import BadInput
from converters.fetch import Progress, digest_of
from converters.published import by_digest
from eval_assets.project import Project
from eval_assets.settings import Settings
from eval_assets.sources import where_to_put


@dataclass(frozen=True)
class Listed:
    """One benchmark.

    Attributes:
        name: as in benchmarks.yaml.
        format: how its file is read.
        description: what it is.
        file: where its file is, relative to the project where it is inside; None if there is none.
        bytes: the file's size as it is on disk, perhaps gzipped; None for a folder.
        sha256: digest of its content, unpacked; None if there was nothing to compare it with.
        verdict: ``known``: the published file; ``other``: not it; ``unknown``: there is no digest to compare with;
            ``missing``: no file; ``unreadable``: a damaged one.
        detail: the same for a reader.
        remedy: what to do about a missing file.
    """

    name: str
    format: str
    description: str
    file: str | None
    bytes: int | None
    sha256: str | None
    verdict: Literal["known", "other", "unknown", "missing", "unreadable"]
    detail: str
    remedy: str | None


def listed(project: Project, settings: Settings, progress: Progress) -> list[Listed]:
    """All benchmarks, in the order of the file. Only files with a published digest to compare with are read.

    Args:
        project: where the files are.
        settings: its benchmarks.
        progress: told what is under way, bytes done and bytes in all.
    """
    return [_one(project, settings, name, progress) for name in settings.benchmarks]


def _one(project: Project, settings: Settings, name: str, progress: Progress) -> Listed:
    benchmark = settings.benchmarks[name]
    path = benchmark.file(project)
    head = (name, benchmark.format, benchmark.description)
    if path is None:
        return Listed(*head, None, None, None, "missing", "no file", where_to_put(project, settings, name))
    place = (project.shown(path), path.stat().st_size if path.is_file() else None)
    published = benchmark.published_file
    if published is None or published.sha256 is None:
        return Listed(*head, *place, None, "unknown", "no digest is known", None)
    try:
        sha256 = digest_of(path, lambda _, done, total: progress(name, done, total)).sha256
    except BadInput as error:
        return Listed(*head, *place, None, "unreadable", f"{error.problem}; {error.remedy}", None)
    if sha256 == published.sha256:
        return Listed(*head, *place, sha256, "known", published.name, None)
    other = by_digest(sha256)
    detail = f"{other.name}, not {published.name}" if other else "not a published file"
    return Listed(*head, *place, sha256, "other", detail, None)
