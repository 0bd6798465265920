"""``eval-assets prune``."""

from __future__ import annotations

from typing import Annotated

import typer


def prune(
    keep: Annotated[int, typer.Option(min=1, help="How many runs of each partition stay.")] = 3,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and remove nothing.")] = False,
) -> None:
    """Remove the files of old runs; the newest ones of each partition stay."""
    from eval_assets.cli.session import open_session
    from eval_assets.locks import refreshing
    from eval_assets.prune import removable, remove

    with open_session() as session, refreshing(session.graph.project, "eval-assets prune"):
        paths = removable(session.instance, session.graph, keep)
        if dry_run:
            for path in paths:
                typer.echo(session.graph.project.shown(path))
            typer.echo(f"{len(paths)} would be removed")
            return
        size = sum(remove(path) for path in paths)
    typer.echo(f"{len(paths)} removed, {size / 1e6:.1f} MB")
