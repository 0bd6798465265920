"""``eval-assets benchmarks``. Never imports Dagster."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from eval_assets.cli.options import Json

if TYPE_CHECKING:
    from eval_assets.listing import Listed


def benchmarks(as_json: Json = False) -> None:
    """Say which benchmarks there are, where their files are or come from, and whether those are the published ones."""
    from eval_assets.cli.bar import transfer_bar
    from eval_assets.listing import listed
    from eval_assets.project import Project
    from eval_assets.settings import load_settings

    project = Project.find()
    settings = load_settings(project)
    with transfer_bar() as progress:
        rows = listed(project, settings, progress)
    typer.echo(json.dumps([asdict(row) for row in rows], indent=2) if as_json else "\n".join(lines(rows)))


def lines(rows: list[Listed]) -> list[str]:
    """A benchmark for a reader: name, format, size and digest; then what it is and where its file is."""
    told = []
    widths = [max(len(row.name) for row in rows), max(len(row.format) for row in rows)] if rows else []
    for row in rows:
        size = "" if row.bytes is None else f"{row.bytes:,} B"
        told.append(f"{row.name:{widths[0]}}  {row.format:{widths[1]}}  {size:>15}  {row.detail}")
        told += [f"    {row.description}"] if row.description else []
        told.append(f"    {row.file or row.remedy}")
    return told
