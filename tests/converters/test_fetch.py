"""Fetching a published file from a hub on loopback, through the real hub client."""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import astuple
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub.file_download
import pytest
from hub_server import REVISION, Hub, published, serving
from huggingface_hub import constants
from hypothesis import given
from hypothesis import strategies as st

from converters.errors import BadInput
from converters.fetch import fetch
from converters.hub import address
from converters.published import PUBLISHED, Published, by_digest

CONTENT = b"[" + random.Random(0).randbytes(40_000).hex().encode() + b"]"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
OTHER = CONTENT.swapcase()
CHUNK = 1_000
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True, scope="module")
def _brisk() -> Iterator[None]:
    """The client waits a second before it tries again, and keeps what it has every 10 MB."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(huggingface_hub.file_download, "time", SimpleNamespace(sleep=lambda _: None))
        patch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", CHUNK)
        yield


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serving(CONTENT) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield hub


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "sources" / "mine.json"


def silent(_what: str, _done: int, _total: int) -> None:
    """No progress."""


def names(target: Path) -> list[str]:
    return sorted(path.name for path in target.parent.iterdir()) if target.parent.exists() else []


def refusal(entry: Published, target: Path, present: Path | None = None) -> str:
    with pytest.raises(BadInput) as error:
        fetch(entry, target, silent, present=present)
    return error.value.line


@pytest.mark.parametrize("linked", [False, True])
def test_a_file_is_fetched_whole_and_alone(
    hub: Hub, target: Path, linked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.linked = linked
    monkeypatch.setenv("HF_TOKEN", "hf_not_for_anyone")
    told: list[tuple[str, int, int]] = []
    found = fetch(published(CONTENT), target, lambda *step: told.append(step))
    assert (found.path, found.sha256, found.n_bytes, found.downloaded) == (target, DIGEST, len(CONTENT), True)
    assert target.read_bytes() == CONTENT
    assert names(target) == ["mine.json"]
    path = f"/datasets/someone/letters/resolve/{REVISION}/deep/letters.json"
    followed = [("GET", "/store", None)] if linked else []
    assert hub.asked == [("HEAD", path, None), ("GET", path, None), *followed]
    assert "authorization" not in hub.headers
    for what in ("fetching", "checking"):
        steps = [(done, total) for name, done, total in told if name == what]
        assert steps == sorted(steps)
        assert steps[-1] == (len(CONTENT), len(CONTENT))


def test_a_broken_connection_goes_on_where_it_was(hub: Hub, target: Path) -> None:
    hub.cuts = [40_000]
    assert fetch(published(CONTENT), target, silent).sha256 == DIGEST
    assert hub.gets == [None, "bytes=40000-"]
    assert target.read_bytes() == CONTENT


def test_the_next_run_goes_on_too(hub: Hub, target: Path) -> None:
    hub.cuts, hub.down = [40_000], HTTPStatus.SERVICE_UNAVAILABLE
    line = refusal(published(CONTENT), target)
    assert line.startswith(
        "letters: cannot be fetched (HTTP 503 from 127.0.0.1); "
        "run it again to go on after the 40,000 bytes that are there, or put it at "
    )
    assert not target.exists()
    assert len(names(target)) == 1
    hub.down = None
    hub.gets.clear()
    assert fetch(published(CONTENT), target, silent).downloaded
    assert hub.gets == ["bytes=40000-"]
    assert (target.read_bytes(), names(target)) == (CONTENT, ["mine.json"])


@given(
    cuts=st.lists(st.integers(0, 30_000), max_size=5), down=st.booleans(), ranges=st.booleans(), linked=st.booleans()
)
def test_wherever_it_breaks_the_file_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], down: bool, ranges: bool, linked: bool
) -> None:
    target = tmp_path_factory.mktemp("cut") / "mine.json"
    with serving(CONTENT) as hub, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ENDPOINT", hub.endpoint)
        hub.cuts, hub.ranges, hub.linked = list(cuts), ranges, linked
        # Pieces that add up to the file are all of it: then nothing is left to fail.
        hub.down = HTTPStatus.BAD_GATEWAY if down and cuts and sum(cuts) < len(CONTENT) else None
        if hub.down:
            refusal(published(CONTENT), target)
            assert not target.exists()
            hub.down = None
        assert fetch(published(CONTENT), target, silent).sha256 == DIGEST
    assert (target.read_bytes(), names(target)) == (CONTENT, ["mine.json"])


def test_a_remainder_that_is_too_long_is_dropped(hub: Hub, target: Path) -> None:
    hub.cuts, hub.down = [40_000], HTTPStatus.BAD_GATEWAY
    refusal(published(CONTENT), target)
    [part] = target.parent.iterdir()
    part.write_bytes(bytes(len(CONTENT) + 1))
    hub.down = None
    assert fetch(published(CONTENT), target, silent).sha256 == DIGEST


def test_other_bytes_are_refused_and_kept_aside(hub: Hub, target: Path) -> None:
    hub.content = OTHER
    found = hashlib.sha256(OTHER).hexdigest()
    assert refusal(published(CONTENT), target) == (
        f"letters: what was received has the sha256 {found}, not {DIGEST}; "
        f"it is not used and lies at {target}.refused: fetch again, or look at what the server sends"
    )
    assert names(target) == ["mine.json.refused"]
    hub.content = CONTENT
    assert fetch(published(CONTENT), target, silent).sha256 == DIGEST


def test_another_file_is_refused_before_it_is_sent(hub: Hub, target: Path) -> None:
    hub.content = CONTENT + b" "
    assert f"the server has another file there: {len(CONTENT) + 1:,} bytes, not {len(CONTENT):,}" in refusal(
        published(CONTENT), target
    )
    hub.content, hub.linked = OTHER, True
    found = hashlib.sha256(OTHER).hexdigest()
    assert f"the server has another file there: sha256 {found}, not {DIGEST}" in refusal(published(CONTENT), target)
    assert {method for method, _, _ in hub.asked} == {"HEAD"}
    assert names(target) == []


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_there_is_not_fetched(hub: Hub, target: Path, tmp_path: Path, packed: bool) -> None:
    present = tmp_path / "other-name"
    present.write_bytes(gzip.compress(CONTENT) if packed else CONTENT)
    for force in (False, True):
        found = fetch(published(CONTENT), target, silent, present=present, force=force)
        assert (found.path, found.sha256, found.downloaded) == (present, DIGEST, False)
    assert hub.asked == []


def test_another_file_that_is_there_stays_unless_forced(hub: Hub, target: Path) -> None:
    target.parent.mkdir()
    target.write_bytes(OTHER)
    line = refusal(published(CONTENT), target, present=target)
    assert line == (
        f"{target}: is another file: its sha256 is {hashlib.sha256(OTHER).hexdigest()}, that of letters is {DIGEST}; "
        "move it away, or fetch mine.json all the same with --force"
    )
    assert (target.read_bytes(), hub.asked) == (OTHER, [])
    assert fetch(published(CONTENT), target, silent, present=target, force=True).downloaded
    assert (target.read_bytes(), names(target)) == (CONTENT, ["mine.json"])


@pytest.mark.parametrize(("packed", "problem"), [(False, "is empty"), (True, "is a gzip file that is cut off")])
def test_a_damaged_file_is_replaced_only_if_forced(hub: Hub, target: Path, packed: bool, problem: str) -> None:
    target.parent.mkdir()
    target.write_bytes(gzip.compress(CONTENT)[:-9] if packed else b"")
    line = refusal(published(CONTENT), target, present=target)
    assert line == f"{target}: {problem}; move it away, or fetch mine.json all the same with --force"
    assert fetch(published(CONTENT), target, silent, present=target, force=True).sha256 == DIGEST


def test_without_a_known_digest_it_is_told(hub: Hub, target: Path) -> None:
    entry = published(CONTENT, sha256=None, n_bytes=None)
    assert fetch(entry, target, silent).sha256 == DIGEST
    assert not fetch(entry, target, silent, present=target).downloaded
    hub.content = OTHER
    assert fetch(entry, target, silent, present=target, force=True).sha256 == hashlib.sha256(OTHER).hexdigest()


@pytest.mark.parametrize(
    ("endpoint", "problem"),
    [
        ("http://127.0.0.1:9", r"no connection to 127\.0\.0\.1: .+"),
        ("nonsense", r"no connection to .*"),
        ("{hub}/elsewhere", r"HTTP 404 from 127\.0\.0\.1"),
    ],
)
def test_no_connection_says_what_a_person_can_do(
    hub: Hub, target: Path, monkeypatch: pytest.MonkeyPatch, endpoint: str, problem: str
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", endpoint.format(hub=hub.endpoint))
    rest = (
        f"; put it at {target} yourself: "
        "it is deep/letters.json of the data set someone/letters on the Hugging Face hub "
        f"(revision {REVISION[:12]}, {len(CONTENT):,} bytes, sha256 {DIGEST})"
    )
    line = refusal(published(CONTENT), target)
    assert re.fullmatch(rf"letters: cannot be fetched \({problem}\){re.escape(rest)}", line)
    assert names(target) == []


def test_offline_by_choice(hub: Hub, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert refusal(published(CONTENT), target).startswith("letters: cannot be fetched (HF_HUB_OFFLINE is set); put it ")
    assert hub.asked == []


def test_one_at_a_time(hub: Hub, target: Path) -> None:
    hub.cuts, hub.down = [40_000], HTTPStatus.BAD_GATEWAY
    refusal(published(CONTENT), target)
    [part] = target.parent.iterdir()
    hub.asked.clear()
    with part.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert refusal(published(CONTENT), target) == (
            f"{target}: is being fetched by another process; wait for it to finish"
        )
    assert hub.asked == []


def test_a_place_that_may_not_be_written(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    line = refusal(published(CONTENT), tmp_path / "file" / "mine.json")
    assert "cannot be written (" in line
    assert hub.asked == []


def test_a_file_that_may_not_grow_goes_on_later(hub: Hub, target: Path) -> None:
    target.parent.mkdir()
    code = (
        "import pathlib, sys\nfrom converters.errors import BadInput\nfrom converters.fetch import fetch\n"
        "from converters.published import Published\n"
        f"one = Published{astuple(published(CONTENT))!r}\n"
        "try: fetch(one, pathlib.Path(sys.argv[1]), lambda *_: None)\nexcept BadInput as error: print(error.line)"
    )
    command = ["sh", "-c", 'ulimit -f 60; exec "$@"', "sh", sys.executable, "-c", code, str(target)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (
        f"{target}: cannot be written (File too large); "
        "raise the limit on file sizes (ulimit -f), or choose another place, and run it again\n",
        "",
    )
    [part] = target.parent.iterdir()
    kept = part.stat().st_size
    assert 0 < kept < len(CONTENT)
    assert fetch(published(CONTENT), target, silent).sha256 == DIGEST
    assert hub.gets == [None, f"bytes={kept}-"]


def test_the_registry_is_pinned() -> None:
    for name, one in PUBLISHED.items():
        assert one.name == name
        assert re.fullmatch(r"[0-9a-f]{40}", one.revision)
        assert one.sha256 is None or (re.fullmatch(r"[0-9a-f]{64}", one.sha256) and by_digest(one.sha256) is one)
    assert by_digest("0" * 64) is None
    assert len({(one.repo, one.file) for one in PUBLISHED.values()}) == len(PUBLISHED)


def test_addresses() -> None:
    oracle, locomo = PUBLISHED["longmemeval_oracle"], PUBLISHED["locomo10"]
    path = f"datasets/{oracle.repo}/resolve/{oracle.revision}/longmemeval_oracle.json"
    assert address(oracle, "http://127.0.0.1:9/") == f"http://127.0.0.1:9/{path}"
    assert address(locomo, "http://127.0.0.1:9").endswith(f"/snap-research/locomo/{locomo.revision}/data/locomo10.json")
