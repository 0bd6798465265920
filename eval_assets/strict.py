"""What all settings are: frozen, naming nothing unknown."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]


class Strict(BaseModel):
    """Settings that name nothing unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True)
