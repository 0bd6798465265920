"""Names of benchmarks, stores and systems become names of folders and partitions: none may lead out of one."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from eval_assets.settings_systems import Name


@pytest.mark.parametrize("name", ["../x", "a/b", "..", "CON", "x" * 65, "", "a b", "a\n", "a\0", "\u00e9", "1x"])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Name).validate_python(name)
