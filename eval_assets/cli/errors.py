"""How the command line fails: one line on standard error, and an exit status that says whose turn it is."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

import typer

from converters.errors import BadInput, Told

FAILED: Final = 1
BAD_INPUT: Final = 2
FULL_DISK: Final = "the disk is full: what was finished is kept; free some space, then run this again"

_SQLITE_FULL: Final = ("database or disk is full", "disk I/O error")


def stop(line: str, status: int = FAILED) -> NoReturn:
    """Print the line to standard error and exit."""
    typer.echo(line, err=True)
    raise typer.Exit(status)


def disk_full(error: BaseException | None) -> bool:
    """Whether an error, or what caused it, is a full disk: the file system's word for it, or SQLite's."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        if isinstance(error, sqlite3.OperationalError) and str(error) in _SQLITE_FULL:
            return True
        error = error.__cause__ or error.__context__
    return False


@contextmanager
def one_line() -> Iterator[None]:
    """Turn what a person can mend into one line: bad input and files (status 2), what else is for a reader (1)."""
    try:
        yield
    except BadInput as error:
        stop(error.line, BAD_INPUT)
    except Told as error:
        stop(" ".join(str(error).split()))
    except Exception as error:
        if disk_full(error):
            stop(FULL_DISK, BAD_INPUT)
        if not isinstance(error, OSError):
            raise
        where = f"{error.filename}: " if error.filename else ""
        stop(f"{where}{(error.strerror or str(error)).lower()}; mend it there, nothing was written", BAD_INPUT)
