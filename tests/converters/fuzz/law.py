"""What holds of every input: it is read, whole and valid, or refused in one clear line, and then nothing is left."""

from __future__ import annotations

import io
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final

import polars as pl
import typer

from converters.corpus import content_hash, read_corpus
from converters.errors import BadInput
from converters.tables import CORPUS
from eval_assets.cli.errors import BAD_INPUT, one_line

from .formats import Damaged, Format

SECONDS: Final = 10
LINE_CHARACTERS: Final = 1_200
"""Of a line beside the name of the file."""
_KEPT: Final = 8
GROWTH_BYTES: Final = 400 << 20
"""By which the memory of the process may grow over all inputs of a format."""


class Hang(BaseException):
    """Raised by the clock; no handler of a reader takes it for an error of the input."""


class Broken(AssertionError):  # noqa: N818 - named for what it says
    """The law does not hold."""


@contextmanager
def bounded(seconds: int = SECONDS) -> Iterator[None]:
    """Raise ``Hang`` where the block takes longer."""

    def ring(*_: object) -> None:
        raise Hang(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    started = time.monotonic()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if time.monotonic() - started > seconds:
        raise Hang(f"took more than {seconds} s where no signal reaches it")


@contextmanager
def own_temporary_folder(folder: Path) -> Iterator[None]:
    """What the code takes for the system's temporary folder."""
    before = tempfile.tempdir
    tempfile.tempdir = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


def check(label: str, form: Format, damaged: Damaged, seed: int, place: Path) -> str:
    """Give an input to its reader; how it ended: ``read``, or the line.

    Raises:
        Broken: the law does not hold; says how to run the input again.
    """
    replay = f"{label} {seed} ({damaged.kind}); again: python -m tests.converters.fuzz {label} {seed}"
    folder, scratch = place / "case", place / "scratch"
    folder.mkdir()
    scratch.mkdir()
    for name, data in damaged.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    before = _listing(folder)
    limit = sys.getrecursionlimit()
    try:
        line = _read(form, folder, seed, scratch)
        _hold(not list(scratch.iterdir()), f"left in the temporary folder: {_listing(scratch)}")
        _hold(sys.getrecursionlimit() == limit, "the recursion limit is another")
        if line is not None:
            _refused(line, folder, before)
            return line
        if (folder / "corpus").is_dir():
            _whole(read_corpus(folder / "corpus"), damaged)
        return "read"
    except (Exception, Hang) as error:
        raise Broken(f"{replay}\n{type(error).__name__}: {str(error)[:2_000]}") from error


def _read(form: Format, folder: Path, seed: int, scratch: Path) -> str | None:
    """The line of a refusal, or None."""
    said, kept = io.StringIO(), _Kept()
    with own_temporary_folder(scratch), bounded():
        try:
            with redirect_stderr(said), redirect_stdout(io.StringIO()), one_line(), kept:
                form.read(folder, seed)
        except typer.Exit as stopped:
            _hold(stopped.exit_code == BAD_INPUT, f"exit status {stopped.exit_code}: {said.getvalue()}")
            error = kept.error
            _hold(isinstance(error, BadInput), f"not a BadInput but {error!r}")
            assert isinstance(error, BadInput)
            _hold(all((error.source, error.problem, error.remedy)), "source, problem or remedy is empty")
            _hold(said.getvalue().endswith(f"{error.line}\n"), f"said {said.getvalue()!r}")
            return error.line
    return None


class _Kept:
    """Remembers the error that passed through."""

    error: BaseException | None = None

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        self.error = error


def _refused(line: str, folder: Path, before: list[str]) -> None:
    _hold(line.isprintable(), f"not one printable line: {line!r}")
    _hold(str(folder) in line, f"names no file: {line!r}")
    _hold(len(line) - len(str(folder)) <= LINE_CHARACTERS, f"{len(line)} characters long: {line[:300]!r}")
    _hold("Traceback" not in line and "Error(" not in line, f"not for a person: {line!r}")
    _hold(_listing(folder) == before, f"left behind: {sorted({*_listing(folder)}.symmetric_difference(before))}")


_VALID: Final[dict[str, list[pl.DataFrame]]] = {name: [] for name in CORPUS}
"""Tables that were found valid. Damage to one leaves the others as those of the input before."""


def _whole(tables: Mapping[str, pl.DataFrame], damaged: Damaged) -> None:
    for name, table in CORPUS.items():
        found, known = tables[name], _VALID[name]
        if not any(found.schema == one.schema and found.equals(one) for one in known):
            table.validate(found)
            known.append(found)
            del known[:-_KEPT]
    texts = tables["turns"].group_by("content_hash", maintain_order=True).agg("role", "content", "turn_index")
    for digest, roles, contents, indices in texts.iter_rows():
        _hold(indices == list(range(len(indices))), f"turns of {digest} are {indices}")
        turns = list(zip(roles, contents, strict=True))
        _hold(content_hash(turns) == digest, f"another digest than {digest} for {turns!r:.200}")
    sessions = set(tables["sessions"]["content_hash"])
    _hold(set(tables["turns"]["content_hash"]) <= sessions, "turns of no session")
    _hold(set(tables["haystacks"]["content_hash"]) <= sessions, "a haystack of no session")
    questions = tables["questions"]["question_id"].to_list()
    _hold(tables["ground_truth"]["question_id"].to_list() == questions, "ground truth of other questions")
    held = "\n".join(tables["turns"]["content"])
    lost = [text for text in damaged.texts if text not in held]
    _hold(not lost, f"lost: {lost}")


def _hold(holds: bool, what: str) -> None:
    if not holds:
        raise Broken(what)


def _listing(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def peak() -> int:
    """The most memory that this process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
