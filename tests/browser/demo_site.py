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
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
import yaml
from typer.testing import CliRunner, Result

from eval_assets import code_version
from eval_assets.cli import app

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
OURS: Final = ("EVAL_ASSETS_", "DAGSTER_")


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
        """What a command of the project prints; in a thread of its own, as this one's event loop is the browser's."""
        with ThreadPoolExecutor(1) as thread:
            told = thread.submit(self._invoke, arguments).result()
        if told.exit_code:
            raise RuntimeError(f"eval-assets {' '.join(arguments)}: {told.output}") from told.exception
        return told.stdout

    def _invoke(self, arguments: Sequence[str]) -> Result:
        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in os.environ if name.startswith(OURS)]:
                patch.delenv(name)
            patch.setenv("EVAL_ASSETS_ROOT", str(self.root))
            patch.setattr(code_version, "_ROOT", self.root)
            return CliRunner().invoke(app, list(arguments))

    def ended(self, run: str) -> bool:
        """Whether a run has ended, well or not."""
        query = {"query": f'{{runOrError(runId: "{run}") {{... on Run {{status}}}}}}'}
        asked = Request(f"{self.url}/graphql", json.dumps(query).encode(), {"Content-Type": "application/json"})
        with urlopen(asked, timeout=_PATIENCE) as answer:
            status: str = json.load(answer)["data"]["runOrError"]["status"]
        return status in ("SUCCESS", "FAILURE", "CANCELED")

    def report(self, system: str, benchmark: str) -> dict[str, Any]:
        """A report as the command line gives it."""
        told: dict[str, Any] = json.loads(self.run("report", system, benchmark, "--json"))
        return told


@contextmanager
def demo_site(root: Path) -> Iterator[Site]:
    """Run the demonstration in a copy of the project, then serve that with ``eval-assets ui``."""
    port = _free_port()
    site = Site(root, f"http://127.0.0.1:{port}")
    site.run("demo")
    log = root.with_name("ui.log")
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


def copied(root: Path) -> Path:
    """The project, with all that it comes with; the baselines are no targets."""
    (root / "data").mkdir(parents=True)
    for name in ("workspace.yaml", "dagster.yaml", "data/systems.yaml", "data/benchmarks.yaml"):
        shutil.copyfile(REPOSITORY / name, root / name)
    # They are there to be looked at: the demonstration does not run them, and a refresh would.
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


def lessened(root: Path, answering: str) -> Path:
    """The same with what the demonstration runs and no more; one of its systems has its answers judged."""
    settings, benchmarks = root / "data" / "systems.yaml", root / "data" / "benchmarks.yaml"
    told = yaml.safe_load(settings.read_text("utf-8"))
    told["stores"] = {"turns": told["stores"]["turns"]}
    told["systems"] = {name: told["systems"][name] for name in ("bm25", "dense", "hybrid")}
    for name, system in told["systems"].items():
        if name != answering:
            del system["reader"], system["judges"]
    settings.write_text(yaml.safe_dump(told, sort_keys=False), "utf-8")
    smoke = yaml.safe_load(benchmarks.read_text("utf-8"))["benchmarks"]["smoke"]
    benchmarks.write_text(yaml.safe_dump({"benchmarks": {"smoke": smoke}}), "utf-8")
    return root


def _environment(root: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
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
