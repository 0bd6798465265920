"""Settings that are no YAML, or YAML that no person wrote, are refused in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from converters.errors import BadInput
from eval_assets.yaml_files import read_yaml

DEEP = "is nested too deeply; write it flatter"
UNREADABLE = "not readable as YAML; mend it there"
# Nine levels of nine aliases: 400 million values where each is looked at.
LAUGHS = "a0: &a0 {x: 1}\n" + "".join(
    f"a{n}: &a{n} {{{', '.join(f'x{m}: *a{n - 1}' for m in range(9))}}}\n" for n in range(1, 10)
)


class _Anything(BaseModel):
    model_config = {"extra": "allow"}
    a: Any = None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *((f"a: {value}", UNREADABLE) for value in ("2023-99-99", "!!timestamp x", "!!int x", "!!bool x", "!!float x")),
        *((f"a: {value}", UNREADABLE) for value in ("1" * 5_000, "!!python/none x", "*b", "{? [b]: c}", "\ud800x")),
        ("a: " + "[" * 10_000 + "]" * 10_000, UNREADABLE),
        ("a:\n" + "".join(f"{' ' * depth}- \n" for depth in range(1, 500)) + "x: 1", DEEP),
        ("a: " + "[" * 100 + "]" * 100, DEEP),
        ("a: &a [*a]", DEEP),
        ("a: &a {b: *a}", DEEP),
        (LAUGHS, "holds too many values; write it flatter"),
        ("a: [" + "1," * 100_001 + "]", "holds too many values; write it flatter"),
    ],
    ids=range(17),
)
def test_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "settings.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(BadInput) as caught:
        read_yaml(path, _Anything)
    assert caught.value.line.startswith(f"{path}: ")
    assert caught.value.line.endswith(said)


def test_anchors_and_aliases_are_read(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("b: &b {c: 1}\na: [*b, *b]\n")
    assert read_yaml(path, _Anything).a == [{"c": 1}, {"c": 1}]
