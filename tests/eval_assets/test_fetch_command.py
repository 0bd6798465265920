"""``eval-assets fetch`` and ``eval-assets benchmarks`` as a person meets them, with a hub on loopback."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from hub_server import Hub, published, serving
from projects import BENCHMARKS, Box, chats, merged, write_yaml

from converters.errors import BadInput
from converters.published import PUBLISHED
from eval_assets.project import Project
from eval_assets.settings import load_settings
from eval_assets.sources import where_to_put

CONTENT = json.dumps(chats()).encode()
DIGEST = hashlib.sha256(CONTENT).hexdigest()
OTHER = CONTENT.replace(b"beagle", b"collie")
SETTINGS: dict[str, Any] = merged(
    BENCHMARKS,
    {
        "benchmarks": {
            "letters": {"format": "longmemeval", "files": ["letters.json", "old.json.gz"], "published": "letters"},
            "tiny": {"description": "Four memories."},
        }
    },
)
# The command in a process of its own, which knows the published letters; then what it imported.
PROCESS = """
import os, sys
from converters.published import PUBLISHED, Published
PUBLISHED["letters"] = Published(*{fields!r})
from eval_assets.cli import app
try: app()
except SystemExit as end: assert not end.code, end.code
print("LOADED", *[name for name in ("dagster", "datasets", "huggingface_hub") if name in sys.modules])
"""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serving(CONTENT) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        monkeypatch.setitem(PUBLISHED, "letters", published(CONTENT))  # type: ignore[arg-type]
        yield hub


@pytest.fixture
def box(hub: Hub, fresh: Box) -> Box:
    write_yaml(fresh.root / "data" / "benchmarks.yaml", SETTINGS)
    return fresh


def sources(box: Box) -> list[str]:
    return sorted(path.name for path in (box.root / "data" / "sources").iterdir())


def process(box: Box, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    one = published(CONTENT)
    fields = tuple(getattr(one, name) for name in one.__dataclass_fields__)
    kept = {name: value for name, value in box.environment.items() if not name.startswith(("HF_", "XDG_"))}
    environment = {**kept, "HF_ENDPOINT": os.environ["HF_ENDPOINT"], "HOME": str(home)}
    command = [sys.executable, "-c", PROCESS.format(fields=fields), *arguments]
    return subprocess.run(command, env=environment, cwd=box.root, capture_output=True, text=True, check=True)


def test_fetch_then_there_already(box: Box, hub: Hub, command: Callable[..., Result]) -> None:
    facts = f"data/sources/letters.json: {len(CONTENT):,} bytes, sha256 {DIGEST} (as published)"
    done = command(box, "fetch", "letters")
    assert (done.exit_code, done.stdout) == (0, f"fetched: {facts}\nlicence of someone/letters: MIT\n")
    assert done.stderr.splitlines() == [f"{what}: 100 % of {len(CONTENT):,} bytes" for what in ("fetching", "checking")]
    assert sources(box) == ["chats.json", "letters.json"]
    hub.asked.clear()
    again = command(box, "fetch", "letters")
    assert (again.exit_code, again.stdout.splitlines()[0]) == (0, f"there already: {facts}")
    assert hub.asked == []


@pytest.mark.parametrize("sha256", [DIGEST, None], ids=["pinned", "not known"])
def test_any_file_of_the_hub(hub: Hub, fresh: Box, command: Callable[..., Result], sha256: str | None) -> None:
    place = {"repo": "someone/letters", "file": "deep/letters.json", "revision": published(CONTENT).revision}
    one = {"format": "longmemeval", "files": ["mine.json"], "hub": {**place, "sha256": sha256}}
    write_yaml(fresh.root / "data" / "benchmarks.yaml", merged(BENCHMARKS, {"benchmarks": {"mine": one}}))
    done = command(fresh, "fetch", "mine")
    told = "as published" if sha256 else "digest not known: compare it, then pin it"
    assert done.stdout.splitlines()[0].endswith(f"sha256 {DIGEST} ({told})")
    assert (fresh.root / "data" / "sources" / "mine.json").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"revision": "main"}, "benchmarks.mine.hub.revision"),
        ({"repo": "../letters"}, "benchmarks.mine.hub.repo"),
        ({"sha256": "abc"}, "benchmarks.mine.hub.sha256"),
    ],
    ids=["a branch moves", "no repository", "no digest"],
)
def test_a_file_of_the_hub_is_pinned(box: Box, wrong: dict[str, str], field: str) -> None:
    place = {"repo": "someone/letters", "file": "letters.json", "revision": "0" * 40, **wrong}
    one = {"format": "longmemeval", "files": ["mine.json"], "hub": place}
    write_yaml(box.root / "data" / "benchmarks.yaml", merged(BENCHMARKS, {"benchmarks": {"mine": one}}))
    with pytest.raises(BadInput) as caught:
        load_settings(Project.at(box.root))
    assert caught.value.field == field


def test_a_process_leaves_nothing_in_the_home(box: Box, hub: Hub, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    done = process(box, home, "fetch", "letters")
    assert done.stdout.splitlines()[-1] == "LOADED huggingface_hub"
    assert list(home.iterdir()) == []
    assert {path.partition("resolve")[0] for _, path, _ in hub.asked} == {"/datasets/someone/letters/"}
    assert process(box, home, "benchmarks").stdout.splitlines()[-1] == "LOADED"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nobody"], "NAME: unknown benchmark 'nobody'; published are: letters"),
        (["tiny"], "NAME: tiny has no published file; published are: letters"),
    ],
)
def test_what_cannot_be_fetched(box: Box, command: Callable[..., Result], arguments: list[str], line: str) -> None:
    done = command(box, "fetch", *arguments)
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"{line}\n")


def test_offline_is_one_line(box: Box, command: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    done = command(box, "fetch", "letters")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("letters: cannot be fetched (no connection to 127.0.0.1: ")
    place = box.root / "data" / "sources" / "letters.json"
    assert f"put it at {place} yourself: it is deep/letters.json of the data set someone/letters" in done.stderr
    assert sources(box) == ["chats.json"]


def test_another_file_is_told_and_forced_away(box: Box, command: Callable[..., Result]) -> None:
    first = box.root / "data" / "letters.json"
    first.write_bytes(OTHER)
    done = command(box, "fetch", "letters")
    assert (done.exit_code, done.stdout) == (2, "")
    error = done.stderr.splitlines()[-1]
    assert error.startswith(f"{first}: is another file: its sha256 is {hashlib.sha256(OTHER).hexdigest()}")
    assert (DIGEST in error, "--force" in error) == (True, True)
    forced = command(box, "fetch", "letters", "--force")
    assert forced.exit_code == 0
    assert forced.stderr.splitlines()[-1] == "but data/letters.json comes first and is what is used; move it away"


def test_a_missing_file_names_the_command(box: Box) -> None:
    project = Project.at(box.root)
    assert where_to_put(project, load_settings(project), "letters") == (
        "run eval-assets fetch letters, or put it at data/sources/letters.json "
        "(it is deep/letters.json of the data set someone/letters on the Hugging Face hub)"
    )


def verdict(box: Box, command: Callable[..., Result]) -> tuple[str, str, str | None, int | None]:
    rows = json.loads(command(box, "benchmarks", "--json").stdout)
    [row] = [row for row in rows if row["name"] == "letters"]
    return row["verdict"], row["detail"], row["file"], row["bytes"]


def test_verdicts(box: Box, hub: Hub, command: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    place, shown = box.root / "data" / "sources" / "letters.json", "data/sources/letters.json"
    assert verdict(box, command) == ("missing", "no file", None, None)
    packed = gzip.compress(CONTENT)
    place.with_name("old.json.gz").write_bytes(packed)
    assert verdict(box, command) == ("known", "letters", "data/sources/old.json.gz", len(packed))
    place.write_bytes(OTHER)
    assert verdict(box, command) == ("other", "not a published file", shown, len(OTHER))
    monkeypatch.setitem(PUBLISHED, "notes", published(OTHER))  # type: ignore[arg-type]
    assert verdict(box, command)[:2] == ("other", "letters, not letters")
    place.write_bytes(packed[:-20])
    assert verdict(box, command)[:2] == (
        "unreadable",
        "is a gzip file that is cut off; fetch it again, or unpack it yourself",
    )
    monkeypatch.setitem(PUBLISHED, "letters", published(CONTENT, sha256=None))  # type: ignore[arg-type]
    assert verdict(box, command)[:2] == ("unknown", "no digest is known")
    assert hub.asked == []


def test_the_list_for_a_reader(box: Box, command: Callable[..., Result]) -> None:
    done = command(box, "benchmarks")
    assert (done.exit_code, done.stderr) == (0, "")
    size = f"{box.fixture.stat().st_size:,} B"
    assert done.stdout.splitlines()[:3] == [
        f"tiny     fixture      {size:>15}  no digest is known",
        "    Four memories.",
        "    data/fixtures/tiny.json",
    ]
    assert "    put it at data/sources/absent.json (it is absent.json of the archive)" in done.stdout.splitlines()


def test_an_unknown_published_file_is_refused(box: Box, command: Callable[..., Result]) -> None:
    path = box.root / "data" / "benchmarks.yaml"
    write_yaml(path, merged(SETTINGS, {"benchmarks": {"letters": {"published": "lettres"}}}))
    line = command(box, "benchmarks").stderr
    assert line.startswith(f"{path}: benchmarks.letters.published: not a published file; known are: longmemeval_oracle")


def test_the_real_oracle_is_the_published_one(
    real_oracle: Path, fresh: Box, command: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of the real data set under the digest, length and address that this project ships."""
    one = PUBLISHED["longmemeval_oracle"]
    with serving(gzip.decompress(real_oracle.read_bytes())) as hub:
        hub.linked, hub.path = True, f"/datasets/{one.repo}/resolve/{one.revision}/{one.file}"
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        mine = {"format": "longmemeval", "files": ["oracle.json"], "published": one.name}
        write_yaml(fresh.root / "data" / "benchmarks.yaml", merged(BENCHMARKS, {"benchmarks": {"oracle": mine}}))
        done = command(fresh, "fetch", "oracle")
    assert done.exit_code == 0
    assert done.stdout.startswith("fetched: data/sources/oracle.json: 15,388,478 bytes, sha256 821a2034")
