"""The project's web page as a reader meets it: a copy of the project in which the demonstration ran, served."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote
from urllib.request import urlopen

REPOSITORY: Final = Path(__file__).resolve().parents[2]
CHROMIUM: Final = Path("/usr/bin/chromium")
CHROMIUM_ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_COMMAND: Final = (sys.executable, "-c", "from eval_assets.cli import main; main()")
_PATIENCE: Final = 120.0


@dataclass(frozen=True)
class Site:
    """A project and where it is served."""

    root: Path
    url: str

    def partition(self, asset: str, partition: str) -> str:
        """The page of an asset's partition."""
        return f"{self.url}/assets/{asset}?view=partitions&partition={partition}"

    def asset(self, asset: str, view: str) -> str:
        """A page of an asset: overview, events, checks."""
        return f"{self.url}/assets/{asset}?view={view}"

    def lineage(self, *groups: str) -> str:
        """The graph of all assets, with these groups opened."""
        opened = ",".join(f"global@global:{group}" for group in groups)
        return f"{self.url}/asset-groups?expanded={quote(opened, safe='')}"

    def run(self, *arguments: str) -> str:
        """What a command of the project prints; in a process of its own, as this one's event loop is the browser's."""
        told = subprocess.run(
            [*_COMMAND, *arguments],
            cwd=self.root,
            env=_environment(self.root),
            check=False,
            capture_output=True,
            text=True,
        )
        if told.returncode:
            raise RuntimeError(f"eval-assets {' '.join(arguments)}: {told.stderr}")
        return told.stdout

    def report(self, system: str, benchmark: str) -> dict[str, Any]:
        """A report as the command line gives it."""
        told: dict[str, Any] = json.loads(self.run("report", system, benchmark, "--json"))
        return told


@contextmanager
def demo_site(folder: Path) -> Iterator[Site]:
    """Run the demonstration in a copy of the project, then serve that with ``eval-assets ui``."""
    root = _copy(folder)
    port = _free_port()
    site = Site(root, f"http://127.0.0.1:{port}")
    site.run("demo")
    log = folder / "ui.log"
    with (
        log.open("w", encoding="utf-8") as told,
        subprocess.Popen(
            [*_COMMAND, "ui", "--port", str(port)], cwd=root, env=_environment(root), stdout=told, stderr=told
        ) as server,
    ):
        try:
            _wait(site.url, server, log)
            yield site
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(_PATIENCE)


def _copy(folder: Path) -> Path:
    root = folder / "project"
    (root / "data").mkdir(parents=True)
    for name in ("workspace.yaml", "dagster.yaml", "data/systems.yaml", "data/benchmarks.yaml"):
        shutil.copyfile(REPOSITORY / name, root / name)
    # The baselines are there to be looked at, but no target: the demonstration does not run them, and a refresh would.
    settings = root / "data" / "systems.yaml"
    text = settings.read_text("utf-8")
    every = "[bm25, dense, hybrid, none, oracle]"
    assert every in text
    settings.write_text(text.replace(every, "[bm25, dense, hybrid]"), "utf-8")
    shutil.copytree(REPOSITORY / "data" / "fixtures", root / "data" / "fixtures")
    # The code too: someone who edits a source meanwhile makes nothing stale here.
    for package in ("converters", "providers", "judges", "eval_assets"):
        shutil.copytree(REPOSITORY / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def _environment(root: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("EVAL_ASSETS_", "DAGSTER_"))}
    return {**kept, "EVAL_ASSETS_ROOT": str(root), "PYTHONPATH": str(root)}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        try:
            with urlopen(f"{url}/server_info", timeout=5):
                return
        except OSError:
            with suppress(subprocess.TimeoutExpired):
                server.wait(timeout=0.2)
                break
    raise RuntimeError(f"the page did not come up:\n{log.read_text('utf-8')}")
