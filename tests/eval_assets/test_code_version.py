from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from converters.errors import BadInput
from eval_assets import code_version as code_versions
from eval_assets.assets.corpus import corpus_version
from eval_assets.assets.report import report_version
from eval_assets.assets.scores import scores_version
from eval_assets.assets.search import search_version
from eval_assets.assets.store import store_version
from eval_assets.code_version import _installed, code_version
from eval_assets.settings_systems import Store, System

STORE = Store(provider="local")
SYSTEM = System(store="turns")


def digests() -> dict[str, str]:
    """The code version of each stage, for the files as they are now."""
    return {
        "corpus": corpus_version().digest,
        "store": store_version(STORE).digest,
        "search": search_version(STORE, SYSTEM).digest,
        "scores": scores_version().digest,
        "report": report_version(SYSTEM).digest,
    }


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    # Two edits within one tick of the clock, of equal length, would look alike.
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns + 1_000_000))


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


@pytest.mark.parametrize(
    ("module", "stages"),
    [
        ("converters/longmemeval.py", {"corpus"}),
        ("converters/fixture/read.py", {"corpus"}),
        ("providers/documents.py", {"store", "search"}),
        ("providers/local/ingest.py", {"store"}),
        ("providers/local/chunking.py", {"store"}),
        ("providers/local/search.py", {"search"}),
        ("providers/local/fusion.py", {"search"}),
        ("judges/retrieval_metrics.py", {"scores", "report"}),
        ("judges/report_markdown.py", {"report"}),
        ("judges/aggregate.py", {"report"}),
        ("eval_assets/assets/store.py", {"store"}),
        ("eval_assets/assets/search.py", {"search"}),
        ("eval_assets/plan.py", set()),
        ("converters/fixture/write.py", set()),
    ],
)
def test_a_change_of_code_reaches_the_stages_that_use_it(sources: Path, module: str, stages: set[str]) -> None:
    before = digests()
    append(sources / module, "\nCHANGED = 1\n")
    assert {stage for stage, digest in digests().items() if digest != before[stage]} == stages


@pytest.mark.parametrize("module", ["providers/local/search.py", "converters/longmemeval.py", "judges/aggregate.py"])
def test_comments_docstrings_and_layout_do_not_count(sources: Path, module: str) -> None:
    before = digests()
    path = sources / module
    edit(path, '"""', '"""Otherwise said: ')
    edit(path, "from __future__", "# A reason.\n\n\nfrom __future__")
    assert digests() == before


def test_a_function_that_is_only_a_docstring_may_say_something_else(sources: Path) -> None:
    path = sources / "judges" / "aggregate.py"
    append(path, '\n\ndef nothing() -> None:\n    """One."""\n')
    before = digests()
    edit(path, '"""One."""', '"""Two."""')
    assert digests() == before


def test_a_module_that_is_imported_where_used_counts(sources: Path) -> None:
    append(sources / "judges" / "aggregate.py", "\n\ndef late() -> None:\n    from judges import late_part\n")
    before = digests()
    (sources / "judges" / "late_part.py").write_text("VALUE = 1\n")
    assert report_version(SYSTEM).digest != before["report"]


def test_a_default_said_is_a_default_left_out() -> None:
    said = search_version(STORE, SYSTEM.model_copy(update={"retrieval": {"rrf_k": 60, "mode": "hybrid"}}))
    assert said == search_version(STORE, SYSTEM)
    assert store_version(STORE.model_copy(update={"ingest": {"granularity": "turn"}})) == store_version(STORE)


def test_retrieval_settings_do_not_reach_the_store_and_ingest_settings_do() -> None:
    changed = SYSTEM.model_copy(update={"retrieval": {"rrf_k": 10}, "limit": 5, "revision": 2})
    assert search_version(STORE, changed).digest != search_version(STORE, SYSTEM).digest
    other = STORE.model_copy(update={"ingest": {"granularity": "session"}})
    assert store_version(other).digest != store_version(STORE).digest
    assert search_version(other, SYSTEM).digest == search_version(STORE, SYSTEM).digest


def test_changes_are_told_in_words(sources: Path) -> None:
    before = search_version(STORE, SYSTEM).as_json()
    append(sources / "providers/local/fusion.py", "\nCHANGED = 1\n")
    now = search_version(STORE, SYSTEM.model_copy(update={"retrieval": {"rrf_k": 10}}))
    assert now.changes_since(before) == ["setting retrieval.rrf_k: 60 -> 10", "code of providers.local.fusion"]


def test_changes_of_libraries_and_of_what_was_not_there() -> None:
    now = code_version(settings={"new": 1}, roots=(), libraries=("numpy",))
    told = now.changes_since({"settings": {"old": "x"}, "modules": {}, "libraries": {"numpy": "1.0", "gone": "2.0"}})
    assert told[:2] == ["setting new: (default) -> 1", 'setting old: "x" -> (default)']
    assert told[2] == "gone 2.0 -> (none)"
    assert told[3].startswith("numpy 1.0 -> ")
    assert now.changes_since(now.as_json()) == ["code version"]


def test_a_module_that_is_not_ours_is_left_out(sources: Path) -> None:
    assert code_version(settings={}, roots=("no.such.module", "")).modules == {}


@pytest.mark.parametrize(
    ("library", "remedy"),
    [
        ("mem0ai", 'pip install "eval-assets\\[mem0\\]"'),
        ("psycopg", 'pip install "eval-assets\\[postgres\\]"'),
        ("no-such-library", "pip install no-such-library"),
    ],
)
def test_a_library_that_is_missing_says_how_to_install_it(
    library: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(code_versions, "version", nowhere)
    _installed.cache_clear()
    with pytest.raises(BadInput, match=f"^{library}: it is not installed.*{remedy}$"):
        code_version(settings={}, roots=(), libraries=(library,))
