"""Which bytes a source holds that may be a folder."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from converters.errors import BadInput
from converters.source import SourceFingerprint, fingerprint


def source_files(path: Path) -> list[Path]:
    """The file, or all visible files of the folder and of those within it, in the order of their names."""
    if not path.is_dir():
        return [path]
    files = (file for file in path.rglob("*") if file.is_file())
    named = {file.relative_to(path).as_posix(): file for file in files}
    return [named[name] for name in sorted(named) if not any(part.startswith(".") for part in name.split("/"))]


def source_fingerprint(path: Path) -> SourceFingerprint:
    """Which bytes a source holds, unpacked.

    A folder's digest is the sha256 of a JSON list of each file's name within it and sha256.

    Raises:
        BadInput: a file cannot be read, is empty or a damaged gzip file; the folder holds no file.
    """
    if not path.is_dir():
        return fingerprint(path)
    files = source_files(path)
    if not files:
        raise BadInput(path, "is a folder without files", "put the data set there")
    found = {file.relative_to(path).as_posix(): fingerprint(file) for file in files}
    listed = json.dumps([[name, one.sha256] for name, one in found.items()])
    return SourceFingerprint(
        hashlib.sha256(listed.encode()).hexdigest(),
        sum(one.n_bytes for one in found.values()),
        any(one.compressed for one in found.values()),
    )
