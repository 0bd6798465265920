"""A ledger goes through a file: whole, once, and into any database."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ledger_rows import ENGINES, a_call, a_container
from sqlalchemy import update

from converters.errors import BadInput
from converters.parquet import TableWriter, footer, read_table, write_table
from converters.tables import CORPUS
from eval_assets.ledger.ledger import Ledger
from eval_assets.ledger.merge import import_ledger
from eval_assets.ledger.portable import PORTABLE, export_ledger, row_digest
from eval_assets.ledger.tables import CALLS, CONTAINERS
from providers.remote.service import Receipt

NewLedger = Callable[[str], Ledger]


def fill(ledger: Ledger) -> None:
    """Some of all that a ledger can hold."""
    for name in ("c1", "C2", "c-3", "ć4"):
        ledger.open_container(a_container(name, benchmark="tiny" if name == "C2" else "chats"))
        ledger.sending("far 1", name, 1, [f"d{number}" for number in range(12)])
        ledger.receive("far 1", name, [Receipt("d1", "done", ("p1",)), Receipt("d2", "failed", error="no")])
        ledger.receive("far 1", name, [Receipt("d3", "pending", ticket="t")])
    ledger.set_container("far 1", "c1", "ready", 1)
    for number in range(30):
        ledger.keep(a_call(f"{number % 20:064}", "failed" if number % 7 == 0 else "usable", reply={"n": number}))
        ledger.keep(a_call(None, cost_usd=0.125, input_tokens=number))
    ledger.keep(a_call("e" * 64, reply="nul \0 half \ud800 \u2028"))


def exported(ledger: Ledger, out: Path) -> bytes:
    export_ledger(ledger, out, force=True)
    return out.read_bytes()


@pytest.mark.parametrize("second", ENGINES)
def test_from_any_database_to_any_other_and_back(
    ledger: Ledger, second: str, new_ledger: NewLedger, tmp_path: Path
) -> None:
    fill(ledger)
    file = tmp_path / "ledger.parquet"
    first = exported(ledger, file)
    other = new_ledger(second)
    done = import_ledger(other, file)
    assert done.added == {"container": 4, "document": 48, "call": 61}
    assert exported(other, tmp_path / "again.parquet") == first
    assert other.documents("far 1", "c1") == ledger.documents("far 1", "c1")
    assert other.containers() and other.containers(store="there", state="ready") == ledger.containers(state="ready")
    assert other.look("e" * 64) == ledger.look("e" * 64)


def test_a_second_import_adds_nothing(ledger: Ledger, new_ledger: NewLedger, engine: str, tmp_path: Path) -> None:
    fill(ledger)
    file = tmp_path / "ledger.parquet"
    first = exported(ledger, file)
    other = new_ledger(engine)
    for place in (other, other, ledger):
        done = import_ledger(place, file)
    assert (done.added.total(), done.known.total()) == (0, 4 + 48 + 61)
    assert exported(other, tmp_path / "again.parquet") == first
    assert exported(ledger, tmp_path / "again.parquet") == first


def test_what_was_kept_here_stays_and_the_newest_answer_answers(
    ledger: Ledger, new_ledger: NewLedger, tmp_path: Path
) -> None:
    other = new_ledger("sqlite")
    key, same = "k" * 64, "s" * 64
    other.keep(a_call(key, reply="older"))
    other.keep(a_call(key, "failed"))
    other.keep(a_call(same, reply="one"))
    ledger.keep(a_call(key, reply="newer"))
    ledger.keep(a_call(same, reply="one"))
    export_ledger(other, tmp_path / "other.parquet")
    done = import_ledger(ledger, tmp_path / "other.parquet")
    assert (done.added["call"], done.known["call"]) == (2, 1)
    found = ledger.look(key)
    assert found is not None
    assert found.reply == "newer"
    export_ledger(ledger, tmp_path / "both.parquet")
    calls = read_table(PORTABLE, tmp_path / "both.parquet").filter(pl.col("key") == key)
    assert calls.select("state", "attempt").rows() == [("usable", 2), ("failed", 3), ("usable", 1)]


def test_the_later_build_of_a_container_wins_with_its_documents(
    ledger: Ledger, new_ledger: NewLedger, tmp_path: Path
) -> None:
    file = tmp_path / "other.parquet"
    other = new_ledger("sqlite")
    for place, build, documents in ((ledger, 1, ["d1", "d2"]), (other, 2, ["d2", "d3"])):
        place.open_container(a_container(build=build))
        place.sending("far 1", "c1", build, documents)
    newer = exported(other, file)
    import_ledger(other, _exported(ledger, tmp_path / "older.parquet"))
    assert exported(other, file) == newer, "an older build changes nothing"
    import_ledger(ledger, file)
    assert exported(ledger, tmp_path / "both.parquet") == newer


def test_of_one_build_the_later_word_on_each_document_wins(
    ledger: Ledger, new_ledger: NewLedger, tmp_path: Path
) -> None:
    other = new_ledger("sqlite")
    ledger.open_container(a_container())
    ledger.sending("far 1", "c1", 1, ["d1", "d2"])
    import_ledger(other, _exported(ledger, tmp_path / "a.parquet"))
    ledger.receive("far 1", "c1", [Receipt("d1", "done", ("p1",))])
    other.receive("far 1", "c1", [Receipt("d2", "skipped")])
    other.sending("far 1", "c1", 1, ["d3"])
    done = import_ledger(ledger, _exported(other, tmp_path / "b.parquet"))
    assert (done.added["document"], done.known["document"]) == (2, 1)
    states = {name: one.state for name, one in ledger.documents("far 1", "c1").items()}
    assert states == {"d1": "done", "d2": "skipped", "d3": "sent"}


def test_a_part_of_a_ledger(ledger: Ledger, tmp_path: Path) -> None:
    fill(ledger)
    file = tmp_path / "part.parquet"
    assert export_ledger(ledger, file, benchmark="tiny") == {"container": 1, "document": 12, "call": 61}
    rows = read_table(PORTABLE, file)
    assert rows["container"].drop_nulls().unique().to_list() == ["C2"]
    assert footer(file)["limits"] == {"benchmark": "tiny"}
    assert export_ledger(ledger, file, store="elsewhere", force=True) == {"container": 0, "document": 0, "call": 61}


def test_an_empty_ledger_is_a_file_as_well(ledger: Ledger, new_ledger: NewLedger, tmp_path: Path) -> None:
    import_ledger(new_ledger("sqlite"), _exported(ledger, tmp_path / "empty.parquet"))
    assert read_table(PORTABLE, tmp_path / "empty.parquet").is_empty()


def test_what_is_there_is_not_replaced_unasked(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    with pytest.raises(BadInput, match="exists already"):
        export_ledger(ledger, tmp_path / "mine")
    assert (tmp_path / "mine").read_bytes() == b"mine"


def _exported(ledger: Ledger, out: Path) -> Path:
    export_ledger(ledger, out)
    return out


def _text(good: Path, bad: Path) -> None:
    bad.write_text('{"kind": "call"}\n')


def _cut(good: Path, bad: Path) -> None:
    bad.write_bytes(good.read_bytes()[:-100])


def _scratched(good: Path, bad: Path) -> None:
    content = bytearray(good.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 64] = bytes(64)
    bad.write_bytes(content)


def _another_table(good: Path, bad: Path) -> None:
    write_table(CORPUS["sessions"], CORPUS["sessions"].empty, bad)


def _missing(good: Path, bad: Path) -> None:
    """Nothing is there."""


def _folder(good: Path, bad: Path) -> None:
    bad.mkdir()


def _edited(change: Callable[[list[dict[str, Any]]], None], *, signed: bool) -> Callable[[Path, Path], None]:
    def damage(good: Path, bad: Path) -> None:
        rows = read_table(PORTABLE, good).rows(named=True)
        change(rows)
        if signed:
            rows = [{**row, "row": number, "digest": row_digest(row)} for number, row in enumerate(rows)]
        with TableWriter(PORTABLE, bad) as writer:
            writer.write(pl.DataFrame(rows, schema=PORTABLE.empty.schema))

    return damage


def _another_reply(rows: list[dict[str, Any]]) -> None:
    last = max(number for number, row in enumerate(rows) if row["reply"])
    rows[last]["reply"] = json.dumps("forged")


def _without_the_last(rows: list[dict[str, Any]]) -> None:
    del rows[3]


def _without_containers(rows: list[dict[str, Any]]) -> None:
    rows[:] = [row for row in rows if row["kind"] != "container"]


DAMAGED = {
    "text": (_text, "no Parquet file that can be read"),
    "cut": (_cut, "no Parquet file that can be read"),
    "scratched": (_scratched, r"row \d+"),
    "another table": (_another_table, "not an exported ledger"),
    "missing": (_missing, "there is no such file"),
    "folder": (_folder, "it is a folder"),
    "a forged reply": (_edited(_another_reply, signed=False), r"row \d+: it is not as it was written"),
    "a row less": (_edited(_without_the_last, signed=False), "row 3: it is not as it was written"),
    "no containers": (_edited(_without_containers, signed=True), "row 0: document d0 is in no container"),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of several batches."""
    folder = tmp_path_factory.mktemp("good")
    ledger = Ledger(f"sqlite:///{folder / 'ledger.sqlite'}")
    fill(ledger)
    for number in range(600):
        ledger.keep(a_call(f"{number:04}{'x' * 60}", reply="a reply " * 20))
    file = _exported(ledger, folder / "good.parquet")
    ledger.close()
    return file


@pytest.mark.parametrize(("engine", "name"), [*(("sqlite", name) for name in DAMAGED), ("postgres", "a forged reply")])
def test_a_damaged_file_changes_nothing(ledger: Ledger, good: Path, tmp_path: Path, name: str) -> None:
    damage, problem = DAMAGED[name]
    damage(good, tmp_path / "bad.parquet")
    ledger.keep(a_call("k" * 64, reply=1))
    before = exported(ledger, tmp_path / "before.parquet")
    with pytest.raises(BadInput, match=problem) as raised:
        import_ledger(ledger, tmp_path / "bad.parquet")
    assert raised.value.line.startswith(str(tmp_path / "bad.parquet"))
    assert exported(ledger, tmp_path / "after.parquet") == before


def test_equal_times_keep_their_order(ledger: Ledger, new_ledger: NewLedger, tmp_path: Path) -> None:
    fill(ledger)
    with ledger.writing() as connection:
        connection.execute(update(CALLS).values(at=1.0))
        connection.execute(update(CONTAINERS).values(at=1.0))
    first = exported(ledger, tmp_path / "a.parquet")
    other = new_ledger("sqlite")
    import_ledger(other, tmp_path / "a.parquet")
    assert exported(other, tmp_path / "b.parquet") == first
