"""Prompts are Markdown files of this package, each with its version in its front matter.

A file begins with ``---``, YAML with ``version`` (a positive whole number), ``---``; the rest is the prompt, without
white space around it. The text of a file decides answers and is no Python: who builds a stage's code version adds
``PromptFile.label`` to it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

_FRONT = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)
_PLACE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True)
class PromptFile:
    """A prompt as it is written.

    Attributes:
        name: of the file, without its ending.
        version: what its author calls it; raised when its meaning changes.
        digest: SHA-256 of the text, lower-case hex: changes with every letter.
        text: the prompt.
    """

    name: str
    version: int
    digest: str
    text: str

    @property
    def label(self) -> str:
        """Name, version and the first 12 characters of the digest: ``reader@1:0f3c...``."""
        return f"{self.name}@{self.version}:{self.digest[:12]}"

    def filled(self, values: Mapping[str, str]) -> str:
        """The text with ``{{name}}`` replaced by ``values[name]``; what a value holds is not looked at again."""
        return _PLACE.sub(lambda match: values[match[1]], self.text)


@cache
def load(package: str, name: str) -> PromptFile:
    """Read ``name``.md from the resources of a package, for instance of ``judges.readers.prompts``.

    Raises:
        ValueError: the file has no front matter with a version; a fault of this package, not of its user.
        FileNotFoundError: there is no such file.
    """
    folder, _, sub = package.rpartition(".")
    source = files(folder).joinpath(sub, f"{name}.md").read_text(encoding="utf-8").replace("\r\n", "\n")
    match = _FRONT.fullmatch(source)
    front = yaml.safe_load(match[1]) if match else None
    version = front.get("version") if isinstance(front, dict) else None
    if match is None or type(version) is not int or version < 1:
        raise ValueError(f"{package}/{name}.md: no front matter with a version")
    text = match[2].strip()
    return PromptFile(name, version, hashlib.sha256(text.encode()).hexdigest(), text)
