from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from converters.errors import BadInput
from converters.source import fingerprint, open_source

DATA = b'[{"a": "caf\xc3\xa9"}]\n' * 40_000


def test_a_file_and_its_gzip_have_one_digest_under_any_name(tmp_path: Path) -> None:
    plain, packed = tmp_path / "longmemeval_s", tmp_path / "packed.json"
    plain.write_bytes(DATA)
    packed.write_bytes(gzip.compress(DATA))
    assert fingerprint(plain).sha256 == fingerprint(packed).sha256 == hashlib.sha256(DATA).hexdigest()
    assert fingerprint(plain).n_bytes == fingerprint(packed).n_bytes == len(DATA)
    assert (fingerprint(plain).compressed, fingerprint(packed).compressed) == (False, True)


@pytest.mark.parametrize("read_first", [0, 1, 300_000, -1])
def test_a_digest_covers_what_was_not_read(tmp_path: Path, read_first: int) -> None:
    path = tmp_path / "source"
    path.write_bytes(DATA)
    with open_source(path) as reader:
        reader.read(read_first)
        assert reader.fingerprint() == fingerprint(path)


def test_all_is_read_and_progress_told(tmp_path: Path) -> None:
    path = tmp_path / "source"
    path.write_bytes(DATA)
    told: list[int] = []
    with open_source(path, told.append) as reader:
        assert reader.read() == DATA
        assert reader.read(10) == b""
    assert told == sorted(told)
    assert told[-1] == len(DATA)


def test_a_byte_order_mark_is_hashed_but_not_read(tmp_path: Path) -> None:
    path = tmp_path / "source"
    path.write_bytes(b"\xef\xbb\xbf[]")
    with open_source(path) as reader:
        assert reader.read() == b"[]"
        assert reader.fingerprint().n_bytes == 5


def test_surrogates_are_marked_unless_told_not_to(tmp_path: Path) -> None:
    path = tmp_path / "source"
    path.write_bytes(rb'"\ud800"')
    with open_source(path) as reader:
        assert reader.read() == rb'"\u0000"'
        assert reader.n_lone_surrogates == 1
    with open_source(path, mark_surrogates=False) as reader:
        assert reader.read() == rb'"\ud800"'
        assert reader.n_lone_surrogates == 0


def test_several_gzip_members_are_one_stream(tmp_path: Path) -> None:
    path = tmp_path / "source"
    path.write_bytes(gzip.compress(b"[") + gzip.compress(b"]"))
    with open_source(path) as reader:
        assert reader.read() == b"[]"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is empty"),
        (gzip.compress(DATA)[:-9], "is a gzip file that is cut off"),
        (gzip.compress(DATA)[:10] + b"\xff" * 50, "is a damaged gzip file"),
        (gzip.compress(DATA) + b"more", "is a damaged gzip file"),
    ],
    ids=["empty", "cut off", "damaged", "followed by something else"],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, data: bytes, problem: str) -> None:
    path = tmp_path / "source.json"
    path.write_bytes(data)
    with pytest.raises(BadInput, match=problem) as caught:
        fingerprint(path)
    assert caught.value.line.startswith(f"{path}: ")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"No such file or directory\); give the path of an existing file"):
        fingerprint(tmp_path / "absent")
    with pytest.raises(BadInput, match="Is a directory"):
        fingerprint(tmp_path)
