"""``eval-assets ledger``: what was asked of services, to look at, hand on and tidy up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eval_assets.cli.bar import progress_bar
from eval_assets.cli.errors import one_line
from eval_assets.cli.options import Json

if TYPE_CHECKING:
    from eval_assets.ledger.ledger import Ledger

ledger = typer.Typer(
    help="Every call to a remote service: count, export, import and prune what is kept of them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@contextmanager
def _open() -> Iterator[Ledger]:
    from eval_assets.ledger.settings import open_ledger
    from eval_assets.project import Project

    found = open_ledger(Project.find())
    try:
        yield found
    finally:
        found.close()


@ledger.command()
@one_line()
def stats(as_json: Json = False) -> None:
    """Say what the ledger holds: calls by service and purpose, latency, tokens, cost; containers and documents."""
    from eval_assets.ledger.stats import ledger_stats, stats_lines

    with _open() as found:
        told = ledger_stats(found)
    typer.echo(json.dumps(told.as_dict(), indent=2) if as_json else "\n".join(stats_lines(told)))


@ledger.command()
@one_line()
def export(
    out: Annotated[Path, typer.Option("--out", "-o", help="The Parquet file to write.")],
    store: Annotated[str | None, typer.Option(help="Containers and documents of this store alone.")] = None,
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", "-b", help="Containers and documents of this benchmark alone.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Write the ledger to one file, which replays elsewhere without a key. All calls go with it, whatever the store."""
    from eval_assets.ledger.portable import export_ledger

    with _open() as found, progress_bar() as progress:
        counts = export_ledger(
            found,
            out,
            store=store,
            benchmark=benchmark,
            force=force,
            told=lambda done, total: progress("rows", done, total),
        )
    held = ", ".join(f"{number} {kind}s" for kind, number in counts.items())
    typer.echo(f"wrote {out}: {held}, {out.stat().st_size / 1e6:.1f} MB")


@ledger.command(name="import")
@one_line()
def import_(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file that ledger export wrote.", show_default=False)
    ],
) -> None:
    """Take what a file holds into the ledger; what is there already is not added again."""
    from eval_assets.ledger.merge import import_ledger
    from eval_assets.locks import refreshing
    from eval_assets.project import Project

    lock = refreshing(Project.find(), "eval-assets ledger import")
    with lock, _open() as found, progress_bar() as progress:
        done = import_ledger(found, source, told=lambda read, total: progress("rows", read, total))
    for kind in done.added:
        typer.echo(f"{kind}s: {done.added[kind]} added, {done.known[kind]} known already")
    if not done.added:
        typer.echo("the file holds nothing")


@ledger.command()
@one_line()
def prune(
    older_than: Annotated[
        float | None, typer.Option(min=0, metavar="DAYS", help="Only calls that were made so many days ago.")
    ] = None,
    answers: Annotated[
        bool,
        typer.Option("--answers", help="Usable replies as well, which must be paid for again. Needs --older-than."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and remove nothing.")] = False,
) -> None:
    """Remove calls that can no longer answer anything: failed ones, and replies that newer ones supersede."""
    from converters.errors import BadInput
    from eval_assets.ledger.prune import prune_ledger

    if answers and older_than is None:
        raise BadInput("--answers", "it would remove every reply", "say which, with --older-than DAYS")
    with _open() as found:
        gone = prune_ledger(found, older_than_days=older_than, answers=answers, dry_run=dry_run)
    for name, number in gone.calls.items():
        typer.echo(f"{name}: {number}")
    total = sum(gone.calls.values())
    typer.echo(f"{total} would be removed" if dry_run else f"{total} removed, {gone.freed_bytes / 1e6:.1f} MB")
