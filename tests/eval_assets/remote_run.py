"""A remote run in a process of its own, to be killed: PROVIDER URL KEY FOLDER CONTAINERS SESSIONS are its arguments."""

from __future__ import annotations

import sys
from pathlib import Path

from fakes.server import Fake
from links import bench, built, linked, searched

if __name__ == "__main__":
    provider, url, key, folder, containers, sessions = sys.argv[1:]

    class _There(Fake):
        url = url  # type: ignore[assignment]

    fake = object.__new__(_There)
    made = bench(int(containers), int(sessions))
    with linked(fake, provider, Path(folder), key=key) as system:
        store = built(system, made)
        replies = searched(system, made, store)
    store.tables["receipts"].write_parquet(Path(folder) / "receipts.parquet")
    replies.write_parquet(Path(folder) / "replies.parquet")
