"""``eval-assets fetch NAME``. Never imports Dagster."""

from __future__ import annotations

from typing import Annotated

import typer


def fetch(
    name: Annotated[str, typer.Argument(help="A benchmark of data/benchmarks.yaml that has a published file.")],
    force: Annotated[
        bool, typer.Option("--force", help="Fetch although another file is there; one of the same name is replaced.")
    ] = False,
) -> None:
    """Download a benchmark's published file and check its digest; goes on where an earlier download stopped.

    HF_ENDPOINT names another hub.
    """
    from converters.errors import BadInput
    from converters.fetch import fetch as fetch_published
    from eval_assets.cli.bar import transfer_bar
    from eval_assets.project import Project
    from eval_assets.settings import load_settings
    from eval_assets.sources import target_of

    project = Project.find()
    settings = load_settings(project)
    known = [one for one, benchmark in settings.benchmarks.items() if benchmark.published_file]
    remedy = f"published are: {', '.join(known) or 'none'}"
    if name not in settings.benchmarks:
        raise BadInput("NAME", f"unknown benchmark {name!r}", remedy)
    benchmark = settings.benchmarks[name]
    published = benchmark.published_file
    if published is None:
        raise BadInput("NAME", f"{name} has no published file", remedy)
    target = target_of(project, settings, name)
    with transfer_bar() as progress:
        found = fetch_published(published, target, progress, present=benchmark.file(project), force=force)
    what = f"{project.shown(found.path)}: {found.n_bytes:,} bytes"
    known_as = "as published" if published.sha256 else "digest not known: compare it, then pin it"
    typer.echo(f"{'fetched' if found.downloaded else 'there already'}: {what}, sha256 {found.sha256} ({known_as})")
    typer.echo(f"licence of {published.repo}: {published.licence}")
    used = benchmark.file(project)
    if used is not None and used != found.path:
        typer.echo(f"but {project.shown(used)} comes first and is what is used; move it away", err=True)
