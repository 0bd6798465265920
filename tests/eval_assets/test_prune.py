"""Old runs go, the newest stay readable."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import Result
from projects import Box

from eval_assets.doctor import examine
from eval_assets.prune import removable, remove

HYBRID = "data/tables/hybrid/search_results/tiny"


def test_the_newest_runs_stay_and_nothing_else(copied: Box) -> None:
    for rrf_k in (1, 2):
        copied.edit_systems({"systems": {"hybrid": {"retrieval": {"rrf_k": rrf_k}}}})
        copied.refresh(systems=("hybrid",), to="search")
    folder = copied.root / HYBRID
    assert len(list(folder.glob("*-*.parquet"))) == 3
    (folder / "left-behind.parquet").write_bytes(b"no event names this")

    with copied.open() as session:
        going = removable(session.instance, session.graph, 2)
        assert {path.parent for path in going} == {folder}
        assert sum(remove(path) for path in going) > 0
        kept = sorted(folder.glob("*.parquet"))
        assert len(kept) == 3, "two runs and the link"
        assert (folder / "current.parquet").resolve() in kept
        assert removable(session.instance, session.graph, 2) == []
        assert examine(session.instance, session.graph)[1] == []


def test_a_dry_run_says_what_would_go_and_removes_nothing(copied: Box, command: Callable[..., Result]) -> None:
    stray = copied.root / HYBRID / "left-behind.parquet"
    stray.write_bytes(b"no event names this")
    told = command(copied, "prune", "--keep", "1", "--dry-run")
    assert told.stdout == f"{HYBRID}/left-behind.parquet\n1 would be removed\n"
    assert stray.exists()
