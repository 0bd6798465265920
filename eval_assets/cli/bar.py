"""A progress bar for commands that take a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import typer

if TYPE_CHECKING:
    from rich.progress import TaskID


READING: Final = "reading"


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on standard error, for as long as the work takes; nothing where that is no terminal.

    What is ``reading`` counts bytes, and shows them a second; all else shows the time that is left alone.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Speed(TextColumn):
        def render(self, task: Task) -> Text:
            reading = task.description == READING and task.speed
            return Text(f"{task.speed / 1e6:.0f} MB/s" if reading and task.speed else "")

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Speed(""), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("")
        under_way = ""

        def tell(what: str, done: int, total: int) -> None:
            nonlocal under_way
            if what != under_way:
                under_way = what
                bar.reset(task, description=what, total=total)
            bar.update(task, completed=done, total=total)

        yield tell


@contextmanager
def transfer_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Bytes done and in all on standard error: a bar in a terminal, elsewhere a line at every tenth."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _tenths(lambda line: typer.echo(line, err=True))
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def tell(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield tell


def _tenths(say: Callable[[str], None]) -> Callable[[str, int, int], None]:
    reached: dict[str, int] = {}

    def tell(what: str, done: int, total: int) -> None:
        tenth = done * 10 // total if total else 10
        if tenth > reached.get(what, 0):
            reached[what] = tenth
            say(f"{what}: {tenth * 10} % of {total:,} bytes")

    return tell
