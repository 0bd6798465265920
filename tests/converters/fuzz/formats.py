"""The formats: how a damaged source of each is made, and the reader that it is given to."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import yaml

from converters.convert import convert_corpus
from converters.results.hypotheses import read_hypotheses
from converters.results.retrieval_log import read_retrieval_log
from converters.results.trec_run import read_trec_run
from eval_assets.cli.convert import SourceFormat, Target, convert
from eval_assets.project import Project
from eval_assets.settings import load_settings

from . import sources
from .mutations import BYTES, TREE, Tree
from .sources import Dump

ROOT: Final = Path(__file__).resolve().parents[3]
SOURCE: Final = "source.json"
SIDECAR: Final = "source.sidecar.json"
_BENCHMARKS: Final = "data/benchmarks.yaml"
_SYSTEMS: Final = "systems.yaml"


@dataclass(frozen=True)
class Damaged:
    """Files of one input by name; ``texts`` are those that a corpus must hold if the input is taken."""

    kind: str
    files: Mapping[str, bytes]
    texts: frozenset[str]


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes:
        tree: a sound source.
        dump: writes a tree.
        read: given a folder with the files, and the seed; a corpus is written to ``folder / "corpus"``.
        name: of the file that is damaged.
        held: the key of texts that must not be lost.
        beside: the other files, by the bytes of the damaged one.
    """

    tree: Callable[[], Any]
    dump: Dump
    read: Callable[[Path, int], object]
    name: str = SOURCE
    held: str | None = None
    beside: Callable[[bytes], Mapping[str, bytes]] = lambda _: {}

    def damaged(self, label: str, seed: int) -> Damaged:
        """The input of a seed; seed 0 is sound, and the kinds of damage take turns."""
        rng = random.Random(f"{label} {seed}")
        kinds = ["sound", *TREE, *BYTES]
        kind = kinds[seed % len(kinds)]
        tree = Tree(self.tree(), rng)
        for _ in range(rng.choice([1, 1, 2, 4]) if kind in TREE else 0):
            if tree.root:
                TREE[kind](tree)
        data = self.dump(tree.root.get(""), tree.raw, rng)
        if kind in BYTES:
            data = BYTES[kind](data, rng)
        whole = kind not in BYTES and not tree.doubled
        texts = _texts(tree.root, self.held) & _texts(self.tree(), self.held) if whole and self.held else set()
        return Damaged(kind, {self.name: data, **self.beside(data)}, frozenset(texts))


def _texts(tree: Any, held: str | None) -> set[str]:
    return set(_walk(tree, held, within=False))


def _walk(tree: Any, held: str | None, *, within: bool) -> Iterator[str]:
    """Texts of turns, where a reader looks for them: not within what it does not know."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key == held and isinstance(value, str):
                yield value
            elif key in _KNOWN or str(key).startswith("session_"):
                yield from _walk(value, held, within=True)
    elif isinstance(tree, list):
        for value in tree:
            yield from _walk(value, held, within=within)


_KNOWN: Final = ("", "haystack_sessions", "conversation", "memories")


def _command(name: SourceFormat, folder: Path, seed: int) -> None:
    """The command line's function; every second input's format is found out."""
    known = name if seed % 2 or name is SourceFormat.datasets else None
    convert(folder / SOURCE, Target.corpus, folder / "corpus", source_format=known)


def _settings(folder: Path, _: int) -> object:
    return load_settings(Project(folder, folder / "systems.yaml", folder))


def _shipped(name: str) -> Callable[[bytes], Mapping[str, bytes]]:
    return lambda _: {name: (ROOT / "data" / Path(name).name).read_bytes()}


@cache
def _written() -> Mapping[str, bytes]:
    """A fixture with its sidecar."""
    with TemporaryDirectory() as name, contextlib.redirect_stderr(io.StringIO()):
        folder = Path(name)
        (folder / "in.json").write_text(json.dumps(sources.LONGMEMEVAL))
        convert(folder / "in.json", Target.fixture, folder / SOURCE, batches=False)
        return {SOURCE: (folder / SOURCE).read_bytes(), SIDECAR: (folder / SIDECAR).read_bytes()}


def _sidecar(data: bytes) -> Mapping[str, bytes]:
    """The sidecar of a damaged fixture, as if it had been written beside it."""
    sidecar = json.loads(_written()[SIDECAR])
    return {SIDECAR: json.dumps({**sidecar, "fixture_sha256": hashlib.sha256(data).hexdigest()}).encode()}


def _benchmark(folder: Path, _: int) -> object:
    return convert_corpus(folder / SOURCE, "fixture", folder / "corpus")


def _tree(value: Any) -> Callable[[], Any]:
    return lambda: copy.deepcopy(value)


def _yaml(name: str) -> Callable[[], Any]:
    loaded = cache(lambda: yaml.safe_load((ROOT / "data" / name).read_text()))
    return lambda: copy.deepcopy(loaded())


def _json(name: str) -> Callable[[], Any]:
    return lambda: json.loads(_written()[name])


_fixture = partial(_command, SourceFormat.fixture)
_datasets = partial(_command, SourceFormat.datasets)
_fixed = lambda _: {SOURCE: _written()[SOURCE]}  # noqa: E731
JSON: Final = sources.json_bytes
FORMATS: Final[Mapping[str, Format]] = {
    "longmemeval": Format(
        _tree(sources.LONGMEMEVAL), JSON, partial(_command, SourceFormat.longmemeval), held="content"
    ),
    "locomo": Format(_tree(sources.LOCOMO), JSON, partial(_command, SourceFormat.locomo), held="text"),
    "fixture": Format(_tree(sources.FIXTURE), JSON, _fixture, held="content"),
    "fixture_with_sidecar": Format(_json(SOURCE), JSON, _fixture, beside=_sidecar),
    "fixture_benchmark": Format(_json(SOURCE), JSON, _benchmark, held="content", beside=_sidecar),
    "sidecar": Format(_json(SIDECAR), JSON, _fixture, SIDECAR, beside=_fixed),
    "sidecar_benchmark": Format(_json(SIDECAR), JSON, _benchmark, SIDECAR, beside=_fixed),
    "datasets_json": Format(_tree(sources.ROWS), JSON, _datasets, held="content"),
    "datasets_jsonl": Format(_tree(sources.ROWS), sources.json_lines, _datasets, held="content"),
    "datasets_csv": Format(_tree(sources.ROWS), sources.csv_bytes, _datasets, held="content"),
    "datasets_parquet": Format(_tree(sources.ROWS), sources.parquet_bytes, _datasets, held="content"),
    "trec_run": Format(_tree(sources.RUN), sources.run_bytes, lambda folder, _: read_trec_run(folder / SOURCE)),
    "retrieval_log": Format(
        _tree(sources.LOG), sources.json_lines, lambda folder, _: read_retrieval_log(folder / SOURCE)
    ),
    "hypotheses": Format(
        _tree(sources.ANSWERS), sources.json_lines, lambda folder, _: read_hypotheses(folder / SOURCE)
    ),
    "benchmarks_yaml": Format(
        _yaml("benchmarks.yaml"), sources.yaml_bytes, _settings, _BENCHMARKS, beside=_shipped(_SYSTEMS)
    ),
    "systems_yaml": Format(
        _yaml("systems.yaml"), sources.yaml_bytes, _settings, _SYSTEMS, beside=_shipped(_BENCHMARKS)
    ),
}
