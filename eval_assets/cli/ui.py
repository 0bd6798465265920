"""``eval-assets ui``."""

from __future__ import annotations

import os
import signal
import socket
import sys
from typing import Annotated, Final

import typer

from converters.errors import BadInput

# `dagster dev` recommends `dg dev`, which cannot be told where workspace.yaml is.
_QUIET: Final = "ignore:Function `dev_command` is superseded"


def ui(
    port: Annotated[int, typer.Option(help="Port of the web page.", min=1, max=65535)] = 3000,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Open the Dagster UI on the instance that refresh writes to."""
    from eval_assets.project import Project

    project = Project.find()
    home = project.dagster_home()
    _check_free(host, port)
    # Inside the project, but not beside the dagster.yaml that is only copied from.
    os.chdir(project.data)
    typer.echo(f"http://{host}:{port}  (DAGSTER_HOME={project.shown(home)}; stop with Ctrl-C)")
    sys.stdout.flush()
    # A script's background job ignores SIGINT, and Dagster treats SIGTERM as it treats SIGINT: nothing would stop it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    workspace = str(project.root / "workspace.yaml")
    os.execv(
        sys.executable,
        [sys.executable, "-W", _QUIET, "-m", "dagster", "dev", "-w", workspace, "-h", host, "-p", str(port)],
    )


def _check_free(host: str, port: int) -> None:
    """Dagster would start everything else first, and stay up without its page."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            # As the server does: a port that was closed a moment ago is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        problem = f"cannot be listened on: {(error.strerror or str(error)).lower()}"
        raise BadInput(f"{host}:{port}", problem, "name another with --host and --port") from None
