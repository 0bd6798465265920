"""A folder that appears whole or not at all, and what a full disk says."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from converters.errors import BadInput
from converters.parquet import flush_file, flush_folder

_REMEDIES = {
    errno.ENOSPC: "free some space, or choose another place, and run it again",
    errno.EDQUOT: "free some of your quota, or choose another place, and run it again",
    errno.EFBIG: "raise the limit on file sizes (ulimit -f), or choose another place, and run it again",
    errno.EACCES: "choose a place that you may write to",
    errno.EPERM: "choose a place that you may write to",
    errno.EROFS: "choose a place that you may write to",
    errno.ENOTDIR: "choose a place inside a folder",
    errno.EEXIST: "choose another name",
    errno.ENAMETOOLONG: "choose a shorter name",
}


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Turn an operating system's refusal to write (a full disk, no permission) into ``BadInput`` about ``place``."""
    try:
        yield
    except OSError as error:
        if error.errno not in _REMEDIES:
            raise
        problem = f"cannot be written ({os.strerror(error.errno)})"
        raise BadInput(place, problem, _REMEDIES[error.errno]) from None


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder beside ``folder``; it takes that name when the block ends, and is removed on an error.

    A folder that has the name already is replaced if it holds Parquet files alone.

    Raises:
        BadInput: the name belongs to something else, or the place cannot be written to.
    """
    with writing(folder):
        _refuse_foreign(folder)
        temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp")
        temporary.mkdir(parents=True)
        try:
            yield temporary
            # Together: the disk writes what is left of all of them at once.
            with ThreadPoolExecutor() as pool:
                list(pool.map(flush_file, temporary.iterdir()))
            flush_folder(temporary)
            _replace(temporary, folder)
            flush_folder(folder.parent)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _refuse_foreign(folder: Path) -> None:
    if folder.is_dir():
        foreign = sorted(path.name for path in folder.iterdir() if path.suffix != ".parquet")
        if foreign:
            raise BadInput(folder, f"holds other files ({foreign[0]})", "choose a new folder")
    elif folder.exists() or folder.is_symlink():
        raise BadInput(folder, "is not a folder", "choose a new folder")


def _replace(temporary: Path, folder: Path) -> None:
    if not folder.exists():
        temporary.rename(folder)
        return
    old = temporary.with_name(f"{temporary.name}.old")
    folder.rename(old)
    temporary.rename(folder)
    shutil.rmtree(old)
