"""Writes real LongMemEval records again and again, until the file is large: real text at any size.

Each copy of a record has a question_id of its own, and its texts begin with the copy's number: otherwise all
copies would be one text. So as many texts are distinct as in the source.

    python -m benchmarks.repeated SOURCE.json OUT.json --megabytes 270
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from converters.source import open_source


def copies(records: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The records as they are, then the first copy of each, and so on."""
    yield from records
    for copy in count(1):
        for record in records:
            sessions = [
                [{**turn, "content": f"{copy} {turn['content']}"} for turn in session]
                for session in record["haystack_sessions"]
            ]
            yield {**record, "question_id": f"{copy}_{record['question_id']}", "haystack_sessions": sessions}


def write(source: Path, path: Path, n_bytes: int) -> int:
    """Write until the file has at least ``n_bytes``; its size."""
    with open_source(source) as reader:
        records = json.loads(reader.read())
    with path.open("w", encoding="ascii", newline="\n") as handle:
        handle.write("[")
        for number, record in enumerate(copies(records)):
            text = "\n".join(f"    {line}" for line in json.dumps(record, indent=4).split("\n"))
            handle.write(f"{',' if number else ''}\n{text}")
            if handle.tell() >= n_bytes:
                break
        handle.write("\n]\n")
    return path.stat().st_size


def main() -> None:
    """Write one file and say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("source", type=Path)
    parser.add_argument("path", type=Path)
    parser.add_argument("--megabytes", type=float, default=270)
    arguments = parser.parse_args()
    print(f"{arguments.path}: {write(arguments.source, arguments.path, int(arguments.megabytes * 1e6)):,} bytes")


if __name__ == "__main__":
    main()
