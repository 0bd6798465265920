"""``eval-assets ui``."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer


def ui(
    port: Annotated[int, typer.Option(help="Port of the web page.")] = 3000,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Open the Dagster UI on the instance that refresh writes to."""
    from eval_assets.project import Project

    project = Project.find()
    home = project.dagster_home()
    os.chdir(project.root)
    typer.echo(f"http://{host}:{port}  (DAGSTER_HOME={project.shown(home)}; stop with Ctrl-C)")
    sys.stdout.flush()
    os.execv(
        sys.executable,
        [sys.executable, "-m", "dagster", "dev", "-w", "workspace.yaml", "-h", host, "-p", str(port)],
    )
