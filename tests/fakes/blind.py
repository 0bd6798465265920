"""The law of what may leave this machine, as the kit for adapters has it."""

from __future__ import annotations

from providers.testing.blind import KEYS, MARKS, breaches, told

__all__ = ["KEYS", "MARKS", "breaches", "told"]
