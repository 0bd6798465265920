"""Where a project's ledger is, and whether it is written or replayed: from the environment, because neither changes a
result."""

from __future__ import annotations

import os
from typing import Final, cast, get_args

from converters.errors import BadInput
from eval_assets.ledger.ledger import Ledger, Mode
from eval_assets.project import Project

URL_VARIABLE: Final = "EVAL_ASSETS_LEDGER"
MODE_VARIABLE: Final = "EVAL_ASSETS_LEDGER_MODE"


def ledger_url(project: Project) -> str:
    """The URL that EVAL_ASSETS_LEDGER gives, else a SQLite file in data/."""
    return os.environ.get(URL_VARIABLE) or f"sqlite:///{project.data / 'ledger.sqlite'}"


def ledger_there(project: Project) -> bool:
    """Whether there is a ledger yet; opening one creates it."""
    return URL_VARIABLE in os.environ or (project.data / "ledger.sqlite").exists()


def open_ledger(project: Project) -> Ledger:
    """The project's ledger; raises ``BadInput``. The caller closes it."""
    return Ledger(ledger_url(project))


def ledger_mode() -> Mode:
    """What EVAL_ASSETS_LEDGER_MODE says: record (the default), replay or refresh; raises ``BadInput``."""
    value = os.environ.get(MODE_VARIABLE) or "record"
    known = get_args(Mode)
    if value not in known:
        raise BadInput(MODE_VARIABLE, f"unknown mode {value!r}", f"known are: {', '.join(known)}")
    return cast(Mode, value)
