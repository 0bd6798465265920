"""YAML files read into models, with errors that name the setting."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from converters.errors import BadInput

_Model = TypeVar("_Model", bound=BaseModel)


def read_yaml(path: Path, model: type[_Model]) -> _Model:
    """Read a file into its model; raises ``BadInput``, naming the setting or the line at fault."""
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError:
        raise BadInput(path, "no such file", "put it there") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}" if mark else None
        raise BadInput(path, "not readable as YAML", "mend it there", record=line) from None
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise bad_setting(path, "", error) from None


def bad_setting(source: Path, prefix: str, error: ValidationError) -> BadInput:
    """What a model said of settings, in one line; ``prefix`` is where they are in the file."""
    first = error.errors(include_url=False)[0]
    field = ".".join(part for part in (prefix, *map(str, first["loc"])) if part)
    if first["type"] == "extra_forbidden":
        return BadInput(source, "unknown setting", "correct its name or remove it", field=field)
    return BadInput(source, first["msg"].lower(), "correct the value", field=field)
