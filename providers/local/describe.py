"""The settings as Markdown tables, for the documentation: ``python -m providers.local.describe`` prints them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from providers.local.settings import EmbeddingSettings, IngestSettings, RetrievalSettings

_BOUNDS = {"minimum": "≥ {}", "exclusiveMinimum": "> {}", "maximum": "≤ {}"}


def settings_table(model: type[BaseModel]) -> str:
    """One row a setting: name, default, allowed values, meaning; in the order of the model."""
    rows = ["| setting | default | allowed | meaning |", "|---|---|---|---|"]
    for name, field in model.model_json_schema()["properties"].items():
        rows.append(f"| `{name}` | {_default(field)} | {_allowed(field)} | {field['description']} |")
    return "\n".join(rows) + "\n"


def _default(field: dict[str, Any]) -> str:
    return _value(field["default"]) if "default" in field else "(needed)"


def _value(value: object) -> str:
    words = {True: "true", False: "false", None: "null"}
    return f"`{words[value] if value is None or isinstance(value, bool) else value}`"


def _allowed(field: dict[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(map(_value, field["enum"]))
    if field.get("type") == "boolean":
        return "`true`, `false`"
    kinds = field.get("anyOf", [field])
    bounds = [text.format(kind[key]) for kind in kinds for key, text in _BOUNDS.items() if key in kind]
    settings = ["settings"] if any("$ref" in kind for kind in kinds) else []
    nullable = ["`null`"] if any(kind.get("type") == "null" for kind in kinds) else []
    return ", ".join([*bounds, *settings, *nullable])


if __name__ == "__main__":
    print(settings_table(IngestSettings))
    print(settings_table(EmbeddingSettings))
    print(settings_table(RetrievalSettings))
