"""What ends a step of a remote system."""

from __future__ import annotations

from converters.errors import Told


class StoreLost(Told):
    """The service no longer holds what the ledger put there; the store must be built again."""


class Foreign(Told):
    """A container holds what the ledger did not put there."""
