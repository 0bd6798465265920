"""Fetches a published file: pinned, checked, resumable. The only module of ``converters`` that uses the network."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, TypeAlias

from converters.errors import BadInput
from converters.folder import writing
from converters.parquet import flush_folder
from converters.published import Published
from converters.source import SourceFingerprint, open_source

Progress: TypeAlias = Callable[[str, int, int], None]

_ENDPOINT: Final = "HF_ENDPOINT"


@dataclass(frozen=True)
class Fetched:
    """A file that is there.

    Attributes:
        path: where it is.
        sha256: digest of its content, unpacked.
        n_bytes: length of its content, unpacked.
        downloaded: whether it was fetched now.
    """

    path: Path
    sha256: str
    n_bytes: int
    downloaded: bool


def fetch(
    published: Published, target: Path, progress: Progress, *, present: Path | None = None, force: bool = False
) -> Fetched:
    """A published file, from disk if it is there, else from where it is published.

    What was received of a download that breaks off stays beside ``target`` (``.NAME.*.part``), and the next one goes on
    from there. No token is read or sent.

    Args:
        published: which file.
        target: the path that it gets; appears whole or not at all.
        progress: told what is under way, bytes done and bytes in all.
        present: a file that is taken for it at the moment, under whatever name, plain or gzipped.
        force: fetch although ``present`` is another file; replaces ``target``.

    Raises:
        BadInput: ``present`` is another file; the server cannot be reached, refuses, or has another file; the disk is
            full; another process is fetching the same.
    """
    if present is not None:
        remedy = f"move it away, or fetch {target.name} all the same with --force"
        try:
            found = digest_of(present, progress)
            if found.sha256 == published.sha256 or (published.sha256 is None and not force):
                return Fetched(present, found.sha256, found.n_bytes, downloaded=False)
            problem = f"is another file: its sha256 is {found.sha256}, that of {published.name} is {published.sha256}"
        except BadInput as error:
            problem = error.problem
        if not force:
            raise BadInput(present, problem, remedy)
    with writing(target), _part_of(published, target) as (part, file):
        _receive(published, file, target, progress)
        file.flush()
        os.fsync(file.fileno())
        received = digest_of(part, progress)
        if published.sha256 not in (None, received.sha256):
            refused = target.with_name(f"{target.name}.refused")
            part.replace(refused)
            raise BadInput(
                published.name,
                f"what was received has the sha256 {received.sha256}, not {published.sha256}",
                f"it is not used and lies at {refused}: fetch again, or look at what the server sends",
            )
        part.replace(target)
        flush_folder(target.parent)
    return Fetched(target, received.sha256, received.n_bytes, downloaded=True)


def digest_of(path: Path, progress: Progress) -> SourceFingerprint:
    """The digest of a file's content, unpacked; raises ``BadInput`` if it cannot be read."""
    size = path.stat().st_size
    with open_source(path, lambda done: progress("checking", done, size), mark_surrogates=False) as reader:
        return reader.fingerprint()


def _key(published: Published) -> str:
    place = f"{published.host}:{published.repo}@{published.revision}/{published.file}"
    return hashlib.sha256(place.encode()).hexdigest()[:8]


@contextmanager
def _part_of(published: Published, target: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """What was received so far, open for appending and for this process alone; an empty one is removed at the end."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{_key(published)}.part")
    with part.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            mine = os.path.samestat(os.fstat(file.fileno()), part.stat())
        except (BlockingIOError, FileNotFoundError):
            mine = False
        if not mine:
            raise BadInput(target, "is being fetched by another process", "wait for it to finish")
        try:
            yield part, file
        finally:
            if part.exists() and not part.stat().st_size:
                part.unlink()


def _receive(published: Published, file: IO[bytes], target: Path, progress: Progress) -> None:
    """Append what is missing; the hub client tries again by itself where a connection breaks."""
    from converters.hub import Broken, receive

    have = os.fstat(file.fileno()).st_size
    if published.n_bytes is not None and have > published.n_bytes:
        file.truncate(have := 0)
    try:
        receive(published, file, have, os.environ.get(_ENDPOINT), progress)
    except Broken as error:
        file.flush()
        kept = os.fstat(file.fileno()).st_size
        again = f"run it again to go on after the {kept:,} bytes that are there, or " if kept else ""
        raise BadInput(published.name, f"cannot be fetched ({error})", again + by_hand(published, target)) from None


def by_hand(published: Published, target: Path) -> str:
    """What a person without a connection can do."""
    facts = [f"revision {published.revision[:12]}"]
    facts += [f"{published.n_bytes:,} bytes"] if published.n_bytes is not None else []
    facts += [f"sha256 {published.sha256}"] if published.sha256 else []
    return f"put it at {target} yourself: it is {published.label} ({', '.join(facts)})"
