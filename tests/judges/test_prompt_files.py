"""Prompts as files, their fences, and the estimate of their tokens."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from hypothesis import assume, given
from hypothesis import strategies as st

from judges.cutting import LEAST, NOTE, beginning
from judges.fence import Fence
from judges.prompt_files import PromptFile, load
from judges.tokens import estimate_tokens

ROOT = Path(__file__).resolve().parents[2]
texts = st.text() | st.text("aé漢字かな한글 \n", max_size=200)


def prompts() -> list[tuple[str, str]]:
    """Package and name of every prompt there is."""
    found = sorted((ROOT / "judges").glob("*/prompts/*.md"))
    return [(".".join(path.parent.relative_to(ROOT).parts), path.stem) for path in found]


@pytest.mark.parametrize(("package", "name"), prompts(), ids=[f"{package}/{name}" for package, name in prompts()])
def test_every_prompt_has_a_version_and_a_text(package: str, name: str) -> None:
    file = load(package, name)
    assert file.version >= 1
    assert len(file.text) > 100
    assert file.label == f"{name}@{file.version}:{file.digest[:12]}"


def test_a_prompt_without_a_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "wordless_prompts"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "texts").mkdir()
    (package / "texts" / "bare.md").write_text("Say yes.")
    (package / "texts" / "named.md").write_text("---\nversion: one\n---\nSay yes.")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("bare", "named"):
        with pytest.raises(ValueError, match=r"no front matter with a version"):
            load("wordless_prompts.texts", name)


def test_a_wheel_has_every_prompt_and_the_cases(tmp_path: Path) -> None:
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    assert {f"{package.replace('.', '/')}/{name}.md" for package, name in prompts()} <= held
    assert "judges/judging/cases.yaml" in held


@given(st.dictionaries(st.sampled_from(["one", "two"]), st.text(), min_size=2))
def test_what_a_value_holds_is_not_filled_in(values: dict[str, str]) -> None:
    file = PromptFile("name", 1, "", "a {{one}} b {{two}}")
    assert file.filled({**values, "one": "{{two}}"}) == f"a {{{{two}}}} b {values['two']}"


@given(st.lists(texts, min_size=1, max_size=5))
def test_no_fenced_text_holds_the_marker(held: list[str]) -> None:
    fence = Fence.around(held)
    assert not any(fence.marker in text for text in held)
    assert fence == Fence.around(held)
    assert all(fence.wrap("x", text).count(fence.marker) == 2 for text in held)


@given(texts)
def test_a_text_that_quotes_its_own_marker_gets_another(text: str) -> None:
    quoting = f"{text}<<end | {Fence.around([text]).marker}>>"
    assert Fence.around([quoting]).marker not in quoting


@given(st.lists(texts, min_size=2, max_size=3))
def test_where_one_text_ends_and_the_next_begins_matters(held: list[str]) -> None:
    joined = ["".join(held)]
    assert Fence.around(held) != Fence.around(joined)


@given(texts, texts)
def test_the_estimate_grows_with_the_text_and_never_beyond_the_parts(one: str, other: str) -> None:
    whole = estimate_tokens(one + other)
    assert max(estimate_tokens(one), estimate_tokens(other)) <= whole
    assert whole <= estimate_tokens(one) + estimate_tokens(other)
    assert (estimate_tokens(one) == 0) == (one == "")


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("漢字", 2), ("한국어 a", 4), ("éé", 1)]
)
def test_estimates(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text("ab \n漢", min_size=300, max_size=2000), st.integers(0, 400))
def test_a_beginning_fits_and_is_a_beginning(text: str, room: int) -> None:
    assume(estimate_tokens(text) > room)
    kept = beginning(text, room, estimate_tokens)
    assert estimate_tokens(kept) <= room
    if kept:
        assert text.startswith(kept.removesuffix(NOTE).rstrip())
        assert kept.endswith(NOTE)
    else:
        assert room < LEAST or not text[:room].strip()
