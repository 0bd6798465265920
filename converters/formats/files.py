"""Files and folders of an export, which appear whole or not at all, and lines that no text can break."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeAlias

from converters.errors import BadInput
from converters.folder import writing
from converters.parquet import flush_folder
from converters.whole import whole_files

Progress: TypeAlias = Callable[[int, int], None]
"""Told how much is done, and of how much."""


@contextmanager
def whole_file(out: Path, *, force: bool) -> Iterator[IO[str]]:
    """Yield a text file beside ``out``; it takes that name when the block ends, and is removed on an error.

    Raises:
        BadInput: there is something at ``out`` that may not be replaced, or the place cannot be written to.
    """
    with whole_files(out, force=force) as (path,), path.open("x", encoding="utf-8", newline="\n") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def whole_tree(out: Path, known: Collection[str], *, force: bool) -> Iterator[Path]:
    """Yield an empty folder beside ``out``; it takes that name when the block ends, and is removed on an error.

    Args:
        out: where it goes.
        known: names that such a folder holds; one that holds others is not replaced.
        force: replace what is there.

    Raises:
        BadInput: there is something at ``out`` that may not be replaced, or the place cannot be written to.
    """
    with writing(out):
        _refuse(out, known, force=force)
        temporary = out.with_name(f".{out.name}.{secrets.token_hex(4)}.tmp")
        temporary.mkdir(parents=True)
        try:
            yield temporary
            _flush(temporary)
            if out.exists():
                out.rename(old := temporary.with_name(f"{temporary.name}.old"))
                temporary.rename(out)
                shutil.rmtree(old)
            else:
                temporary.rename(out)
            flush_folder(out.parent)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write lines to a new file of a folder that is not yet in its place; how many there were."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number = 0
    with path.open("x", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(line + "\n")
            number += 1
    return number


def json_line(value: Mapping[str, object]) -> str:
    """An object as ASCII on one line: no character of a text can end it."""
    return json.dumps(value)


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """``1 query``, ``1,270 queries``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _refuse(out: Path, known: Collection[str], *, force: bool) -> None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise BadInput(out, "is not a folder", "choose a new folder")
    if not out.exists():
        return
    foreign = sorted(path.name for path in out.iterdir() if path.name not in known)
    if foreign:
        raise BadInput(out, f"holds other files ({foreign[0]})", "choose a new folder")
    if not force:
        raise BadInput(out, "exists already", "choose another name, or replace it with --force")


def _flush(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_dir():
            flush_folder(path)
            continue
        with path.open("rb") as file:
            os.fsync(file.fileno())
    flush_folder(folder)
