"""``eval-assets inspect``. Never imports Dagster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eval_assets.cli.bar import progress_bar
from eval_assets.cli.options import Json


def inspect(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A benchmark in a format that convert reads (plain or gzipped, any name), or a folder of tables.",
            show_default=False,
        ),
    ],
    as_json: Json = False,
) -> None:
    """Say what a source is, what it holds, and what is odd about it. Changes nothing."""
    import json

    from converters.inspect.registry import inspect_source
    from converters.inspect.text import inspection_lines

    size = source.stat().st_size if source.is_file() else 0
    with progress_bar() as progress:
        found = inspect_source(source, lambda done: progress("reading", done, size))
    typer.echo(json.dumps(found.as_dict(), indent=2) if as_json else "\n".join(inspection_lines(found)))
