"""Marks where data begins and ends in a prompt, so that nothing in it can pass for the prompt's own words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Fence:
    """A marker that none of the fenced texts holds.

    The marker is a digest of all the texts: nobody can write it into one of them, for it changes as they write. The
    same texts have the same marker, so that an unchanged prompt stays unchanged to the letter.
    """

    marker: str

    @classmethod
    def around(cls, texts: Iterable[str]) -> Fence:
        """The fence of the texts that one prompt quotes."""
        held = list(texts)
        digest = hashlib.sha256()
        for text in held:
            data = text.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
        marker = digest.hexdigest()[:16]
        while any(marker in text for text in held):
            digest.update(b"again")
            marker = digest.hexdigest()[:16]
        return cls(marker)

    def wrap(self, label: str, text: str) -> str:
        """The text between a line that says what it is, and a line that ends it; ``label`` is our own word."""
        return f"<<{label} | {self.marker}>>\n{text}\n<<end | {self.marker}>>"
