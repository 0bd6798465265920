"""YAML files read into models, with errors that name the setting."""

from __future__ import annotations

from pathlib import Path
from typing import Final, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from converters.errors import BadInput

CHOICE: Final = "<"
"""How the tag of a union's member begins, which pydantic puts among the names that a person wrote."""

_MAX_DEPTH: Final = 50
_MAX_VALUES: Final = 100_000
_TOO_DEEP: Final = "is nested too deeply"
_Loader: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_Model = TypeVar("_Model", bound=BaseModel)


def read_yaml(path: Path, model: type[_Model]) -> _Model:
    """Read a file into its model; raises ``BadInput``, naming the setting or the line at fault."""
    content = _load(path)
    _check_size(path, content)
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise bad_setting(path, "", error) from None


def _load(path: Path) -> object:
    try:
        text = path.read_text("utf-8")
        _check_depth(path, text)
        return yaml.load(text, _Loader)
    except FileNotFoundError:
        raise BadInput(path, "no such file", "put it there") from None
    except (OSError, BadInput):
        raise
    # What is tagged or looks like a number or a date and is none raises whatever its constructor stumbles over.
    except Exception as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}" if mark else None
        raise BadInput(path, "not readable as YAML", "mend it there", record=line) from None


def _check_depth(path: Path, text: str) -> None:
    """Refuse what a loader, which calls itself for each level, could not hold."""
    depth = 0
    for event in yaml.parse(text, _Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise BadInput(path, _TOO_DEEP, "write it flatter")


def _check_size(path: Path, content: object) -> None:
    """Refuse what aliases make endless, or of a size that no person wrote."""
    level, depth, size = [content], 0, 0
    while level:
        depth, size = depth + 1, size + len(level)
        if depth > _MAX_DEPTH + 1 or size > _MAX_VALUES:
            raise BadInput(path, _TOO_DEEP if size <= _MAX_VALUES else "holds too many values", "write it flatter")
        level = [
            value
            for holder in level
            if isinstance(holder, dict | list)
            for value in (holder.values() if isinstance(holder, dict) else holder)
        ]


def bad_setting(source: Path, prefix: str, error: ValidationError) -> BadInput:
    """What a model said of settings, in one line; ``prefix`` is where they are in the file."""
    first = error.errors(include_url=False)[0]
    places = (str(part) for part in first["loc"])
    field = ".".join(part for part in (prefix, *places) if part and not part.startswith(CHOICE))
    if first["type"] == "extra_forbidden":
        return BadInput(source, "unknown setting", "correct its name or remove it", field=field)
    return BadInput(source, first["msg"].lower(), "correct the value", field=field)
