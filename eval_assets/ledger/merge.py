"""Taking a portable file into a ledger: as often as one likes, and all of it or nothing.

Containers: the later build wins, and of one build the later word, together with all that is known of its documents.
Where both say the same of a container, its documents are merged, the later word on each winning. Calls: one that the
ledger holds is not added again. A usable reply to a key is the same wherever it was recorded, and as new as the newest
of its recordings, so that two ledgers that took each other's file give the same answers; of other calls, which are kept
for cost and diagnosis, the time tells them apart.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import polars as pl
from sqlalchemy import Connection, case, delete, func, insert, select, tuple_, update

from converters.arrow import pa, pq
from converters.errors import BadInput
from converters.parquet import footer
from converters.schema import SchemaMismatch
from eval_assets.ledger.ledger import Ledger
from eval_assets.ledger.portable import KINDS, PORTABLE, fields, row_digest
from eval_assets.ledger.tables import CALLS, CONTAINERS, DOCUMENTS

_BATCH: Final = 500
_REMEDY: Final = "write it anew: eval-assets ledger export"

Row = dict[str, Any]
Place = tuple[str, str]
Word = Literal["theirs", "both", "ours"]


@dataclass
class Merged:
    """What an import did: how many rows of each kind were added or replaced, and how many told nothing new."""

    added: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)


def import_ledger(ledger: Ledger, path: Path, *, told: Callable[[int, int], None] = lambda done, total: None) -> Merged:
    """Take what a file holds into a ledger, in one transaction.

    Args:
        ledger: what it goes into.
        path: a file that ``eval_assets.ledger.portable.export_ledger`` wrote.
        told: called with the rows read, and how many there are.

    Raises:
        BadInput: the file cannot be read, or is not what was written. The ledger is as it was.
    """
    total = _checked(path)
    done = 0
    with ledger.alone() as connection:
        merge = _Merge(ledger, connection, path)
        for rows in _read(path):
            merge.take(rows)
            done += len(rows)
            told(done, total)
        if done != total:
            raise BadInput(path, f"it holds {done} of {total} rows", _REMEDY)
    return merge.done


def _checked(path: Path) -> int:
    if path.is_dir():
        raise BadInput(path, "it is a folder", "name a file of eval-assets ledger export")
    try:
        found = footer(path)
        schema = pq.read_schema(path)
    except FileNotFoundError:
        raise BadInput(path, "there is no such file", "name a file of eval-assets ledger export") from None
    except (pa.ArrowInvalid, OSError, ValueError) as error:
        raise BadInput(path, f"it is no Parquet file that can be read ({error})", _REMEDY) from None
    if found.get("table") != PORTABLE.name or not schema.equals(PORTABLE.arrow):
        raise BadInput(path, "it is not an exported ledger of this version", _REMEDY)
    return int(str(found["rows"]))


def _read(path: Path) -> Iterator[list[Row]]:
    """Rows as they were written; raises ``BadInput`` for others."""
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            # A reader of batches keeps what it has read; row groups are bounded as they are written.
            for group in range(file.num_row_groups):
                frame = pl.from_arrow(file.read_row_group(group))
                assert isinstance(frame, pl.DataFrame)
                for part in PORTABLE.validate(frame).iter_slices(_BATCH):
                    rows = part.rows(named=True)
                    for row in rows:
                        if row["row"] != number or row["digest"] != row_digest(row):
                            raise BadInput(path, "it is not as it was written", _REMEDY, record=f"row {number}")
                        number += 1
                    yield rows
    except SchemaMismatch as error:
        raise BadInput(path, str(error), _REMEDY, record=f"after row {number}") from None
    except (pa.ArrowException, OSError, pl.exceptions.PolarsError) as error:
        raise BadInput(path, f"it is damaged ({error})", _REMEDY, record=f"after row {number}") from None


class _Merge:
    def __init__(self, ledger: Ledger, connection: Connection, path: Path) -> None:
        self.done = Merged()
        self._upsert = ledger.upsert
        self._connection = connection
        self._path = path
        self._words: dict[Place, Word] = {}
        self._last_before = connection.scalar(select(func.coalesce(func.max(CALLS.c.id), 0)))

    def take(self, rows: Sequence[Row]) -> None:
        takers = {"container": self._containers, "document": self._documents, "call": self._calls}
        for kind, taker in takers.items():
            some = [row for row in rows if row["kind"] == kind]
            if some:
                added = taker(some)
                self.done.added[kind] += added
                self.done.known[kind] += len(some) - added

    def _containers(self, rows: Sequence[Row]) -> int:
        columns = CONTAINERS.c
        places = [_place(row) for row in rows]
        wanted = select(columns.service, columns.container, columns.build, columns.at).where(
            tuple_(columns.service, columns.container).in_(places)
        )
        ours = {(one.service, one.container): (one.build, one.at) for one in self._connection.execute(wanted)}
        for place, row in zip(places, rows, strict=True):
            theirs = (row["build"], row["at"])
            mine = ours.get(place)
            self._words[place] = "theirs" if mine is None or theirs > mine else "both" if theirs == mine else "ours"
        new = [row for row in rows if self._words[_place(row)] == "theirs"]
        if new:
            gone = tuple_(DOCUMENTS.c.service, DOCUMENTS.c.container).in_([_place(row) for row in new])
            self._connection.execute(delete(DOCUMENTS).where(gone))
            self._connection.execute(self._upsert(CONTAINERS), [_stored("container", row) for row in new])
        return len(new)

    def _documents(self, rows: Sequence[Row]) -> int:
        for row in rows:
            if _place(row) not in self._words:
                problem = f"document {row['document']} is in no container of the file"
                raise BadInput(self._path, problem, _REMEDY, record=f"row {row['row']}")
        both = [(*_place(row), row["document"]) for row in rows if self._words[_place(row)] == "both"]
        columns = DOCUMENTS.c
        wanted = select(columns.service, columns.container, columns.document, columns.sent_at, columns.settled_at)
        wanted = wanted.where(tuple_(columns.service, columns.container, columns.document).in_(both))
        ours = {
            (one.service, one.container, one.document): _settled(one.sent_at, one.settled_at)
            for one in (self._connection.execute(wanted) if both else ())
        }
        new = [
            row
            for row in rows
            if self._words[_place(row)] != "ours"
            and _settled(row["sent_at"], row["settled_at"]) > ours.get((*_place(row), row["document"]), 0.0)
        ]
        if new:
            self._connection.execute(self._upsert(DOCUMENTS), [_stored("document", row) for row in new])
        return len(new)

    def _calls(self, rows: Sequence[Row]) -> int:
        keys = sorted({row["key"] for row in rows if row["key"] is not None})
        times = [row["at"] for row in rows if row["key"] is None]
        columns = CALLS.c
        ours: dict[object, tuple[float, int]] = {}
        for where in (columns.key.in_(keys), columns.key.is_(None) & columns.at.in_(times)):
            wanted = select(CALLS).where(where, columns.id <= self._last_before).execution_options(yield_per=100)
            for one in self._connection.execute(wanted):
                name = _identity(one._mapping, one.status)
                ours[name] = max(ours.get(name, (one.at, one.id)), (one.at, one.id))
        new = []
        for row in rows:
            at, number = ours.get(_identity(row, row["state"]), (None, None))
            if at is None:
                new.append(row)
            elif row["at"] > at:
                # Given again later: what was answered in between is no longer the newest.
                self._connection.execute(update(CALLS).where(columns.id == number).values(at=row["at"]))
        if new:
            numbered = self._numbered(new, keys)
            self._connection.execute(insert(CALLS), [_stored("call", row) for row in numbered])
        return len(new)

    def _numbered(self, rows: Sequence[Row], keys: Sequence[str]) -> Iterator[Row]:
        """Attempts of a key that was asked before go on counting; those of others keep their numbers."""
        columns = CALLS.c
        before = func.max(case((columns.id <= self._last_before, columns.attempt)))
        wanted = select(columns.key, before, func.max(columns.attempt)).where(columns.key.in_(keys)).group_by("key")
        last = {key: now for key, old, now in self._connection.execute(wanted) if old is not None}
        for row in rows:
            if row["key"] in last:
                last[row["key"]] += 1
                yield {**row, "attempt": last[row["key"]]}
            else:
                yield row


def _place(row: Row) -> Place:
    return row["service"], row["container"]


def _settled(sent_at: float, settled_at: float | None) -> float:
    return sent_at if settled_at is None else settled_at


def _identity(row: Any, status: str) -> tuple[object, ...]:
    if row["key"] is not None and status == "usable":
        return row["key"], hashlib.sha256((row["reply"] or "").encode()).digest()
    return row["key"], status, row["service"], row["purpose"], row["endpoint"], row["error"], row["at"]


def _stored(kind: str, row: Row) -> Row:
    values = {column: row[name] for column, name in fields(KINDS[kind]).items()}
    return {**values, "retryable": int(values["retryable"])} if kind == "document" else values
