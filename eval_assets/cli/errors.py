"""How the command line fails: one line on standard error, and an exit status that says whose turn it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

import typer

from converters.errors import BadInput, Told

FAILED: Final = 1
BAD_INPUT: Final = 2


def stop(line: str, status: int = FAILED) -> NoReturn:
    """Print the line to standard error and exit."""
    typer.echo(line, err=True)
    raise typer.Exit(status)


@contextmanager
def one_line() -> Iterator[None]:
    """Turn what a person can mend into one line: bad input and files (status 2), what else is for a reader (1)."""
    try:
        yield
    except BadInput as error:
        stop(error.line, BAD_INPUT)
    except Told as error:
        stop(" ".join(str(error).split()))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        stop(f"{where}{(error.strerror or str(error)).lower()}; mend it there, nothing was written", BAD_INPUT)
