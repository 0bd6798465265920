"""An inspection for a reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from converters.inspect.report import Inspection, Quirk, Value

_EXAMPLE_CHARACTERS = 72


def inspection_lines(found: Inspection) -> Sequence[str]:
    """What a source is, its facts by section, and the quirks that it has; those that it has not by name."""
    return [*_heading(found), "", *_facts(found), *_quirks(found.quirks)]


def _heading(found: Inspection) -> Iterator[str]:
    variant = "" if found.variant is None else f", {found.variant.name}: {found.variant.detail}"
    yield f"{shown(found.source)}: {found.format}{variant}"
    if found.fingerprint is not None:
        how = ", unpacked" if found.fingerprint.compressed else ""
        yield f"{found.fingerprint.n_bytes:,} bytes{how}, sha256 {found.fingerprint.sha256}"


def _facts(found: Inspection) -> Iterator[str]:
    width = max((len(name) for section in found.facts.values() for name in section), default=0)
    for title, section in found.facts.items():
        if section:
            yield title
            yield from (f"  {shown(name):{width}}  {_value(value)}" for name, value in section.items())


def _quirks(quirks: Sequence[Quirk]) -> Iterator[str]:
    met = [quirk for quirk in quirks if quirk.count]
    yield ""
    yield "quirks" if met else "quirks: none"
    name_width = max((len(quirk.name) for quirk in met), default=0)
    count_width = max((len(f"{quirk.count:,}") for quirk in met), default=0)
    unit_width = max((len(quirk.unit) for quirk in met), default=0)
    for quirk in met:
        count = f"{quirk.count:{count_width},} {quirk.unit:{unit_width}}"
        yield f"  {quirk.name:{name_width}}  {count}  {quirk.description}"
        if quirk.example is not None:
            yield f"  {'':{name_width + 2 + count_width + 1 + unit_width}}  e.g. {shown(quirk.example)}"
    absent = [quirk.name for quirk in quirks if not quirk.count]
    if absent:
        yield f"  not found: {', '.join(absent)}"


def _value(value: Value) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.1f}"
    return value if len(value) > _EXAMPLE_CHARACTERS and value.isprintable() else shown(value)


def shown(text: str) -> str:
    """A text from a source on one line of a terminal, cut where it is long."""
    line = text if text.isprintable() else ascii(text)[1:-1]
    return line if len(line) <= _EXAMPLE_CHARACTERS else f"{line[:_EXAMPLE_CHARACTERS]}..."
