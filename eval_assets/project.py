"""Where things are: the project's root, its settings, what it produces, and Dagster's home."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from converters.errors import BadInput

_MARKERS: Final = ("workspace.yaml", "data/systems.yaml")
_ROOT_VARIABLE: Final = "EVAL_ASSETS_ROOT"
_SYSTEMS_VARIABLE: Final = "EVAL_ASSETS_SYSTEMS"
_SOURCES_VARIABLE: Final = "EVAL_ASSETS_SOURCES"


@dataclass(frozen=True)
class Project:
    """The folders and files of one project.

    Attributes:
        root: the folder that holds workspace.yaml and data/.
        systems_file: data/systems.yaml, or the file that EVAL_ASSETS_SYSTEMS names.
        sources: where benchmark files are looked for: data/sources, or the folder that EVAL_ASSETS_SOURCES names.
    """

    root: Path
    systems_file: Path
    sources: Path

    @classmethod
    def find(cls) -> Project:
        """The project of EVAL_ASSETS_ROOT, else the nearest one above the working folder, else the one of this code.

        Raises:
            BadInput: there is none.
        """
        named = os.environ.get(_ROOT_VARIABLE)
        here = Path.cwd()
        candidates = [Path(named)] if named else [here, *here.parents, Path(__file__).resolve().parent.parent]
        for folder in candidates:
            if all((folder / marker).is_file() for marker in _MARKERS):
                return cls.at(folder)
        raise BadInput(
            named or here,
            f"no project here (no {' and '.join(_MARKERS)})",
            f"go to the project's folder, or set {_ROOT_VARIABLE} to it",
        )

    @classmethod
    def at(cls, root: Path) -> Project:
        """The project whose root is this folder."""
        root = root.resolve()
        systems = os.environ.get(_SYSTEMS_VARIABLE)
        sources = os.environ.get(_SOURCES_VARIABLE)
        return cls(
            root=root,
            systems_file=Path(systems).resolve() if systems else root / "data" / "systems.yaml",
            sources=Path(sources).resolve() if sources else root / "data" / "sources",
        )

    @property
    def data(self) -> Path:
        """Settings, fixtures, and everything that is produced."""
        return self.root / "data"

    @property
    def benchmarks_file(self) -> Path:
        """The benchmarks and where their files are."""
        return self.data / "benchmarks.yaml"

    @property
    def models_file(self) -> Path:
        """The language models; there need be none."""
        return self.data / "models.yaml"

    @property
    def corrections_file(self) -> Path:
        """Overlays of corrected labels; there need be none."""
        return self.data / "corrections.yaml"

    @property
    def tables(self) -> Path:
        """The Parquet files of all assets."""
        return self.data / "tables"

    @property
    def locks(self) -> Path:
        """Lock files: who is at work on what."""
        return self.data / "locks"

    def shown(self, path: Path) -> str:
        """The path as a person would write it: relative to the root where it is inside."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)

    def dagster_home(self) -> Path:
        """An absolute DAGSTER_HOME with a dagster.yaml in it: the one of the environment, else data/dagster_home.

        Sets the variable for this process and its children, so that the command line and the UI share one instance.
        """
        home = Path(os.environ.get("DAGSTER_HOME") or self.data / "dagster_home").resolve()
        home.mkdir(parents=True, exist_ok=True)
        if not (home / "dagster.yaml").exists():
            shutil.copyfile(self.root / "dagster.yaml", home / "dagster.yaml")
        os.environ["DAGSTER_HOME"] = str(home)
        return home
