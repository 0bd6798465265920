"""A folder that ``datasets.load_dataset`` reads: the tables as Parquet, and a card that says what they are.

Source of the format: the documentation of dataset repositories (a YAML head with ``configs`` and ``data_files``).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import polars as pl
from polars.datatypes import DataTypeClass

from converters.formats.files import Progress, counted, whole_tree
from converters.parquet import write_table
from converters.schema import Table
from converters.tables import CORPUS

_NAMES: Final = frozenset({"README.md", "data"})
_SIZES: Final = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
_LARGEST: Final = "100K<n<1M"
_LABELS: Final = "ground_truth"


def write(
    tables: Mapping[str, pl.DataFrame],
    out: Path,
    *,
    force: bool = False,
    progress: Progress | None = None,
    licence: str = "unknown",
) -> list[str]:
    """Write a corpus as a dataset folder; lines that say what was written.

    ``data/<table>.parquet`` and a configuration a table that has rows, ground truth apart from the rest; ``README.md``
    with columns, counts, where the rows come from and how to load them. Columns and dtypes are those of
    ``converters.tables``, so that the folder ``data`` is a folder of corpus tables too.

    Args:
        tables: the corpus.
        out: the folder.
        force: replace what is there.
        progress: told how many tables are written.
        licence: identifier for the card's head. The tables do not say what their source's is.

    Raises:
        BadInput: something is at ``out``, or the place cannot be written to. Nothing is written then.
    """
    with whole_tree(out, _NAMES, force=force) as folder:
        for number, (name, table) in enumerate(CORPUS.items(), 1):
            write_table(table, tables[name], folder / "data" / f"{name}.parquet")
            if progress is not None:
                progress(number, len(CORPUS))
        (folder / "README.md").write_text("\n".join(_card(tables, licence)) + "\n", encoding="utf-8")
    loaded = [name for name in CORPUS if tables[name].height]
    return [f"wrote {out}: {counted(len(loaded), 'configuration')} to load ({', '.join(loaded)}), and a card"]


def _card(tables: Mapping[str, pl.DataFrame], licence: str) -> Iterator[str]:
    held = {name: table for name, table in CORPUS.items() if tables[name].height}
    yield from _head(tables, held, licence)
    kind = "memories that a fixture's owner wrote" if "memories" in held else "conversations"
    yield from (
        "",
        "# A benchmark of long-term memory",
        "",
        f"{counted(tables['questions'].height, 'question')} about {kind}, each with a haystack of sessions that it may",
        "be answered from and, apart from these, what scoring may know (`ground_truth`).",
        "",
        "Written by `eval-assets convert --to datasets`. The texts come unchanged from the file that was converted and",
        "have its licence: LongMemEval's is MIT, (c) 2024 Di Wu. Name it in the head of this card before you publish.",
        "",
        "## Load it",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
    )
    yield from (f'{name} = load_dataset("PATH_OF_THIS_FOLDER", "{name}", split="test")' for name in held)
    yield from (
        "```",
        "",
        "A question names its haystack, the rows of `haystacks` name texts by content_hash, and `turns` holds each of",
        "them once. Never give a system under evaluation `ground_truth`, nor a question_id: both tell labels.",
        "",
        "## Tables",
    )
    for name, table in held.items():
        yield from _columns(table, tables[name].height)


def _head(tables: Mapping[str, pl.DataFrame], held: Mapping[str, Table], licence: str) -> Iterator[str]:
    n_questions = tables["questions"].height
    size = next((label for limit, label in _SIZES if n_questions < limit), _LARGEST)
    yield from (
        "---",
        f"license: {licence}",
        "task_categories:",
        "- question-answering",
        "size_categories:",
        f"- {size}",
    )
    yield "configs:"
    for name in held:
        yield from (f"- config_name: {name}", "  data_files:", "  - split: test", f"    path: data/{name}.parquet")
        if name == "questions":
            yield "  default: true"
    yield "---"


def _columns(table: Table, n_rows: int) -> Iterator[str]:
    yield from ("", f"### {table.name}", "")
    yield from textwrap.wrap(f"{' '.join((table.schema.__doc__ or '').split())} {counted(n_rows, 'row')}.", 120)
    if table.name == _LABELS:
        yield "For scoring alone."
    yield from ("", "| column | type | what it is |", "|---|---|---|")
    for name, column in table.schema.columns().items():
        null = ", may be null" if column.nullable else ""
        yield f"| `{name}` | {_type_name(column.dtype)}{null} | {(column.description or '').replace('|', '/')} |"


def _type_name(dtype: pl.DataType | DataTypeClass) -> str:
    if isinstance(dtype, pl.List):
        return f"list of {_type_name(dtype.inner)}"
    if isinstance(dtype, pl.Struct):
        return "{" + ", ".join(f"{field.name}: {_type_name(field.dtype)}" for field in dtype.fields) + "}"
    return f"{dtype}".split("(", maxsplit=1)[0].lower()
