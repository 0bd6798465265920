from __future__ import annotations

import shutil
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from projects import Box, part

from converters.parquet import footer, write_table
from converters.schema import SchemaMismatch
from converters.tables import REPORT, SEARCH_RESULTS
from eval_assets import keys
from eval_assets.io_manager import ParquetIOManager, Rows
from eval_assets.project import Project
from eval_assets.stored import NotThere, Shelf, last_event

SEARCH = keys.search_key("bm25")


def stored(box: Box, name: str) -> Path:
    """The file or folder of a part."""
    with box.open() as session:
        key = part(name).key
        event = last_event(session.instance, key, None if key == keys.LEADERBOARD else "tiny")
        assert event is not None
        return session.graph.shelf.path(event)


def test_readers_follow_the_event_and_not_the_newest_file(copied: Box) -> None:
    path = stored(copied, "bm25/search_results")
    newer = path.with_name("ffffffff-newer.parquet")
    write_table(SEARCH_RESULTS, SEARCH_RESULTS.empty, newer)
    (path.parent / "current.parquet").unlink()
    (path.parent / "current.parquet").symlink_to(newer.name)
    with copied.open() as session:
        assert session.graph.shelf.frame(session.instance, SEARCH, "tiny").height == 3


def test_current_names_the_last_file_and_folder(refreshed: Box) -> None:
    path = stored(refreshed, "bm25/search_results")
    assert (path.parent / "current.parquet").resolve() == path.resolve()
    folder = stored(refreshed, "stores/turns")
    assert folder.is_dir()
    assert (folder.parent / "current").resolve() == folder.resolve()
    assert not (folder.parent / "current").readlink().is_absolute()


def test_a_footer_says_where_the_file_comes_from(refreshed: Box) -> None:
    with refreshed.open() as session:
        for key in (SEARCH, keys.store_key("turns"), keys.corpus_key("turns")):
            event = last_event(session.instance, key, "tiny")
            assert event is not None
            for path, table in session.graph.shelf.files(key, event).items():
                said = footer(path)
                assert (said["table"], said["partition"], said["run"]) == (table.name, "tiny", event.run_id)
                assert said["asset"] in (key.to_user_string(), "corpus")


def test_what_no_run_made_is_told(refreshed: Box) -> None:
    with refreshed.open() as session, pytest.raises(NotThere, match=r"bm25/search_results \[chats\] is not there yet"):
        session.graph.shelf.frame(session.instance, SEARCH, "chats")


def test_a_file_of_another_table_is_refused_on_reading(copied: Box) -> None:
    shutil.copyfile(stored(copied, "bm25/report"), stored(copied, "bm25/search_results"))
    with copied.open() as session, pytest.raises(SchemaMismatch, match="not a search_results table of this version"):
        session.graph.shelf.frame(session.instance, SEARCH, "tiny")


@pytest.fixture
def manager(tmp_path: Path) -> ParquetIOManager:
    project = Project(root=tmp_path, systems_file=tmp_path, sources=tmp_path)
    layout = {SEARCH: SEARCH_RESULTS, keys.store_key("s"): {"one": SEARCH_RESULTS, "two": REPORT}}
    return ParquetIOManager(Shelf(project, layout))


def context(key: dg.AssetKey) -> dg.OutputContext:
    definition = dg.StaticPartitionsDefinition(["tiny"])
    return dg.build_output_context(
        asset_key=key,
        partition_key="tiny",
        run_id="run-1",
        asset_partitions_def=definition,
        step_key="s",
        name="result",
    )


def test_rows_of_another_shape_are_refused_on_writing(manager: ParquetIOManager, tmp_path: Path) -> None:
    wrong = Rows(pl.DataFrame({"question_id": ["q"]}), "digest")
    with pytest.raises(SchemaMismatch, match="search_results"):
        manager.handle_output(context(SEARCH), wrong)
    with pytest.raises(SchemaMismatch, match="report"):
        manager.handle_output(
            context(keys.store_key("s")), {"one": Rows.of(SEARCH_RESULTS, SEARCH_RESULTS.empty), "two": wrong}
        )
    assert [path for path in tmp_path.rglob("*") if not path.is_dir()] == []
    with pytest.raises(SchemaMismatch, match="search_results"):
        Rows.of(SEARCH_RESULTS, wrong.frame)


def test_a_folder_appears_whole_and_replaces_its_own(manager: ParquetIOManager, tmp_path: Path) -> None:
    rows = {"one": Rows.of(SEARCH_RESULTS, SEARCH_RESULTS.empty), "two": Rows.of(REPORT, REPORT.empty)}
    for _ in range(2):
        manager.handle_output(context(keys.store_key("s")), rows)
    folder = tmp_path / "data" / "tables" / "stores" / "s" / "tiny"
    assert sorted(path.name for path in folder.iterdir()) == ["current", "run-1"]
    assert sorted(path.name for path in (folder / "current").iterdir()) == ["one.parquet", "two.parquet"]
