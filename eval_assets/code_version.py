"""What decides a stage's result, as a code version: its settings, the code it reaches, the libraries it leans on.

Code enters by its syntax tree without docstrings and comments, module by module, as far as imports reach inside the
packages ``converters``, ``providers`` and ``judges``. So a comment or a rename elsewhere makes nothing stale, and two
stages that share no module never disturb each other.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from converters.errors import BadInput

_ROOT: Final = Path(__file__).resolve().parent.parent
_FOLLOWED: Final = ("converters", "providers", "judges")
_EXTRAS: Final = {"mem0ai": "mem0", "qdrant-client": "mem0", "psycopg": "postgres"}
"""Which extra of ours brings a library that not everybody needs."""
_SHOWN_DIGEST: Final = 12
_SHOWN_MODULES: Final = 3


@dataclass(frozen=True)
class CodeVersion:
    """What decides a stage's result beside its inputs.

    Attributes:
        settings: dotted name to value.
        modules: module name to digest of its syntax tree.
        libraries: distribution name to version.
    """

    settings: Mapping[str, Any]
    modules: Mapping[str, str]
    libraries: Mapping[str, str]

    @property
    def digest(self) -> str:
        """The code version that Dagster compares."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:32]

    def as_json(self) -> dict[str, Any]:
        """For an event's metadata, so that a later plan can say what changed."""
        return asdict(self)

    def changes_since(self, before: Mapping[str, Any]) -> list[str]:
        """In words, what differs from an earlier version (as ``as_json`` gave it)."""
        words = [
            f"setting {name}: {_shown(old)} -> {_shown(new)}"
            for name, old, new in _differences(before.get("settings", {}), self.settings)
        ]
        words += [
            f"{name} {old or '(none)'} -> {new or '(none)'}"
            for name, old, new in _differences(before.get("libraries", {}), self.libraries)
        ]
        changed = [name for name, _, _ in _differences(before.get("modules", {}), self.modules)]
        if changed:
            words.append(f"code of {_listed(changed)}")
        return words or ["code version"]


def code_version(*, settings: Mapping[str, Any], roots: Iterable[str], libraries: Iterable[str] = ()) -> CodeVersion:
    """The code version of a stage whose work starts in the modules ``roots``."""
    return CodeVersion(
        settings=dict(sorted(settings.items())),
        modules={name: _read(path).digest for name, path in sorted(_reached(roots).items())},
        libraries={name: _installed(name) for name in sorted(libraries)},
    )


@cache
def _installed(library: str) -> str:
    """Looked up once: it reads and parses the distribution's metadata. Raises ``BadInput`` where there is none."""
    try:
        return version(library)
    except PackageNotFoundError:
        raise BadInput(library, "it is not installed, and a stage needs it", _how_to_install(library)) from None


def _how_to_install(library: str) -> str:
    extra = _EXTRAS.get(library)
    return f'pip install "eval-assets[{extra}]"' if extra else f"pip install {library}"


def _differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield name, old.get(name), new.get(name)


def _listed(modules: list[str]) -> str:
    shown, others = modules[:_SHOWN_MODULES], len(modules) - _SHOWN_MODULES
    return ", ".join(shown) + (f" and {others} more" if others > 0 else "")


def _shown(value: Any) -> str:
    return "(default)" if value is None else json.dumps(value)


def _reached(roots: Iterable[str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        path = _module_file(name)
        if name in found or path is None:
            continue
        found[name] = path
        waiting += [name.rpartition(".")[0], *_read(path).imports]
    return found


def _module_file(name: str) -> Path | None:
    if not name:
        return None
    return next((path for path in _places(_ROOT, name) if path.is_file()), None)


@cache
def _places(root: Path, name: str) -> tuple[Path, Path]:
    """Kept: a plan asks for thousands, and to put them together takes longer than to look."""
    base = root.joinpath(*name.split("."))
    return base.with_suffix(".py"), base / "__init__.py"


@dataclass(frozen=True)
class _Module:
    digest: str
    imports: tuple[str, ...]


def _read(path: Path) -> _Module:
    stat = path.stat()
    return _parse(path, stat.st_mtime_ns, stat.st_size)


@cache
def _parse(path: Path, _mtime: int, _size: int) -> _Module:
    tree = ast.parse(path.read_bytes())
    imports = tuple(name for name in _imports(tree) if name.partition(".")[0] in _FOLLOWED)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and _documented(node):
            node.body = node.body[1:] or [ast.Pass()]
    return _Module(hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:_SHOWN_DIGEST], imports)


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _documented(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return ast.get_docstring(node, clean=False) is not None
